"""Does ``make check`` choose the tests that a change can affect, in time, and no others?"""

import pytest

from tools import affected, check_changes


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ("pipeline_lib/theory/entropy.py", ["pipeline_lib/theory/entropy.py", "tests/theory/test_entropy.py"]),
        ("pipeline_lib/statistics.py", ["pipeline_lib/statistics.py", "tests/test_statistics.py"]),
        ("pipeline_lib/papers/slam/perceptron/claims.yaml", ["tests/papers/slam/test_perceptron.py"]),
        ("tests/core/misuse.py", ["tests/core/test_misuse.py"]),
        ("tests/test_ranking.py", ["tests/test_ranking.py"]),
        ("docs/claims.md", ["tests/docs/test_documentation.py"]),
        ("README.md", ["tests/docs/test_documentation.py"]),
        ("pipeline_lib/removed.py", []),
    ],
)
def test_the_tests_of_a_file_come_first(changed: str, first: list[str]) -> None:
    assert affected.tests_of([changed])[: len(first)] == first


def test_what_imports_a_module_is_tested_after_it_and_nothing_else() -> None:
    reached = affected.tests_of(["pipeline_lib/theory/entropy.py"])
    assert reached.index("tests/theory/test_cones.py") < reached.index("tests/papers/lists/test_averages.py")
    assert "tests/sources/test_letor.py" not in reached


def test_the_workflow_runs_only_where_it_or_a_command_changed() -> None:
    assert check_changes.commands_of_tests([]) == []
    [command] = check_changes.commands_of_tests(["workflow/rules/job.smk"])
    assert "tests/workflow" in command
    assert "smoke" in command[command.index("-m", 3) + 1]
    [command] = check_changes.commands_of_tests(["tests/workflow/test_faults.py", "tests/metrics/test_metrics.py"])
    assert "tests/metrics/test_metrics.py" in command
    assert not any(argument.startswith("tests/workflow") for argument in command)
    assert "smoke" not in command[command.index("-m", 3) + 1]

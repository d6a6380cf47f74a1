"""Have the commands that measure runs the same options for what a query counts as, and do they pass them on?"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import cli, evaluation

OF_PLAN = {"within": 0.3}
OTHERS: dict[str, Any] = {
    "ties": "worst", "relevant_from": 2, "no_relevant": 0.25, "missing": "skip", "y_max": 7, "measure": "err@3",
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> tuple[list[Path], Path]:
    """Two runs with equal scores that lack different queries, and qrels with queries without relevant documents."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, (300, 5)) * (np.arange(300)[:, None] % 7 > 0)
    qrels = tmp_path / "some.qrels"
    qrels.write_text("".join(f"q{q} 0 d{d} {y}\n" for q, of in enumerate(labels) for d, y in enumerate(of)))
    runs = []
    for name, lacks in (("one", 3), ("two", 11)):
        scores = (labels + rng.integers(0, 3, labels.shape)).tolist()
        lines = [f"q{q} Q0 d{d} 0 {y} x\n" for q, of in enumerate(scores) if q != lacks for d, y in enumerate(of)]
        runs.append(tmp_path / f"{name}.run")
        runs[-1].write_text("".join(lines))
    return runs, qrels


def said(command: str, files: tuple[list[Path], Path], options: dict[str, Any], capsys: Any) -> dict[str, Any]:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    assert cli.main([command, *map(str, files[0]), "--qrels", str(files[1]), "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("command", ["compare", "certify", "plan-labels"])
@pytest.mark.parametrize("name", [*OTHERS, "all"])
def test_an_option_says_what_the_argument_says(files, capsys, command: str, name: str) -> None:
    measure = {"measure": "err@3"} if name == "y_max" else {"measure": "p@2"} if name == "relevant_from" else {}
    options = OTHERS if name == "all" else measure | {name: OTHERS[name]}
    if command == "plan-labels":
        options = OF_PLAN | options
    function = getattr(evaluation, command.replace("-", "_"))
    in_library = json.loads(json.dumps(function(*files, **options).to_dict()))
    found = said(command, files, options, capsys)
    assert found == in_library
    plain = OF_PLAN if command == "plan-labels" else {}
    assert found != said(command, files, plain | measure, capsys)  # the option matters


def test_all_four_explain_the_options_alike(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for command in ("evaluate-run", "compare", "certify", "plan-labels"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        words = " ".join(capsys.readouterr().out.split())
        texts.append([words.partition(f" {option} ")[2].partition(" --")[0] for option in ("--missing", "--y-max")])
        assert " --no-relevant NO_RELEVANT " in words
    assert all(all(one) and one == texts[0] for one in texts)

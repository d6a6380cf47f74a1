"""A study file of any content is refused in one line, within a second, and what it executes is not executed by us."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.study import configuration

ROOT = Path(__file__).parents[2]
LEVELS = range(1, 9)


def bomb(first: str, others: str) -> str:
    """Nine levels, each of which repeats the one before nine times."""
    lines = [f"a0: &a0 {first}"]
    for level in LEVELS:
        repeated = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {others.replace('REPEATED', repeated)}")
    return "\n".join(lines)


HOSTILE = {
    "aliases": bomb("[x, x]", "[REPEATED]"),
    "merged keys": bomb("{x: 1}", "{<<: [REPEATED]}"),
    "a list in itself": "mirrors: &a [*a]",
    "a mapping in itself": "erm: &a {l2: *a}",
    "lists, 100,000 deep": f"mirrors: {'[' * 100_000}{']' * 100_000}",
    "lists in lines, 100,000 deep": f"mirrors:\n  {'- ' * 100_000}1",
    "mappings, 5,000 deep": f"erm: {'{a: ' * 5000}1{'}' * 5000}",
    "a template": '__use_yte__: true\nstudy: ?__import__("pathlib").Path("executed").touch() or "mine"',
    "definitions": '__use_yte__: true\n__definitions__:\n- open("executed", "w")\nstudy: mine',
    "no UTF-8": b"study: caf\xe9",
    "a zero byte": "study: a\0b",
}


def write(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_in_one_line_without_much_work(content: str | bytes, tmp_path: Path) -> None:
    write(tmp_path / "study.yaml", content)
    # In a process of its own, which a reader that calls itself for every level would end.
    script = (
        "import resource, sys\nfrom pathlib import Path\nfrom pipeline_lib.study import configuration\n"
        "resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "try:\n    configuration.check_file(Path(sys.argv[1]))\n"
        "except configuration.ConfigurationError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "study.yaml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{tmp_path}/study.yaml")
    assert done.stdout.count("\n") == 1
    assert len(done.stdout) < 500


@pytest.mark.parametrize("depth", [2, 200])
def test_values_that_contain_themselves_are_refused_wherever_they_come_from(depth: int) -> None:
    itself: list[Any] = []
    for _ in range(depth):
        itself = [itself]
    innermost = itself
    while innermost[0:1]:
        innermost = innermost[0]
    innermost.append(itself)
    with pytest.raises(ConfigurationError, match="write them out"):
        configuration.check({"mirrors": itself}, {"letor-sim": 5})


def test_aliases_and_merged_keys_of_usual_size_are_read(tmp_path: Path) -> None:
    write(tmp_path / "study.yaml", "\ufeffa: &a {x: 1}\nb: {<<: *a, y: [*a, *a]}\n" + f"c: [{'[1], ' * 2000}]\n")
    read = schemas.load(tmp_path / "study.yaml")
    assert read["b"] == {"x": 1, "y": [{"x": 1}, {"x": 1}]}
    assert read["c"] == [[1]] * 2000
    write(tmp_path / "empty.yaml", "")
    assert schemas.load(tmp_path / "empty.yaml") is None


def test_a_pipe_as_a_study_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "study.yaml")
    began = time.monotonic()
    with pytest.raises(ConfigurationError, match=r"study\.yaml: .*a pipe"):
        configuration.check_file(tmp_path / "study.yaml")
    assert time.monotonic() - began < 60.0


@pytest.mark.parametrize("name", ["a" * 100, "ab" * 50, "best-" + "3" * 20])
def test_a_name_that_snakemake_takes_for_an_endless_one_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="repetitions"):
        configuration.check({"study": name}, {"letor-sim": 5})

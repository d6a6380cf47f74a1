"""Does the command of a step say which step an error was in, and does it refuse parts that do not belong together?"""

import json
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib import cli, papers
from pipeline_lib.commands import experiment
from pipeline_lib.core import origins
from pipeline_lib.core.errors import DamagedFileError, DataError
from pipeline_lib.core.settings import Settings, Whole
from pipeline_lib.data.rows import Field, Row
from pipeline_lib.experiment import Experiment, Job, Step


@pytest.mark.parametrize("error", [DataError("expected two queries"), DamagedFileError("a.parquet", "other bytes")])
def test_a_wrong_value_in_a_step_names_it_and_a_damaged_file_its_path(
    error: DataError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(job: Job) -> list[Row]:
        raise error

    toy = Experiment(Settings, Step("measure", measure, ()))
    monkeypatch.setattr(papers, "experiment", lambda *_: toy)
    with pytest.raises(type(error)) as raised:
        experiment.run(paper="slam", experiment="toy", step="measure", seed=1)
    named = "" if isinstance(error, DamagedFileError) else "step slam_measure: "
    assert str(raised.value) == f"{named}{error}"


class Played(Row, table="slices/toy/{slice}"):
    """What one slice of the seeds gives."""

    number: int = Field(description="the run")
    loss: float = Field(description="its loss")


class Mean(Row, table="tables/toy"):
    """The mean over all runs."""

    mean: float = Field(description="mean loss")


class ToySettings(Settings):
    """How many slices there are."""

    factor: Whole = Field(1, description="what losses are multiplied by")


def play(job: Job) -> Iterator[Played]:
    yield Played(number=int(job.cell["slice"]), loss=1.0 * job.seed * job.settings.factor)


def join(job: Job) -> Iterator[Mean]:
    yield Mean(mean=statistics.mean(row.loss for row in job.rows(Played)))


SLICES = [Path(f"slices/toy/{number}.parquet") for number in range(2)]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An experiment whose work is divided into two slices."""
    divided = Step("play", play, [Played], divided={"slice": lambda settings: range(2)})
    monkeypatch.setattr(papers, "experiment", lambda *_: Experiment(ToySettings, divided, Step("join", join, [Mean])))
    monkeypatch.setattr(origins, "_job", None)
    monkeypatch.chdir(tmp_path)


def make(path: Path, seed: int = 2026, factor: int = 1, code: str = "one") -> None:
    """Make one slice by the command line of its job."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["--seed", str(seed), "--settings", json.dumps({"factor": factor}), "--cell", f'{{"slice": "{path.stem}"}}']
    command = ["experiment", "--paper", "toy", "--experiment", "toy", "--step", "play", *words, "--write", str(path)]
    assert cli.main([*command, "--force", "--threads", "1", *(["--code", code] if code else [])]) == 0


def joined(seed: int = 2026) -> int:
    """The status of the command that joins the slices, as it is typed outside of a run."""
    words = ["--tables", *map(str, SLICES), "--write", "toy.parquet", "--force"]
    command = ["experiment", "--paper", "toy", "--experiment", "toy", "--step", "join", "--seed", str(seed), *words]
    return cli.main([*command, "--threads", "1", "--code", "other"])


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("other", [{"seed": 2027}, {"factor": 2}, {"code": "two"}, {"seed": 2027, "code": ""}], ids=str)
def test_slices_that_were_made_otherwise_are_not_joined(
    other: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for path in SLICES:
        make(path)
    assert joined() == 0
    made = Path("toy.parquet").read_bytes()
    make(SLICES[1], **other)
    assert joined() == 1
    assert "slices/toy/1.parquet" in capsys.readouterr().err
    assert Path("toy.parquet").read_bytes() == made
    assert SLICES[1].exists()
    make(SLICES[1])
    assert joined() == 0


@pytest.mark.usefixtures("toy")
def test_a_slice_that_another_file_took_the_place_of_is_not_joined(capsys: pytest.CaptureFixture[str]) -> None:
    for path in SLICES:
        make(path)
    make(Path("elsewhere/1.parquet"), seed=2027)
    shutil.copy("elsewhere/1.parquet", SLICES[1])
    assert joined() == 1
    assert "slices/toy/1.parquet" in capsys.readouterr().err


@pytest.mark.usefixtures("toy")
def test_slices_of_another_seed_than_the_join_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for path in SLICES:
        make(path, seed=2027)
    assert joined() == 1
    assert "slices/toy/0.parquet" in capsys.readouterr().err
    assert joined(2027) == 0

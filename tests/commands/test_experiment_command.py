"""An error in a step of an experiment says which step it was."""

import pytest

from pipeline_lib import papers
from pipeline_lib.commands import experiment
from pipeline_lib.core.errors import DamagedFileError, DataError
from pipeline_lib.core.settings import Settings
from pipeline_lib.data.rows import Row
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

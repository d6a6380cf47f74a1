"""Are settings refused with which an experiment on cones would measure nothing?"""

from typing import Any

import pytest

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.settings import Settings
from pipeline_lib.papers.cone.bases.experiment import BasesSettings
from pipeline_lib.papers.cone.cones.experiment import ConesSettings
from pipeline_lib.papers.cone.geometry.experiment import GeometrySettings
from pipeline_lib.papers.cone.leave_out.experiment import LeaveOutSettings


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        (BasesSettings, {"methods": ["newton"]}),
        (BasesSettings, {"components": []}),
        (ConesSettings, {"passes": 1}),
        (ConesSettings, {"small_fold_steps": 200}),
        (GeometrySettings, {"differences": 2}),
        (LeaveOutSettings, {"queries": [10, 20]}),
        (LeaveOutSettings, {"tail_epsilons": [1.0]}),
    ],
)
def test_wrong_settings_are_refused(settings: type[Settings], wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        settings.parse(wrong)

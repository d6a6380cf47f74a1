"""Long work says how far it is, at once and seldom; results do not depend on whether anybody listens."""

import io
import json
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import learners
from pipeline_lib.cli import main
from pipeline_lib.core import progress
from pipeline_lib.learners import erm
from pipeline_lib.sources import folds
from tests.samples import drawn

LINE = re.compile(r" +\d+\.\d s  ([\w.]+): (.+)")
ONLINE = {"features": "raw", "selection": "map"}
SETTINGS: dict[str, tuple[dict[str, Any], int]] = {
    "erm": ({"surrogate": "listnet", "l2": [0.01, 1.0, 0.1], "selection": "map"}, 3),
    "ogd": ({"surrogate": "squared", "step": [0.1, 0.01], "passes": 2, **ONLINE}, 2),
    "top-k-feedback": ({"surrogate": "squared", "k": 1, "step": [0.1, 1.0], "passes": 2, "radius": 1.0, **ONLINE}, 2),
    "perceptron": ({"passes": 20, **ONLINE}, 20),
    "lambdamart": ({"trees": 5, "least_documents": 2, "selection": "map"}, 1),
    "cone": ({"basis": [1, 2], "method": "sg", "passes": 2, "restarts": 2, "fold_in": "gradient", **ONLINE}, 4),
    "adarank": ({"measure": "map", "rounds": 20, "repeats": None, "selection": "map"}, 1),
    "rankboost": ({"rounds": 20, "pairs": "alike", "selection": "map"}, 1),
    "best-feature": ({"selection": "map"}, 1),
}
"""Settings of every learner that searches, and how many lines a short training writes."""
ONLINE_LEARNERS = ("ogd", "perceptron", "top-k-feedback")
MODULES = {"best-feature": "best_feature", **dict.fromkeys(ONLINE_LEARNERS, "selection")}
INSTALLED = [name for name in SETTINGS if learners.get(name).unusable is None]


TRAINING = "train-model --dataset d --model m --algorithm erm --fold 1 --seed 3"


def _lines(text: str) -> list[tuple[str, str]]:
    found = [LINE.fullmatch(line) for line in text.splitlines()]
    assert all(found), text
    return [(match[1], match[2]) for match in found if match]


@pytest.mark.parametrize("learner", INSTALLED)
def test_a_short_training_writes_a_line_a_setting(learner: str, capfd: pytest.CaptureFixture[str]) -> None:
    settings, expected = SETTINGS[learner]
    data, stream = drawn(12, 5, levels=2), io.StringIO()
    with progress.printed(stream):
        heard = learners.get(learner).train(data, data, settings, 7)
    unheard = learners.get(learner).train(data, data, settings, 7)
    lines = _lines(stream.getvalue())
    assert len(lines) == expected
    assert {module for module, _ in lines} == {f"learners.{MODULES.get(learner, learner.replace('-', '_'))}"}
    # Every line says which value the setting reached.
    assert all(re.search(r"(validation|training) map \d\.\d{4}$", words) for _, words in lines)
    # By itself the library prints nothing, and what it finds is the same.
    assert capfd.readouterr() == ("", "")
    assert json.dumps([heard.model.to_dict(), heard.record]) == json.dumps([unheard.model.to_dict(), unheard.record])


def test_a_line_says_what_the_record_says() -> None:
    data, stream = drawn(12, 5, levels=2), io.StringIO()
    with progress.printed(stream):
        record = learners.get("erm").train(data, data, SETTINGS["erm"][0], 7).record
    tried = sorted(record["path"], key=lambda step: -step["l2"])
    for (_, words), step in zip(_lines(stream.getvalue()), tried, strict=True):
        for part in (
            "listnet",
            f"l2 = {step['l2']:g}",
            f"{step['iterations']} iterations",
            f"{step['relative_gap']:.1e}",
            step["certificate"],
            f"map {step['validation']:.4f}",
        ):
            assert part in words


def test_a_job_writes_its_lines_into_its_log_and_not_into_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    drawn(12, 5, levels=2).write_parquet(tmp_path / "documents.parquet")
    parts = {"train": np.arange(8), "validation": np.arange(8, 12)}
    monkeypatch.setattr(folds, "queries", lambda path, fold, part: parts[part])

    def model(name: str) -> bytes:
        arguments = [*TRAINING.split()]
        arguments += ["--settings", json.dumps(SETTINGS["erm"][0]), "--output", str(tmp_path / name)]
        arguments += ["--documents", str(tmp_path / "documents.parquet"), "--folds", "none"]
        assert main(arguments) == 0
        return (tmp_path / name).read_bytes()

    heard = model("heard.json")
    written = capfd.readouterr().err
    assert sum(module == "learners.erm" for module, _ in _lines(written)) == SETTINGS["erm"][1]
    assert "8 queries" in written
    monkeypatch.setattr(logging.getLogger("pipeline_lib"), "disabled", True)
    for name in ("learners.erm", "commands.train_model"):
        monkeypatch.setattr(logging.getLogger(f"pipeline_lib.{name}"), "disabled", True)
    assert model("unheard.json") == heard
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("surrogate", "l2", "radius", "ball"),
    [
        ("slam-ndcg", 0.1, None, "l2"),
        ("ranksvm", 0.1, None, "l2"),
        ("listnet", 0.0, 2.0, "l1"),
        ("listnet", 0.0, None, "l2"),
        ("smooth-dcg", 0.1, None, "l2"),
    ],
)
def test_a_long_fit_says_how_far_it_is(
    surrogate: str,
    l2: float,
    radius: float | None,
    ball: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    quiet = erm.fit(drawn(12, 5, levels=2), surrogate, l2=l2, radius=radius, ball=ball)
    assert not caplog.messages
    monkeypatch.setattr(progress, "SECONDS", 0.0)  # as if every step took so long
    caplog.set_level(logging.INFO)
    found = erm.fit(drawn(12, 5, levels=2), surrogate, l2=l2, radius=radius, ball=ball)
    assert found.objective == quiet.objective
    assert caplog.messages
    assert all(message.startswith(f"{surrogate}, l2 = {l2:g}: ") for message in caplog.messages)

"""The estimates of experiments follow their settings, from the default study to paper scale."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline_lib import planning, workloads

ROOT = Path(__file__).parents[1]
STUDIES = sorted(path.stem for path in (ROOT / "workflow" / "studies").glob("*.yaml"))

# Seconds on one core of four that other jobs kept busy; for jobs that differ (a loss each), the longest.
MEASURED = [
    ("default", "slam_losses", 17),
    ("default", "slam_perceptron", 15),
    ("default", "slam_risk", 9),
    ("default", "topk_regret_slice", 6),
    ("default", "topk_adversary", 17),
    ("default", "topk_figure", 11),
    ("default", "lists_constants", 17),
    ("default", "lists_grid", 54),
    ("default", "lists_sparse", 6),
    ("default", "lists_averages", 4),
    ("default", "twolayer_gaps_slice", 9),
    ("default", "twolayer_tradeoff_slice", 12),
    ("default", "cone_cones", 8),
    ("default", "cone_bases_fold", 7),
    ("default", "cone_stability_slice", 25),
    ("slam-paper-scale", "slam_losses", 84),
    ("slam-paper-scale", "slam_perceptron", 952),
    ("slam-paper-scale", "slam_risk", 67),
    ("lists-paper-scale", "lists_grid", 3453),
    ("lists-paper-scale", "lists_sparse", 81),
    ("lists-paper-scale", "lists_averages", 1458),
    ("lists-paper-scale", "lists_constants", 100),
    ("cone-paper-scale", "cone_stability_slice", 505),
    ("twolayer-paper-scale", "twolayer_gaps_slice", 41),
    ("twolayer-paper-scale", "twolayer_samplings", 105),
]


def experiments(study: str) -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "config.yaml").read_text())["experiments"]
    if study != "default":
        changed = yaml.safe_load((ROOT / "workflow" / "studies" / f"{study}.yaml").read_text())
        for paper, sections in changed.get("experiments", {}).items():
            for section, settings in sections.items():
                found[paper][section] |= settings
    return found


def estimate(study: str, rule: str) -> float:
    asked = experiments(study)
    wildcards = {"queries": str(max(asked["cone"]["stability"]["queries"]))}
    cells = 145_000.0  # letor-sim
    return planning.seconds(rule, cells, workloads.seconds(rule, asked, wildcards, cells))


@pytest.mark.parametrize(("study", "rule", "measured"), MEASURED)
def test_estimates_are_within_a_factor_of_about_three(study: str, rule: str, measured: float) -> None:
    assert abs(math.log(estimate(study, rule) / measured)) < math.log(3.5)


@pytest.mark.parametrize("study", ["default", *STUDIES])
def test_every_study_has_the_settings_that_estimates_need(study: str) -> None:
    for rule in workloads.WORKLOADS:
        assert math.isfinite(estimate(study, rule))
        assert workloads.megabytes(rule, experiments(study)) >= 0.0


def test_every_rule_with_an_estimate_exists() -> None:
    text = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    rules = set(re.findall(r"^rule (\w+):", text, re.MULTILINE))
    assert set(workloads.WORKLOADS) | set(planning.COSTS) <= rules


def test_the_largest_cell_decides_the_memory_of_the_grid() -> None:
    asked = experiments("default")
    less = workloads.megabytes("lists_grid", asked)
    asked["lists"]["grid"] |= {"queries": [4_000], "lengths": [1_000], "documents_at_most": 4_000_000}
    assert workloads.megabytes("lists_grid", asked) == pytest.approx(2_400)
    assert less < 20


def test_the_most_features_decide_the_memory_of_the_l1_class() -> None:
    # one sample and the reference sample, single and double precision: measured 1,760 MB with what a job takes anyway
    assert workloads.megabytes("lists_sparse", experiments("lists-paper-scale")) == pytest.approx(1_440)


def test_training_is_estimated_by_the_learner_s_settings() -> None:
    few, many = ({"passes": passes, "restarts": 2, "basis": [10]} for passes in (30, 300))
    assert workloads.training_seconds("cone", many, 1e6) == pytest.approx(
        10 * workloads.training_seconds("cone", few, 1e6)
    )

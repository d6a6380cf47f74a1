"""The enumerations of topk: what they find, and that a wrong statement would be found out."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline_lib.errors import ConfigurationError
from pipeline_lib.papers.topk.computations import exactness
from pipeline_lib.papers.topk.experiments.exactness import ExactnessSettings
from tests import readings
from tests.small_settings import SETTINGS

SMALL: dict[str, Any] = {**SETTINGS["topk"]["exactness"], "lengths": [3, 4], "repetitions": 2}


@pytest.fixture(scope="module")
def found() -> exactness.Results:
    return exactness.run(ExactnessSettings.parse(SMALL), 1)


def values(found: exactness.Results, claim: str, name: str) -> list[float]:
    return readings.values(claim, name, {"topk-biases": found.biases, "topk-identities": found.identities})


def test_the_correct_probabilities_leave_no_bias_and_the_printed_ones_do(found):
    assert max(values(found, "topk-lemma1", "largest_relative_bias")) < 1e-12
    assert max(values(found, "topk-estimators", "largest_relative_bias")) < 1e-12
    assert max(values(found, "topk-p-compact", "bias_corrected")) < 1e-12
    assert min(values(found, "topk-p-compact", "bias_as_printed")) > 0.01


def test_the_bias_is_zero_by_construction_where_everything_is_shown():
    # With k = m there is only one set: even the printed probability is right.
    asked = ExactnessSettings.parse({**SMALL, "lengths": [3], "shown": [3]})
    assert all(row["largest_relative_bias"] < 1e-12 for row in exactness.estimators(asked, 1))


def test_decompositions_of_lemmas_2_and_3(found):
    assert min(values(found, "topk-lemma2", "second_order_difference")) > 0.1
    assert max(values(found, "topk-lemma2", "third_order_difference")) < 1e-12
    assert min(values(found, "topk-lemma3", "third_order_difference")) > 1e-3


def test_the_minimum_of_kl(found):
    assert max(values(found, "topk-kl-min", "value_at_labels")) < 1e-12
    assert min(values(found, "topk-kl-min", "smallest_eigenvalue")) > 0.0


def test_printed_constants_fail_in_small_balls_only_and_valid_ones_nowhere(found):
    over = {(row["surrogate"], row["where"]) for row in found.moments if row["second_moment"] > row["printed"]}
    assert {where for _, where in over} == {"short lists, small ball"}
    assert {name for name, _ in over} == {"squared", "kl"}
    assert all(row["second_moment"] <= row["valid"] for row in found.moments)


@pytest.mark.parametrize(
    "wrong", [{"lengths": [7]}, {"lengths": [2]}, {"shown": [4]}, {"gammas": [1.0]}, {"repetitions": 0}, {"y_max": 1}]
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        ExactnessSettings.parse({**SMALL, **wrong})

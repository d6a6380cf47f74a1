"""Is the family-wise error judged that `compare` has, and beside Holm's correction as others define it?"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_lib.core.seeds import generator
from pipeline_lib.evaluation import compare
from pipeline_lib.experiment import Job
from pipeline_lib.papers.promises.compare import experiment
from tests import readings
from tests.papers.jobs import tables

SETTINGS = experiment.CompareSettings(runs=(2, 5, 20))


@pytest.fixture(scope="module")
def found() -> dict[str, list[dict[str, Any]]]:
    return tables(experiment.measure(Job(SETTINGS, 1)))


def test_few_draws_decide_too_few_families_and_what_is_planted_is_caught(found, tmp_path) -> None:
    assert readings.decided("promises-compare", found, SETTINGS.plain(), tmp_path) == ("inconclusive", [])


LARGEST = dict.fromkeys(("unadjusted", "unadjusted_low", "unadjusted_high"), 1.0)
"""What no error is above."""


@pytest.mark.parametrize("wrong", ["unadjusted", "best_named"])
def test_an_error_of_the_wrong_family_is_refuted(found, tmp_path, wrong: str) -> None:
    rows = [
        row | {f"error{end}": row[f"{wrong}{end}"] for end in ("", "_low", "_high")} | LARGEST
        for row in found["promises-family-wise"]
    ]
    judged = readings.judged("promises-compare", found | {"promises-family-wise": rows}, SETTINGS.plain(), tmp_path)
    assert judged.status == "refuted"


def test_p_values_are_those_of_compare() -> None:
    ones = generator(2, "ones").random((4, 12)) < np.array([[0.2], [0.9], [0.9], [0.5]])
    qrels = {f"q{k:02}": {"a": 1, "b": 0} for k in range(12)}
    runs = {
        str(k): {q: {"a" if x else "b": 1.0} for q, x in zip(qrels, one, strict=True)} for k, one in enumerate(ones)
    }
    stated = compare(runs, qrels, "RR")
    rng = np.random.default_rng(0)
    errors, tested = experiment._errors(1.0 * ones, np.arange(4) < 0, 1, rng)
    np.testing.assert_array_equal(tested.p_adjusted, stated.p_adjusted)
    assert errors[0] == stated.significant.any()


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_holms_correction_closes_bonferronis(p: list[float]) -> None:
    # The closed test: a pair is rejected if every set of pairs with it has a p-value of at most alpha / its size.
    p = np.array(p)
    expected = [
        all(
            any(p[k] * size <= experiment.ALPHA for k in chosen)
            for size in range(1, len(p) + 1)
            # the set of this size with j that is hardest to reject: j and the largest others
            for chosen in [[j, *sorted((k for k in range(len(p)) if k != j), key=lambda k: -p[k])[: size - 1]]]
        )
        for j in range(len(p))
    ]
    assert experiment.holm(p).tolist() == expected


def test_where_signs_are_a_fair_coin_the_error_is_the_largest_multiple_below_the_level(found) -> None:
    for row in found["promises-sign-patterns"]:
        assert row["error"] * row["patterns"] == np.floor(experiment.ALPHA * row["patterns"])

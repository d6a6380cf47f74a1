"""Certificates of runs, their differences, and the best of several."""

import math

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.evaluation import betting, certificates, certify

Run = dict[str, dict[str, float]]


def runs_of(n: int, seed: int = 0) -> tuple[dict[str, Run], dict[str, dict[str, int]]]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (n, 6))
    qrels = {f"q{q:03}": {f"d{k}": int(label) for k, label in enumerate(of)} for q, of in enumerate(labels)}

    def run(noise: float) -> Run:
        scores = labels + noise * rng.normal(size=labels.shape)
        return {f"q{q:03}": {f"d{k}": float(score) for k, score in enumerate(of)} for q, of in enumerate(scores)}

    return {"good": run(0.3), "fair": run(1.0), "poor": run(9.0)}, qrels


RUNS, QRELS = runs_of(80)


def test_one_run_has_the_limits_of_its_values() -> None:
    found = certify(RUNS["fair"], QRELS, seed=2)
    x = found.values.values[0]
    assert found.mean == x.mean()
    assert found.lower == betting.lower_limit(x, seed=2)
    assert (found.low[0], found.high[0]) == betting.interval(x, seed=2)
    assert found.hoeffding == pytest.approx(x.mean() - math.sqrt(math.log(20.0) / 160.0))
    assert found.hoeffding < found.lower < found.bootstrap < found.mean


def test_the_best_of_several_is_corrected_for_their_number() -> None:
    joint, alone = certify(RUNS, QRELS), certify({"good": RUNS["good"]}, QRELS)
    assert (joint.best, joint.chosen_from, alone.chosen_from) == (0, 3, 1)
    assert joint.lower[0] < alone.lower[0]
    assert joint.lower[0] == betting.lower_limit(joint.values.values[0], level=1 - 0.05 / 3)
    chosen = certify({"good": RUNS["good"]}, QRELS, chosen_from=3)
    assert (chosen.lower[0], chosen.low[0], chosen.hoeffding[0]) == (joint.lower[0], joint.low[0], joint.hoeffding[0])
    assert certify(RUNS, QRELS, chosen_from=2).chosen_from == 3


def test_differences_from_a_baseline_are_those_of_paired_values() -> None:
    found = certify(RUNS, QRELS, baseline="poor")
    values = found.values.values
    assert found.runs == ("good", "fair")
    np.testing.assert_allclose(found.mean, (values[:2] - values[2]).mean(axis=1))
    for row in range(2):
        half = (1.0 + values[row] - values[2]) / 2.0
        assert found.lower[row] == pytest.approx(2 * betting.lower_limit(half, level=0.975) - 1)
    assert found.lower[0] > 0.0
    assert "do not show" not in str(found)
    back = certify({name: RUNS[name] for name in ("good", "poor")}, QRELS, baseline="good")
    forth = certify({name: RUNS[name] for name in ("good", "poor")}, QRELS, baseline="poor")
    assert (back.low[0], back.high[0]) == pytest.approx((-forth.high[0], -forth.low[0]), abs=1e-4)
    assert "do not show that poor is better" in str(back)


def test_a_run_does_not_differ_from_itself() -> None:
    found = certify({"a": RUNS["fair"], "b": RUNS["fair"]}, QRELS, baseline="b")
    assert found.low[0] < found.lower[0] < found.mean[0] == 0.0 < found.high[0]


def test_the_order_of_queries_in_files_says_nothing() -> None:
    turned = {query: QRELS[query] for query in reversed(QRELS)}
    one, other = certify(RUNS, QRELS), certify(RUNS, turned)
    assert one.values.queries != other.values.queries
    for name in ("lower", "low", "high", "hoeffding", "worst", "bootstrap"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_ties_have_a_limit_for_the_worst_order() -> None:
    tied = {query: dict.fromkeys(documents, 1.0) for query, documents in QRELS.items()}
    found = certify({"tied": tied, "good": RUNS["good"]}, QRELS)
    assert found.worst[0] < found.lower[0] - 0.1
    assert found.worst[1] == found.lower[1]
    differences = certify({"tied": tied, "good": RUNS["good"]}, QRELS, baseline="tied")
    values = found.values
    expected = (1.0 + values.low[1] - values.high[0]) / 2.0
    assert differences.worst[0] == pytest.approx(2 * betting.lower_limit(expected) - 1)
    assert "worst order" in str(differences)
    assert "worst order" not in str(certify(RUNS["good"], QRELS))


def test_printed_limits_are_rounded_away_from_the_mean() -> None:
    assert certificates.rounded_down(0.12349) == "0.1234"
    assert certificates._ceiling(0.12341) == "0.1235"
    assert certificates.rounded_down(-0.12341) == "-0.1235"
    assert (certificates.rounded_down(0.0), certificates._ceiling(1.0), certificates.rounded_down(0.3)) == (
        "0.0000",
        "1.0000",
        "0.3000",
    )


@pytest.mark.parametrize("n", [1, 2])
def test_few_queries_have_wide_limits(n: int) -> None:
    runs, qrels = runs_of(n)
    found = certify(runs, qrels)
    assert np.all((found.low >= 0.0) & (found.lower < 0.5) & (found.high <= 1.0))
    assert bool(np.isnan(found.bootstrap).all()) == (n == 1)
    assert found.to_dict()["runs"][0]["bootstrap"] is None or n == 2
    assert len(found.to_pandas()) == 3
    assert str(found)


@pytest.mark.parametrize(
    ("given", "said"),
    [({"baseline": "goo"}, "did you mean 'good'"), ({"level": 1.0}, "level"), ({"chosen_from": 0}, "chosen_from")],
)
def test_what_is_wrong_is_said(given: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        certify(RUNS, QRELS, **given)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="found only good"):
        certify({"good": RUNS["good"]}, QRELS, baseline="good")

"""Does a comparison give the numbers of enumeration, of closed forms, and of other programs?"""

import itertools

import numpy as np
import pytest
from scipy import stats

from pipeline_lib import evaluation
from pipeline_lib.core.errors import DataError
from pipeline_lib.evaluation import comparison

QRELS = 10
"""The documents of a query: one is relevant, at a rank that gives the value of P@10 times ten."""


def made(values: np.ndarray) -> tuple[dict, dict]:
    """Runs and judgements with these values of P@10, which are multiples of a tenth."""
    tenths = np.round(10 * values).astype(int)
    n = values.shape[1]
    qrels = {f"q{q}": {f"d{k}": 1 for k in range(10)} for q in range(n)}
    runs = {
        f"r{row}": {
            f"q{q}": {f"{'d' if k < tenths[row, q] else 'x'}{k}": -float(k) for k in range(10)} for q in range(n)
        }
        for row in range(len(values))
    }
    return runs, qrels


def compared(values: np.ndarray, **options) -> evaluation.Comparison:
    found = evaluation.compare(*made(values), "P@10", **options)
    np.testing.assert_allclose(found.values.values, values)
    return found


def drawn(runs: int, queries: int, seed: int, shift: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shifts = shift * np.arange(runs)[:, None]
    return np.clip(np.round(rng.random((runs, queries)) * 10 + 10 * shifts), 0, 10) / 10


@pytest.mark.parametrize("n", [2, 5, 6, 9])
def test_few_queries_are_enumerated(n: int) -> None:
    values = drawn(2, n, seed=n, shift=0.2)
    d = values[0] - values[1]
    sums = [abs(np.dot(signs, d)) for signs in itertools.product((-1, 1), repeat=n)]
    expected = np.mean(np.array(sums) >= abs(d.sum()) - 1e-9)
    found = compared(values)
    assert found.p_value == found.p_adjusted == pytest.approx([expected])
    assert found.possible == (n >= 6)
    assert ("no two-sided test" in str(found)) == (n < 6)
    assert not (n < 6 and found.significant.any())


def test_p_values_are_those_of_scipy() -> None:
    values = drawn(4, 12, seed=1, shift=0.06)
    found = compared(values, correction="false-discovery")
    for (a, b), p in zip(found.pairs, found.p_value, strict=True):
        theirs = stats.permutation_test(
            (values[a], values[b]), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples",
            vectorized=True, n_resamples=np.inf,
        )  # fmt: skip
        assert p == pytest.approx(theirs.pvalue)
    np.testing.assert_allclose(found.p_adjusted, stats.false_discovery_control(found.p_value))


def test_step_up_is_that_of_scipy_with_ties_and_ones() -> None:
    for p in ([0.5], [1.0, 1.0, 0.04], [0.01, 0.04, 0.03, 0.04, 0.9, 1e-4]):
        np.testing.assert_allclose(comparison._step_up(np.array(p)), stats.false_discovery_control(p))


def test_means_and_intervals_have_their_closed_forms() -> None:
    values = drawn(3, 40, seed=2, shift=0.1)
    found = compared(values, baseline="r1", correction="false-discovery", level=0.9)
    assert found.names == [("r0", "r1"), ("r2", "r1")]
    for row in range(3):
        low, high = stats.t.interval(1 - 0.1 / 3, 39, values[row].mean(), stats.sem(values[row]))
        assert (found.mean_low[row], found.mean_high[row]) == pytest.approx((max(low, 0.0), min(high, 1.0)))
    level = 1 - 0.1 * max(found.significant.sum(), 1) / 2
    d = values[[0, 2]] - values[1]
    for pair in range(2):
        low, high = stats.t.interval(level, 39, d[pair].mean(), stats.sem(d[pair]))
        assert found.difference[pair] == pytest.approx(d[pair].mean())
        assert (found.low[pair], found.high[pair]) == pytest.approx((low, high))
        reach = stats.t.ppf((1 + level) / 2, 39) + stats.norm.ppf(0.8)
        assert found.detectable[pair] == pytest.approx(reach * stats.sem(d[pair]))
        upper = d[pair].std(ddof=1) * np.sqrt(39 / stats.chi2.ppf(0.2, 39))
        assert found.needed[pair] == np.ceil((reach * upper / d[pair].mean()) ** 2)


@pytest.mark.parametrize("correction", ["family-wise", "false-discovery"])
@pytest.mark.parametrize("queries", [5, 8, 30])
def test_intervals_and_p_values_tell_the_same(correction: str, queries: int) -> None:
    for seed in range(20):
        found = compared(drawn(4, queries, seed, shift=0.08), correction=correction, resamples=199)
        excludes = (found.low > 0.0) | (found.high < 0.0)
        assert not (excludes & ~found.significant).any()
        includes = (found.low < 0.0) & (found.high > 0.0)
        assert not (includes & found.significant).any()


def test_so_many_queries_as_needed_detect_the_difference() -> None:
    """The promise of 0.8 is kept by queries like the observed ones, drawn anew."""
    values = drawn(2, 60, seed=5, shift=0.12)
    found = compared(values)
    d = values[0] - values[1]
    n = int(found.needed[0])
    draws = np.random.default_rng(0).choice(d, size=(4000, n))
    t = draws.mean(axis=1) / (draws.std(axis=1, ddof=1) / np.sqrt(n))
    assert np.mean(np.abs(t) > stats.t.ppf(0.975, n - 1)) > 0.8 - 3 * np.sqrt(0.16 / 4000)


def test_the_number_of_needed_queries_is_large_enough_in_four_fifths_of_pilots() -> None:
    sd = np.random.default_rng(1).normal(0.0, 0.3, size=(2000, 40)).std(axis=1, ddof=1)
    needed = comparison._needed(2.8 * sd / np.sqrt(40), np.full(2000, 0.1), 40)
    assert abs(np.mean(needed >= (2.8 * 0.3 / 0.1) ** 2) - 0.8) < 4 * np.sqrt(0.16 / 2000)


def test_equal_runs_need_no_queries() -> None:
    values = np.repeat(drawn(1, 20, seed=3), 2, axis=0)
    found = compared(values)
    assert (found.difference[0], found.p_adjusted[0], found.needed[0]) == (0.0, 1.0, np.inf)
    assert np.isnan(found.detectable[0])
    assert "equal means" in str(found)
    assert found.to_dict()["comparisons"][0]["needed"] is None


def test_queries_that_differ_most_come_from_both_ends() -> None:
    values = np.array([[1.0, 0.5, 0.2, 0.3, 0.0, 0.9], [0.0, 0.5, 0.3, 0.1, 0.9, 0.8]])
    found = compared(values)
    assert [query for query, _, _ in found.queries(0, 2)] == ["q0", "q3", "q2", "q4"]
    assert [query for query, _, _ in found.queries(0, 9)] == ["q0", "q3", "q5", "q2", "q4"]


def test_the_family_is_what_was_named() -> None:
    values = drawn(5, 50, seed=4, shift=0.03)
    everything, named = compared(values), compared(values, baseline="r0")
    assert (len(everything.pairs), len(named.pairs)) == (10, 4)
    of_named = [everything.names.index(("r0", other)) for other, _ in named.names]
    np.testing.assert_allclose(named.p_value, everything.p_value[of_named])
    assert (named.p_adjusted <= everything.p_adjusted[of_named]).all()
    frame = everything.to_pandas()
    assert frame["p_adjusted"].tolist() == everything.p_adjusted.tolist()
    assert len(frame) == 10


def test_the_seed_decides_and_the_order_of_a_run_does_not() -> None:
    runs, qrels = made(drawn(2, 40, seed=6, shift=0.1))
    backwards = {name: dict(reversed(run.items())) for name, run in runs.items()}
    first, again, other = (
        evaluation.compare(of, qrels, "P@10", seed=seed).p_value[0]
        for of, seed in ((runs, 0), (backwards, 0), (runs, 1))
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"baseline": "r9"}, "baseline: .*'r9'; did you mean"),
        ({"resamples": 18}, "resamples: expected at least 19"),
        ({"level": 0.999, "resamples": 998}, "resamples: expected at least 999"),
        ({"correction": "bonferroni"}, "correction"),
    ],
)
def test_what_cannot_be_answered_is_refused(options: dict, said: str) -> None:
    with pytest.raises(DataError, match=said):
        compared(drawn(2, 20, seed=7), **options)


def test_a_single_run_or_query_is_refused() -> None:
    for shape in ((1, 5), (3, 1)):
        with pytest.raises(DataError, match="at least two runs and two queries"):
            compared(drawn(*shape, seed=8))


def test_too_few_patterns_for_a_false_discovery_rate_are_named() -> None:
    values = drawn(12, 40, seed=9)
    assert "more resamples" in str(compared(values, correction="false-discovery", resamples=99))
    assert "more resamples" not in str(compared(values, resamples=99))
    assert "more pairs" in str(compared(values, resamples=99))

"""Are the decisive numbers of `twolayer` those of the slowest obvious computation?

Every number is computed again in plain Python from the axes of its row, or from the documents that were drawn, by
loops, enumeration and exact fractions. Of the pipeline's code it uses what makes the tables and draws the documents.
"""

import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.twolayer.extremes import experiment as extremes
from pipeline_lib.papers.twolayer.extremes.distributions import Lists
from pipeline_lib.papers.twolayer.extremes.experiment import ExtremesSettings
from pipeline_lib.papers.twolayer.gaps import experiment as gaps
from pipeline_lib.papers.twolayer.statements import experiment as statements
from pipeline_lib.papers.twolayer.statements.experiment import StatementsSettings
from tests.papers.jobs import Given, tables
from tests.small_settings import small

Rows = list[dict[str, Any]]
SHARE = 0.2


@pytest.fixture(scope="module")
def exact() -> Rows:
    asked = ExtremesSettings.parse({"sizes": [10, 100], "deltas": [0.05, 1e-12], "share": SHARE})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(extremes, "SHORT_AND_LONG", Lists(((3, 6), (1, 30))))
        return tables(extremes.measure(Given(asked, 1)))["twolayer-extremes"]


@pytest.fixture(scope="module")
def stated() -> dict[str, Rows]:
    asked = StatementsSettings.parse({"draws": 200, "matrices": 2, "score_bounds": [0.01, 1.0], "c1": 1.5})
    return tables(statements.measure(Given(asked, 1)))


def binomial(n: int, p: Fraction) -> list[Fraction]:
    return [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def absolute_walk(k: int) -> float:
    """E |sum of k signs|, by the number of signs that are 1."""
    return sum(math.comb(k, ones) * abs(2 * ones - k) for ones in range(k + 1)) / 2**k


def mean_walk(k: int, p: Fraction) -> float:
    return sum(float(weight) * absolute_walk(open_) for open_, weight in enumerate(binomial(k, p)))


def averages(population: str, k: int) -> tuple[float, float]:
    """D(k) of the queries and of the documents."""
    half, pair, share = Fraction(1, 2), Fraction(9, 16), Fraction(1, 5)
    one = {p: 2 / k * mean_walk(k, p) for p in (half, pair, Fraction(1))}
    memory = float(share) + mean_walk(k, share) / k
    return {
        "coins of queries": (one[half], one[Fraction(1)]),
        "coins of documents": (one[pair], one[pair]),
        "memory of queries": (memory, one[Fraction(1)]),
        "memory of documents": (memory, memory),
    }[population]


def lengths(row: dict[str, Any]) -> list[int]:
    if row["longest"] == row["documents"]:
        return [row["documents"]] * row["queries"]
    if row["population"] == "coins of documents":
        return [row["documents"]] * (row["queries"] - 1) + [row["longest"]]
    return [row["documents"], row["longest"]] * (row["queries"] // 2)


def test_bounds_of_theorems_1_2_and_3(exact: Rows) -> None:
    cache: dict[tuple[str, int], tuple[float, float]] = {}
    for row in exact:
        m, n, delta = lengths(row), row["queries"], row["delta"]
        assert (len(m), sum(m)) == (n, row["total"])
        for k in {n, *(one // 2 for one in m)}:
            cache[row["population"], k] = cache.get((row["population"], k)) or averages(row["population"], k)
        of_queries = cache[row["population"], n][0]
        of_documents = sum(cache[row["population"], one // 2][1] for one in m) / n
        for confidence, names in ((4, ("bound",)), (2, ("query_bound", "document_bound"))):
            queries = of_queries + math.sqrt(2 * math.log(confidence / delta) / n)
            documents = of_documents + math.sqrt(sum(2 * math.log(confidence / delta) / (one * n**2) for one in m))
            expected = [queries + documents] if len(names) == 1 else [queries, documents]
            assert [row[name] for name in names] == pytest.approx(expected, rel=1e-9)
        for layer in ("query", "document"):
            terms = row[f"{layer}_bound_complexity"] + row[f"{layer}_bound_concentration"]
            assert terms == pytest.approx(row[f"{layer}_bound"])


def test_errors_that_are_exceeded_with_probability_delta(exact: Rows) -> None:
    for row in exact:
        m, n, delta = lengths(row), row["queries"], Fraction(row["delta"])
        of_queries, of_documents = 0.0, 0.0
        if row["population"].startswith("memory"):
            of_queries, of_documents = (SHARE, 0.0) if row["population"].endswith("queries") else (0.0, SHARE)
        elif row["population"] == "coins of queries":
            of_queries = upper(
                binomial(n, Fraction(1, 2)), [Fraction(1, 2) - Fraction(k, n) for k in range(n + 1)], delta
            )
        elif n == 1 or set(m) == {2}:
            # Pairs of one query, or one pair of every query.
            wrong = binomial(m[0], Fraction(3, 4)) if n == 1 else binomial(n, Fraction(9, 16))
            share = [Fraction(k * (k - 1), m[0] * (m[0] - 1)) if n == 1 else Fraction(k, n) for k in range(len(wrong))]
            of_documents = upper(wrong, [Fraction(9, 16) - one for one in share], delta)
        else:
            of_documents = upper(*several(m), delta)
        assert row["query_error"] == pytest.approx(max(0.0, of_queries), abs=1e-9)
        assert row["document_error"] == pytest.approx(max(0.0, of_documents), abs=1e-9)
        assert row["gap"] == pytest.approx(max(0.0, of_queries + of_documents), abs=1e-9)
        assert row["document_failure"] <= row["delta"]


def upper(weights: list[Fraction], errors: list[Fraction], delta: Fraction) -> float:
    """The least error that is exceeded with probability at most delta."""
    left = Fraction(0)
    for error, weight in sorted(zip(errors, weights, strict=True), reverse=True):
        left += weight
        if left > delta:
            return float(error)
    return float(min(errors))


def several(m: list[int]) -> tuple[list[Fraction], list[Fraction]]:
    """Probabilities and errors of the coins of documents, list after list."""
    found = {Fraction(0): Fraction(1)}
    for one in m:
        following: dict[Fraction, Fraction] = defaultdict(Fraction)
        for k, weight in enumerate(binomial(one, Fraction(3, 4))):
            for before, probability in found.items():
                following[before + Fraction(k * (k - 1), one * (one - 1) * len(m))] += probability * weight
        found = following
    return list(found.values()), [Fraction(9, 16) - share for share in found]


def test_the_bound_for_independent_documents(exact: Rows) -> None:
    for row in exact:
        if row["document_level"] is not None and row["total"] <= 200:
            concentration = math.sqrt(2 * math.log(2 / row["delta"]) / row["total"])
            expected = averages(row["population"], row["total"] // 2)[0] + concentration
            assert row["document_level"] == pytest.approx(expected)


def test_equation_6_by_loops(stated: dict[str, Rows]) -> None:
    [row] = [row for row in stated["twolayer-identities"] if row["statement"] == "equation 6" and row["m"] == 5]
    rng, sides = generator(1, "twolayer-statements", "equation 6", 5), []
    for _ in range(2):
        losses = rng.exponential(size=(5, 5))
        pairs = [losses[j, k] for j in range(5) for k in range(5) if j != k]
        halves = [(losses[p[0], p[2]] + losses[p[1], p[3]]) / 2 for p in itertools.permutations(range(5))]
        sides.append((sum(pairs) / 20, sum(halves) / 120))
    found = min(sides, key=lambda both: abs(both[0] - row["over_pairs"]))
    assert (row["over_pairs"], row["over_permutations"]) == pytest.approx(found)
    assert row["difference"] < 1e-12


def test_averages_of_the_losses(stated: dict[str, Rows]) -> None:
    phi = {"hinge": lambda t: max(0.0, 1 + t), "logistic": lambda t: math.log1p(math.exp(t)), "exponential": math.exp}
    slope = {"hinge": lambda t: 1.0, "logistic": lambda t: 1 / (1 + math.exp(-t)), "exponential": math.exp}
    for row in stated["twolayer-remarks"]:
        if row["case"] != "two opposite pairs":
            continue
        f, b = phi[row["loss"]], row["score_bound"]
        grid = [2 * b * i / 1000 for i in range(-1000, 1001)]
        signs = list(itertools.product((-1, 1), repeat=2))
        suprema = [max(abs(s * f(-w) + t * f(w)) for w in grid) for s, t in signs]
        assert row["average"] == pytest.approx(sum(suprema) / 4, rel=1e-3)
        linear = sum(2 * b * abs(s - t) for s, t in signs) / 4
        assert row["contracted"] == pytest.approx(2 * slope[row["loss"]](2 * b) * linear + f(0.0))
        assert row["printed"] == pytest.approx(b * slope[row["loss"]](b) / math.sqrt(2))


def test_short_lists_in_the_bound(stated: dict[str, Rows]) -> None:
    for row in stated["twolayer-short-lists"]:
        n, v, delta = row["queries"], row["vc_dimension"], row["delta"]
        assert row["short"] == {"one query": 1, "half of the queries": n // 2, "all queries": n}[row["which"]]
        if n == 100:
            m = [2] * row["short"] + [n] * (n - row["short"])
            complexity = sum(math.sqrt(v / (one // 2)) for one in m) / n
            concentration = math.sqrt(sum(2 * math.log(4 / delta) / (one * n**2) for one in m))
            queries = row["c1"] * math.sqrt(v / n) + math.sqrt(2 * math.log(4 / delta) / n)
            assert row["bound"] == pytest.approx(queries + row["c1"] * complexity + concentration)


def test_limits_and_bounds_of_the_gaps() -> None:
    asked = small("twolayer", "gaps")
    slices = list(gaps.measure(Given(asked, 1, {"slice": "0"})))
    found = tables(gaps.join(Given(asked, 1, earlier=slices)))
    for row in found["twolayer-gaps"]:
        if row["loss"] == "zero-one":
            n, m, v = row["queries"], row["documents"], 4
            d = {
                k: min(2.0, 2 * math.sqrt(2 * math.log(2 * sum(math.comb(k, i) for i in range(v + 1))) / k))
                for k in (n, m // 2)
            }
            deviation = 2 * math.log(4 / asked.delta)
            expected = d[n] + math.sqrt(deviation / n) + d[m // 2] + math.sqrt(deviation / (n * m))
            assert row["bound"] == pytest.approx(expected)
    for row in found["twolayer-remaining"]:
        along_n = row["growing"] == "queries"
        places = [(n, 2) for n in (4, 8, 16, 32)] if along_n else [(4, m) for m in (2, 4, 8, 16)]
        means = []
        for n, m in places:
            cell = [one for one in slices if (one.loss, one.queries, one.documents) == (row["loss"], n, m)]
            centred = [one.expected - one.empirical - one.best_expected + one.best_empirical for one in cell]
            means.append(sum(centred) / len(centred))
        x = [place[0 if along_n else 1] for place in places]
        design = [[1.0, 1 / one, 1 / one**2] for one in x]
        assert row["limit"] == pytest.approx(np.linalg.lstsq(np.array(design), np.array(means))[0][0] / means[0])
        assert row["gap"] == pytest.approx(means[-1] / means[0])

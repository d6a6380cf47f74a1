"""Are the exact numbers of `lists` those of the slowest obvious computation?

Every number is computed again in plain Python from the axes of its row, by loops, enumeration and Riemann sums, with
no code of the pipeline but that which makes the tables.
"""

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.exact import experiment as exact
from pipeline_lib.papers.lists.exact.opposites import Opposites
from tests.papers.jobs import tables as tables_of
from tests.papers.lists.plainly import LOSSES, closed_form, listnet, ranksvm, ranksvm_sum
from tests.small_settings import small

Rows = list[dict[str, Any]]
CHANGED = {"queries": [100, 10_000, 10**12], "lengths": [2, 4, 10], "features": [3, 10, 100], "directions": 4}
CHANGED |= {"sparse_queries": [10**10], "even_lengths": [2, 6], "rounds": [2, 3, 20], "batches": [60, 400]}
SETTINGS = small("lists", "exact", **CHANGED, packing_dimensions=[1, 2, 3])
DELTA = SETTINGS.delta


@pytest.fixture(scope="module")
def tables() -> dict[str, Rows]:
    found = tables_of(exact.measure(Job(SETTINGS, 1)))
    return {name.removeprefix("lists-"): rows for name, rows in found.items()}


def halves(loss: Callable[[list[float], list[int]], float], t: float, first: bool, m: int, y_max: int) -> float:
    """The loss of the scores t and -t of the two halves of a list."""
    upper = [y_max] * (m // 2) + [0] * (m // 2)
    return loss([t] * (m // 2) + [-t] * (m // 2), upper if first else upper[::-1])


@pytest.mark.parametrize(
    ("name", "m", "y_max", "options"),
    [
        ("ranksvm", 4, 1, {"normalisation": "mean"}),
        ("listnet", 6, 4, {}),
        ("smooth-dcg", 4, 4, {"sign": "regret"}),
        ("squared", 4, 2, {}),
    ],
)
def test_losses_of_opposite_halves(name: str, m: int, y_max: int, options: dict[str, Any]) -> None:
    population = Opposites(name, 1, 1.0, y_max, m, options)
    for t in (-0.75, 0.0, 0.25):
        agree, oppose = (halves(LOSSES[name], t, first, m, y_max) for first in (True, False))
        assert population.even(t) - population.odd(t) == pytest.approx(agree, abs=1e-12)
        assert population.even(t) + population.odd(t) == pytest.approx(oppose, abs=1e-12)


def test_the_largest_gap_of_a_sample_is_that_of_a_search_over_the_ball() -> None:
    # Theorems 9 and 17: L - Lhat, query by query, for rankers on a grid.
    rng = random.Random(1)
    for name, radius, y_max in (("ranksvm", 0.5, 1), ("smooth-dcg", 3.0, 1)):
        options = {"normalisation": "mean"} if name == "ranksvm" else {"sign": "regret"}
        queries = [(rng.randrange(2), rng.random() < 0.5) for _ in range(40)]
        c = [sum((1 if up else -1) for j, up in queries if j == kind) / 40 for kind in range(2)]
        low, high = Opposites(name, 2, radius, y_max, 2, options).suprema(np.array([c]))
        largest = 0.0
        for step in range(720):
            for share in (0.5, 0.9, 1.0):
                w = [radius * share * f(math.pi * step / 360) for f in (math.cos, math.sin)]
                at = {(j, up): halves(LOSSES[name], w[j], up, 2, y_max) for j in range(2) for up in (True, False)}
                largest = max(largest, sum(at.values()) / 4 - sum(at[query] for query in queries) / 40)
        assert largest <= high[0] + 1e-9
        assert largest >= low[0] * (1 - 1e-4)


def theorem_9(n: float, m: float, scale: float, B: float) -> float:
    return 2 * closed_form(n, m, scale, B) + 3 * B * math.sqrt(math.log(2 / DELTA) / (2 * n))


def test_theorems_9_and_17_and_appendix_m1(tables: dict[str, Rows]) -> None:
    # G, H, B at scores up to W: B is the largest loss above the smallest.
    of_loss = {"ranksvm": (2.0, None), "listnet": (2.0, 2.0), "smooth-dcg": (2.0, 0.5)}
    for row in (row for row in tables["uniform"] if row["ball"] == "l2"):
        n, m, W = row["n"], row["m"], row["radius"]
        G, H = of_loss[row["loss"]]
        B = {"ranksvm": 1 + 2 * W, "listnet": 4 + 2 * W, "smooth-dcg": 1.0}[row["loss"]]
        assert row["bound"] == pytest.approx(theorem_9(n, m, G * W, B))
        assert row["one_ranker"] == pytest.approx(B * math.sqrt(-math.log(DELTA) / (2 * n)))
        if row["excess_bound"] is not None:
            assert row["excess_bound"] == pytest.approx(row["bound"] + row["one_ranker"])
        if H is None:
            continue
        C = 5 * math.sqrt(3) * W * math.sqrt(H * math.log2(3 * m * n) / n)
        C = min(C, 3 * math.sqrt(B) / math.e)
        r_star = (4 * C * math.log(3 * math.sqrt(B) / C)) ** 2
        r_0 = B * (-math.log(DELTA) + math.log(math.log(n))) / n
        assert row["fast_terms"] == pytest.approx(45 * r_star + 20 * r_0)
        loss, t, y_max = LOSSES[row["loss"]], W / math.sqrt(row["d"]), 4 if row["loss"] == "listnet" else 1
        risk = sum(halves(loss, t, first, 2, y_max) for first in (True, False)) / 2
        empirical = max(0.0, risk - row["gap"])
        low, high = empirical, empirical + 1e6
        for _ in range(200):  # the largest L with L <= Lhat + 45 r* + sqrt(8 r* L) + sqrt(4 r0 L) + 20 r0
            L = (low + high) / 2
            right = empirical + 45 * r_star + math.sqrt(8 * r_star * L) + math.sqrt(4 * r_0 * L) + 20 * r_0
            low, high = (L, high) if right >= L else (low, L)
        assert row["bound_optimistic"] == pytest.approx(low - empirical, rel=1e-6, abs=1e-9)
        if row["optimal_risk"] is not None:
            d_0, least = 45 * r_star + 20 * r_0, halves(listnet, 0.0, True, 2, 4)
            assert row["optimal_risk"] == pytest.approx(least)
            assert row["printed_m1"] == pytest.approx(0.5 * math.sqrt(d_0 * least) + 2 * d_0)
            assert row["corrected_m1"] == pytest.approx(least + 1.1 * math.sqrt(d_0 * least) + 2.3 * d_0)


def test_the_rate_of_the_largest_gap(tables: dict[str, Rows]) -> None:
    # E |2 K - n| by de Moivre; Stirling's formula makes it sqrt(2 n / pi).
    def mean(n: int) -> float:
        return sum(abs(2 * k - n) * math.comb(n, k) for k in range(n + 1)) / 2**n / n

    slope = math.log(mean(400) / mean(100)) / math.log(4)
    of_n = {row["case"]: row["slope"] for row in tables["growth"] if row["axis"] == "n"}
    # Without noise the squared loss has the excess risk (w - 1)^2 with 1 - w of order 1/n.
    assert of_n.pop("L* = 0") == pytest.approx(-2.0, abs=0.01)
    assert list(of_n.values()) == pytest.approx([slope] * len(of_n), abs=0.02)
    rows = [row for row in tables["uniform"] if row["case"] == "ranksvm, one direction" and row["labels"] == "random"]
    exact_quantile = next(
        k for k in range(101) if sum(math.comb(100, i) for i in range(101) if abs(2 * i - 100) > k) / 2**100 <= DELTA
    )
    assert rows[0]["gap"] == pytest.approx(exact_quantile / 100, abs=0.021)


def test_powers_of_m(tables: dict[str, Rows]) -> None:
    losses = {**LOSSES, "ranksvm-sum": ranksvm_sum}
    for row in (row for row in tables["growth"] if row["axis"] == "m"):
        loss = losses[row["loss"]]
        gaps = [abs(halves(loss, 0.5, True, m, 1) - halves(loss, 0.5, False, m, 1)) for m in (2, 10)]
        assert row["slope"] == pytest.approx(math.log(gaps[1] / gaps[0]) / math.log(5), abs=1e-6)


def test_online_gradient_descent(tables: dict[str, Rows]) -> None:
    # Theorem 5 and equation 8, without noise: plain loops on one weight.
    for row in tables["expectations"]:
        n, m, W = row["n"], row["m"], row["radius"]
        if row["case"] not in ("no noise", "L* > 0", "L* = 0") or row["statement"] == "rerm":
            continue
        if row["statement"] == "ogd":
            step, slope, label, optimal = W / (2 * math.sqrt(2 * n)), lambda w: -2.0, 0, 1 - 2 * W
            bound = 2 * W * math.sqrt(2 / n)
        else:
            label = 4 if row["case"] == "L* > 0" else 1
            H, optimal = 2 * m, m * (label - W) ** 2
            step = W / (4 * H * W + 2 * math.sqrt(4 * H**2 * W**2 + 2 * H * optimal * n))
            bound = 2 * math.sqrt(2 * H * W**2 * optimal / n) + 8 * H * W**2 / n
            slope = lambda w, m=m, label=label: 2 * m * (w - label)  # noqa: E731
        w = total = 0.0
        for _ in range(n):
            total += w
            w = max(-W, min(W, w - step * slope(w)))
        average = total / n
        risk = 1 - 2 * average if row["statement"] == "ogd" else m * (label - average) ** 2
        assert row["excess"] == pytest.approx(risk - optimal, abs=1e-9)
        assert row["bound"] == pytest.approx(bound)


def test_regularised_minimisers(tables: dict[str, Rows]) -> None:
    # Theorem 6: the minimiser for every number of positive queries, weighted by its probability.
    for row in (row for row in tables["expectations"] if row["statement"] == "rerm"):
        n, W = row["n"], row["radius"]
        m, far = row["m"], row["loss"] == "squared"
        mean = min(1.0, (2.0 if row["case"] == "noise" else math.sqrt(n)) / math.sqrt(n))
        # The slope of the linear part, its constant G, and the curvature: 8 m and 2 m for labels 4.
        slope, G, curvature = (8 * m, 2 * m * (4 + W), 2 * m) if far else (2, 2, 0)
        l2 = math.sqrt(4 * G**2 / n / (W**2 / 2 + 4 * W**2 / n))
        p, expected = (1 + mean) / 2, 0.0

        def risk(w: float, slope: float = slope, curvature: float = curvature, mean: float = mean) -> float:
            return curvature / 2 * w**2 - slope * mean * w

        for k in range(n + 1):
            w = max(-W, min(W, slope * (2 * k / n - 1) / (l2 + curvature)))
            expected += math.comb(n, k) * p**k * (1 - p) ** (n - k) * risk(w)
        best = min(W, slope * mean / curvature) if far else W
        assert row["excess"] == pytest.approx(expected - risk(best), abs=1e-9)
        assert row["bound"] == pytest.approx(2 * G * W * (8 / n + math.sqrt(2 / n)))


def least_distance(losses: list[list[float]]) -> float:
    """Of two rankers, in the maximum over queries; infinite for a single one."""
    pairs = itertools.combinations(losses, 2)
    return min((max(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in pairs), default=math.inf)


def test_packings_by_enumeration(tables: dict[str, Rows]) -> None:
    # Propositions 7 and 10: the points themselves, the losses of every query, and all distances.
    for row in tables["packings"]:
        if row["points"] == "unit vectors":
            continue
        d, W, ball = row["d"], 0.5, row["class"]
        if row["points"] == "signs":
            points = [[W / math.sqrt(d) * sign for sign in signs] for signs in itertools.product((-1, 1), repeat=d)]
        else:
            k = int(row["points"].split()[-1])
            power, unit = (2, W / math.sqrt(k)) if ball == "l2" else (1, W / k)
            grid = itertools.product(range(-k, k + 1), repeat=d)
            points = [[unit * z for z in zs] for zs in grid if sum(abs(z) ** power for z in zs) <= k]
        assert row["log2_packing"] == pytest.approx(math.log2(len(points)))
        losses = [[ranksvm([w, -w], [1, 0]) for w in point] for point in points]
        assert least_distance(losses) > 2 * row["eps"]
        scale, cells = 2 * W, 1
        if ball == "l1":
            cells, scale = math.ceil(8 * scale / row["eps"]), scale * math.sqrt(288 * (2 + math.log(d)))
        covering = math.ceil((scale / row["eps"]) ** 2) * math.log2(2 * cells * 2 * d + 1)
        assert row["log2_covering_bound"] == pytest.approx(covering)


def test_packings_of_long_lists_by_enumeration(tables: dict[str, Rows]) -> None:
    rows = [row for row in tables["packings"] if row["points"] == "unit vectors"]
    assert min(row["n"] for row in rows) == 4
    for row in rows:
        d, n, m = row["d"], row["n"], row["m"]
        assert row["log2_packing"] == math.log2(d) == n
        covering = math.ceil(1 / row["eps"] ** 2) * math.log2(2 * m * n + 1)
        assert row["log2_covering_bound"] == pytest.approx(covering)
        if n > 4:
            continue
        lists = [[j for j in range(d) if j >> digit & 1] for digit in range(n)]
        assert {len(documents) for documents in lists} == {m}
        losses = [[max(0.0, *(float(j == i) for j in documents)) for documents in lists] for i in range(d)]
        assert least_distance(losses) > 2 * row["eps"]


def test_theorem_12(tables: dict[str, Rows]) -> None:
    for row in (row for row in tables["uniform"] if row["ball"] == "l1"):
        n, d, B = row["n"], row["d"], 2.0
        scale = math.sqrt(288 * (2 + math.log(d)))
        eps = np.geomspace(1e-6, B, 200_001)
        entropy = np.ceil((scale / eps) ** 2) * np.log2(2 * np.maximum(1, np.ceil(8 / eps)) * 2 * n + 1)
        steps = np.diff(eps) * 10 * np.sqrt(entropy[1:] / n)
        beyond = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
        average = min(4 * B, float((4 * eps + beyond).min()))
        assert row["bound"] == pytest.approx(2 * average + 3 * B * math.sqrt(math.log(2 / DELTA) / (2 * n)), rel=2e-3)
        if row["labels"] == "random":
            # P(all |Z_j| <= q) = (1 - delta): the law of large samples.
            q = row["gap"] * math.sqrt(n)
            assert math.erf(q / math.sqrt(2)) ** d == pytest.approx(1 - DELTA, abs=0.07)
        elif row["labels"] == "clear":
            # mu = .8: the minimiser is the best ranker in every sample; the opposite one would lose 4 W mu.
            assert (row["excess"], row["largest_excess"]) == (0.0, pytest.approx(1.6))
        else:
            # The minimiser follows the first feature, or loses 2 W mu; z standard normal, for large n.
            mu = math.sqrt(math.log(d) / n)
            assert row["excess"] in (0.0, pytest.approx(mu))


def sentences(tables: dict[str, Rows], claim: str) -> dict[tuple[str, int, int], dict[str, float]]:
    found: dict[tuple[str, int, int], dict[str, float]] = {}
    for row in (row for row in tables["sentences"] if row["claim"] == claim):
        found.setdefault((row["case"], row["m"], row["n"]), {})[row["statistic"]] = row["value"]
    return found


def test_sentences(tables: dict[str, Rows]) -> None:
    [two] = [values for (case, *_), values in sentences(tables, "lists-appendix-c").items() if case == "two documents"]
    # s = (0, 1), y = (1, 0): the hinge is 2, its slope 1.
    assert two["error_as_printed"] == pytest.approx(1.0)
    for (case, *_), values in sentences(tables, "lists-smoothdcg-sign").items():
        gain = 2 ** int(case.split()[-1]) - 1
        assert values == pytest.approx({"dcg_as_printed": 0.1 * gain, "dcg_regret": 0.9 * gain, "dcg_random": gain / 2})
    for (case, m, _), values in sentences(tables, "lists-footnote3").items():
        S = float(case.split()[-1])
        assert values["largest_loss"] == pytest.approx(math.log(math.exp(-S) + (m - 1) * math.exp(S)) + S, rel=1e-9)
        assert values["four_w_r"] == 4 * S
        assert values["log_m_and_two_w_r"] == pytest.approx(math.log(m) + 2 * S)
    for (case, m, n), values in sentences(tables, "lists-tighter").items():
        G, B = (2.0, 6.0) if case == "listnet" else (30.0, 15.0)
        assert values["theorem_9"] == pytest.approx(theorem_9(n, m, G, B))
        assert values["chapelle_wu"] == pytest.approx(
            3 * G * math.sqrt(m / n) + B * math.sqrt(8 * -math.log(DELTA) / n)
        )

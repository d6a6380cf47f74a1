"""The decisive numbers of the claims of topk, computed a second time by the plainest implementation of each formula.

Sums run over all m! rankings, label vectors or rounds, one after the other; nothing of the pipeline is used but the
numbers that are compared, and the random inputs that they were computed from.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pipeline_lib.papers.topk.computations import adversary, exactness, figure, identities, moments, regret
from pipeline_lib.papers.topk.experiments.adversary import AdversarySettings
from pipeline_lib.papers.topk.experiments.exactness import ExactnessSettings
from pipeline_lib.papers.topk.experiments.figure import FigureSettings
from pipeline_lib.papers.topk.experiments.regret import RegretSettings
from pipeline_lib.ranking_data import RankingData
from tests.small_settings import SETTINGS

Vector = list[Any]
ASKED = ExactnessSettings.parse({**SETTINGS["topk"]["exactness"], "lengths": [3, 4]})


def by_scores(s: Sequence[float]) -> tuple[int, ...]:
    return tuple(sorted(range(len(s)), key=lambda i: (-s[i], i)))


def rankings(s: Sequence[float], gamma: Any) -> list[tuple[tuple[int, ...], Any]]:
    """Every ranking with the probability that Algorithm 1 shows it."""
    m, best = len(s), by_scores(s)
    return [(pi, (1 - gamma) * (pi == best) + gamma / math.factorial(m)) for pi in itertools.permutations(range(m))]


def beginning(first: tuple[int, ...], among: list[tuple[tuple[int, ...], Any]]) -> Any:
    return sum(chance for pi, chance in among if pi[: len(first)] == first)


# Lemma 1, section 4.2


@pytest.mark.parametrize(("m", "k"), [(3, 1), (3, 2), (4, 2), (4, 3)])
def test_lemma_1_in_rational_numbers(m: int, k: int) -> None:
    h = {
        i: (sum(place * (j + 1) for place, j in enumerate(i, 1)) ** 2) % 17 for i in itertools.permutations(range(m), k)
    }
    shown = rankings([0.3 * i * (-1) ** i for i in range(m)], Fraction(1, 5))
    p = {i: beginning(i, shown) for i in h}
    mean = Fraction(0)
    for pi, chance in shown:
        orders = list(itertools.permutations(pi[:k]))
        mean += chance * sum(h[i] for i in orders) / sum(p[i] for i in orders)
    assert mean == sum(h.values())


def test_probabilities_of_what_is_shown_first() -> None:
    for row in exactness.probabilities(ASKED, 1):
        m, gamma = row["m"], Fraction(row["gamma"]).limit_denominator(1000)
        places = [int(word) - 1 for word in row["shown"].replace(",", "").split() if word.isdigit()]
        among = rankings([-float(i) for i in range(m)], gamma)
        orders = [tuple(places)] if row["in_order"] else list(itertools.permutations(places))
        expected = sum(beginning(order, among) for order in orders)
        assert row["probability"] == pytest.approx(float(expected), rel=1e-12)
        printed = 1 - gamma + (gamma / m if len(places) == 1 else 2 * gamma / (m * (m - 1)))
        assert (printed == expected) == (row["shown"] in ("rank 1", "ranks 1 and 2, in any order"))


# Section 4.1, Lemma 5


def gradient(name: str, s: Sequence[float], y: Sequence[int]) -> Vector:
    if name == "squared":
        return [2 * (a - b) for a, b in zip(s, y, strict=True)]
    if name == "kl":
        return [math.exp(a) - math.exp(b) for a, b in zip(s, y, strict=True)]
    if name == "listnet":
        top, bottom = [math.exp(b) for b in y], [math.exp(a) for a in s]
        return [q / sum(bottom) - p / sum(top) for p, q in zip(top, bottom, strict=True)]
    total = [0.0] * len(s)
    for i, j in itertools.permutations(range(len(s)), 2):
        for document, slope in zip((j, i), pair(s, y, i, j), strict=True):
            total[document] += slope
    return total


def pair(s: Sequence[float], y: Sequence[int], i: int, j: int) -> tuple[float, float]:
    """h_{s,i,j}: what is added at j and at i."""
    open_ = float(y[i] > y[j] and 1 + s[j] > s[i])
    return open_, -open_


def estimated(name: str, s: Sequence[float], y: Sequence[int], pi: tuple[int, ...], p: Callable[..., float]) -> Vector:
    """The estimators as section 4.1 prints them, from the first label or the first two."""
    a, b = pi[:2]
    z = [0.0] * len(s)
    if name == "squared":
        z = [2 * score for score in s]
        z[a] -= 2 * y[a] / p(a)
    elif name == "kl":
        z[a] = (math.exp(s[a]) - math.exp(y[a])) / p(a)
    else:
        for i, j in ((a, b), (b, a)):
            for document, slope in zip((j, i), pair(s, y, i, j), strict=True):
                z[document] += slope / (p(a, b) + p(b, a))
    return z


KINDS = ("correct", "as-printed", "exchanged")


@pytest.mark.parametrize(
    ("name", "k", "kind"),
    [
        *itertools.product(["squared", "kl"], [1], KINDS),
        *itertools.product(["ranksvm"], [2], (*KINDS, "literal")),
    ],
)
def test_biases_of_the_estimators(name: str, k: int, kind: str) -> None:
    m, gamma = 4, 0.2
    asked = ExactnessSettings.parse({**SETTINGS["topk"]["exactness"], "lengths": [m], "shown": [k]})
    found = [row for row in exactness.estimators(asked, 3) if (row["surrogate"], row["probabilities"]) == (name, kind)]
    [(scores, y)] = identities.lists(asked, 3, name, k, m)
    s, labels = scores.tolist(), y.tolist()
    among = rankings(s, gamma)
    other = rankings(s, 1 - gamma)

    def p(*first: int) -> float:
        if kind in ("correct", "exchanged"):
            return beginning(first, among if kind == "correct" else other)
        printed = 1 - gamma + (gamma / m if len(first) == 1 else 2 * gamma / (m * (m - 1)))
        return printed / (2 if kind == "as-printed" and len(first) == 2 else 1)

    mean = [0.0] * m
    for pi, chance in among:
        mean = [total + chance * z for total, z in zip(mean, estimated(name, s, labels, pi, p), strict=True)]
    truth = gradient(name, s, labels)
    bias = max(abs(a - b) for a, b in zip(mean, truth, strict=True)) / max(1.0, *map(abs, truth))
    assert found[0]["largest_relative_bias"] == pytest.approx(bias, abs=1e-12)
    assert (bias < 1e-12) == (kind == "correct")


@pytest.mark.parametrize(
    ("name", "m"), [("squared", 2), ("squared", 4), ("kl", 2), ("kl", 4), ("ranksvm", 3), ("ranksvm", 4)]
)
def test_second_moments_in_the_worst_case(name: str, m: int) -> None:
    gamma = moments.EXPLORATION
    for row in moments._in_the_worst_case(name):
        if row["m"] != m:
            continue
        U = row["radius"]
        x = [-1.0 if name == "ranksvm" and i < (m + 1) // 2 else 1.0 for i in range(m)]
        y = list(range(m)) if name == "ranksvm" else [4] * m
        s = [-U * one for one in x]
        among = rankings(s, gamma)
        moment = 0.0
        for pi, chance in among:
            z = estimated(name, s, y, pi, lambda *first, among=among: beginning(first, among))
            moment += chance * sum(one * slope for one, slope in zip(x, z, strict=True)) ** 2
        assert row["second_moment"] == pytest.approx(moment, rel=1e-9)
        printed = {"squared": m**4 * U**2 * 16, "kl": m**2 * math.exp(2 * U), "ranksvm": m**4}[name]
        valid = {
            "squared": 4 * m**2 * (m * U + 4) ** 2,
            "kl": m**2 * math.exp(2 * max(U, 4)),
            "ranksvm": m**2 * (m - 1) ** 2,
        }[name]
        assert (row["printed"], row["valid"]) == pytest.approx((printed / gamma, valid / gamma))
        assert moment <= valid / gamma


# Lemmas 2 to 4, the minimum of KL


def beyond(function: Callable[[Sequence[int]], Vector], m: int, y_max: int, k: int) -> float:
    """The largest part of a function that takes more than k labels, by inclusion and exclusion."""
    largest = 0.0
    for y in itertools.product(range(y_max + 1), repeat=m):
        held = [i for i in range(m) if y[i]]
        if len(held) <= k:
            continue
        part = [0.0] * m
        for size in range(len(held) + 1):
            for kept in itertools.combinations(held, size):
                value = function([y[i] if i in kept else 0 for i in range(m)])
                part = [total + (-1) ** (len(held) - size) * one for total, one in zip(part, value, strict=True)]
        largest = max(largest, *map(abs, part))
    return largest


def test_parts_of_gradients_that_take_several_labels() -> None:
    compared = 0
    for row in identities.decompositions():
        name, m, y_max, k = row["surrogate"], row["m"], row["y_max"], row["labels"]
        if m * y_max <= 4:
            spread = [0.9 - 1.8 * i / (m - 1) for i in range(m)]
            s = spread if row["scores"] == "spread" else [0.0] * m
            found = beyond(lambda y, name=name, s=s: gradient(name, s, y), m, y_max, k)  # type: ignore[misc]
            assert row["beyond"] == pytest.approx(found, abs=1e-12)
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_binary_labels_of_all_but_one_document_are_enough_in_rational_numbers(m: int) -> None:
    # With any base b in place of e: b^{y_i} / sum_j b^{y_j} has no part that takes all m labels.
    for base in (Fraction(2), Fraction(5, 3)):
        total = Fraction(0)
        for y in itertools.product((0, 1), repeat=m):
            total += (-1) ** (m - sum(y)) * base ** y[0] / sum(base**label for label in y)
        assert total == 0


def test_the_minimum_of_kl() -> None:
    rows = {(row["case"], row["statistic"]): row["value"] for row in identities.kl_minimum(ASKED, 2)}
    for m in ASKED.lengths:
        values, eigenvalues, at_gains = [], [], []
        for drawn, labels in identities.lists(ASKED, 2, "kl-minimum", m):
            scores, y = drawn.tolist(), labels.tolist()
            values.append(kl(scores, y))
            assert kl(y, y) == pytest.approx(0.0, abs=1e-12)
            at_gains.append(kl([2.0**label - 1 for label in y], y))
            # the Hessian is diagonal; second differences, one document at a time
            for i in range(m):
                up, down = ([s + sign * 1e-4 * (i == j) for j, s in enumerate(scores)] for sign in (1, -1))
                eigenvalues.append((kl(up, y) - 2 * kl(scores, y) + kl(down, y)) / 1e-8)
        assert rows[f"m = {m}", "smallest_value"] == pytest.approx(min(values))
        assert rows[f"m = {m}", "value_at_gains"] == pytest.approx(max(at_gains))
        assert rows[f"m = {m}", "smallest_eigenvalue"] == pytest.approx(min(eigenvalues), rel=1e-4)


def kl(s: Sequence[float], y: Sequence[int]) -> float:
    return sum(math.exp(b) * (b - a) - math.exp(b) + math.exp(a) for a, b in zip(s, y, strict=True))


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_lemma_4_on_a_grid(p: float) -> None:
    X = [[0.6, -1.1], [0.9, 0.4], [-0.2, 1.3]]
    row = max(sum(abs(x) ** p for x in one) ** (1 / p) for one in X)
    stretched = 0.0
    for v in itertools.product([i / 8 for i in range(-8, 9)], repeat=3):
        if any(v):
            image = [sum(v[i] * X[i][c] for i in range(3)) for c in range(2)]
            stretched = max(stretched, sum(abs(z) ** p for z in image) ** (1 / p) / sum(map(abs, v)))
    assert stretched == pytest.approx(row, rel=1e-12)


# Equation 4 and Theorem 4.1

REGRET: dict[str, Any] = {**SETTINGS["topk"]["regret"], "seeds": 2, "rounds": [200, 400, 1000], "short_seeds": 2}


@pytest.fixture(scope="module")
def regrets() -> regret.Results:
    asked = RegretSettings.parse(REGRET)
    return regret.join(asked, regret.measure(asked, 7, 0), 7)


def test_both_sides_of_equation_4_on_two_documents(regrets: regret.Results) -> None:
    x = 31 / 64
    for row in regrets.regret:
        if (row["data"], row["player"]) != ("two documents", "algorithm 1"):
            continue
        T, U = row["T"], 1 / (2 * x)
        eta, w, loss, norms = T ** (-2 / 3), 0.0, 0.0, 0.0
        for _ in range(T):
            hinge = max(0.0, 1 - 2 * x * w)
            z = -2 * x if hinge > 0 else 0.0
            loss, norms = loss + hinge, norms + z**2
            w = max(-U, min(U, w - eta * z))
        bound = U**2 / (2 * eta) + eta / 2 * norms
        assert row["expected_loss"] == pytest.approx(loss, rel=1e-9)
        assert row["loss_minus_bound"] == pytest.approx(loss - bound, abs=1e-6)
        assert loss <= bound + 1e-9
        assert loss > bound - 0.01


def test_the_exponents_are_slopes_of_logarithms(regrets: regret.Results) -> None:
    for row in regrets.exponents:
        key = row["data"], row["player"], row["surrogate"]
        points = [
            (math.log(one["T"]), math.log(one["regret"]))
            for one in regrets.regret
            if (one["data"], one["player"], one["surrogate"]) == key
        ]
        x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
        slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
        assert row["slope"] == pytest.approx(slope, abs=1e-9)


# Table 1 and Theorem 5.2

VECTORS = ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))
P = {"p": (0, 10, 15, 5, 20, 30, 20, 0), "p~": (0, 30, 0, 0, 15, 15, 40, 0)}


def shares(y: Sequence[int]) -> Vector:
    """G(y)/Z(y)."""
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, sum(y) + 1))
    return [label / ideal if label else 0.0 for label in y]


def expected(weights: Sequence[int], of: Callable[[Sequence[int]], Sequence[float]]) -> Vector:
    return [sum(w * of(y)[i] for w, y in zip(weights, VECTORS, strict=True)) / 100 for i in range(3)]


def test_table_1() -> None:
    for row in adversary.table_1():
        of = shares if row["quantity"] == "E[G/Z]" else list
        found = expected(P[row["adversary"]], of)[row["document"] - 1]
        assert row["measured"] == pytest.approx(found, abs=1e-12)
        assert round(found, 4) == row["published"]


def test_the_linear_limit_and_the_regret_of_the_midpoint() -> None:
    a, b = (expected(weights, shares) for weights in P.values())
    limit = sum((u - v) ** 2 for u, v in zip(a, b, strict=True)) / 4
    assert adversary.linear_limit() == pytest.approx(limit)
    asked = AdversarySettings.parse({**SETTINGS["topk"]["adversary"], "rounds": [100, 300, 1000], "seeds": 2})
    game = {(row["learner"], row["T"]): row for row in adversary.run(asked, 1).game}
    noise = 0.0  # the sum over documents of the variance of G/Z, averaged over the adversaries
    for weights, mean in zip(P.values(), (a, b), strict=True):
        for w, y in zip(weights, VECTORS, strict=True):
            noise += w / 200 * sum((g - c) ** 2 for g, c in zip(shares(y), mean, strict=True))
    for T in asked.rounds:
        assert game["constant", T]["regret"] == pytest.approx(T * limit + noise)
    assert game["constant", 1000]["regret"] < 1000 * 2 * limit  # the limit of the proof


def test_the_scores_of_the_leader() -> None:
    order = [1, 4, 6, 5, 2, 3, 6, 1]
    found = adversary.on_the_game(np.array(order))["leader"]
    seen: list[list[int]] = [[], [], []]
    for t, drawn in enumerate(order):
        mean = [(sum(labels) + 0.5) / (len(labels) + 1) for labels in seen]
        s = [0.0] * 3
        for y in VECTORS:
            chance = math.prod(mean[i] if y[i] else 1 - mean[i] for i in range(3))
            s = [total + chance * share for total, share in zip(s, shares(y), strict=True)]
        s[t % 3] = max(s)
        assert found[t].tolist() == pytest.approx(s)
        seen[t % 3].append(VECTORS[drawn][t % 3])


# Figure 1


def test_the_curve_of_online_listnet() -> None:
    rng = np.random.default_rng(4)
    lengths = (3, 12, 5, 4)
    y = [rng.integers(0, 3, size=m).tolist() for m in lengths]
    X = [np.round(rng.normal(size=(m, 2)), 2).astype(np.float32) for m in lengths]
    data = RankingData.from_arrays(np.vstack(X), np.concatenate(y), np.repeat(range(4), lengths))
    asked = FigureSettings.parse({**SETTINGS["topk"]["figure"], "rounds": 1000, "points": 2})
    axes = (9, "topk-figure", "made", 0)
    order = figure._order(asked, data, axes)
    w, quality = [0.0, 0.0], []
    for q in order:
        s = [float(x[0]) * w[0] + float(x[1]) * w[1] for x in X[q]]
        discounts = [1 / math.log2(rank + 2) for rank in range(10)]
        gained = sum((2 ** y[q][i] - 1) * D for i, D in zip(by_scores(s), discounts, strict=False))
        ideal = sum((2**label - 1) * D for label, D in zip(sorted(y[q], reverse=True), discounts, strict=False))
        if ideal:
            quality.append(gained / ideal)
        slopes = gradient("listnet", s, y[q])
        w = [
            w[c] - 1000**-0.5 * sum(slope * float(x[c]) for slope, x in zip(slopes, X[q], strict=True)) for c in (0, 1)
        ]
    assert figure._control(asked, data, "listnet", axes)[-1] == pytest.approx(sum(quality) / len(quality), abs=1e-6)

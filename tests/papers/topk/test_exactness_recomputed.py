"""The decisive numbers of the claims on lemmas, computed a second time by the plainest implementation of each formula.

Sums run over all m! rankings, label vectors or rounds, one after the other; nothing of the pipeline is used but the
numbers that are compared, and the random inputs that they were computed from.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from pipeline_lib.papers.topk.exactness import experiment as exactness
from tests.papers.topk.plainly import Vector, by_scores, gradient, pair
from tests.small_settings import small

ASKED = small("topk", "exactness", lengths=[3, 4])


def rankings(s: Sequence[float], gamma: Any) -> list[tuple[tuple[int, ...], Any]]:
    """Every ranking with the probability that Algorithm 1 shows it."""
    m, best = len(s), by_scores(s)
    return [(pi, (1 - gamma) * (pi == best) + gamma / math.factorial(m)) for pi in itertools.permutations(range(m))]


def beginning(first: tuple[int, ...], among: list[tuple[tuple[int, ...], Any]]) -> Any:
    return sum(chance for pi, chance in among if pi[: len(first)] == first)


# Section 4.2


def test_probabilities_of_what_is_shown_first() -> None:
    for row in exactness.probabilities(ASKED, 1):
        m, gamma = row.m, Fraction(row.gamma).limit_denominator(1000)
        places = [int(word) - 1 for word in row.shown.replace(",", "").split() if word.isdigit()]
        among = rankings([-float(i) for i in range(m)], gamma)
        orders = [tuple(places)] if row.in_order else list(itertools.permutations(places))
        expected = sum(beginning(order, among) for order in orders)
        assert row.probability == pytest.approx(float(expected), rel=1e-12)
        printed = 1 - gamma + (gamma / m if len(places) == 1 else 2 * gamma / (m * (m - 1)))
        assert (printed == expected) == (row.shown in ("rank 1", "ranks 1 and 2, in any order"))


# Section 4.1, Lemma 5


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
    [*itertools.product(["squared", "kl"], [1], KINDS), *itertools.product(["ranksvm"], [2], (*KINDS, "literal"))],
)
def test_biases_of_the_estimators(name: str, k: int, kind: str) -> None:
    m, gamma = 4, 0.2
    asked = small("topk", "exactness", lengths=[m], shown=[k])
    found = [row for row in exactness.biases(asked, 3) if (row.surrogate, row.probabilities) == (name, kind)]
    [(scores, y)] = exactness.lists(asked, 3, name, k, m)
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
    assert found[0].largest_relative_bias == pytest.approx(bias, abs=1e-12)
    assert (bias < 1e-12) == (kind == "correct")


@pytest.mark.parametrize(
    ("name", "m"), [("squared", 2), ("squared", 4), ("kl", 2), ("kl", 4), ("ranksvm", 3), ("ranksvm", 4)]
)
def test_second_moments_in_the_worst_case(name: str, m: int) -> None:
    gamma = exactness.EXPLORATION
    for row in exactness.in_the_worst_case(name):
        if row.m != m:
            continue
        U = row.radius
        x = [-1.0 if name == "ranksvm" and i < (m + 1) // 2 else 1.0 for i in range(m)]
        y = list(range(m)) if name == "ranksvm" else [4] * m
        s = [-U * one for one in x]
        among = rankings(s, gamma)
        moment = 0.0
        for pi, chance in among:
            z = estimated(name, s, y, pi, lambda *first, among=among: beginning(first, among))
            moment += chance * sum(one * slope for one, slope in zip(x, z, strict=True)) ** 2
        assert row.second_moment == pytest.approx(moment, rel=1e-9)
        printed = {"squared": m**4 * U**2 * 16, "kl": m**2 * math.exp(2 * U), "ranksvm": m**4}[name]
        valid = {
            "squared": 4 * m**2 * (m * U + 4) ** 2,
            "kl": m**2 * math.exp(2 * max(U, 4)),
            "ranksvm": m**2 * (m - 1) ** 2,
        }[name]
        assert (row.printed, row.valid) == pytest.approx((printed / gamma, valid / gamma))
        assert moment <= valid / gamma


# Lemmas 2 and 3


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
    for row in exactness.decompositions():
        name, m, y_max, k = row.surrogate, row.m, row.y_max, row.labels
        if m * y_max <= 4:
            s = [0.9 - 1.8 * i / (m - 1) for i in range(m)]
            found = beyond(lambda y, name=name, s=s: gradient(name, s, y), m, y_max, k)  # type: ignore[misc]
            assert row.beyond == pytest.approx(found, abs=1e-12)
            compared += 1
    assert compared > 15

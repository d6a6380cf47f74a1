"""Are the exact numbers of the experiment `lengths` those of plain enumeration, and are wrong statements caught?"""

import itertools
import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists import known_gaps
from pipeline_lib.papers.lists.lengths import experiment as lengths
from pipeline_lib.papers.lists.lengths.experiment import LengthsSettings
from tests import readings
from tests.papers.jobs import tables as tables_of
from tests.papers.lists.plainly import listnet, smooth_dcg
from tests.small_settings import small

Tables = dict[str, list[dict[str, Any]]]
SMALL = small("lists", "lengths")


@pytest.fixture(scope="module")
def tables() -> Tables:
    return defaultdict(list, tables_of(lengths.measure(Job(SMALL, 1))))


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("chapelle-wu", "refuted"),
        ("chapelle-wu-corrected", "inconclusive"),
        ("length-free", "verified"),
        ("crossing", "verified"),
        ("crossing-best", "verified"),
        ("explicit-m-corrected", "verified"),
        ("minimiser-length", "answered"),
        ("lan", "verified"),
    ],
)
def test_claims_are_decided_and_everything_planted_is_caught(
    claim: str, status: str, tables: Tables, tmp_path: Any
) -> None:
    assert readings.decided(f"lists-{claim}", tables, SMALL.plain(), tmp_path) == (status, [])


def test_the_gap_of_the_highest_irrelevant_document_is_that_of_all_labels() -> None:
    n, m = 3, 2
    least = [
        min(map(sum, zip(*labels, strict=True)))
        for labels in itertools.product(itertools.product((0, 1), repeat=m), repeat=n)
    ]
    assert known_gaps.mean_gap(n, m) == pytest.approx(0.5 - np.mean(least) / n)
    assert known_gaps.misled(n, m) == pytest.approx(np.mean([value == 0 for value in least]))
    for delta in (0.05, 0.3, 0.5, 0.9):
        at = known_gaps.gap_at(n, m, delta)
        above = np.mean([0.5 - value / n > at + 1e-12 for value in least])
        reached = np.mean([0.5 - value / n > at - 1e-12 for value in least])
        assert above <= delta < reached


def test_the_excess_of_the_worst_minimiser_by_a_search_over_rankers() -> None:
    # Two documents, two queries: the ball on a grid, all labels.
    grid = [
        np.array([r * math.cos(t), r * math.sin(t)]) for r in (0.0, 0.5, 1.0) for t in np.linspace(0, 2 * math.pi, 25)
    ]

    def loss(w: Any, y: tuple[int, ...]) -> float:
        return max(0.0, *(w[j] for j in range(2) if not y[j]), 0.0)

    labels = list(itertools.product((0, 1), repeat=2))
    risks = [np.mean([loss(w, y) for y in labels]) for w in grid]
    worst = []
    for sample in itertools.product(labels, repeat=2):
        means = [np.mean([loss(w, y) for y in sample]) for w in grid]
        worst.append(max(risk for risk, mean in zip(risks, means, strict=True) if mean < min(means) + 1e-12))
    assert np.mean(worst) >= 0.5 * known_gaps.misled(2, 2) - 1e-12


def test_probabilities_of_a_loss_that_no_ranker_changes(tables: Tables) -> None:
    for row in tables["lists-unbounded"]:
        n, largest = row["n"], row["largest_loss"]
        if n > 100:
            continue
        term = math.sqrt(8 * math.log(20) / n)
        weights = [math.comb(n, k) / 2**n for k in range(n + 1)]
        for name, bound in (("as_printed", term), ("times_largest", largest * term), ("an_eighth", largest * term / 8)):
            above = sum(weight for k, weight in enumerate(weights) if largest * (0.5 - k / n) > bound + 1e-12)
            assert row[name] == pytest.approx(above)


def test_the_powers_of_listnet_are_those_of_its_exact_constants(tables: Tables) -> None:
    m = np.array(SMALL.listwise_lengths, float)
    partial = 1.0 - 1.0 / (1.0 + (m - 1.0) * math.exp(SMALL.y_max))
    found = {row["case"]: row["slope"] for row in tables["lists-length-powers"] if row["axis"] == "m"}
    for case, constant in (("G", 2.0 * partial), ("sum over scores", m * partial)):
        assert found[f"listnet, {case}"] == pytest.approx(np.polyfit(np.log(m), np.log(constant), 1)[0])


def test_bounds_without_the_length_of_the_list() -> None:
    settings = LengthsSettings.parse(
        {"exact_queries": [20], "exact_lengths": [2, 5], "exact_scores": [0.05, 1.0], "rare": 0.01, "exact_y_max": 6}
    )
    for row in lengths.gaps(settings):
        m, n, a = row.m, row.n, row.scores
        y_max = 6 if row.loss == "listnet" else settings.y_max
        y = [y_max] + [0] * (m - 1)

        def loss(t: float, y: list[int] = y, name: str = row.loss) -> float:
            s = [t] + [-t] * (len(y) - 1)
            return listnet(s, y) if name == "listnet" else smooth_dcg(s, y)

        odd = max(abs(loss(-t) - loss(t)) / 2 for t in (a * k / 200 for k in range(201)))
        # The least value that |2K/n - 1| exceeds with probability at most .01, by all K.
        weights = [math.comb(n, k) / 2**n for k in range(n + 1)]
        sizes = sorted({abs(2 * k - n) / n for k in range(n + 1)})
        at = next(x for x in sizes if sum(w for k, w in enumerate(weights) if abs(2 * k - n) / n > x + 1e-12) <= 0.01)
        assert row.gap == pytest.approx(odd * at, rel=1e-9)
        mean = sum(w * abs(2 * k - n) / n for k, w in enumerate(weights))
        assert row.rademacher == pytest.approx(odd * mean, rel=1e-9)
        # The relevant document is 2 (m - 1) / m away from the mean of its list.
        curved, centred = math.exp(a) * (math.exp(a) - 1), math.exp(2 * a * (m - 1) / m) - 1
        if row.loss == "listnet":
            average, spread = min(a + curved, centred) / math.sqrt(n), 4 * a
        else:
            spread = 2.0**y_max - 1
            average = math.sqrt(2) * spread * min(curved, centred) / math.sqrt(n)
        assert row.bound == pytest.approx(2 * average + spread * math.sqrt(math.log(100) / (2 * n)))


def test_the_best_single_document_of_listnet_has_the_gap_of_its_loss() -> None:
    a, m, n = 3.0, 4, 2
    there = listnet([a] + [0.0] * (m - 1), [1] * m)
    missing = listnet([0.0] * m, [1] * m)
    # E min of m binomials over all outcomes of n = 2 signs: 0, 1, 2 with probabilities 1/4, 1/2, 1/4.
    counts = {0: 0.25, 1: 0.5, 2: 0.25}
    least = sum(min(one) * math.prod(counts[k] for k in one) for one in itertools.product(counts, repeat=m))
    expected = (there - missing) * (0.5 - least / n)
    assert known_gaps.soft_maximum(a, m) * known_gaps.mean_gap(n, m) == pytest.approx(expected)

"""Are the exact numbers of the experiment `lengths` those of plain enumeration, and are wrong statements caught?"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.computations import expectations, highest, lengths, listwise, slack
from pipeline_lib.papers.lists.experiments.exact import ExactSettings
from pipeline_lib.papers.lists.experiments.lengths import EXPERIMENT, LengthsSettings
from tests import readings
from tests.small_settings import SETTINGS

Tables = dict[str, list[dict[str, Any]]]
SMALL = LengthsSettings.parse(SETTINGS["lists"]["lengths"])


@pytest.fixture(scope="module")
def tables() -> Tables:
    [step] = EXPERIMENT.steps
    names = [name.removeprefix("tables/") for name in step.tables]
    return defaultdict(list, zip(names, step.run(Job(SMALL, 1)).tables, strict=True))


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("chapelle-wu", "refuted"),
        ("chapelle-wu-corrected", "consistent"),
        ("length-free", "verified"),
        ("crossing", "verified"),
        ("crossing-best", "verified"),
        ("explicit-m", "refuted"),
        ("explicit-m-corrected", "verified"),
        ("minimiser-length", "answered"),
        ("lan", "verified"),
        ("listwise", "verified"),
    ],
)
def test_claims_are_decided_and_everything_planted_is_caught(
    claim: str, status: str, tables: Tables, tmp_path: Any
) -> None:
    judged = readings.judged(f"lists-{claim}", tables, SMALL.plain(), tmp_path)
    assert judged.status == status
    assert judged.severity.planted
    assert all(planted.caught for planted in judged.severity.planted)


def test_half_of_the_twelve_of_proposition_15_would_not_be_noticed(tables: Tables, tmp_path: Path) -> None:
    judged = readings.judged("lists-prop15", tables, SMALL.plain(), tmp_path)
    assert judged.severity is not None
    assert judged.severity.slack_factor is not None
    assert (judged.status, [planted.name for planted in judged.severity.missed]) == ("consistent", ["six-for-twelve"])
    assert judged.severity.slack_factor > math.sqrt(2)


def test_the_gap_of_the_highest_irrelevant_document_is_that_of_all_labels() -> None:
    n, m = 3, 2
    least = [
        min(map(sum, zip(*labels, strict=True)))
        for labels in itertools.product(itertools.product((0, 1), repeat=m), repeat=n)
    ]
    assert highest.mean_gap(n, m) == pytest.approx(0.5 - np.mean(least) / n)
    assert highest.misled(n, m) == pytest.approx(np.mean([value == 0 for value in least]))
    for delta in (0.05, 0.3, 0.5, 0.9):
        at = highest.gap_at(n, m, delta)
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
    assert np.mean(worst) >= 0.5 * highest.misled(2, 2) - 1e-12


def test_exact_gaps_by_enumeration_of_samples() -> None:
    n, a = 5, 0.7
    counts = [abs(2 * sum(signs) - n) / n for signs in itertools.product((0, 1), repeat=n)]
    for probability in (0.1, 0.4):
        at = lengths.quantile_of_mean_sign(n, probability)
        assert np.mean([value > at + 1e-12 for value in counts]) <= probability
    loss = lengths.created("listnet")

    def value(t: float) -> float:
        s = np.array([t, -t, -t])
        return float(np.log(np.exp(s).sum()) - (math.e**4 * s[0] + s[1] + s[2]) / (math.e**4 + 2))

    assert lengths.odd_part(loss, 3, 4, a) == pytest.approx(0.5 * (value(-a) - value(a)))


def test_crossings_are_where_the_order_changes(tables: Tables) -> None:
    for row in tables["lists-crossings"]:
        if row["m"] is None or row["m"] == 1:
            continue
        group = lengths.Class.of(row["loss"], row["scores"], SMALL.y_max)
        at, before = (
            [group.bound(name, row["n"], m, SMALL.delta) for name in (row["bound"], row["against"])]
            for m in (row["m"], row["m"] - 1)
        )
        assert at[0] < at[1]
        assert before[0] >= before[1]


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


@pytest.mark.parametrize("loss", listwise.LOSSES)
def test_gradients_are_those_of_differences(loss: str) -> None:
    def value(s: Any, y: Any) -> float:
        if loss == "listnet":
            return float(np.log(np.exp(s).sum()) - np.exp(y) @ s / np.exp(y).sum())
        if loss == "listmle":
            order = np.argsort(-y, kind="stable")
            return float(sum(np.log(np.exp(s[order[i:]]).sum()) - s[order[i]] for i in range(len(s))))
        u, v = np.exp(s), np.exp(y)
        return float(0.5 * (1 - u @ v / np.linalg.norm(u) / np.linalg.norm(v)))

    s, y = np.array([0.4, -1.0, 0.2, 0.9]), np.array([2.0, 0.0, 1.0, 1.0])
    step = 1e-6 * np.eye(4)
    numerical = [(value(s + e, y) - value(s - e, y)) / 2e-6 for e in step]
    assert getattr(listwise, f"{loss}_gradient")(s, y) == pytest.approx(numerical, abs=1e-8)


def test_no_list_exceeds_the_exact_constants(tables: Tables) -> None:
    for row in tables["lists-listwise"]:
        if row["exact"] is not None:
            assert row["searched"] == pytest.approx(row["exact"], rel=1e-9)


def test_the_steps_of_the_proofs_are_in_order() -> None:
    small = ExactSettings.parse(SETTINGS["lists"]["exact"])
    rows = slack.run(small, expectations.run(small, 1))
    assert {row["statement"] for row in rows} == {f"theorem {k}" for k in (5, 6, 9, 12, 17)}
    for row in rows:
        assert row["gap"] < row["printed"] < row["largest_gap"]
        if row["sharper"] is not None:
            assert row["gap"] < row["sharper"] < min(row["integral"], row["printed"])
        if (row["statement"], row["case"]) == ("theorem 9", "ranksvm"):
            # Losses 1 - 2 t with |t| <= W: a Rademacher average of 2 W / sqrt(n), and a range of 4 W.
            W, n = row["radius"], row["n"]
            expected = 4 * W / math.sqrt(n) + 4 * W * math.sqrt(math.log(1 / small.delta) / (2 * n))
            assert row["sharper"] == pytest.approx(expected)
    # The step before the first n at which the bound says something.
    assert all(row["largest_gap"] < row["printed"] * 1.01 for row in rows if row["sharper"] is not None)

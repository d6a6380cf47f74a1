"""The decisive numbers of slam's claims, computed again in the slowest obvious way.

Nothing here calls a surrogate, a measure, a learner or a bound of the pipeline to obtain the second number: weights,
losses, updates and sums are written out in plain Python from the formulas of the paper.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import perceptron as learner
from pipeline_lib.papers import score_lists
from pipeline_lib.papers.slam import ranking_losses, streams
from pipeline_lib.papers.slam.losses import experiment as losses
from pipeline_lib.papers.slam.perceptron import experiment as perceptron
from pipeline_lib.papers.slam.perceptron import worst_rounds
from pipeline_lib.papers.slam.perceptron.experiment import PerceptronSettings
from pipeline_lib.papers.slam.risk import experiment as risk
from pipeline_lib.surrogates import slam

KINDS = ("map", "ndcg", "ndcg@2")
Numbers = Sequence[float]


def D(i: int) -> float:
    return 1 / math.log2(i + 1)


def binary(kind: str, y: Sequence[int]) -> list[int]:
    return [min(int(one), 1) if kind == "map" else int(one) for one in y]


def weights(kind: str, labels: Sequence[int]) -> list[float]:
    """(6), (9) or (31): equal labels take their positions in the order of the list."""
    y, m = binary(kind, labels), len(labels)
    position = {doc: place for place, doc in enumerate(sorted(range(m), key=lambda doc: -y[doc]), 1)}
    if kind == "map":
        r = sum(y)
        return [1 / r - position[doc] / (r * (m - r + position[doc])) if y[doc] else 0.0 for doc in range(m)]
    k = int(kind[5:]) if "@" in kind else m
    falling = sorted(y, reverse=True)
    Z = sum((2**one - 1) * D(i) for i, one in enumerate(falling[:k], 1))
    if Z == 0:
        return [0.0] * m
    if "@" in kind:
        return [(2 ** y[doc] - 1) * D(position[doc]) / Z if position[doc] <= k else 0.0 for doc in range(m)]
    return [(2 ** y[doc] - 2 ** min(y)) * (D(position[doc]) - D(m)) / Z for doc in range(m)]


def hinges(scores: Numbers, y: Sequence[int]) -> list[float]:
    return [max([0.0, *(1 + scores[j] - scores[i] for j in range(len(y)) if y[j] < y[i])]) for i in range(len(y))]


def phi(kind: str, scores: Numbers, labels: Sequence[int]) -> float:
    return sum(v * hinge for v, hinge in zip(weights(kind, labels), hinges(scores, binary(kind, labels)), strict=True))


def lost(kind: str, order: Sequence[int], labels: Sequence[int]) -> float:
    """1 - AP, 1 - NDCG or 1 - NDCG@k of documents in an order."""
    y = [binary(kind, labels)[doc] for doc in order]
    if kind == "map":
        places = [i for i, one in enumerate(y, 1) if one]
        return 1 - sum(n / i for n, i in enumerate(places, 1)) / len(places) if places else 0.0
    k = int(kind[5:]) if "@" in kind else len(y)
    Z = sum((2**one - 1) * D(i) for i, one in enumerate(sorted(y, reverse=True)[:k], 1))
    return 1 - sum((2**one - 1) * D(i) for i, one in enumerate(y[:k], 1)) / Z if Z else 0.0


def worst_order(scores: Numbers, labels: Sequence[int]) -> list[int]:
    return sorted(range(len(scores)), key=lambda doc: (-scores[doc], labels[doc]))


@pytest.mark.parametrize("kind", KINDS)
def test_slacks_sums_and_norms(kind: str) -> None:
    # slam-thm2, slam-thm3, slam-cor7-weights, slam-weight-sums, slam-grad-l1
    scores, y = score_lists.mixed_lists(84, 5, 2, np.random.default_rng(1))
    values, gradient = surrogates.create(f"slam-{kind}").value_and_gradient(*score_lists.stacked(scores, y))
    rank_losses = ranking_losses.largest_losses(kind, scores, y)
    slacks = []
    for s, labels, value, slope, loss in zip(scores, y, values, gradient.reshape(y.shape), rank_losses, strict=True):
        slacks.append(phi(kind, s, labels) - lost(kind, worst_order(s, binary(kind, labels)), labels))
        assert value - loss == pytest.approx(slacks[-1], abs=1e-9)
        assert slam.weights(labels, kind).sum() == pytest.approx(sum(weights(kind, labels)))
        # Every active hinge moves v_i from the document to another one.
        open_weights = [v for v, h in zip(weights(kind, labels), hinges(s, binary(kind, labels)), strict=True) if h > 0]
        assert np.abs(slope).sum() <= 2 * sum(open_weights) + 1e-9 <= 2 + 2e-9
    assert min(slacks) >= -1e-12


def test_numbered_by_score_the_sum_over_documents_is_bounded() -> None:
    # slam-eq30
    scores, y = score_lists.mixed_lists(84, 4, 2, np.random.default_rng(2))
    found = losses.loss_as_printed("ndcg@2", scores, y, "by score")
    for s, labels, loss in zip(scores, y, found, strict=True):
        order = worst_order(s, labels)
        first = sorted(range(4), key=lambda doc: (-labels[doc], order.index(doc)))[:2]
        v = {doc: (2 ** labels[doc] - 1) * D(i) for i, doc in enumerate(first, 1)}
        Z = sum(v.values())
        plain = 1 - sum((2 ** labels[doc] - 1) * D(order.index(doc) + 1) for doc in first) / Z if Z else 0.0
        assert loss == pytest.approx(plain, abs=1e-12)
        assert sum(v[doc] * hinges(s, labels)[doc] for doc in first) >= Z * loss - 1e-12


def test_valid_weights_in_rational_numbers() -> None:
    # slam-eq8, slam-thm2-tight: an entry alone needs the loss of one relevant document at the end, all together that of
    # a list with all irrelevant documents first.
    def loss(m: int, places: Sequence[int]) -> Fraction:
        return 1 - sum((Fraction(n, place) for n, place in enumerate(places, 1)), Fraction(0)) / len(places)

    for row in losses.with_valid_weights():
        m, r = row.m, row.relevant
        if row.kind == "map":
            v = [Fraction(1, r) - Fraction(i, r * (m - r + i)) for i in range(1, r + 1)]
            assert row.printed_sum == pytest.approx(float(sum(v)))
            assert sum(v) == loss(m, range(m - r + 1, m + 1))
            assert row.least_sum == row.sum_below == pytest.approx(float(sum(v)))
            assert row.largest_excess == pytest.approx(float(max(v) - loss(m, [*range(1, r), m])))


def test_valid_weights_of_a_list_by_hand() -> None:
    # slam-ndcg-not-optimal: (.226, .080) for labels (1, 1, 0), by all orders and scores at their worst.
    ideal = D(1) + D(2)
    v = ((D(1) - D(2)) / ideal, (D(2) - D(3)) / ideal)
    assert v == pytest.approx((0.226, 0.080), abs=5e-4)
    for order in itertools.permutations(range(3)):
        below = [doc for doc in (0, 1) if order.index(doc) > order.index(2)]
        assert sum(v[doc] for doc in below) >= lost("ndcg", order, (1, 1, 0)) - 1e-12
    [row] = [row for row in losses.with_valid_weights() if (row.kind, row.m, row.relevant) == ("ndcg", 3, 2)]
    assert row.sum_below == pytest.approx(sum(v), abs=1e-7)


def test_the_worst_rounds_by_their_weights() -> None:
    # slam-prop4
    for row in worst_rounds.over_all():
        if row["m"] <= 5:
            kind, m = row["measure"], row["m"]
            labels = [y for y in itertools.product((2, 1, 0), repeat=m) if min(y) == 0 and sum(weights(kind, y)) > 0]
            k = min(m, int(kind[5:])) if "@" in kind else m
            ratios = [
                sum(weights(kind, y)) ** 2 / (k * max(weights(kind, y))) for y in labels if kind != "map" or max(y)
            ]
            assert row["ratio"] == pytest.approx(max(ratios), rel=1e-6)


def played(stream: streams.Stream, kind: str, eta: float, active: Callable[[float], bool]) -> list[dict[str, Any]]:
    """Algorithm 1 in plain Python: loss and z of every round with a mistake."""
    X, y, offsets = stream.data.X64.tolist(), stream.data.y.tolist(), stream.data.offsets.tolist()
    w, found = [0.0] * len(X[0]), []
    for t, q in enumerate(stream.order.tolist()):
        docs, labels = X[offsets[q] : offsets[q + 1]], binary(kind, y[offsets[q] : offsets[q + 1]])
        s = [sum(a * b for a, b in zip(x, w, strict=True)) for x in docs]
        loss = lost(kind, sorted(range(len(s)), key=lambda doc: -s[doc]), labels)
        if loss <= 1e-12:
            continue
        z, v = [0.0] * len(w), weights(kind, labels)
        for i in range(len(s)):
            lower = [j for j in range(len(s)) if labels[j] < labels[i]]
            if lower and v[i]:
                j = max(lower, key=lambda one: s[one])
                if active(1 + s[j] - s[i]):
                    z = [a + v[i] * (b - c) for a, b, c in zip(z, docs[j], docs[i], strict=True)]
        found.append({"t": t, "loss": loss, "z": z, "docs": docs, "labels": labels})
        w = [a - eta * b for a, b in zip(w, z, strict=True)]
    return found


def right_side(found: list[dict[str, Any]], kind: str, u: Numbers, C: float, times: float = 2.0) -> float:
    total = 0.0
    for one in found:
        total += phi(kind, [sum(a * b for a, b in zip(x, u, strict=True)) for x in one["docs"]], one["labels"])
    return times * total + C * sum(a * a for a in u)


SMALL = {"short_rounds": 300, "orthogonal_queries": 6}


@pytest.mark.parametrize("kind", ["map", "ndcg", "ndcg@1"])
def test_runs_on_short_streams(kind: str) -> None:
    # slam-thm5, slam-thm5-eta1, slam-cor6, slam-cor7
    for stream in perceptron.short(PerceptronSettings.parse(SMALL), 0):
        if stream.name not in ("orthogonal-2", "zigzag", "stalled"):
            continue
        m = int(np.diff(stream.data.offsets).max())
        R2 = max(sum(a * a for a in x) for x in stream.data.X64.tolist())
        v = [one for one in weights(kind, stream.data.y.tolist()[:m]) if one > 0]
        C = 4 * (1 if kind == "ndcg@1" else m) * R2 * max(v) / min(v)
        found = played(stream, kind, 1 / C, lambda hinge: hinge > 0)
        rows = {row.T: row for row in perceptron.bounds_of(stream, kind, 2) if row.eta == "theory"}
        whole, half = rows[300], rows[150]
        assert half.cumulative_loss == pytest.approx(sum(one["loss"] for one in found if one["t"] < 150))
        assert half.mistakes == sum(one["t"] < 150 for one in found)
        assert half.bound == pytest.approx(2 * half.comparator_loss + half.constant, rel=1e-9)
        assert whole.cumulative_loss == pytest.approx(sum(one["loss"] for one in found))
        gamma = stream.gamma(kind)
        assert gamma is not None
        assert whole.margin_bound == pytest.approx(C / gamma**2)
        # No multiple of the sum of updates is a better comparator than the one that was found.
        direction = [-sum(column) / C for column in zip(*(one["z"] for one in found), strict=True)]
        for scale in (0.0, 0.25, 0.5, 1.0, 2.0):
            side = right_side(found, kind, [scale * a for a in direction], C)
            assert side >= whole.bound - whole.gap - 1e-6
            assert sum(one["loss"] for one in found) <= side + 1e-9
        found = played(stream, kind, 1 / (4 * R2), lambda hinge: hinge >= 1)
        misordered = learner.run(stream.data, stream.order, kind, "theory", "misordered").losses
        assert misordered.sum() == pytest.approx(sum(one["loss"] for one in found))
        with_step_1 = sum(one["loss"] for one in played(stream, kind, 1.0, lambda hinge: hinge > 0))
        assert learner.run(stream.data, stream.order, kind, 1.0).losses.sum() == pytest.approx(with_step_1)
        if (stream.name, kind) == ("stalled", "map"):  # C / gamma^2 = 261/2, whatever T is: 5,000 rounds lose more
            assert whole.margin_bound == pytest.approx(261 / 2)
            assert with_step_1 == pytest.approx(5 / 12 + 299 / 6)
            assert whole.cumulative_loss < with_step_1
        if (stream.name, kind) == ("orthogonal-2", "ndcg@1"):
            assert whole.cumulative_loss == 6 == pytest.approx(whole.bound)


def test_a_constant_ranker_by_its_own_mistakes() -> None:
    # The players of slam-thm5: on orthogonal queries w = 0 loses 1/2 of every round, and all queries count.
    stream = next(perceptron.short(PerceptronSettings.parse(SMALL), 0))
    rows = {row.player: row for row in perceptron.played(stream, "map") if row.statement == "as-printed"}
    for player in ("never", "reversed"):
        assert rows[player].cumulative_loss == 150
        # 300 rounds on 6 axes with |x| = 10: hinges vanish at u = (1/10, ..., 1/10), and C = 4 * 2 * 25.
        assert rows[player].bound == pytest.approx(200 * 6 / 100, rel=1e-6)


def test_ratios_of_weights() -> None:
    # slam-vmax, slam-vmax-k, slam-variance-k
    def ratio(kind: str, y: Sequence[int]) -> float:
        v = [one for one in weights(kind, y) if one > 1e-15]
        return max(v) / min(v)

    row = perceptron.v_max_at(10)
    assert row.v_max_map == pytest.approx(max(ratio("map", [1] * r + [0] * (10 - r)) for r in range(1, 10))) == 5
    assert row.v_max_ndcg == pytest.approx(ratio("ndcg", [2, *[1] * 8, 0]))
    assert row.v_max_ndcg <= row.v_max_ndcg_limit == pytest.approx(math.log(2) * 3 * 11 * math.log2(11) ** 2)
    seven, fifteen = (ratio(f"ndcg@{k}", [2, *[1] * (k - 1), 0]) for k in (7, 15))
    assert perceptron.at_cutoff(7).added_by_doubling == pytest.approx(fifteen - seven) == pytest.approx(3)


@pytest.mark.parametrize("n", [20, 60])
def test_the_excess_risk_of_two_points(n: int) -> None:
    # slam-thm8 for SLAM-MAP, whose risk 1/2 (1 - (2 p - 1) w) is linear for |w| <= B = R = 1/2.
    B, L, c = 0.5, 0.5, 1.5
    p = (1 + c / math.sqrt(n)) / 2
    l2 = math.sqrt((4 * L**2 / n) / (B**2 / 2 + 4 * B**2 / n))
    expected = 0.0
    for k in range(n + 1):
        w = max(-B, min(B, (2 * k / n - 1) / 2 / l2))
        expected += math.comb(n, k) * p**k * (1 - p) ** (n - k) * (2 * p - 1) / 2 * (B - w)
    row = risk.of_two_points(surrogates.create("slam-map"), n, 2 * p - 1, c, relative=True)
    assert row.excess_risk == pytest.approx(expected, rel=1e-9)
    assert row.bound == pytest.approx(2 * L * B * (8 / n + math.sqrt(2 / n)))
    assert row.zero_excess == pytest.approx((2 * p - 1) / 2 * B)


def test_listnet_online_depends_on_its_step() -> None:
    # slam-listnet-eta
    rng = np.random.default_rng(6)
    X = rng.standard_normal((12, 2))
    y, order = rng.integers(0, 3, 12), rng.integers(0, 4, 60)
    data = RankingData.from_arrays(X, y, np.repeat(np.arange(4), 3))
    for eta in (0.01, 3.0):
        w, mistakes = [0.0, 0.0], []
        for q in order.tolist():
            docs, labels = data.X64[3 * q : 3 * q + 3].tolist(), data.y[3 * q : 3 * q + 3].tolist()
            s = [a * w[0] + b * w[1] for a, b in docs]
            mistakes.append(lost("ndcg", sorted(range(3), key=lambda doc: -s[doc]), labels) > 1e-12)
            P, Q = ([math.exp(one) / sum(map(math.exp, of)) for one in of] for of in (labels, s))
            w = [w[c] - eta * sum((Q[i] - P[i]) * docs[i][c] for i in range(3)) for c in (0, 1)]
        assert (perceptron.listnet_losses(data, order, "ndcg", eta) > 0).tolist() == mistakes

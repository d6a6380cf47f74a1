"""Are the chains of Theorem 9 of `lists` and Theorem 2 of `twolayer` those of plain loops over queries and rankers?

Two features, so that suprema are those of a grid of rankers; loops in plain Python, with no code of the pipeline but
that which makes the tables.
"""

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData, surrogates
from pipeline_lib.core.seeds import generator
from pipeline_lib.papers.lists.chain import experiment as lists_chain
from pipeline_lib.papers.lists.chain.experiment import ListsChainSettings
from pipeline_lib.papers.twolayer.chain import experiment as two_chain
from pipeline_lib.papers.twolayer.chain.experiment import TwoLayerChainSettings
from pipeline_lib.theory.known_population import scaled

W, N, DELTA = 2.0, 50, 0.05
Document = tuple[tuple[float, float], int]
Query = list[Document]


def made() -> tuple[RankingData, list[Query]]:
    rng = random.Random(8)
    rows = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(24)]
    labels = [rng.randrange(2) for _ in range(24)]
    data = scaled(RankingData.from_arrays(rows, labels, np.repeat(np.arange(8), 3)))
    X = [tuple(map(float, row)) for row in data.X]
    return data, [[(X[3 * q + j], labels[3 * q + j]) for j in range(3)] for q in range(8)]


DATA, QUERIES = made()
GRID = [
    (W * r * math.cos(0.1 * t), W * r * math.sin(0.1 * t))
    for r in (0.0, 0.25, 0.5, 0.75, 1.0)
    for t in range(63 if r else 1)
]


def listnet(w: tuple[float, float], query: Query) -> float:
    """Above the entropy of the labels."""
    scores = [w[0] * x[0] + w[1] * x[1] for x, _ in query]
    p = [math.exp(y) for _, y in query]
    q = [math.exp(s) for s in scores]
    return sum(a / sum(p) * (math.log(a / sum(p)) - math.log(b / sum(q))) for a, b in zip(p, q, strict=True))


def test_theorem_9_link_by_link() -> None:
    settings = ListsChainSettings.parse({"queries": [N], "repetitions": 6, "radius": W})
    measured = lists_chain.Measured(settings, DATA, surrogates.create("listnet"), N, (1, "test"))
    chains = {one.bound: one for one in lists_chain.all_chains(measured, "listnet")}
    chain = chains["erm"]
    links = {link.name: link for link in chain.links}
    losses = [[listnet(w, query) for query in QUERIES] for w in GRID]
    true = [sum(row) / 8 for row in losses]
    best = min(range(len(GRID)), key=lambda k: true[k])
    trained, worst = [], []
    for counts in measured.samples:
        gaps = [
            true[k] - sum(c * loss for c, loss in zip(counts, losses[k], strict=True)) / N for k in range(len(GRID))
        ]
        least = min(range(len(GRID)), key=lambda k: true[k] - gaps[k])
        trained.append(gaps[least] - gaps[best])
        worst.append(max(gaps) - gaps[best])
    assert links["worst"].value == pytest.approx(sum(worst) / 6, abs=2e-3)
    assert links["trained"].value == pytest.approx(sum(trained) / 6, abs=2e-3)
    rng, averages = random.Random(3), []
    for _ in range(300):
        signs = [sum(rng.choice((-1, 1)) for _ in range(c)) for c in measured.samples[0]]
        averages.append(
            max(sum(s * (loss - zero) for s, loss, zero in zip(signs, row, losses[0], strict=True)) for row in losses)
            / N
        )
    error = (links["symmetrised"].high - links["symmetrised"].low) / 2
    assert abs(links["symmetrised"].value - 2 * sum(averages) / 300) < 2.0 * error
    # G = 2, m = 3, B = min(2 G W, 2 W + y_max).
    A, B = 2 * W, 2 * W + 1
    assert chain.trivial == pytest.approx(min(2 * A, B))
    a = A * math.sqrt(math.log2(3 * 3 * N) / N)
    x = min(a, 1.2 * chain.trivial / math.e)
    assert links["closed"].value == pytest.approx(20 * x * math.log(1.2 * chain.trivial / x))
    deviation = chain.trivial * math.sqrt(math.log(2 / DELTA) / (2 * N))
    assert links["probable"].value - links["closed"].value == pytest.approx(deviation)
    assert links["empirical"].value - links["closed"].value == pytest.approx(3 * deviation)
    contracted = {link.name: link.value for link in chains["contraction"].links}
    assert contracted["probable"] - contracted["sampled"] == pytest.approx(deviation)
    steps = 20_000
    for name, with_volumes in (("covered", False), ("chained", True)):
        total, smallest = 0.0, 8 * chain.trivial
        for k in range(steps, 0, -1):
            eps = chain.trivial * k / steps
            covers = math.ceil(A**2 / eps**2) * math.log2(2 * 3 * N + 1)
            if with_volumes:
                covers = min(covers, 2 * math.log2(1 + 2 * A / eps) if eps < A else 0.0)
            smallest = min(smallest, 2 * (4 * eps + 10 * total))
            total += math.sqrt(covers / N) * chain.trivial / steps
        assert links[name].value == pytest.approx(smallest, rel=5e-3)


def hinge_of(w: tuple[float, float], one: Document, other: Document) -> float:
    sign = (one[1] > other[1]) - (one[1] < other[1])
    return max(0.0, 1.0 - sign * sum(a * (b - c) for a, b, c in zip(w, one[0], other[0], strict=True)))


def hinge_pairs(w: tuple[float, float], query: Query) -> float:
    """The expected loss of two documents drawn independently."""
    return sum(hinge_of(w, one, other) for one in query for other in query) / 9


def test_theorem_2_link_by_link() -> None:
    settings = TwoLayerChainSettings.parse({"queries": [N], "repetitions": 8, "radius": W, "documents": 4, "starts": 3})
    pairs = two_chain.KnownPairs(DATA, two_chain.pair_losses.get("hinge"), W)
    of = two_chain.sampled(settings, pairs, N, (2, "test"))
    chains = {one.bound: one for one in two_chain.all_chains(settings, pairs, N, of)}
    links = {link.name: link for link in chains["theorem-2"].links}
    losses = [[hinge_pairs(w, query) for query in QUERIES] for w in GRID]
    true = [sum(row) / 8 for row in losses]
    rng, sizes, averages, lengths = random.Random(5), [], [], []
    for _ in range(200):
        drawn = [rng.randrange(8) for _ in range(N)]
        sizes.append(max(abs(true[k] - sum(losses[k][q] for q in drawn) / N) for k in range(len(GRID))))
    for _ in range(60):
        signed: list[tuple[float, tuple[float, float]]] = []
        for q in [rng.randrange(8) for _ in range(N)]:
            (x, y), (other, label) = rng.choice(QUERIES[q]), rng.choice(QUERIES[q])
            sign = (y > label) - (y < label)
            signed.append((2 / N * rng.choice((-1, 1)), (sign * (x[0] - other[0]), sign * (x[1] - other[1]))))
        averages.append(max(abs(sum(s * max(0.0, 1.0 - w[0] * d[0] - w[1] * d[1]) for s, d in signed)) for w in GRID))
        lengths.append(W * math.hypot(*(sum(s * d[j] for s, d in signed) for j in range(2))))
    walk: Any = sum(abs(2 * k - N) * math.comb(N, k) for k in range(N + 1)) / 2**N
    expected = {
        "absolute": sum(sizes) / 200,
        "symmetrised": sum(averages) / 60,
        "contracted": 2 * sum(lengths) / 60 + 2 / N * walk,
    }
    for name, value in expected.items():
        error = (links[name].high - links[name].low) / 2
        assert abs(links[name].value - value) < 2.0 * error, name
    # Theorem 1: the worst gap of the first sample, whose documents are drawn first.
    again = generator(2, "test")
    drawn = again.integers(8, size=N).tolist()
    places = (again.random((N, 4)) * 3).astype(int).tolist()
    lists = [[QUERIES[q][place] for place in four] for q, four in zip(drawn, places, strict=True)]
    sample = [two for documents in lists for two in itertools.combinations(documents, 2)]
    gaps = [true[k] - sum(hinge_of(w, *two) for two in sample) / len(sample) for k, w in enumerate(GRID)]
    best = min(range(len(GRID)), key=lambda k: true[k])
    assert of.worst[0] == pytest.approx(max(gaps) - gaps[best], abs=5e-3)
    deviation = (1 + 2 * W) * math.sqrt(math.log(2 / DELTA) / (2 * N))
    assert links["doubled"].value - links["contracted"].value == pytest.approx(2 * deviation)

"""Are the averages of `list_lengths` upper bounds, and sharp where they should be?"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline_lib import surrogates
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import list_lengths

QUERIES, DOCUMENTS = 6, 4
SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=QUERIES)))


LOSSES = {"listnet": surrogates.create("listnet"), "smooth-dcg": surrogates.create("smooth-dcg", sign="regret")}


def average(loss: str, x: Floats, y: Floats, scores: float) -> float:
    """The Rademacher average over |w| <= scores of documents with one feature, by all signs; w on a grid."""
    w, m = np.linspace(-scores, scores, 201), x.shape[1]
    labels, offsets = np.tile(y.ravel(), len(w)).astype(np.int32), np.arange(len(w) * len(x) + 1) * m
    values = LOSSES[loss].value((w[:, None, None] * x).ravel(), labels, offsets).reshape(len(w), len(x))
    return float((SIGNS @ values.T).max(axis=1).mean()) / len(x)


@pytest.mark.parametrize("scores", [0.01, 0.3, 1.0, 2.0])
def test_no_class_exceeds_its_average(scores: float) -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        x = rng.choice([-1.0, -0.3, 1.0], size=(QUERIES, DOCUMENTS))
        y = rng.integers(2, size=(QUERIES, DOCUMENTS)).astype(float)
        apart = scores * float(np.abs(x - x.mean(axis=1, keepdims=True)).max())
        for centred in (None, apart):
            known = {"n": QUERIES, "scores": scores, "centred": centred}
            assert average("listnet", x, 4.0 * y, scores) <= list_lengths.of_listnet(**known)
            assert average("smooth-dcg", x, y, scores) <= list_lengths.of_smooth_dcg(**known, largest_gain=1.0)


def test_half_of_listnets_average_is_exceeded() -> None:
    x = np.full((QUERIES, DOCUMENTS), -1.0)
    x[:, 0] = 1.0
    y = np.zeros((QUERIES, DOCUMENTS))
    y[:, 0] = 20.0
    known = average("listnet", x, y, 0.01)
    assert 0.5 * list_lengths.of_listnet(n=QUERIES, scores=0.01) < known


@given(
    n=st.integers(1, 10**7), m=st.integers(1, 10**7), q=st.sampled_from(list_lengths.RATIOS), length=st.integers(0, 5)
)
@example(n=288801, m=1, q=12, length=3)
@settings(max_examples=50)
def test_no_chain_of_equal_ratios_is_shorter(n: int, m: int, q: int, length: int) -> None:
    known = list_lengths.by_chain(n=n, m=m, lipschitz=2.0, scores=0.5)
    assert 0.0 < known <= 1.0
    assert known <= of_chain([float(q**j) for j in range(length + 1)], n, m) * (1 + 1e-12)


def of_chain(sizes: list[float], n: int, m: int) -> float:
    value = sizes[-1] ** -0.5
    for before, now in itertools.pairwise(sizes):
        vectors = now + (before if before > 1 else 0)
        value += (before**-0.5 + now**-0.5) * math.sqrt(2 * vectors * math.log(2 * m * n + 1) / n)
    return value


def test_some_chain_is_as_long() -> None:
    chains = [[float(q**j) for j in range(length)] for q in list_lengths.RATIOS for length in range(1, 30)]
    for n, m in ((100, 10), (10**5, 10), (10**6, 1000)):
        best = min(of_chain(sizes, n, m) for sizes in chains)
        assert list_lengths.by_chain(n=n, m=m, lipschitz=1.0, scores=1.0) == pytest.approx(best)


def test_how_the_averages_change_with_the_list() -> None:
    n = 10**6
    chain = [list_lengths.by_chain(n=n, m=m, lipschitz=1.0, scores=1.0) for m in (10, 100, 1000, 10000)]
    growth = np.diff(np.square(chain))
    assert (growth > 0).all()
    assert growth.max() < 1.3 * growth.min()  # linear in log m
    euclidean = [list_lengths.by_euclidean_norm(n=n, m=m, lipschitz_l2=1.0, scores=1.0) for m in (100, 400)]
    coordinates = [list_lengths.by_coordinates(n=n, m=m, partial=1.0, scores=1.0) for m in (100, 400)]
    assert euclidean[1] == pytest.approx(2 * euclidean[0])
    assert coordinates[1] == pytest.approx(4 * coordinates[0])


def test_scores_too_large_for_floats_give_infinity_and_negative_ones_an_error() -> None:
    assert list_lengths.of_listnet(n=10.0, scores=1e6) == math.inf
    with pytest.raises(DataError, match="scores"):
        list_lengths.of_listnet(n=10.0, scores=-1.0)

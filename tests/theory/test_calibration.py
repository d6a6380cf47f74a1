"""Do linear programmes find the laws that mislead a surrogate most, and are minimisers in the order that they say?"""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from pipeline_lib import surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import partial_labels

MISLED = ("squared", "kl", "listnet", "ranksvm")


def expected_loss(name: str, law: np.ndarray, s: np.ndarray, m: int, grades: int) -> float:
    labels = partial_labels.label_vectors(m, grades).ravel()
    offsets = np.arange(0, len(labels) + 1, m)
    return float(law @ surrogates.create(name).value(np.tile(s, len(law)), labels, offsets))


@pytest.mark.parametrize("name", MISLED)
def test_minimisers_are_in_the_wrong_order_under_the_law_that_is_found(name: str) -> None:
    m, grades = 3, 2
    found = partial_labels.largest_misordering(name, m, grades)
    a = found.law @ partial_labels.relevances(m, grades)
    assert a[1] - a[0] == pytest.approx(found.gap)
    assert found.gap > 0.04
    starts = np.random.default_rng(0).normal(size=(4, m))
    method = "Nelder-Mead" if name == "ranksvm" else "BFGS"
    best = min(
        (minimize(lambda s: expected_loss(name, found.law, s, m, grades), start, method=method) for start in starts),
        key=lambda one: one.fun,
    )
    assert best.x[0] > best.x[1]


@pytest.mark.parametrize("name", ["squared", "kl", "listnet"])
def test_no_law_misleads_more(name: str) -> None:
    m, grades = 3, 3
    found = partial_labels.largest_misordering(name, m, grades)
    sorted_by = partial_labels.SORTED_BY[name](partial_labels.label_vectors(m, grades).astype(float))
    values = partial_labels.relevances(m, grades)
    for law in np.random.default_rng(1).dirichlet(np.full(grades**m, 0.05), size=300):
        expected, a = law @ sorted_by, law @ values
        if expected[0] - expected[1] >= 0.01:
            assert a[1] - a[0] <= found.gap + 1e-9


def test_whole_scores_minimise_the_expected_hinges() -> None:
    rng = np.random.default_rng(2)
    vectors = partial_labels.label_vectors(3, 2)
    scores, losses = partial_labels._whole_scores(vectors)
    for law in rng.dirichlet(np.ones(8), size=5):
        least = (losses @ law).min()
        assert least == pytest.approx(min(expected_loss("ranksvm", law, s, 3, 2) for s in scores.astype(float)))
        for s in rng.uniform(-3.0, 3.0, size=(200, 3)):
            assert expected_loss("ranksvm", law, s, 3, 2) >= least - 1e-12


def test_what_sorts_as_ndcg_does_is_never_misled() -> None:
    for m, grades in itertools.product((2, 3), (2, 3)):
        assert partial_labels.largest_misordering("squared-ndcg", m, grades, 0.02).gap == pytest.approx(-0.02)
    assert all(partial_labels.largest_misordering(name, 2, 2).gap < 0 for name in MISLED)


def test_unknown_surrogates_and_single_documents_are_refused() -> None:
    with pytest.raises(DataError, match="surrogate"):
        partial_labels.largest_misordering("rankboost", 3, 2)
    with pytest.raises(DataError, match="two documents"):
        partial_labels.largest_misordering("squared", 1, 2)

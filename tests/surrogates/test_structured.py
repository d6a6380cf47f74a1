"""Which orders of documents matter to the large-margin surrogates, and are their constants suprema?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_losses import compared, label_vectors, margins, queries

from pipeline_lib.surrogates.structured import StructuredNDCG, SvmMAP

LOSSES = {"structured-ndcg": StructuredNDCG(), "svm-map": SvmMAP()}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("y_max", [1, 2])
def test_lipschitz_constants_are_the_suprema_over_labels_and_rankings(name, y_max):
    largest = {"linf": 0.0, "l2": 0.0}
    for m in range(1, 6):
        for labels in label_vectors(m, y_max):
            y = np.array(labels)
            if len(set(compared(name, y).tolist())) == 1:
                continue
            _, slopes = margins(name, y)
            largest["linf"] = max(largest["linf"], np.abs(slopes).sum(axis=1).max())
            largest["l2"] = max(largest["l2"], np.sqrt((slopes**2).sum(axis=1)).max())
        for norm, seen in largest.items():
            assert LOSSES[name].lipschitz(m, y_max, norm) == pytest.approx(seen, abs=1e-12)


@pytest.mark.parametrize("m", [2, 7, 10])
def test_lipschitz_constants_are_attained(m):
    y = np.r_[1, np.zeros(m - 1, int)]
    against = np.arange(m) * 100.0
    gradient = LOSSES["structured-ndcg"].gradient(against, y, [0, m])
    assert np.abs(gradient).sum() == LOSSES["structured-ndcg"].lipschitz(m, 1)
    assert np.abs(gradient).sum() == sum(abs(2 * i - 1 - m) for i in range(1, m + 1))
    assert np.linalg.norm(gradient) == pytest.approx(LOSSES["structured-ndcg"].lipschitz(m, 1, "l2"))
    for r in range(1, m):
        y = np.r_[np.ones(r, int), np.zeros(m - r, int)]
        assert np.abs(LOSSES["svm-map"].gradient(against, y, [0, m])).sum() == pytest.approx(4.0)
    assert np.linalg.norm(LOSSES["svm-map"].gradient([0.0, 9.0], [1, 0], [0, 2])) == pytest.approx(
        LOSSES["svm-map"].lipschitz(m, 1, "l2")
    )


def test_structured_ndcg_charges_for_equal_labels_out_of_document_order():
    in_order, reversed_order = LOSSES["structured-ndcg"].value([9.0, 8.0, 0.0, 8.0, 9.0, 0.0], [1, 1, 0] * 2, [0, 3, 6])
    assert in_order == 0.0
    assert reversed_order == pytest.approx(1.0)


@given(queries(), st.integers(0, 10**6))
def test_svm_map_does_not_depend_on_the_order_of_the_documents(query, seed):
    s, y = query
    order = np.random.default_rng(seed).permutation(len(y))
    one, other = (LOSSES["svm-map"].value(a, b, [0, len(y)])[0] for a, b in ((s, y), (s[order], y[order])))
    assert one == pytest.approx(other, abs=1e-12 * (1 + np.abs(s).max()))


@given(queries(), st.randoms(use_true_random=False))
def test_structured_ndcg_depends_on_the_order_of_equal_labels_only(query, random):
    s, y = query
    slots = y.tolist()
    random.shuffle(slots)
    waiting = {label: iter(np.flatnonzero(y == label)) for label in set(slots)}
    order = np.array([next(waiting[label]) for label in slots])
    one, other = (LOSSES["structured-ndcg"].value(a, b, [0, len(y)])[0] for a, b in ((s, y), (s[order], y[order])))
    assert one == pytest.approx(other, abs=1e-11 * (1 + np.abs(s).max()))

"""Are the errors and averages of the exact distributions those that samples and enumerations show?"""

import itertools
import math

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.papers.twolayer.extremes import distributions
from pipeline_lib.papers.twolayer.extremes.distributions import Lists

COINS, OF_DOCUMENTS, MEMORY, OF_MEMORISED = distributions.extremes(0.2)


def test_averages_are_means_over_all_signs_and_coins():
    for k, p in ((1, 0.3), (2, 0.5), (5, 0.2)):
        one, memory = 0.0, 0.0
        for coins in itertools.product((0, 1), repeat=k):
            weight = p ** sum(coins) * (1 - p) ** (k - sum(coins)) / 2**k
            for signs in itertools.product((-1, 1), repeat=k):
                added = [s for s, b in zip(signs, coins, strict=True) if b]
                one += weight * abs(sum(added))
                memory += weight * max(added.count(1), added.count(-1))
        assert distributions.one_ranker(k, p) == pytest.approx(2 / k * one)
        assert distributions.with_memory(k, p) == pytest.approx(2 / k * memory)


def test_averages_of_many_pairs_are_close_to_those_of_normal_ones():
    for k in (10**4, 10**6, 5 * 10**7):
        assert distributions.one_ranker(k, 0.5) == pytest.approx(2 * math.sqrt(1 / (math.pi * k)), rel=1e-3)


def wrong_shares(lists: Lists, rng: np.random.Generator) -> np.ndarray:
    """1 - R_t of the coins of documents, by drawing every document and counting pairs."""
    shares = []
    for m in lists.lengths:
        difficult = rng.random(m) < distributions.DIFFICULT
        pairs = [difficult[i] and difficult[j] for i, j in itertools.combinations(range(m), 2)]
        shares.append(np.mean(pairs))
    return np.array(shares)


@pytest.mark.parametrize("groups", [((1, 7),), ((8, 2),), ((2, 4), (1, 9))])
def test_coins_of_documents_by_simulation(groups):
    lists, rng = Lists(groups), np.random.default_rng(0)
    errors = distributions.DIFFICULT**2 - np.array([wrong_shares(lists, rng).mean() for _ in range(2000)])
    for number in (0.0201, 0.1202, 0.3003):
        expected = OF_DOCUMENTS.document_error(lists, number)
        spread = math.sqrt(expected * (1 - expected) / len(errors))
        assert abs(np.mean(errors > number) - expected) < 4 * spread + 1e-9
    assert OF_DOCUMENTS.gap(lists, 0.1) == OF_DOCUMENTS.document_error(lists, 0.1)
    assert OF_DOCUMENTS.query_error(lists, 0.0) == 0.0


def test_tiny_probabilities_are_those_of_the_binomial_distribution():
    # P(K = 0) and P(K <= 1) of 400 coins.
    assert distributions._below(400, 0.5, 1 / 400) == pytest.approx(2.0**-400)
    assert distributions._below(400, 0.5, 2 / 400) == pytest.approx(401 * 2.0**-400)


def test_lists_without_a_closed_form_are_refused():
    with pytest.raises(DataError, match="3, 5"):
        OF_DOCUMENTS.gap(Lists(((3, 5),)), 0.1)

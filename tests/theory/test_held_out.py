"""Does the limit from held-out queries hold as often as it says, and what does choosing on them cost?"""

import math
from dataclasses import replace

import numpy as np
import pytest

from pipeline_lib import RankingData, learners, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import certificates, held_out, ranker_facts
from pipeline_lib.theory.ranker_facts import Facts

KNOWN = Facts(
    n=500, m=12, d=6, y_max=2, l2=1.5, l1=3.0, feature_l2=2.0, feature_linf=1.0, empirical_risk=0.4, zero_risk=1.0
)
W = np.array([1.0, -0.5])


def sample(n: int, rng: np.random.Generator) -> RankingData:
    X = rng.choice([-1.0, 1.0], size=(3 * n, 2))
    y = (X[:, 0] + rng.normal(size=3 * n) > 0.0).astype(int)
    return RankingData.from_arrays(X, y, np.repeat(np.arange(n), 3))


@pytest.mark.parametrize("name", ["slam-ndcg", "listnet"])
def test_the_limit_holds_and_is_near_the_risk(name: str) -> None:
    loss, rng = surrogates.create(name), np.random.default_rng(0)
    true = ranker_facts.facts(sample(20_000, rng), W, loss).empirical_risk
    limits = [held_out.certify(ranker_facts.facts(sample(50, rng), W, loss), loss).risk for _ in range(100)]
    assert sum(limit < true for limit in limits) <= 5
    uniform = certificates.certify(ranker_facts.facts(sample(50, rng), W, loss), loss).holding[0].risk
    assert max(limits) < uniform


@pytest.mark.parametrize("rankers", [2, 7, 100])
def test_choosing_among_rankers_costs_the_logarithm_of_their_number(rankers: int) -> None:
    loss = surrogates.create("slam-ndcg")
    one, several = (held_out.certify(KNOWN, loss, chosen_from=k, delta=0.1) for k in (1, rankers))
    assert several.deviation / one.deviation == pytest.approx(math.sqrt(math.log(rankers / 0.1) / math.log(10.0)))
    # As if every one of them had its share of delta.
    assert several.deviation == pytest.approx(held_out.certify(KNOWN, loss, delta=0.1 / rankers).deviation)


def test_it_is_informative_from_the_number_of_queries_that_is_said() -> None:
    loss, known = surrogates.create("listnet"), replace(KNOWN, empirical_risk=0.9)
    first = held_out.certify(known, loss).informative_from
    assert first is not None
    around = [held_out.certify(replace(known, n=n), loss).informative for n in (first - 1, first)]
    assert around == [False, True]


@pytest.mark.parametrize("name", ["listnet", "slam-ndcg", "squared", "ranksvm", "ranknet"])
def test_a_limit_is_informative_only_below_the_loss_of_the_ranker_that_learned_nothing(name: str) -> None:
    loss = surrogates.create(name)
    train, test = sample(300, np.random.default_rng(1)), sample(100, np.random.default_rng(2))
    ranker = learners.create("erm", surrogate=name, l2=1e-3).fit(train).model
    below_largest: list[certificates.Certificate] = []
    for data in (train, test):
        known = ranker_facts.of_model(ranker, data, loss)
        found = (*certificates.certify(known, loss).holding, held_out.certify(known, loss))
        at_zero = loss.value(np.zeros(data.n_documents), data.y, data.offsets)
        of_zero = float((at_zero - loss.least(data.y, data.offsets)).mean())
        assert [one.informative for one in found] == [one.risk < of_zero for one in found]
        below_largest += [one for one in found if one.risk < one.largest_loss and not one.informative]
    # To be below B says nothing of the ranker: most of what is so small is above the loss of w = 0.
    assert below_largest


def test_a_ranker_without_weights_has_a_limit() -> None:
    assert held_out.certify(replace(KNOWN, l2=0.0, l1=0.0), surrogates.create("slam-ndcg")).largest_loss == 1.0


@pytest.mark.parametrize(
    ("wrong", "named"), [({"chosen_from": 0}, "chosen_from"), ({"delta": 1.0}, "delta"), ({}, "bound on the loss")]
)
def test_what_is_out_of_range_is_named(wrong: dict, named: str) -> None:
    known = KNOWN if wrong else replace(KNOWN, l2=1e200)
    with pytest.raises(DataError, match=named):
        held_out.certify(known, surrogates.create("rankboost"), **wrong)

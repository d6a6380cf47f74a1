"""Do certificates hold, and do they say what the bounds behind them say?"""

import math
from dataclasses import replace

import numpy as np
import pytest

from pipeline_lib import learners, surrogates
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners.models import LinearModel, TreesModel
from pipeline_lib.theory import certificates, contraction, list_bounds, list_lengths, ranker_facts
from pipeline_lib.theory.ranker_facts import Facts
from tests.samples import drawn

KNOWN = Facts(
    n=500, m=12, d=6, y_max=2, l2=1.5, l1=3.0, feature_l2=2.0, feature_linf=1.0, empirical_risk=0.4, zero_risk=1.0
)
LOSSES = ("listnet", "ranksvm", "slam-ndcg", "smooth-dcg", "squared", "svm-map")


@pytest.mark.parametrize("name", ["listnet", "ranksvm"])
def test_the_certified_risk_is_far_above_the_true_one(name: str) -> None:
    train, others, loss = drawn(60, 6, 5), drawn(2_000, 6, 5, seed=1), surrogates.create(name)
    model = learners.create("erm", surrogate=name, l2=1e-3).fit(train).model
    known = ranker_facts.of_model(model, train, loss)
    true = ranker_facts.of_model(model, others, loss).empirical_risk
    found = certificates.certify(known, loss).holding
    assert found
    assert all(one.risk > 2.0 * true for one in found)
    assert all(one.radius >= (known.l1 if one.ball == "l1" else known.l2) for one in found)


def test_the_radii_have_probabilities_that_sum_to_no_more_than_delta() -> None:
    # With a large norm the bound is that of one ball, at its share of delta.
    loss, delta = surrogates.create("ranksvm"), 0.1
    for step in (0, 1, 7):
        radius = 2.0**step / KNOWN.feature_l2
        known = replace(KNOWN, l2=radius)
        one = {c.bound: c for c in certificates.certify(known, loss, delta=delta).holding}["erm"]
        share = delta / len(certificates.UNIFORM) / ((step + 1) * (step + 2))
        constants = list_bounds.of_surrogate("erm", loss, m=12, y_max=2, radius=radius, feature_norm=2.0)
        given = {"n": 500, "m": 12, "radius": radius, "feature_norm": 2.0, "delta": share}
        assert one.radius == radius
        assert one.deviation == list_bounds.evaluate("erm", **given, **constants)
    assert sum(1 / ((j + 1) * (j + 2)) for j in range(10_000)) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("norm", [0.0, 1e-9, 0.5, np.nextafter(0.5, 1.0), 0.75, np.nextafter(1024.0, 2e3), 3e5])
def test_the_ball_holds_the_ranker_and_half_of_it_does_not(norm: float) -> None:
    known, loss = replace(KNOWN, l2=norm), surrogates.create("listnet")
    for one in certificates.certify(known, loss).holding:
        if one.ball == "l2":
            assert one.radius >= norm
            assert one.radius == 1.0 / known.feature_l2 or one.radius < 2.0 * norm


@pytest.mark.parametrize("name", ["listnet"])
def test_a_ranker_is_informative_from_the_number_of_queries_that_is_said(name: str) -> None:
    loss = surrogates.create(name)
    for one in certificates.certify(KNOWN, loss).holding:
        first = one.informative_from
        assert first is not None
        around = [certificates.certify(replace(KNOWN, n=n), loss).holding for n in (first - 1, first)]
        assert [{c.bound: c for c in each}[one.bound].informative for each in around] == [False, True]


@pytest.mark.parametrize("gain", [1e-5, 0.0, -0.1])
def test_a_ranker_that_learned_next_to_nothing_has_certificates(gain: float) -> None:
    known = replace(KNOWN, zero_risk=KNOWN.empirical_risk + gain)
    for one in certificates.certify(known, surrogates.create("listnet")).holding:
        assert one.informative_from is None or one.informative_from > 2**31, one.bound


def test_the_ball_of_the_sum_of_weights_suits_rankers_with_few_of_many_features() -> None:
    # One weight on documents of 10,000 features of size 1: the norm of a document is 100, its largest feature 1.
    sparse = Facts(10**6, 10, 10_000, 2, 1.0, 1.0, 100.0, 1.0, 0.1, 1.0)
    even = replace(sparse, l2=0.01, l1=1.0, feature_l2=100.0)
    loss = surrogates.create("listnet")
    of_sparse, of_even = ({c.bound: c for c in certificates.certify(k, loss).holding} for k in (sparse, even))
    assert of_sparse["erm-l1"].risk < of_sparse["erm"].risk
    assert of_sparse["erm-l1"].risk == of_even["erm-l1"].risk
    assert of_even["erm"].risk < of_sparse["erm"].risk


def test_a_radius_of_ones_own_has_all_of_delta() -> None:
    loss, known = surrogates.create("ranksvm"), replace(KNOWN, l2=0.5, l1=1.0)
    fixed = {one.bound: one for one in certificates.of_class(known, loss, radius=0.5).holding}
    chosen = {one.bound: one for one in certificates.certify(known, loss).holding}
    assert fixed["erm"].radius == chosen["erm"].radius == 0.5
    assert fixed["erm"].deviation < chosen["erm"].deviation


def test_contraction_is_no_larger_than_what_no_list_length_changes() -> None:
    # Twice the known Rademacher average and one deviation at half of the share of delta, on lists of every length.
    loss, found = surrogates.create("listnet"), []
    for m in (12, 10**3, 10**6):
        known = replace(KNOWN, m=m, l2=0.5, square=0.3 * m * 4.0, n=10**4)
        [one] = (c for c in certificates.certify(known, loss).holding if c.bound == "contraction")
        share = certificates.DELTA / len(certificates.UNIFORM) / 2.0
        given = {"n": known.n, "m": m, "radius": 0.5, "feature_norm": 2.0, "delta": 0.5 * share}
        constants = list_bounds.of_surrogate("length-free", loss, m=m, y_max=2, radius=0.5, feature_norm=2.0)
        free = list_bounds.evaluate("length-free", **given, **constants)
        alone = contraction.deviation(
            known.n, square=known.square, largest=4.0 * m, lipschitz_l2=constants["lipschitz_l2"], radius=0.5,
            loss_bound=constants["loss_bound"], delta=share,
        )  # fmt: skip
        assert one.deviation == pytest.approx(min(free, alone))
        found.append((free < alone, one.deviation))
    assert [shorter for shorter, _ in found] == [False, True, True]
    assert found[1][1] == found[2][1]
    # For other losses a chain of coverings takes over where lists are long enough.
    known, ranksvm = replace(KNOWN, m=10**8, l2=0.5, n=10**9), surrogates.create("ranksvm", normalisation="mean")
    [one] = (c for c in certificates.certify(known, ranksvm).holding if c.bound == "contraction")
    average = list_lengths.by_chain(n=10**9, m=10**8, lipschitz=2.0, scores=1.0)
    share = certificates.DELTA / len(certificates.UNIFORM) / 2.0
    assert one.deviation == pytest.approx(2.0 * average + 3.0 * math.sqrt(math.log(2.0 / share) / 2e9))


def test_a_bound_for_losses_up_to_one_is_applied_to_such_a_loss() -> None:
    known, loss = replace(KNOWN, n=10**7), surrogates.create("squared")
    one = {c.bound: c for c in certificates.certify(known, loss).holding}["chapelle-wu"]
    step = math.log2(one.radius * known.feature_l2)
    share = certificates.DELTA / len(certificates.UNIFORM) / ((step + 1) * (step + 2))
    # The part that is free of the class grows in proportion to the largest loss.
    assert one.deviation > one.largest_loss * math.sqrt(8.0 * math.log(1.0 / share) / known.n)


def test_where_no_bound_holds_it_is_said_why() -> None:
    empty = replace(KNOWN, feature_l2=0.0, feature_linf=0.0)
    found = certificates.certify(empty, surrogates.create("listnet"))
    assert not found.holding
    assert set(found.reasons) == set(certificates.UNIFORM)
    huge = certificates.certify(replace(KNOWN, l2=1e200, l1=1e200), surrogates.create("rankboost"))
    assert not huge.holding
    assert all(huge.reasons.values())
    signed = certificates.certify(KNOWN, surrogates.create("smooth-dcg", sign="ascent"))
    assert set(signed.reasons) == {"optimistic"}


def test_models_without_facts_say_why() -> None:
    data, loss = drawn(3, 6, 5), surrogates.create("listnet")
    stump = TreesModel.of([0], [-1], [0.0], [0], [0], [1.0], n_features=5)
    with pytest.raises(DataError, match="trees"):
        ranker_facts.of_model(stump, data, loss)
    linear = LinearModel.of([1.0] * 5)
    found = [ranker_facts.recorded(model, data, use) for model, use in ((stump, loss), (linear, None), (linear, loss))]
    assert [set(each) for each in found] == [{"without_facts"}, {"without_facts"}, {"facts"}]
    assert Facts(**found[2]["facts"]) == ranker_facts.of_model(linear, data, loss)


def test_facts_are_those_of_the_features_that_the_model_sees() -> None:
    data, loss = drawn(30, 6, 5), surrogates.create("listnet")
    model = LinearModel.of([1.0, 0.0, 0.0, 0.0, 2.0], mean=[0.5] * 5, scale=[0.25] * 5)
    known = ranker_facts.of_model(model, data, loss)
    standardised = (data.X64 - 0.5) / 0.25
    assert known.feature_linf == pytest.approx(np.abs(standardised).max())
    assert known.feature_l2 == pytest.approx(np.linalg.norm(standardised, axis=1).max())
    losses = loss.value(model.predict(data), data.y, data.offsets) - loss.least(data.y, data.offsets)
    assert known.empirical_risk == pytest.approx(losses.mean())


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(DataError, match="w: expected 5 weights"):
        ranker_facts.facts(drawn(3, 6, 5), np.zeros(4), surrogates.create("listnet"))

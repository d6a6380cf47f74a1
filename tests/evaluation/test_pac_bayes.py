"""Certificates from training queries alone: does the limit hold, and what is it a limit of?"""

import json
import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

from pipeline_lib import RankingData, estimators, evaluation, learners, metrics
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import ArgumentError, ConfigurationError, DataError
from pipeline_lib.data import query_blocks
from pipeline_lib.evaluation import TrainingCertificate, betting, certify_training, pac_bayes
from pipeline_lib.learners.models import IdealModel, LinearModel, TreesModel
from pipeline_lib.learners.ranker import Trained


def data_of(n: int, m: int = 5, d: int = 3, noise: float = 0.5, seed: int = 0) -> RankingData:
    """Queries whose labels follow the sum of the features, or nothing where the noise is infinite."""
    rng = np.random.default_rng(seed)
    X, deviation = rng.normal(size=(n * m, d)), rng.normal(size=n * m)
    good = deviation if math.isinf(noise) else X.sum(axis=1) + noise * deviation
    return RankingData.from_arrays(X, np.digitize(good, np.quantile(good, [0.6, 0.9])), np.repeat(np.arange(n), m))


def least_squares(data: RankingData) -> LinearModel:
    return LinearModel.of(np.linalg.lstsq(data.X64, data.y - data.y.mean(), rcond=None)[0])


EASY = data_of(300)
GOOD = LinearModel.of([1.0, 1.0, 1.0])


def kl(p: Decimal, q: Decimal) -> Decimal:
    return sum((a * (a / b).ln() for a, b in ((p, q), (1 - p, 1 - q)) if a > 0), Decimal(0))


@pytest.mark.parametrize("radius", [1e-4, 0.02, 0.3, 5.0, 40.0])
def test_the_smallest_mean_is_that_of_closed_forms_and_of_exact_arithmetic(radius: float) -> None:
    assert pac_bayes._smallest_mean(1.0, radius) == pytest.approx(math.exp(-radius), rel=1e-12)
    assert pac_bayes._smallest_mean(0.0, radius) == 0.0
    for mean in (1e-3, 0.2, 0.5, 0.97):
        found = pac_bayes._smallest_mean(mean, radius)
        with localcontext(prec=60):
            p, limit, above = Decimal(mean), Decimal(found), Decimal(found) + Decimal(mean) * Decimal("1e-12")
            assert found == 0.0 or kl(p, limit) > Decimal(radius) * (1 - Decimal("1e-9"))
            assert kl(p, above) < Decimal(radius)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 60])
def test_the_moment_is_the_expectation_for_values_0_and_1_and_exceeds_that_for_others(n: int) -> None:
    with localcontext(prec=40):
        for m in map(Decimal, ("0.01", "0.3", "0.5")):
            exact = sum(
                math.comb(n, k) * m**k * (1 - m) ** (n - k) * (n * kl(Decimal(k) / n, m)).exp() for k in range(n + 1)
            )
            assert float(exact) == pytest.approx(pac_bayes._moment(n), rel=1e-11)
    assert math.sqrt(n) <= pac_bayes._moment(n)
    # Of values 1/4 and 3/4 with the mean 1/2, k of them the larger one:
    k = np.arange(n + 1)
    means = 0.25 + 0.5 * k / n
    divergence = means * np.log(2 * means) + (1 - means) * np.log(2 * (1 - means))
    assert binom.pmf(k, n, 0.5) @ np.exp(n * divergence) < pac_bayes._moment(n)


def test_the_moment_is_below_that_of_the_literature() -> None:
    for n in (8, 100, 471, 10_000, 1_000_000):
        assert pac_bayes._moment(n) < 2.0 * math.sqrt(n)
    assert pac_bayes._moment(1_000_000) == pytest.approx(math.sqrt(math.pi * 1e6 / 2) + 2 / 3, rel=1e-5)


class World:
    """Queries of two documents, one of them relevant, of T types, of which type t shows the difference D[t] of both.

    The relevant document is the one that D[t] points to with probability ``truth``. Its probability to be first under
    weights N(c, I) is known, Phi(<c, D> / |D|).
    """

    def __init__(self, differences: Floats, truth: float) -> None:
        self.D, self.truth = differences, truth

    def sample(self, n: int, rng: np.random.Generator) -> tuple[RankingData, Floats]:
        signed = self.D[rng.integers(len(self.D), size=n)] * np.where(rng.random((n, 1)) < self.truth, 1.0, -1.0)
        X = np.stack([signed, np.zeros_like(signed)], axis=1).reshape(2 * n, -1)
        return RankingData.from_arrays(X, np.tile([1, 0], n), np.repeat(np.arange(n), 2)), signed

    @staticmethod
    def first(center: Floats, differences: Floats) -> Floats:
        return np.asarray(norm.cdf(differences @ center / np.linalg.norm(differences, axis=1)))

    def mean(self, center: Floats) -> float:
        right = self.first(center, self.D).mean()
        return float(self.truth * right + (1.0 - self.truth) * (1.0 - right))


NOISE = World(np.eye(40), truth=0.5)
CLEAR = World(np.eye(40), truth=1.0)
MIXED = World(np.random.default_rng(5).normal([1.0, 0.0, 0.0, 0.0], size=(30, 4)), truth=0.9)
LEVEL = 0.5  # a limit of low confidence is nearer, and errors of the program would show sooner


def tried(world: World, n: int, repetitions: int = 60) -> list[tuple[TrainingCertificate, float, float, Floats]]:
    """Certificates for the sum of the differences, with the true mean and that on the queries of training."""
    found = []
    for seed in range(repetitions):
        data, signed = world.sample(n, np.random.default_rng(seed))
        model = LinearModel.of(signed.sum(axis=0) + 1e-9)
        one = certify_training(model, data, "p@1", level=LEVEL, draws=100, seed=seed)
        found.append((one, world.mean(one.center), float(world.first(one.center, signed).mean()), signed))
    return found


def without_divergence(one: TrainingCertificate) -> float:
    radius = math.log(pac_bayes._moment(one.queries) / (0.9 * (1.0 - one.level))) / one.queries
    return pac_bayes._smallest_mean(one.observed, radius)


@pytest.mark.parametrize("world", [NOISE, CLEAR, MIXED])
def test_the_limit_holds_where_the_truth_is_known(world: World) -> None:
    found = tried(world, 80)
    assert sum(one.lower > truth for one, truth, *_ in found) <= 0.5 * len(found)
    # The limit from draws fails with probability 0.05; their mean itself is too high in every other case.
    assert sum(one.observed > there for one, _, there, _ in found) <= 9
    assert sum(one.mean > there for one, _, there, _ in found) >= 15


def test_a_limit_without_the_divergence_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pac_bayes, "STRENGTHS", (12.0,))
    found = tried(NOISE, 80, 20)
    assert all(truth == pytest.approx(0.5) for _, truth, *_ in found)
    assert all(one.lower <= truth for one, truth, *_ in found)
    assert sum(without_divergence(one) > truth for one, truth, *_ in found) >= 18


def test_a_limit_by_the_training_mean_of_the_trained_ranker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pac_bayes, "STRENGTHS", (2.0,))
    found = tried(CLEAR, 400, 20)
    assert all(one.trained > 0.99 for one, *_ in found)
    for one, truth, *_ in found:
        radius = (0.5 * one.strength**2 + math.log(pac_bayes._moment(400) / (0.9 * (1.0 - LEVEL)))) / 400
        assert one.lower <= truth < pac_bayes._smallest_mean(one.trained, radius)


def test_the_limit_is_that_of_the_documentation() -> None:
    one = certify_training(GOOD, EASY, level=0.9, seed=3)
    radius = (0.5 * one.strength**2 + math.log(pac_bayes._moment(300) / (0.9 * 0.1))) / 300
    p, q = one.observed, one.lower
    assert p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)) == pytest.approx(radius, rel=1e-9)
    assert one.observed < one.mean
    assert one.to_dict()["divergence"] == one.strength**2 / 2
    np.testing.assert_allclose(one.center, np.full(3, one.strength / math.sqrt(3.0)))


def test_the_strength_is_the_best_one(monkeypatch: pytest.MonkeyPatch) -> None:
    best = certify_training(GOOD, EASY)
    place = pac_bayes.STRENGTHS.index(best.strength)
    for other in (place - 4, place + 4):
        monkeypatch.setattr(pac_bayes, "STRENGTHS", (pac_bayes.STRENGTHS[other],))
        assert certify_training(GOOD, EASY).lower < best.lower - 0.01
        monkeypatch.undo()


def test_a_lower_level_gives_a_higher_limit() -> None:
    limits = [certify_training(GOOD, EASY, level=level).lower for level in (0.5, 0.9, 0.99, 0.9999)]
    assert limits == sorted(limits, reverse=True)
    assert limits[0] > limits[-1] + 0.02


def test_what_was_learned_is_above_equal_scores_and_noise_is_not() -> None:
    easy = certify_training(least_squares(EASY), EASY)
    assert easy.equal + 0.1 < easy.lower < easy.mean < easy.trained
    assert easy.informative
    assert "The limit is above that." in str(easy)
    noise = data_of(300, d=30, noise=math.inf)
    found = certify_training(least_squares(noise), noise)
    assert found.lower < found.equal < found.trained
    assert not found.informative
    assert "does not show that anything was learned" in str(found)


def test_only_the_direction_of_weights_and_the_ratios_of_scales_matter() -> None:
    plain = certify_training(LinearModel.of([3.0, 1.0, 2.0]), EASY)
    for weights, scales in (([6e9, 2e9, 4e9], 1.0), ([3.0, 1.0, 2.0], 1e-6), ([3.0, 1.0, 2.0], [7.0, 7.0, 7.0])):
        same = certify_training(LinearModel.of(weights), EASY, scales=scales)
        assert (same.lower, same.mean, same.strength) == pytest.approx((plain.lower, plain.mean, plain.strength))
    other = certify_training(LinearModel.of([3.0, 1.0, 2.0]), EASY, scales=[3.0, 1.0, 2.0])
    assert other.lower != pytest.approx(plain.lower)


def test_units_of_features_are_those_of_scales() -> None:
    units = np.array([1.0, 64.0, 0.125])
    plain = certify_training(GOOD, EASY)
    turned = RankingData.from_arrays(EASY.X64 / units, EASY.y, np.repeat(np.arange(300), 5))
    same = certify_training(LinearModel.of(units), turned, scales=units)
    assert (same.lower, same.mean) == pytest.approx((plain.lower, plain.mean))


def test_a_standardisation_by_the_queries_of_training_does_not_move_the_prior() -> None:
    plain = certify_training(LinearModel.of([3.0, 1.0, 2.0]), EASY)
    model = LinearModel.of([6.0, 0.25, 2.0], mean=[5.0, -1.0, 0.0], scale=[2.0, 0.25, 1.0])
    assert certify_training(model, EASY).lower == pytest.approx(plain.lower)


def test_the_means_are_those_of_single_draws() -> None:
    data = data_of(40, m=6)
    weights = np.random.default_rng(1).normal(size=(7, 3))
    for name in ("ndcg@3", "map", "err"):
        found = pac_bayes._Values(name, 1, 0.25, 2).means(data, weights)
        each = [
            metrics.per_query([name], data.X64 @ w, data.y, data.offsets, 2, no_relevant=0.25)[name].mean()
            for w in weights
        ]
        np.testing.assert_allclose(found, each, rtol=1e-12)


def test_equal_documents_are_tied_wherever_they_stand() -> None:
    # Matrix products round the last rows and columns, where they are no multiples of 4 or 8, differently from others.
    X = np.repeat(np.random.default_rng(2).normal(size=(31, 46)), 5, axis=0)
    data = RankingData.from_arrays(X, np.tile([0, 1, 0, 0, 0], 31), np.repeat(np.arange(31), 5))
    found = certify_training(LinearModel.of(np.ones(46)), data, "rr", draws=7)
    assert (found.mean, found.trained, found.equal) == pytest.approx(
        ((1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5,) * 3, rel=1e-12
    )


def test_zeros_of_either_sign_are_equal() -> None:
    X = np.repeat(np.random.default_rng(2).normal(size=(50, 3)), 2, axis=0)
    X[::2, 0], X[1::2, 0] = 0.0, -0.0
    data = RankingData.from_arrays(X, np.tile([1, 0], 50), np.repeat(np.arange(50), 2))
    assert certify_training(GOOD, data, "p@1", draws=50).mean == pytest.approx(0.5)


def test_the_limit_from_draws_has_its_share_and_draws_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Floats, float]] = []
    measured: list[Floats] = []
    limit, means = betting.lower_limit, pac_bayes._Values.means

    def recorded(values: Floats, *, level: float, seed: int) -> float:
        asked.append((values, level))
        return limit(values, level=level, seed=seed)

    def drawn(self: Any, data: RankingData, weights: Floats) -> Floats:
        measured.append(weights)
        return means(self, data, weights)

    monkeypatch.setattr(betting, "lower_limit", recorded)
    monkeypatch.setattr(pac_bayes._Values, "means", drawn)
    found = certify_training(GOOD, EASY, level=0.9, draws=150)
    ((sample, level),) = asked
    assert level == pytest.approx(1.0 - 0.1 * 0.1)
    assert (len(sample), sample.mean(), limit(sample, level=level)) == (150, found.mean, found.observed)
    # Differences of draws do not depend on the center.
    assert len(measured) > 5
    first = [weights[:2] - weights[2:4] for weights in measured]
    assert all(np.allclose(one, first[0]) for one in first[:-1])
    assert not np.isin(first[-1].round(6), first[0].round(6)).any()


def test_large_data_in_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = data_of(200, m=5)
    twice = RankingData.from_arrays(np.r_[data.X, data.X], np.r_[data.y, data.y], np.repeat(np.arange(400), 5))
    for one in (data, twice):
        whole = certify_training(GOOD, one, draws=30)
        monkeypatch.setattr(query_blocks, "WHOLE_BYTES", 1)
        monkeypatch.setattr(query_blocks, "BLOCK_BYTES", 8 * 3 * 40)
        monkeypatch.setattr(pac_bayes, "_SCORES", 300)
        assert len(list(one.blocks())) > 5
        blocks = certify_training(GOOD, one, draws=30)
        assert (blocks.mean, blocks.lower) == pytest.approx((whole.mean, whole.lower), rel=1e-12)
        assert len(blocks.predict(one, seed=1)) == one.n_documents
        monkeypatch.undo()


def test_the_randomised_ranker_has_the_mean_of_the_draws_and_weights_of_its_own_for_every_query() -> None:
    data = data_of(300, seed=1)
    found = certify_training(GOOD, data, draws=2000)
    means = [metrics.ndcg(found.predict(data, seed=seed), data.y, data.offsets, 10).mean() for seed in range(100)]
    # Of independent queries, the mean over 300 of them varies little from call to call.
    assert np.std(means) < 0.02
    assert np.mean(means) == pytest.approx(found.mean, abs=0.006)
    same = RankingData.from_arrays(np.tile(data.X[:5], (2, 1)), np.tile(data.y[:5], 2), np.repeat([0, 1], 5))
    first, second = found.predict(same, seed=(4, "test")).reshape(2, 5)
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(found.predict(same, seed=(4, "test"))[:5], first)
    with pytest.raises(DataError, match="3 features"):
        found.predict(data_of(3, d=2), seed=0)


def test_conventions_are_those_of_certify() -> None:
    data = data_of(60, m=3)
    empty = np.maximum.reduceat(data.y, data.offsets[:-1]) == 0
    assert 5 < empty.sum() < 40
    zero, half, left = (certify_training(GOOD, data, no_relevant=one) for one in (0.0, 0.5, "skip"))
    expected = evaluation.values((GOOD, data), no_relevant=0.5)
    assert half.trained == pytest.approx(expected.values.mean())
    assert half.mean - zero.mean == pytest.approx(0.5 * empty.mean(), abs=0.03)
    assert left.queries == 60 - empty.sum() < zero.queries == 60
    assert left.lower == certify_training(GOOD, data.take(np.flatnonzero(~empty))).lower
    assert any("are left out" in note for note in left.notes)
    two = certify_training(GOOD, data, "AP(rel=2)", no_relevant="skip")
    assert two.measure == "map"
    assert two.queries == (np.maximum.reduceat(data.y, data.offsets[:-1]) == 2).sum()
    scale = certify_training(GOOD, data, "err", y_max=4)
    assert scale.trained == pytest.approx(evaluation.values((GOOD, data), None, "err", y_max=4).values.mean())


def test_trained_and_loaded_rankers_are_taken(tmp_path: Any) -> None:
    trained = learners.create("erm", surrogate="ranksvm", l2=1.0).fit(EASY)
    trained.save(tmp_path / "model.json")
    expected = certify_training(trained.model, EASY, draws=100).lower
    assert certify_training(trained, EASY, draws=100).lower == expected
    assert certify_training(learners.load(tmp_path / "model.json"), EASY, draws=100).lower == expected
    estimator = estimators.ErmRanker(surrogate="ranksvm", l2=1.0).fit(EASY.X, EASY.y, qid=np.repeat(np.arange(300), 5))
    assert certify_training(estimator, EASY, draws=100).lower == expected


def test_a_certificate_is_a_text_and_plain_json() -> None:
    found = certify_training(GOOD, EASY)
    plain = json.loads(json.dumps(found.to_dict()))
    assert (plain["queries"], plain["measure"], plain["draws"]) == (300, "ndcg@10", 1000)
    assert plain["lower"] == found.lower
    assert len(plain["center"]) == 3
    text = str(found)
    assert "With 95 % confidence, ndcg@10 of the randomised ranker" in text
    assert "The limit is not one for the trained ranker itself." in text
    assert "1 - 0.05/K" in text
    assert "linear_ndcg@10" in text
    assert f"{math.floor(found.lower * 1e4) / 1e4:.4f}" in repr(found)


TREES = TreesModel.of([0], [0, -1, -1], [1.5, 0, 0], [1, 0, 0], [2, 0, 0], [0, -1.0, 2.0], n_features=3)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: certify_training(TREES, EASY), DataError, "expected a linear ranker.*found one of the kind trees"),
        (lambda: certify_training(Trained(IdealModel()), EASY), DataError, "found one of the kind ideal"),
        (lambda: certify_training([1.0, 1.0, 1.0], EASY), ArgumentError, "expected a linear ranker of this project"),
        (lambda: certify_training(GOOD, EASY.X64), ArgumentError, "data"),
        (lambda: certify_training(LinearModel.of([0.0, 0.0, 0.0]), EASY), DataError, "a weight that is not 0"),
        (lambda: certify_training(LinearModel.of([1.0]), EASY), DataError, "trained with 1 features"),
        (lambda: certify_training(GOOD, EASY, scales=[1.0, 2.0]), DataError, "scales: expected numbers of shape"),
        (lambda: certify_training(GOOD, EASY, scales=[1.0, 0.0, 2.0]), DataError, "scales: expected numbers > 0"),
        (lambda: certify_training(GOOD, EASY, scales=[1.0, 1e-300, 1e9]), DataError, "ratios of at least 1e-100"),
        (lambda: certify_training(GOOD, EASY.take([])), DataError, "at least one query"),
        (lambda: certify_training(GOOD, EASY, "ndgc"), ConfigurationError, "did you mean 'ndcg'"),
        (lambda: certify_training(GOOD, EASY, level=1.0), DataError, "level"),
        (lambda: certify_training(GOOD, EASY, draws=0), DataError, "draws"),
        (lambda: certify_training(GOOD, EASY, no_relevant=2.0), DataError, "no_relevant"),
    ],
)
def test_what_cannot_be_certified_is_refused(call: Callable[[], Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_weights_of_queries_are_refused() -> None:
    weighted = RankingData.from_arrays(
        EASY.X, EASY.y, np.repeat(np.arange(300), 5), weight=np.repeat(np.arange(300) + 1.0, 5)
    )
    with pytest.raises(DataError, match="queries that count alike"):
        certify_training(GOOD, weighted)
    nothing = RankingData.from_arrays(EASY.X, np.zeros_like(EASY.y), np.repeat(np.arange(300), 5))
    with pytest.raises(DataError, match="at least one query"):
        certify_training(GOOD, nothing, no_relevant="skip")

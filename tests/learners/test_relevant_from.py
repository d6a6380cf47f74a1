"""Do learners of average precision take the documents for relevant that the data set calls so?"""

from dataclasses import replace

import numpy as np
import pytest

from pipeline_lib import RankingData, learners, surrogates
from pipeline_lib.learners import adarank, erm, ogd, perceptron
from pipeline_lib.learners.kernel import RandomFourier
from pipeline_lib.theory import perceptron_bounds, ranker_facts

BINARY = [name for name in surrogates.NAMES if surrogates.get(name).binary]


@pytest.fixture(scope="module")
def stars() -> RankingData:
    """Labels from 1 to 5, so that all documents are relevant unless the data say otherwise."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(160, 3))
    y = np.clip(np.round(3 + X[:, 0] + rng.normal(size=160)), 1, 5)
    return replace(RankingData.from_arrays(X, y, np.repeat(np.arange(20), 8)), relevant_from=4)


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_binary_losses_and_no_others_take_all_positive_labels_for_one(name: str) -> None:
    rng = np.random.default_rng(0)
    s, y, offsets = rng.normal(size=40), rng.integers(0, 4, 40), np.arange(0, 41, 8)
    loss = surrogates.create(name)
    alike = np.array_equal(loss.value(s, y, offsets), loss.value(s, np.minimum(y, 1), offsets))
    assert alike == surrogates.get(name).binary


@pytest.mark.parametrize("name", BINARY)
def test_empirical_risk_counts_what_the_data_call_relevant(stars: RankingData, name: str) -> None:
    fit, same = (erm.fit(data, name, l2=0.1) for data in (stars, stars.with_binary_labels()))
    np.testing.assert_array_equal(fit.w, same.w)
    assert np.abs(fit.w).max() > 0.01
    settings = {"surrogate": name, "l2": [0.1]}
    ranker = learners.create("erm", **settings).fit(stars)
    np.testing.assert_array_equal(
        ranker.predict(stars.X), learners.create("erm", **settings).fit(stars.with_binary_labels()).predict(stars.X)
    )
    loss = surrogates.create(name)
    assert ranker_facts.facts(stars, fit.w, loss) == ranker_facts.facts(stars.with_binary_labels(), fit.w, loss)
    online = [ogd.run(data, name, step=0.1, order=np.arange(20)).w for data in (stars, stars.with_binary_labels())]
    np.testing.assert_array_equal(*online)


def test_the_perceptron_and_its_bound_count_what_the_data_call_relevant(stars: RankingData) -> None:
    found = []
    for data in (stars, stars.with_binary_labels()):
        run = perceptron.run(data, measure="map", eta="theory")
        factor = perceptron.norm_factor(data, measure="map")
        ratios = perceptron_bounds.ratios(data, np.arange(20), run, "map")
        found.append((run.w.tolist(), factor, ratios.tolist()))
    assert found[0] == found[1]


def test_adarank_trains_on_queries_that_have_what_the_data_call_relevant(stars: RankingData) -> None:
    queries = np.repeat(np.arange(21), [*[8] * 20, 2])
    more = RankingData.from_arrays(np.r_[stars.X, stars.X[:2]], np.r_[stars.y, 1, 2], queries)
    runs = [adarank.run(data, "map", rounds=3) for data in (stars, replace(more, relevant_from=4))]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)


def test_documents_keep_how_they_are_judged_when_features_are_made_of_them(stars: RankingData) -> None:
    mapped = RandomFourier.of(stars, 5, "median", 1).apply(replace(stars, ties="file", role="train"))
    assert (mapped.relevant_from, mapped.ties, mapped.role) == (4, "file", "train")

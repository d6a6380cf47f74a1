"""Do the estimators keep scikit-learn's rules, and do its searches split, route and measure by query?"""

import pickle
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from pipeline_lib import RankingData, learners, metrics
from pipeline_lib.core.errors import ConfigurationError

sklearn = pytest.importorskip("sklearn", reason="the estimators need scikit-learn: pip install 'pipeline_lib[sklearn]'")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from pipeline_lib import estimators  # noqa: E402
from pipeline_lib.estimators import ErmRanker, PerQuery, RankboostRanker  # noqa: E402
from tests.learners.test_protocol import QUICK  # noqa: E402
from tests.samples import drawn  # noqa: E402

Documents = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture
def documents() -> Documents:
    data = drawn(20, 6, 4)
    return data.X64, data.y, np.repeat(data.qids, 6)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in estimators.RANKERS if learners.get(name).unusable is None])
def test_the_checks_of_scikit_learn(name: str) -> None:
    # None is expected to fail: labels are numbers, though none of classes, and one query is a data set too.
    found = check_estimator(estimators.RANKERS[name](**QUICK.get(name, {})), expected_failed_checks={}, on_skip=None)
    assert len(found) > 30
    assert {result["status"] for result in found} <= {"passed", "skipped"}


def test_arguments_and_defaults_are_those_of_the_learners() -> None:
    for name, kind in estimators.RANKERS.items():
        given = kind().get_params()
        assert given.pop("random_state") == 0
        if learners.get(name).with_surrogate:
            assert (given.pop("surrogate"), given.pop("options")) == (estimators.SURROGATE, None)
        assert given == dict(learners.get(name).settings.parse({}))


def test_it_is_the_learner_of_that_name(documents: Documents) -> None:
    X, y, qid = documents
    data = RankingData.from_arrays(X, y, qid)
    ranker = learners.create("erm", surrogate="ranksvm", l2=[0.1, 1.0]).fit(data, seed=3)
    estimator = ErmRanker(surrogate="ranksvm", l2=[0.1, 1.0], random_state=3).fit(X, y, qid=qid)
    np.testing.assert_array_equal(estimator.predict(X), ranker.predict(data))
    values = metrics.ndcg(estimator.predict(X), y, data.offsets, 10)
    assert estimator.score(X, y, qid=qid) == pytest.approx(values.mean())


def test_documents_may_come_in_any_order_and_queries_be_texts(documents: Documents) -> None:
    X, y, qid = documents
    order = np.random.default_rng(1).permutation(len(y))
    texts = np.array([f"query {q:02}" for q in qid])
    sorted_, mixed = ErmRanker(l2=0.1).fit(X, y, qid=qid), ErmRanker(l2=0.1).fit(X[order], y[order], qid=texts[order])
    np.testing.assert_allclose(mixed.predict(X), sorted_.predict(X), rtol=1e-5)
    assert mixed.score(X[order], y[order], qid=texts[order]) == pytest.approx(sorted_.score(X, y, qid=qid))


def test_a_search_splits_and_measures_by_query(documents: Documents, routing: None) -> None:
    X, y, qid = documents
    grid = {"l2": [0.01, 1000.0], "surrogate": ["squared", "listnet"]}
    search = GridSearchCV(ErmRanker(), grid, cv=GroupKFold(4), scoring=PerQuery("map"))
    search.fit(X, y, groups=qid, qid=qid)
    train, test = next(GroupKFold(4).split(X, y, groups=qid))
    best = clone(search.best_estimator_).fit(X[train], y[train], qid=qid[train])
    held = RankingData.from_arrays(X[test], y[test], qid[test])
    expected = metrics.average_precision(best.predict(X[test]), held.y, held.offsets).mean()
    assert search.cv_results_["split0_test_score"][search.best_index_] == pytest.approx(expected)
    assert search.best_score_ > 0.8
    again = GridSearchCV(ErmRanker(), grid, cv=GroupKFold(4), scoring=PerQuery("map"), n_jobs=2)
    assert again.fit(X, y, groups=qid, qid=qid).best_params_ == search.best_params_


def test_queries_are_not_forgotten_when_nothing_passes_them_on(documents: Documents) -> None:
    X, y, qid = documents
    with pytest.raises(ValueError, match=r"qid: .*enable_metadata_routing"):
        make_pipeline(StandardScaler(), ErmRanker(l2=0.1)).fit(X, y, ermranker__qid=qid).score(X, y)
    with pytest.warns(UserWarning, match=r"no qid, so that all 120 documents .* fit\(X, y, qid=\.\.\.\)"):
        ranker = ErmRanker(l2=0.1).fit(X, y)
    assert (ranker.n_queries_, ranker.score(X, y)) == (1, PerQuery("ndcg@10")(ranker, X, y, qid=np.zeros(120)))


def test_a_pipeline_passes_the_queries_on(documents: Documents, routing: None) -> None:
    X, y, qid = documents
    pipeline = make_pipeline(StandardScaler(), ErmRanker(l2=0.1))
    given = {"params": {"qid": qid, "groups": qid}, "cv": GroupKFold(4)}
    by_map = cross_val_score(pipeline, X, y, scoring=PerQuery("map"), **given)
    assert by_map.mean() > 0.8
    scoring = {"map": PerQuery("map"), "ndcg": PerQuery("ndcg@10")}
    several = cross_validate(ErmRanker(l2=0.1), X, y, scoring=scoring, **given)
    assert several["test_ndcg"] == pytest.approx(cross_val_score(ErmRanker(l2=0.1), X, y, **given))
    assert PerQuery("err", y_max=2)(pipeline.fit(X, y, qid=qid), X, y, qid=qid) < 1.0


def test_named_columns_are_kept_and_compared(documents: Documents, tmp_path) -> None:
    X, y, qid = documents
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    ranker = RankboostRanker(rounds=3).fit(frame, y, qid=qid)
    ranker.ranker_.save(tmp_path / "ranker.json")
    read = learners.load(tmp_path / "ranker.json")
    assert read.model.feature_names == ("a", "b", "c", "d")
    np.testing.assert_array_equal(read.predict(frame), ranker.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(frame[["b", "a", "c", "d"]])
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(frame), ranker.predict(frame))


@pytest.mark.parametrize(
    ("settings", "change", "named"),
    [
        ({"surrogate": "listnett"}, {}, "listnet"),
        ({"random_state": "x"}, {}, "random_state"),
        ({}, {"y": np.full(120, 0.5)}, "y"),
        ({}, {"qid": np.zeros(7)}, "qid"),
        ({}, {"qid": [1, "a"] * 60}, "qid|compare"),
    ],
)
def test_what_is_wrong_is_named(documents: Documents, settings, change, named: str) -> None:
    given = {"y": documents[1], "qid": documents[2], **change}
    if isinstance(given["qid"], list):
        given["qid"] = np.array(given["qid"], dtype=object)
    with pytest.raises((ValueError, ConfigurationError), match=named):
        ErmRanker(**settings).fit(documents[0], given["y"], qid=given["qid"])
    with pytest.raises(TypeError, match="'lambda_'"):
        ErmRanker(lambda_=1.0)

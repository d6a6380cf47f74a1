"""Do the estimators keep scikit-learn's rules, and do its searches split, route and measure by query?"""

import pickle
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

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
    # Labels are numbers, though none of classes, and one query is a data set too. Its documents have one weight, where
    # some checks give them several.
    weights = [f"check_sample_weight_equivalence_on_{form}_data" for form in ("dense", "sparse")]
    expected = dict.fromkeys([*weights, "check_sample_weights_not_overwritten"], "weights are those of queries")
    estimator = estimators.RANKERS[name](**QUICK.get(name, {}))
    found = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert len(found) > 30
    assert {result["status"] for result in found} <= {"passed", "skipped", "xfail"}
    assert {result["check_name"] for result in found if result["status"] == "xfail"} == set(expected)


def test_arguments_and_defaults_are_those_of_the_learners() -> None:
    for name, kind in estimators.RANKERS.items():
        given = kind().get_params()
        assert (given.pop("random_state"), given.pop("verbose")) == (0, False)
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


def test_weights_of_queries_count_like_copies(documents: Documents, routing: None) -> None:
    X, y, qid = documents
    counts = 1 + np.arange(20) % 3
    order = np.random.default_rng(1).permutation(len(y))
    weight = counts[qid].astype(float)
    ranker = ErmRanker(l2=0.1, tol=1e-9).fit(X[order], y[order], qid=qid[order], sample_weight=weight[order])
    rows = np.concatenate([np.flatnonzero(qid == q) for q in range(20) for _ in range(counts[q])])
    copies = np.repeat(np.arange(counts.sum()), 6)
    same = ErmRanker(l2=0.1, tol=1e-9).fit(X[rows], y[rows], qid=copies)
    np.testing.assert_allclose(ranker.predict(X), same.predict(X), atol=1e-3)
    expected = same.score(X[rows], y[rows], qid=copies)
    assert ranker.score(X, y, qid=qid, sample_weight=weight) == pytest.approx(expected)
    assert ranker.score(X, y, qid=qid) != pytest.approx(expected)
    given = {"params": {"qid": qid, "groups": qid, "sample_weight": weight}, "cv": GroupKFold(4)}
    [first, *_] = cross_val_score(ErmRanker(l2=0.1), X, y, scoring=PerQuery("map"), **given)
    train, test = next(GroupKFold(4).split(X, y, groups=qid))
    alone = ErmRanker(l2=0.1).fit(X[train], y[train], qid=qid[train], sample_weight=weight[train])
    held = PerQuery("map")(alone, X[test], y[test], qid=qid[test], sample_weight=weight[test])
    assert first == pytest.approx(held)


@pytest.mark.parametrize(
    ("weight", "said"),
    [
        (
            np.arange(1.0, 121.0),
            r"sample_weight\[1\]: expected one weight for all documents of query 0, found 2 after 1",
        ),
        (np.full(120, -1.0), r"sample_weight\[0\]: expected a weight above zero, found -1"),
        (np.zeros(120), "weight above zero, found 0"),
        (np.ones(119), "sample_weight: expected numbers of shape"),
    ],
)
def test_wrong_weights_are_refused(documents: Documents, weight: np.ndarray, said: str) -> None:
    X, y, qid = documents
    with pytest.raises(ValueError, match=said):
        ErmRanker(l2=0.1).fit(X, y, qid=qid, sample_weight=weight)
    with pytest.raises(ValueError, match=r"perceptron: expected queries without weights.*erm"):
        estimators.PerceptronRanker().fit(X, y, qid=qid, sample_weight=qid + 1.0)
    estimators.PerceptronRanker(passes=1).fit(X, y, qid=qid, sample_weight=np.full(120, 3.0))  # which say nothing


@pytest.mark.parametrize("features", ["standardised", "raw"])
def test_coefficients_are_in_the_units_of_the_features(documents: Documents, features: str) -> None:
    X, y, qid = documents
    ranker = ErmRanker(l2=0.1, features=features).fit(X * [1.0, 10.0, 0.1, 1.0], y, qid=qid)
    moved = np.zeros((2, 4))
    for k in range(4):
        moved[1] = np.eye(4)[k]
        assert np.diff(ranker.predict(moved))[0] == pytest.approx(ranker.coef_[k], rel=1e-5, abs=1e-5)
    assert not hasattr(RankboostRanker(rounds=2).fit(X, y, qid=qid), "coef_")
    assert not hasattr(ErmRanker(), "coef_")


def test_training_says_how_it_goes_only_if_it_is_asked(documents: Documents, capsys: pytest.CaptureFixture) -> None:
    X, y, qid = documents
    ErmRanker(l2=[0.1, 1.0]).fit(X, y, qid=qid)
    assert capsys.readouterr().out == ""
    ErmRanker(l2=[0.1, 1.0], verbose=True).fit(X, y, qid=qid)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in lines if "validation" in line] == ["listnet, l2 = 1", "listnet, l2 = 0.1"]
    with pytest.raises(ValueError, match="verbose"):
        ErmRanker(verbose="yes").fit(X, y, qid=qid)


def test_an_estimator_shows_what_is_not_a_default(documents: Documents) -> None:
    X, y, qid = documents
    ranker = ErmRanker(surrogate="ranksvm", l2=0.1).fit(X, y, qid=qid)
    assert repr(ranker) == "ErmRanker(l2=0.1, surrogate='ranksvm')"
    assert repr(RankboostRanker()) == "RankboostRanker()"
    assert len(repr(ranker.ranker_)) < 200


def test_sparse_documents_are_those_with_their_zeros(documents: Documents) -> None:
    X, y, qid = documents
    X = X * (X > 0.5)
    order = np.random.default_rng(1).permutation(len(y))
    full, sparse = (ErmRanker(l2=0.1).fit(form(X[order]), y[order], qid=qid[order]) for form in (np.array, csr_array))
    np.testing.assert_array_equal(sparse.predict(X), full.predict(X))
    np.testing.assert_array_equal(sparse.predict(csr_array(X)), full.predict(X))
    np.testing.assert_array_equal(sparse.ranker_.predict(csr_array(X)), full.predict(X))

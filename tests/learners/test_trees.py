"""Models of trees, and LambdaMART: which of its trees are kept on the validation part."""

import re
import sys

import numpy as np
import pytest

from pipeline_lib import RankingData, learners, metrics
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.learners import models
from pipeline_lib.learners.installed import why_unusable
from pipeline_lib.learners.selection import mean_measure
from pipeline_lib.study import configuration
from tests.samples import drawn


def stump(threshold=0.5, **changes):
    fields = {
        "roots": [0],
        "features": [1, -1, -1],
        "thresholds": [threshold, 0.0, 0.0],
        "lower": [1, 0, 0],
        "upper": [2, 0, 0],
        "values": [0.0, -1.0, 2.0],
        "n_features": 2,
    }
    return models.TreesModel.of(**{**fields, **changes})


def test_sums_are_the_scores_after_every_tree():
    leaves = {"thresholds": np.zeros(5), "lower": [1, 0, 0, 0, 0], "upper": [2, 0, 0, 0, 0]}
    values = {"values": [0.0, -1.0, 2.0, 10.0, 100.0]}
    forest = stump(roots=[0, 3, 4], features=[1, -1, -1, -1, -1], **leaves, **values)
    # The last document is at the threshold, which belongs to the lower branch.
    data = RankingData.from_arrays([[0.0, -1.0], [0.0, 1.0], [0.0, 0.0]], [0, 1, 1], [1, 1, 1])
    assert forest.sums(data).tolist() == [[-1.0, 9.0, 109.0], [2.0, 12.0, 112.0], [-1.0, 9.0, 109.0]]


@pytest.mark.parametrize(
    "wrong",
    [{"lower": [0, 0, 0]}, {"upper": [3, 0, 0]}, {"features": [2, -1, -1]}, {"values": [0.0, 1.0]}, {"roots": [3]}],
)
def test_trees_that_lead_nowhere_are_refused(wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        stump(**wrong)


def test_lambdamart_without_its_package_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # which makes importing it an ImportError
    with pytest.raises(ConfigurationError, match=r"lightgbm.*pip install"):
        learners.lambdamart.train(drawn(), drawn(), {}, 0)


def test_a_study_leaves_it_out_where_its_package_is_missing(monkeypatch):
    trees = {"name": "trees", "title": "LambdaMART", "algorithm": "lambdamart"}
    entry = {"models": [trees, "listnet"]}
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    study = configuration.check(entry, {"letor-sim": 5})
    assert study.model_names("letor-sim") == ["listnet"]
    assert study.untrained == {"trees": "lightgbm is not installed (pip install lightgbm)"}
    with pytest.raises(ConfigurationError, match=r"no model .*\n  - models \(trees\): lightgbm is not installed"):
        configuration.check({"models": [trees]}, {"letor-sim": 5})
    monkeypatch.setattr("pipeline_lib.learners.learner.why_unusable", lambda package: None)
    study = configuration.check(entry, {"letor-sim": 5})
    assert study.model_names("letor-sim") == ["trees", "listnet"]
    assert study.untrained == {}


def test_a_package_whose_library_does_not_load_is_unusable(monkeypatch, tmp_path):
    info = tmp_path / "boosting_trees-1.0.dist-info"
    library = tmp_path / "boosting_trees/lib_boosting_trees.so"
    info.mkdir()
    library.parent.mkdir()
    (library.parent / "__init__.py").touch()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: boosting_trees\nVersion: 1.0\n")
    (info / "RECORD").write_text("boosting_trees/__init__.py,,\nboosting_trees/lib_boosting_trees.so,,\n")
    monkeypatch.syspath_prepend(tmp_path)
    library.write_bytes(b"no library")
    assert re.fullmatch(r"boosting_trees cannot be loaded \(.*lib_boosting_trees.*\)", why_unusable("boosting_trees"))
    (info / "RECORD").write_text("boosting_trees/__init__.py,,\n")
    assert why_unusable("boosting_trees") is None


@pytest.mark.parametrize("largest", [53, 72, 255])
def test_lambdamart_takes_every_label_that_data_may_have(largest):
    pytest.importorskip("lightgbm")
    data = drawn()
    y = data.y.copy()
    y[y == y.max()] = largest
    data = RankingData(data.X, y, data.offsets, data.qids)
    trained = learners.create("lambdamart", trees=5, selection="ndcg@10").fit(data, data)
    assert np.isfinite(trained.predict(data)).all()
    best, none = (metrics.per_query(["ndcg@10"], s, y, data.offsets)["ndcg@10"] for s in (trained.predict(data), y * 0))
    assert best.mean() > none.mean()


def test_queries_beyond_the_limit_of_lightgbm_are_refused_by_name():
    sizes = [2, learners.lambdamart.LONGEST_LIST + 1]
    data = RankingData.from_groups(np.zeros((sum(sizes), 1)), np.zeros(sum(sizes)), sizes)
    with pytest.raises(DataError, match=r"lambdamart: expected at most 10,000 documents .* found 10,001 of query 1"):
        learners.lambdamart.train(data, data, {}, 0)


def test_lambdamart_scores_as_lightgbm_does():
    lightgbm = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    data = drawn(40, 10, 4)
    documents = lightgbm.Dataset(data.X64, data.y, group=np.diff(data.offsets))
    parameters = {"objective": "lambdarank", "num_leaves": 7, "min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, documents, num_boost_round=20)
    model = learners.lambdamart._model_of(booster.dump_model(), 4, None)
    np.testing.assert_allclose(model.predict(data), booster.predict(data.X64), rtol=1e-12, atol=1e-12)


def test_as_many_trees_are_kept_as_are_best_on_the_validation_part():
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    train, validation = drawn(40, 10, 4), drawn(20, 10, 4, seed=1)
    trained = learners.get("lambdamart").train(train, validation, {"trees": 30, "least_documents": 5}, 0)
    values = trained.record["tried"]
    assert trained.record["trees"] == int(np.argmax(values)) + 1 < 30
    assert len(trained.model.roots) == trained.record["trees"]
    reached = mean_measure(trained.model.predict(validation), validation, trained.record["settings"]["selection"])
    assert reached == pytest.approx(max(values))

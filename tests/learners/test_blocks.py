"""Is what is learned by blocks of queries what is learned from all at once, whatever the number of threads?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData, learners, surrogates
from pipeline_lib.data import query_blocks
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.learners import erm
from pipeline_lib.learners.problem import Problem, design_matrix
from pipeline_lib.surrogates.base import SmoothSurrogate
from pipeline_lib.theory import ranker_facts
from tests.samples import drawn

D, SIZES = 5, (1, 12)


@pytest.fixture
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every data set is large, and a block holds 16 documents or more."""
    monkeypatch.setattr(query_blocks, "WHOLE_BYTES", 0)
    monkeypatch.setattr(query_blocks, "BLOCK_BYTES", 16 * 8 * D)


def problem_of(data: RankingData, surrogate: Any, l2: float = 0.1) -> Problem:
    return Problem(design_matrix(data), data.y, data.offsets, surrogate, l2)


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize("n_queries", [1, 2, 24])
def test_blocks_hold_every_query_once(n_queries: int) -> None:
    data = drawn(n_queries, SIZES, D)
    blocks = query_blocks.of(data.offsets, D)
    assert n_queries < 24 or len(blocks) > 4
    rows = np.concatenate([np.arange(data.n_documents)[block.rows] for block in blocks])
    queries = np.concatenate([np.arange(n_queries)[block.queries] for block in blocks])
    assert rows.tolist() == list(range(data.n_documents))
    assert queries.tolist() == list(range(n_queries))
    for block in blocks:
        begins = data.offsets[block.queries.start : block.queries.stop + 1]
        assert (block.offsets + block.rows.start).tolist() == begins.tolist()
        assert block is blocks[-1] or block.offsets[-2] < 16 <= block.offsets[-1]


@pytest.mark.parametrize("name", ["listnet", "ranknet", "ranksvm", "slam-ndcg"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_risk_by_blocks_is_the_risk(name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    data, rng = drawn(24, SIZES, D, seed=1), np.random.default_rng(2)
    loss = surrogates.create(name)
    weights = rng.random(data.n_queries) if weighted else None
    w = rng.normal(size=D)
    found = []
    for whole, block in ((1 << 28, 1 << 22), (0, 16 * 8 * D)):
        monkeypatch.setattr(query_blocks, "WHOLE_BYTES", whole)
        monkeypatch.setattr(query_blocks, "BLOCK_BYTES", block)
        problem = replace(problem_of(data, loss), weights=weights)
        scores = problem.X @ w
        value, gradient = problem.loss(scores)
        parts = [scores, np.array(value), gradient, problem.X.T @ gradient]
        smooth = loss if isinstance(loss, SmoothSurrogate) else None
        if name == "ranksvm":
            smooth = loss.smoothed(0.5)  # type: ignore[attr-defined]
            parts += problem.minorant(scores, smooth)
        if smooth is not None:
            parts.append(problem.hessian(scores, smooth))
        found.append(parts)
    assert all(np.allclose(one, other, rtol=1e-12, atol=1e-13) for one, other in zip(*found, strict=True))


# Every solver that works by blocks: with and without regularisation, in balls, with kinks, and where nothing is convex.
FITS: list[tuple[str, dict[str, Any]]] = [
    ("listnet", {"l2": 0.01}),
    ("listnet", {"l2": 0.0}),
    ("ranknet", {"l2": 0.0, "radius": 1.0}),
    ("listnet", {"l2": 0.0, "radius": 1.0, "ball": "l1"}),
    ("ranksvm", {"l2": 0.01}),
    ("ranksvm", {"l2": 0.0}),
    ("slam-ndcg", {"l2": 0.01}),
]


@pytest.mark.parametrize(("name", "settings"), FITS)
def test_a_minimum_by_blocks_is_the_minimum(
    name: str, settings: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    data = drawn(24, SIZES, D, seed=3)
    whole = erm.fit(data, name, **settings)
    request.getfixturevalue("many_blocks")
    found = erm.fit(data, name, **settings)
    assert whole.certified, whole.reason
    assert found.certified, found.reason
    assert abs(found.objective - whole.objective) <= 2e-6 * whole.objective


def test_many_features_with_kinks_by_blocks(request: pytest.FixtureRequest) -> None:
    """By blocks, cutting planes take the place of the interior-point method."""
    rng, data = np.random.default_rng(5), drawn(24, SIZES, D, seed=4)
    wide = RankingData(rng.normal(size=(data.n_documents, 40)).astype(np.float32), data.y, data.offsets, data.qids)
    whole = erm.fit(wide, "slam-ndcg", l2=0.1)
    request.getfixturevalue("many_blocks")
    found = erm.fit(wide, "slam-ndcg", l2=0.1)
    assert (whole.certificate, found.certificate) == ("duality", "cutting planes")
    assert whole.certified
    assert found.certified
    assert abs(found.objective - whole.objective) <= 2e-6 * whole.objective


def test_standardisation_and_facts_by_blocks(request: pytest.FixtureRequest) -> None:
    data, w = drawn(24, SIZES, D, seed=6), np.arange(1.0, D + 1.0)
    loss = surrogates.create("listnet")

    def found() -> tuple[Standardisation, RankingData, Any, Any]:
        standard = Standardisation.of(data)
        inside = standard.apply(data)
        model = learners.models.LinearModel.of(w, standard.mean, standard.scale)
        return standard, inside, ranker_facts.facts(inside, w, loss), model.predict(data)

    whole = found()
    request.getfixturevalue("many_blocks")
    parts = found()
    assert np.allclose(parts[0].scale, whole[0].scale, rtol=1e-13)
    assert parts[0].mean.tolist() == whole[0].mean.tolist()
    assert np.allclose(parts[1].X, whole[1].X, rtol=1e-6)
    assert np.allclose(list(vars(parts[2]).values()), list(vars(whole[2]).values()), rtol=1e-6)
    assert np.allclose(parts[3], whole[3], rtol=1e-12)


LEARNERS: list[tuple[str, dict[str, Any]]] = [
    ("erm", {"surrogate": "listnet", "options": {}, "l2": [1.0, 0.01]}),
    ("erm", {"surrogate": "ranksvm", "options": {"normalisation": "mean"}, "l2": [0.1]}),
    ("erm", {"surrogate": "slam-ndcg", "options": {}, "l2": [0.1]}),
    ("rankboost", {"rounds": 10}),
]


@pytest.mark.usefixtures("many_blocks")
@pytest.mark.parametrize(("learner", "settings"), LEARNERS)
def test_the_bytes_of_a_model_do_not_depend_on_the_threads(
    learner: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    data, written = drawn(60, SIZES, D), []
    for number in (1, 2, 3):
        with query_blocks.threads(number):
            learners.create(learner, **settings).fit(data, seed=3).save(tmp_path / "model.json")
        written.append((tmp_path / "model.json").read_bytes())
    assert written[0] == written[1] == written[2]

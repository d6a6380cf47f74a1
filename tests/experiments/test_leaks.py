"""Is any risk measured on queries that a ranker was trained on, or a stream drawn for two purposes?

Samples know what they were drawn for, and every comparison of risks asks them. Here every experiment runs, and leaks
are planted: some are refused where they happen, others are seen by a claim.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import experiment, papers, surrogates
from pipeline_lib.claims import kinds
from pipeline_lib.commands import evaluate_model
from pipeline_lib.core import seeds, storage
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.experiment import Job, Step
from pipeline_lib.learners.models import LinearModel
from pipeline_lib.learners.ranker import Trained
from pipeline_lib.papers.lists import held_out
from pipeline_lib.papers.lists.grid import experiment as grid
from pipeline_lib.papers.lists.sparse import experiment as sparse
from pipeline_lib.papers.slam.risk import experiment as risk
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.papers.twolayer.gaps import experiment as gaps
from pipeline_lib.sources import catalog, folds
from pipeline_lib.sources.catalog import Fold, Part
from pipeline_lib.sources.population import Population, PopulationSettings
from pipeline_lib.theory import pair_losses
from tests import readings
from tests.papers.jobs import Given, tables
from tests.small_settings import SETTINGS, small

COMPARES = {
    ("cone", "bases"): {"train", "validation", "test"},
    ("lists", "grid"): {"train", "reference", "test", "truth"},
    ("lists", "sparse"): {"train", "test"},
    ("slam", "risk"): {"train", "truth"},
    ("slam", "weights"): {"train", "test"},
    ("twolayer", "gaps"): {"train", "middle", "truth"},
    ("twolayer", "tradeoff"): {"train", "test", "truth"},
}
"""The experiments that compare rankers or risks on samples, and the roles without which they refuse them.

In all others the population is known, or everything is exact."""
EXPERIMENTS = [
    pytest.param(paper, name, id=f"{paper}-{name}", marks=[] if (paper, name) in COMPARES else [pytest.mark.slow])
    for paper, found in SETTINGS.items()
    for name in found
]
STATISTICS = {"level": 0.95, "resamples": 100}


@pytest.fixture(autouse=True)
def _no_stream_has_a_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "_ROLES", {})


# --- No experiment has a leak ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set with four folds."""
    folder = tmp_path_factory.mktemp("data") / "letor-sim"
    population = Population(PopulationSettings(features=4, documents=8))
    population.draw(60, np.random.default_rng(0)).write_parquet(folder / "documents.parquet")
    parts = (("1", "2"), "3", "4"), (("3", "4"), "1", "2"), (("2", "4"), "3", "1"), (("2", "4"), "1", "3")
    layout = tuple(
        Fold(train=tuple(f"all/{block}" for block in train), validation=(f"all/{validation}",), test=(f"all/{test}",))
        for train, validation, test in parts
    )
    changes = {"parts": {"all": Part()}, "split": {"all": 4}, "folds": layout}
    data_set = catalog.get("letor-sim").model_copy(update=changes)
    folds.write_folds(data_set, folder / "documents.parquet", folder / "folds.parquet")
    return folder


@dataclass
class Seen:
    """What the samples of an experiment were drawn for: the documents of every role, and the roles asked for."""

    documents: dict[str, set[bytes]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def add(self, data: RankingData) -> RankingData:
        if data.role is not None:
            self.documents.setdefault(data.role, set()).update(row.tobytes() for row in data.X)
        return data


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    found, drawn, required = Seen(), Population.draw_documents, seeds.required

    def asked(what: str, role: seeds.Role | None, *roles: seeds.Role) -> None:
        required(what, role, *roles)
        found.asked.add(str(role))

    monkeypatch.setattr(Population, "draw_documents", lambda *given, **more: found.add(drawn(*given, **more)))
    monkeypatch.setattr(seeds, "required", asked)
    for module in (risks, held_out):
        monkeypatch.setattr(module, "required", asked)
    return found


def cells(step: Step, settings: Any) -> Iterator[dict[str, str]]:
    values = {**{name: [str(one) for one in of(settings)] for name, of in step.divided.items()}}
    values |= {name: [one] for name, one in (("dataset", "letor-sim"), ("fold", "1")) if name in step.axes}
    for chosen in itertools.product(*(values[name] for name in step.axes)):
        yield dict(zip(step.axes, chosen, strict=True))


def run(paper: str, name: str, data: Path, folder: Path) -> None:
    """All steps of an experiment one after the other, in one process."""
    one = papers.experiment(paper, name)
    settings, written = small(paper, name), list[Path]()
    for step in one.steps:
        for cell in cells(step, settings):
            paths = [folder / f"{table.format(**cell)}.parquet" for table in step.tables]
            facts = {"statistics": STATISTICS, "folds": {"letor-sim": [1, 2]}, "reproduces": {}}
            job = Job(
                settings,
                1,
                cell,
                facts,
                documents=[data / "documents.parquet"] if step.documents or "dataset" in step.axes else [],
                folds=[data / "folds.parquet"],
                tables=written,
            )
            experiment.write(step, paths, step.run(job))
            written += paths


@pytest.mark.parametrize(("paper", "name"), EXPERIMENTS)
def test_no_experiment_draws_a_stream_in_two_roles(
    paper: str, name: str, seen: Seen, toy: Path, tmp_path: Path
) -> None:
    run(paper, name, toy, tmp_path)
    for (one, mine), (other, others) in itertools.combinations(seen.documents.items(), 2):
        assert not mine & others, f"documents for {one} are documents for {other}"
    assert seen.asked >= COMPARES.get((paper, name), set())


# --- Planted leaks are refused --------------------------------------------------------------------------------------


def leak(monkeypatch: pytest.MonkeyPatch, module: Any, into: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> None:
    """Draw from other axes in a module, in the role in which its samples are used."""
    original = module.generator
    monkeypatch.setattr(module, "generator", lambda *axes, **role: original(*into(axes), **role))


def test_training_samples_that_are_those_held_out_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    leak(monkeypatch, grid, lambda axes: (*axes[: axes.index("sample")], "held out") if "sample" in axes else axes)
    with pytest.raises(DataError, match="for test only, found train"):
        list(grid.measure(Job(small("lists", "grid"), 1, {"loss": "listnet", "part": "0"})))


def test_a_true_risk_on_a_training_sample_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = small("slam", "risk")
    leak(monkeypatch, risk, lambda axes: (*axes[:2], "sample", settings.sizes[0], 0) if "truth" in axes else axes)
    with pytest.raises(DataError, match="for truth only, found train"):
        list(risk.measure(Job(settings, 1, {"surrogate": "slam-ndcg", "part": "0"})))


def test_a_middle_risk_on_the_training_documents_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    original = gaps._drawn
    monkeypatch.setattr(gaps, "_drawn", lambda *given: [(data, data) for data, _ in original(*given)])
    with pytest.raises(DataError, match="for middle, found train"):
        list(gaps.measure(Given(small("twolayer", "gaps"), 1, {"slice": "0"})))


def test_a_pool_that_a_search_has_seen_measures_no_risk() -> None:
    population = Population(PopulationSettings(features=2))
    searched = risks.Pool.of(population.draw(4, seeds.generator("search", role="reference"), 2))
    with pytest.raises(DataError, match="for truth, found reference"):
        searched.risk(pair_losses.get("hinge"), np.zeros((2, 1)))


def test_samples_of_sparse_rankers_are_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    leak(monkeypatch, sparse, lambda axes: (*axes[:3], 0) if axes[-1] == "held out" else axes)
    with pytest.raises(DataError, match="for train only, found test"):
        list(sparse.measure(Job(small("lists", "sparse"), 1)))


def without_roles(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    """Draw the same numbers in a module, whose author does not say what for."""
    original = module.generator
    monkeypatch.setattr(module, "generator", lambda *axes, role=None: original(*axes))


def test_an_experiment_whose_streams_have_no_role_draws_no_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    without_roles(monkeypatch, risk)
    with pytest.raises(DataError, match="expected a stream with a role"):
        list(risk.measure(Job(small("slam", "risk"), 1, {"surrogate": "slam-ndcg", "part": "0"})))


def test_risks_are_measured_on_queries_whose_role_is_known() -> None:
    population, w = Population(PopulationSettings(features=2)), np.zeros(2)
    unknown, alone = (
        population.draw(4, np.random.default_rng(0)),
        population.draw(4, seeds.generator("a", role="alone")),
    )
    hinge, listnet = pair_losses.get("hinge"), surrogates.create("listnet")
    for data in (unknown, alone):
        with pytest.raises(DataError, match="for train or reference"):
            risks.fitted(data, hinge, 1.0)
        with pytest.raises(DataError, match="for middle"):
            risks.empirical(data, hinge, w, "middle")
        with pytest.raises(DataError, match="for truth"):
            risk.losses_of(listnet, data, w, "truth")
        with pytest.raises(DataError, match="for test"):
            held_out.risks(listnet, data, w[:, None], w)
        with pytest.raises(DataError, match="for truth"):
            held_out.risk_of_one(listnet, [held_out.Scored((data.X64 @ w)[None, :], data.y, data.offsets, data.role)])


def test_parts_of_a_data_set_share_no_query() -> None:
    data = RankingData.from_arrays(np.eye(4), [0, 1, 0, 1], [1, 2, 3, 4])
    with pytest.raises(DataError, match="share no query"):
        data.divided(train=[0, 1], test=[1, 2])


# --- Models ---------------------------------------------------------------------------------------------------------


def evaluated(toy: Path, folder: Path) -> dict[str, Any]:
    """The arguments of the evaluation of one ranker on the folds of the data set."""
    for fold in (1, 2, 3, 4):
        about = {"dataset": "letor-sim", "model": "m", "fold": fold, "settings": {}}
        Trained(LinearModel.of(np.ones(4)), {}, about).save(folder / f"fold-{fold}.json")
    storage.write_json(folder / "summary.json", {"labels": {"0": 1, "2": 1}})
    return {
        "models": [folder / f"fold-{fold}.json" for fold in (1, 2, 3, 4)],
        "documents": toy / "documents.parquet",
        "folds": toy / "folds.parquet",
        "measures": ["ndcg@10"],
        "summary": folder / "summary.json",
        "output": folder / "m.parquet",
        "held_out": folder / "m.held-out.json",
    }


def test_a_model_is_not_measured_on_what_it_was_trained_or_chosen_on(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = evaluated(toy, tmp_path)
    evaluate_model.run(**arguments)
    original = folds.queries
    for part in ("train", "validation"):
        leaking = {"train": "train", "validation": "validation", "test": part}
        monkeypatch.setattr(folds, "queries", lambda path, fold, asked, as_=leaking: original(path, fold, as_[asked]))
        with pytest.raises(DataError, match=f"of the {part} part of fold 1"):
            evaluate_model.run(**arguments)
    # The test part of the next fold.
    monkeypatch.setattr(folds, "queries", lambda path, fold, part: original(path, fold % 4 + (part == "test"), part))
    with pytest.raises(DataError, match="expected to measure it on queries that it does not know"):
        evaluate_model.run(**arguments)


# --- Leaks that no role could refuse are seen by claims ---------------------------------------------------------------


def status(claim: str, tables: dict[str, list[dict[str, Any]]], settings: dict[str, Any]) -> str:
    """What the checks of a claim say of such tables, whatever is planted."""
    [found] = [one for one in readings.ledger_of_claims() if one.id == claim]
    return kinds.judge(found.checks, readings.trials(claim, tables, settings)).status


def test_the_document_layer_of_a_leak_refutes_theorem_3(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, original = small("twolayer", "gaps"), gaps._drawn

    def leaking(*given: Any) -> list[tuple[RankingData, RankingData]]:
        return [(data, replace(data, role="middle")) for data, _ in original(*given)]

    statuses = []
    for drawn in (original, leaking):
        monkeypatch.setattr(gaps, "_drawn", drawn)
        measured = list(gaps.measure(Given(settings, 1, {"slice": "0"})))
        found = tables(gaps.join(Given(settings, 1, earlier=measured)))
        statuses.append(status("twolayer-thm3", {**found, "twolayer-extremes": []}, settings.plain()))
    assert statuses[1] == "refuted" != statuses[0]


def test_a_true_risk_that_is_the_training_risk_refutes_theorem_8(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, original = small("slam", "risk", sizes=[10], repetitions=20, truth=2000), risk.losses_of

    def leaking(loss: Any, data: RankingData, w: Any, role: seeds.Role) -> Any:
        sample = Population(PopulationSettings(features=3, documents=(3, 5))).draw(10, np.random.default_rng(0))
        return original(loss, replace(sample, role=role), w, role)

    statuses = []
    for losses in (original, leaking):
        monkeypatch.setattr(risk, "losses_of", losses)
        measured = risk.measure(Job(settings, 1, {"surrogate": "listnet", "part": "0"}))
        found = tables(risk.summarised(measured, 0.95))
        statuses.append(status("slam-thm8", {**found, "slam-finite-risk": []}, settings.plain()))
    assert statuses[1] == "refuted" != statuses[0]


def test_every_experiment_that_compares_risks_has_a_planted_leak() -> None:
    planted = {
        table
        for claim in readings.ledger_of_claims()
        if any(plant.name == "leak" for plant in claim.planted)
        for table in (reading.table for reading in claim.readings)
    }
    assert planted >= {
        *("lists-cells", "lists-sparse", "slam-risk", "cone-leave-out"),
        *("twolayer-gaps", "twolayer-best-splits"),
    }

"""What happens when a public function is called with arguments that make no sense? Run as a process of its own.

    python tests/core/misuse.py --calls 3000 --seed 0

finds all public functions, classes and methods of the names that ``pipeline_lib`` offers by introspection, makes good
arguments for each from the names and annotations of its parameters, spoils one or two of them, and calls. Allowed are a
result and an error that names an argument; the process prints everything else as JSON, a line per finding, and ``done``
at the end. What it is about to call goes to the file given by ``--trace`` first, so that whoever started the process
knows what killed it. Experiments, papers and claims are declared for the workflow: their settings are read by the same
class as those of learners, which are public, and what else they hold is no function for others to call.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import doctest
import functools
import importlib
import inspect
import json
import math
import os
import pkgutil
import random
import re
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import pipeline_lib
from pipeline_lib import RankingData, learners, sources, surrogates, theory
from pipeline_lib.core.errors import DownloadError, PipelineError, printable
from pipeline_lib.core.settings import Settings
from pipeline_lib.data.ranking_data import Standardisation
from pipeline_lib.surrogates.base import INTERNAL, Surrogate

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.fuzz import plain_values

SECONDS_PER_CALL = 60
"""Seconds of processors, which other work on the machine does not use up."""
MEMORY = 6 << 30


# --- What is public? ----------------------------------------------------------------------------------------------


def modules() -> Iterator[ModuleType]:
    """The modules of the package's public names, and those of its packages."""
    for name in pipeline_lib.__all__:
        module = getattr(pipeline_lib, name)
        if inspect.ismodule(module):
            yield module
            for info in pkgutil.iter_modules(getattr(module, "__path__", [])):
                yield importlib.import_module(f"{module.__name__}.{info.name}")


def names_of(module: ModuleType) -> list[str]:
    """The public names that a module itself defines; one with an empty ``__all__`` is internal."""
    listed = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    return [name for name in listed if getattr(getattr(module, name), "__module__", None) == module.__name__]


def public() -> dict[str, Callable[..., Any]]:
    """All public functions, classes that take arguments, and methods, by name; a method takes its object first."""
    callables: dict[str, Callable[..., Any]] = {}
    for module in modules():
        short = module.__name__.removeprefix("pipeline_lib.")
        for name in names_of(module):
            thing = getattr(module, name)
            if inspect.isfunction(thing):
                callables[f"{short}.{name}"] = thing
            elif inspect.isclass(thing):
                callables |= {f"{short}.{name}{ending}": method for ending, method in of_class(thing).items()}
    for name in learners.NAMES:
        callables[f"learners.{name}.settings.parse"] = learners.get(name).settings.parse
    callables |= {f"RankingData{ending}": method for ending, method in of_class(RankingData).items()}
    callables |= {f"Standardisation{ending}": method for ending, method in of_class(Standardisation).items()}
    return {name: function for name, function in sorted(callables.items()) if parameters(function)}


def of_class(kind: type) -> dict[str, Callable[..., Any]]:
    """A class itself, under "", and its public methods."""
    if getattr(kind, "_is_protocol", False) or issubclass(kind, Exception | Warning):
        return {}
    if issubclass(kind, Settings):
        return {".parse": kind.parse}  # the rest is pydantic's
    callables: dict[str, Callable[..., Any]] = {}
    abstract = inspect.isabstract(kind)
    members = {name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")}
    for name, member in members.items():
        if isinstance(member, classmethod | staticmethod):
            callables[f".{name}"] = getattr(kind, name)
        elif inspect.isfunction(member) and not (abstract or (issubclass(kind, Surrogate) and name in INTERNAL)):
            callables[f".{name}"] = member
    # A record that only carries results has nothing to compute with.
    record = dataclasses.is_dataclass(kind) and not (
        hasattr(kind.__init__, "__wrapped__") or hasattr(kind, "__post_init__")
    )
    if not abstract and not record:
        callables[""] = kind
    return callables


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """What a caller may give, without ``self``."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    given = inspect.signature(function).parameters.values()
    return [p for p in given if p.kind not in variadic and p.name != "self"]


# --- Arguments that make sense ------------------------------------------------------------------------------------


@functools.cache
def example(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments with which the example in a function's docstring calls it first; none where there is no example."""
    plain = inspect.unwrap(function.__init__ if inspect.isclass(function) else getattr(function, "__func__", function))
    code, found = getattr(plain, "__code__", None), {}

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is code and not found:
            found.update({name: copied(given) for name, given in frame.f_locals.items()})

    known = dict(vars(sys.modules[function.__module__]))
    told = doctest.DocTestParser().get_doctest(function.__doc__ or "", known, "example", None, None)
    sys.setprofile(note)
    try:
        doctest.DocTestRunner(verbose=False).run(told, out=lambda text: None, clear_globs=False)
    finally:
        sys.setprofile(None)
    return found


def copied(given: Any) -> Any:
    """A copy, so that no call changes what the next one is given; of what cannot be copied, itself."""
    try:
        return copy.deepcopy(given)
    except TypeError:
        return given


class Good:
    """Good arguments: by the function's name where it has its own wishes, else by the parameter's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = np.random.default_rng(5)
        X = rng.uniform(-1.0, 1.0, (12, 2))
        self.data = RankingData.from_arrays(
            X, [0, 1, 2, 1, 0, 0, 2, 0, 1, 0, 2, 1], np.repeat([4, 5, 6, 7], [3, 4, 3, 2])
        )
        self.parquet = folder / "good.parquet"
        self.data.write_parquet(self.parquet)
        self.letor = folder / "good.txt"
        sources.letor.write(self.letor, self.data)
        self.ranker = folder / "good.json"
        learners.models.LinearModel.of([1.0, 2.0]).save(self.ranker)
        self.run, self.qrels = folder / "good.run", folder / "good.qrels"
        self.run.write_text("7 Q0 a 1 0.5 x\n")
        self.qrels.write_text("7 0 a 2\n")
        self.made = 0

    def arguments(self, name: str, function: Callable[..., Any]) -> dict[str, Any]:
        """One good value for every parameter that has no default, and for most that have one."""
        wanted = parameters(function)
        together = {p.name for p in wanted}
        own = next((OWN[key] for key in (name, name.rpartition(".")[2]) if key in OWN), {})
        shown = {} if own else example(function)
        chosen: dict[str, Any] = {}
        for p in wanted:
            if p.name in own:
                chosen[p.name] = own[p.name](self)
            elif p.name in shown:
                chosen[p.name] = copied(shown[p.name])
            elif "offsets" in together and p.name in OF_QUERIES:
                chosen[p.name] = OF_QUERIES[p.name](self)
            elif p.name in BY_NAME:
                chosen[p.name] = BY_NAME[p.name](self)
            elif p.default is p.empty:
                raise LookupError(f"{name}: no good value is known for its argument {p.name}: {p.annotation}")
            else:
                chosen[p.name] = p.default
        if ".train" in name:
            learner = name.split(".")[1]
            chosen["settings"] = {} if learner in ("file_order", "ideal", "random") else dict(SETTINGS[learner])
        for p in inspect.signature(function).parameters.values():
            if p.kind is p.VAR_KEYWORD:
                chosen |= shown.get(p.name, {key: make(self) for key, make in own.items() if key not in together})
        return chosen

    def owner(self, name: str, function: Callable[..., Any]) -> Any:
        """The object whose method is called."""
        kind = name.rpartition(".")[0]
        if kind not in OBJECTS and "self" in (shown := example(function)):
            return copied(shown["self"])
        if kind not in OBJECTS:
            raise LookupError(f"{kind}: no object of it is known, for {name}")
        return OBJECTS[kind](self)

    def target(self) -> Path:
        """A path at which nothing is yet."""
        self.made += 1
        return self.folder / f"new-{self.made}"


def surrogate(name: str = "squared", **options: Any) -> Callable[[Good], Any]:
    return lambda good: surrogates.create(name, **options)


def value(x: Any) -> Callable[[Good], Any]:
    return lambda good: x


def fresh(make: Callable[[], Any]) -> Callable[[Good], Any]:
    return lambda good: make()


N = 12  # documents of the good data
OF_QUERIES: dict[str, Callable[[Good], Any]] = {
    "scores": fresh(lambda: np.linspace(-1.0, 1.0, N)),
    "others": fresh(lambda: np.linspace(-0.5, 1.5, N)),
    "y": lambda good: np.array(good.data.y),
    "offsets": lambda good: np.array(good.data.offsets),
    "X": lambda good: np.array(good.data.X64),
}
BY_NAME: dict[str, Callable[[Good], Any]] = {
    "data": lambda good: good.data,
    "train": lambda good: good.data,
    "validation": lambda good: good.data,
    "rng": fresh(lambda: np.random.default_rng(0)),
    "X": fresh(lambda: np.array([[0.0, 1.0], [1.0, 0.5], [-1.0, 0.25], [0.5, -0.5]])),
    "w": fresh(lambda: np.array([0.5, -0.25])),
    "mapping": value({}),
    "settings": value({}),
    "folder": lambda good: good.target(),
    "target": lambda good: good.target(),
    "data_path": lambda good: good.parquet,
    "raw_folder": lambda good: good.folder,
    "data_set": lambda good: catalog()["letor-sim"],
    "mirrors": lambda good: sources.mirrors.Mirrors(),
    "name": value("listnet"),
    "differences": fresh(lambda: np.array([[0.0, 0.5], [0.25, 1.0], [1.0, 0.5]])),
    "delta": value(0.5),
    "eps": value(0.5),
    "loss_bound": value(1.0),
    "width": value(1.0),
    "score_bound": value(1.0),
    "reach": value(0.1),
    "m": value(2),
    "d": value(2),
    "y_max": value(2),
    "rounds": value(2),
    "components": value(2),
    "n_queries": value(20),
    "seed": value(3),
    "points": value(10.0),
    "fraction": value(0.1),
    "factor": value(2.0),
    "bandwidth": value(1.0),
    "what": value("lipschitz-linf"),
    "first_qid": value(1),
}
OWN: dict[str, dict[str, Callable[[Good], Any]]] = {
    "theory.two_layer.informative_from": {"complexity": value(lambda k: math.sqrt(2.0 / k))},
    "sources.catalog.get": {"name": value("letor-sim"), "path": value(sources.catalog.CATALOG)},
    "RankingData.read_parquet": {"path": lambda good: good.parquet, "queries": value([0, 2])},
    "RankingData.write_parquet": {"path": lambda good: good.target()},
    "sources.conversion.convert_own": {
        "parts": lambda good: {"a": good.letor},
        "options": value(sources.tables.Options()),
    },
    "save": {"path": lambda good: good.target()},
    "learners.configured.ConfiguredLearner": {"name": value("erm"), "settings": value({"surrogate": "squared"})},
    "learners.bandit.Parameters": {"step": value(0.1), "delta": value(0.2), "bound": value(10.0)},
    "learners.features.Features": {"standard": value(None), "random": value(None), "n_features": value(2)},
    "learners.models.LinearModel.of": {"mean": value(np.zeros(2)), "scale": value(np.ones(2))},
    "learners.models.RandomFourierModel.of": {
        "mean": value(np.zeros(2)),
        "scale": value(np.ones(2)),
        "random": lambda good: learners.kernel.RandomFourier(2, 2, 1.0, (1,)),
    },
    **{
        f"learners.models.ThresholdModel{ending}": {
            "features": value(np.array([0, 1])),
            "thresholds": value(np.array([0.5, -0.5])),
            "alphas": value(np.array([1.0, 2.0])),
            "n_features": value(2),
        }
        for ending in ("", ".of")
    },
    **{
        f"learners.models.TreesModel{ending}": {
            "roots": value(np.array([0])),
            "features": value(np.array([0, -1, -1])),
            "thresholds": value(np.array([0.5, 0.0, 0.0])),
            "lower": value(np.array([1, 0, 0])),
            "upper": value(np.array([2, 0, 0])),
            "values": value(np.array([0.0, -1.0, 2.0])),
            "n_features": value(2),
        }
        for ending in ("", ".of")
    },
    "sources.acquisition.obtain": {"network": value(False)},
    "sources.folds.queries": {"path": lambda good: good.parquet, "fold": value(1), "part": value("train")},
    "sources.folds.read": {
        "documents": lambda good: good.parquet,
        "path": lambda good: good.parquet,
        "fold": value(1),
        "part": value("train"),
    },
    "sources.simulated.write_text": {"drawn": lambda good: {"all": lambda: good.data}},
    "sources.mirrors.Mirrors": {"folders": value(()), "addresses": value(())},
    **{f"sources.mirrors.{name}": {"folder": lambda good: good.folder} for name in ("find_archives", "find_parts")},
    "sources.population.Population.draw": {"documents": value(3), "n_queries": value(2)},
    "sources.population.Population.draw_documents": {
        "queries": lambda good: population().draw_queries(2, np.random.default_rng(1)),
        "documents": value([3, 2]),
    },
    "sources.population.Population.risk": {
        "loss": lambda good: surrogates.create("squared").value,
        "w": value(np.ones(3)),
        "documents": value(3),
    },
    "sources.population.Queries": {
        "level": value(np.zeros(2)),
        "centre": value(np.zeros((2, 3), np.float32)),
        "taste": value(np.zeros(2, np.int64)),
        "sign": value(np.ones(2)),
    },
    "sources.population.Queries.take": {"indices": value(np.array([1, 0]))},
    "sources.trec.Run.ranked": {"query": value("7")},
    "sources.trec.Judgements.labels": {"query": value("7")},
    **{
        f"theory.partial_labels.{name}": {
            "m": value(2),
            "grades": value(2),
            "labels": value(1),
            "values": value([0.0, 0.25, 0.5, 1.0]),
            "p": value([0.25, 0.25, 0.25, 0.25]),
            "q": value([0.5, 0.0, 0.0, 0.5]),
            "gap": value(0.0),
            "relevance": value([0.5, 1.0]),
        }
        for name in (
            *("LawPair", "learnable", "label_vectors", "relevances", "split"),
            *("law_pair", "hardest_pair", "linear_rate", "best_value", "regret_exponent", "unseen_by_neighbours"),
        )
    },
    "theory.calibration.Misordering": {"law": value([0.25, 0.25, 0.25, 0.25]), "gap": value(0.1)},
    "theory.entropy.Covering": {"scale": value(2.0)},
    "theory.pair_losses.PairLoss": {
        field.name: lambda good, name=field.name: getattr(theory.pair_losses.get("logistic"), name)
        for field in dataclasses.fields(theory.pair_losses.PairLoss)
    },
    "theory.two_layer_rademacher.Pairs": {"owner": value(np.array([0, 0, 1]))},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "best_feature": {"selection": "ndcg"},
    "adarank": {"measure": "ndcg", "rounds": 2, "repeats": None, "selection": "ndcg"},
    "cone": {
        "basis": [2],
        "method": "sg",
        "passes": 2,
        "restarts": 1,
        "fold_in": "gradient",
        "selection": "ndcg",
    },
    "bandit": {"surrogate": "squared", "step": [0.1], "passes": 2, "selection": "ndcg"},
    "erm": {"surrogate": "squared", "l2": [1.0, 0.1], "selection": "ndcg@3"},
    "ogd": {"surrogate": "squared", "step": [0.1], "passes": 2, "selection": "ndcg"},
    "lambdamart": {"trees": 2, "selection": "map"},
    "pairwise_perceptron": {"passes": 2, "selection": "map"},
    "perceptron": {"passes": 2, "selection": "map"},
    "prank": {"passes": 2, "selection": "map"},
    "rankboost": {"rounds": 2, "pairs": "alike", "selection": "ndcg"},
    "top_k_feedback": {
        "surrogate": "squared",
        "k": 1,
        "step": [0.1],
        "passes": 2,
        "radius": 1.0,
        "selection": "ndcg",
    },
}
OBJECTS: dict[str, Callable[[Good], Any]] = {
    "theory.two_layer_rates.Variances": lambda good: theory.two_layer_rates.Variances(0.1, 0.1, 0.5),
    "RankingData": lambda good: good.data,
    "Standardisation": lambda good: Standardisation.of(good.data),
    "learners.adarank.Run": lambda good: learners.adarank.run(good.data, "map", rounds=2),
    "learners.cone.Fit": lambda good: learners.cone.fit(good.data, 2, passes=1),
    "learners.configured.ConfiguredLearner": lambda good: learners.create("erm", surrogate="squared", l2=1.0),
    "learners.erm.Fit": lambda good: learners.erm.fit(good.data, "squared", l2=1.0),
    "learners.ogd.Run": lambda good: learners.ogd.run(good.data, "squared", step=0.1),
    "learners.pairwise_perceptron.Run": lambda good: learners.pairwise_perceptron.run(good.data),
    "learners.perceptron.Run": lambda good: learners.perceptron.run(good.data),
    "learners.prank.Run": lambda good: learners.prank.run(good.data),
    "learners.rankboost.Run": lambda good: learners.rankboost.run(good.data, rounds=2),
    "learners.ranker.Trained": lambda good: learners.ranker.Trained(learners.models.IdealModel()),
    "learners.top_k_feedback.Run": lambda good: learners.top_k_feedback.run(good.data, "squared", 1, 5, 0.1, 0.5),
    "learners.cone_risk.Problem": lambda good: learners.cone.Problem(),
    "learners.features.Features": lambda good: learners.features.fitted("standardised", good.data, 0),
    "learners.kernel.RandomFourier": lambda good: learners.kernel.RandomFourier(2, 2, 1.0, (1,)),
    "learners.models.IdealModel": lambda good: learners.models.IdealModel(),
    "learners.models.AveragedResult": lambda good: learners.perceptron.run(good.data),
    "learners.models.LinearModel": lambda good: learners.models.LinearModel.of([1.0, 2.0]),
    "learners.models.LinearResult": lambda good: learners.erm.fit(good.data, "squared", l2=1.0),
    "learners.models.RandomFourierModel": lambda good: learners.models.RandomFourierModel.of(
        [1.0, 2.0], [0.0, 0.0], [1.0, 1.0], learners.kernel.RandomFourier(2, 2, 1.0, (1,))
    ),
    "learners.models.RandomModel": lambda good: learners.models.RandomModel((1,)),
    "learners.models.TreesModel": lambda good: learners.models.TreesModel.of(
        [0], [0, -1, -1], [0.5, 0, 0], [1, 0, 0], [2, 0, 0], [0, -1.0, 2.0], 2
    ),
    "learners.models.ThresholdModel": lambda good: learners.models.ThresholdModel.of([0, 1], [0.5, 0.0], [1.0, 2.0], 2),
    "sources.population.Population": lambda good: population(),
    "sources.population.Queries": lambda good: population().draw_queries(2, np.random.default_rng(1)),
    "sources.trec.Judgements": lambda good: sources.trec.Judgements(good.qrels),
    "sources.trec.Run": lambda good: sources.trec.Run(good.run),
    "theory.entropy.Covering": lambda good: theory.entropy.Covering(2.0, 10.0, 1.0),
    "theory.pair_losses.PairLoss": lambda good: theory.pair_losses.get("logistic"),
    **{
        f"{kind.__module__.removeprefix('pipeline_lib.')}.{kind.__name__}": surrogate(name)
        for name in surrogates.NAMES
        for kind in [type(surrogates.create(name))]
    },
    "surrogates.pairwise.RoundedRankSVM": lambda good: surrogates.create("ranksvm").smoothed(0.5),
}


def settings_of_population() -> Any:
    return sources.population.PopulationSettings(features=3, documents=(2, 4))


def law_of_lengths() -> Any:
    return sources.population_settings.LogNormalLengths(mean=3.0, low=1, high=8, spread=0.5)


def population() -> Any:
    return sources.population.Population(settings_of_population())


@functools.cache
def catalog() -> Any:
    return sources.catalog.load()


# --- Arguments that make none -------------------------------------------------------------------------------------


class Thing:
    """An object that no function knows."""


ALIKE = ("\x7f", "\u2028", "\ud800", "ftp://x", "https://x")
"""Texts that an error shows in another way than they were given, so that it cannot be seen to name them."""
NONSENSE: tuple[Callable[[], Any], ...] = (
    *(lambda x=x: copy.deepcopy(x) for x in plain_values.VALUES if x not in ALIKE),
    *(lambda x=x: x for x in ("text", "a\0b", 1.5, 2**62, -1e308, 1j, (), ("x",), ["a", "b"], [10**30, 1])),
    lambda: [[1], [2, 3]],
    lambda: [[1.0, 2.0], [3.0, 4.0]],
    *(lambda x=x: x for x in (len, int, ..., np.datetime64("2020-01-01"), np.float32(2.5), np.int8(-3), np.ma.masked)),
    Thing,
    lambda: np.zeros(0),
    lambda: np.zeros((0, 2)),
    lambda: np.zeros((2, 2, 2)),
    lambda: np.array(3.5),
    lambda: np.array(["a", "b", "c"]),
    lambda: np.array([object()] * 4),
    lambda: np.array([True, False, True]),
    lambda: np.array([1 + 2j, 3.0]),
    lambda: np.array([2**63, 2**64 - 1], np.uint64),
    lambda: np.array([300, -5, 1, 0], np.int32),
    lambda: np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    lambda: np.rec.array([(1, 2.0)], names="a,b"),
    lambda: {"surrogate": 3, "l2": "x"},
    lambda: lambda *arguments: None,
    lambda: np.random.default_rng(1),
    lambda: surrogates.create("slam-ndcg"),
    lambda: RankingData.from_arrays(np.zeros((0, 2)), [], []),
    lambda: RankingData.from_arrays([[3e38], [-3e38], [1.0]], [0, 255, 1], [1, 1, 2]),
    lambda: RankingData.from_arrays(np.zeros((3, 0)), [0, 1, 1], [1, 1, 2]),
)


def spoiled(good: Any, rng: random.Random) -> Any:
    """A version of a good value that is not good, or nonsense of any kind."""
    ways: list[Callable[[Any], Any]] = []
    if isinstance(good, np.ndarray | list | tuple) and np.size(good):
        ways = [*SPOILERS] * 3
    elif isinstance(good, dict):
        ways = [lambda d: {**d, rng.choice([*d, "other"]): rng.choice(NONSENSE)()}] * len(NONSENSE)
    elif isinstance(good, int | float) and not isinstance(good, bool):
        ways = [
            lambda x: -x,
            lambda x: x + 0.5,
            str,
            lambda x: [x],
            lambda x: np.array([x, x]),
            lambda x: x * 1e300,
        ] * 3
    elif isinstance(good, str):
        ways = [lambda x: x + "@", str.upper, lambda x: [x], lambda x: x.encode(), lambda x: x + "\n"] * 3
    try:
        return rng.choice([*ways, *(lambda good, make=make: make() for make in NONSENSE)])(good)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _with(good: Any, bad: Any) -> Any:
    array = np.array(good, float)
    array.flat[array.size // 2] = bad
    return array


SPOILERS: tuple[Callable[[Any], Any], ...] = (
    *(lambda x, bad=bad: _with(x, bad) for bad in (math.nan, math.inf, -math.inf, 1e308, -1e308, 300.0, -5.0, 0.5)),
    *(lambda x, bad=bad: _with(x, bad).astype(np.int64) for bad in (300, -5, 2.0**62, -(2.0**62))),
    lambda x: np.asarray(x)[None],
    lambda x: np.asarray(x)[..., None],
    lambda x: np.asarray(x)[:-1],
    lambda x: np.concatenate([x, x]),
    lambda x: np.asarray(x).T,
    lambda x: np.asarray(x)[::-1],
    lambda x: np.repeat(x, 2, axis=0)[::2],
    lambda x: np.asarray(x).astype(object),
    lambda x: np.asarray(x).astype(str),
    lambda x: np.asarray(x).astype(bool),
    lambda x: np.asarray(x).astype(np.float16),
    lambda x: np.asarray(x).astype(np.longdouble),
    lambda x: np.asarray(x).astype(">f8"),
    lambda x: np.asarray(x).astype(np.int8),
    lambda x: np.full(np.shape(x), 1e308),
    lambda x: np.full(np.shape(x), 1e-320),
    lambda x: np.zeros(np.shape(x)),
    lambda x: -np.asarray(x),
    lambda x: np.ma.array(x, mask=np.arange(np.size(x)).reshape(np.shape(x)) % 2 == 0),
    lambda x: np.ma.array(x, mask=False),
    lambda x: [*x, None],
    lambda x: np.asarray(x).tolist(),
    lambda x: iter(x),
    lambda x: np.matrix(np.asarray(x, float)),
)


# --- What may come of it ------------------------------------------------------------------------------------------


class TookTooLong(BaseException):
    """A call did not come back in time."""


def outcome(
    name: str, function: Callable[..., Any], arguments: dict[str, Any], spoilt: list[str], refusal: str | None = None
) -> str | None:
    """Call, and say what is wrong with what came of it, if anything; ``refusal`` is what good arguments meet."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            signal.setitimer(signal.ITIMER_PROF, SECONDS_PER_CALL)
            try:
                result = function(**arguments)
                if inspect.isgenerator(result):
                    result = [item for item, _ in zip(result, range(100), strict=False)]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
    except (PipelineError, TypeError, ValueError, OSError) as error:
        return None if str(error) == refusal else _complaint(error, function, arguments, spoilt)
    except BaseException as error:  # whatever else is raised is a finding, unless a function of an example raised it
        last = traceback.extract_tb(error.__traceback__)[-1]
        return None if last.filename.startswith("<doctest") else _raised(error)
    return _nonsense(name, result)


def _complaint(
    error: Exception, function: Callable[..., Any], arguments: dict[str, Any], spoilt: list[str]
) -> str | None:
    """Nothing, when the message names an argument, a key of one that is a mapping, or quotes a text it was given.

    A key may also be one that the settings of a learner lack.
    """
    message = str(error)
    if any(_calls(arguments.get(name)) for name in spoilt) and not isinstance(error, PipelineError):
        return None  # a function that was given raised it
    if isinstance(error, DownloadError):
        return None  # speaks of what was tried, not of an argument
    if isinstance(error, OSError) and not isinstance(error, PipelineError):
        return (
            None if any("path" in n or "folder" in n or n in ("target", "archive") for n in spoilt) else _raised(error)
        )
    names = {*spoilt, *(p.name for p in parameters(function))}
    for name in spoilt if isinstance(error, PipelineError) else ():
        if isinstance(arguments.get(name), dict):
            names |= {shown for key in arguments[name] for shown in (str(key), f"[{key}]")}
            # The setting step is called eta, as in the papers, by the functions that learners call.
            names |= {"eta", *(key for keys in SETTINGS.values() for key in keys)} if name == "settings" else set()
            if any(repr(item) in message or message.startswith(f"{item}:") for item in arguments[name].values()):
                return None
        if isinstance(arguments.get(name), str | Path) and str(arguments[name]) and str(arguments[name]) in message:
            return None
        several = arguments.get(name)
        several = several.tolist() if isinstance(several, np.ndarray) and several.ndim else several
        if isinstance(several, list | tuple) and any(repr(one) in message for one in several):
            return None
        if repr(arguments.get(name)) in message:
            return None
    if isinstance(error, PipelineError) and any(
        isinstance(text, str | Path) and len(str(text)) > 2 and printable(str(text)) in message
        for text in arguments.values()
    ):
        return None
    if re.search(rf"(?<!\w)({'|'.join(map(re.escape, sorted(names)))})(:|\[|,|'| =| and | \()", message):
        return None
    return _raised(error)


def _calls(argument: Any) -> bool:
    """Is it a function, or does it contain one?"""
    return callable(argument) or (isinstance(argument, dict) and any(map(callable, argument.values())))


def _raised(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "pipeline_lib" in f.filename]
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}: {str(error)[:200]}"


def _nonsense(name: str, result: Any) -> str | None:
    if getattr(result, "certified", False) is True and not math.isfinite(getattr(result, "objective", 0.0)):
        return f"certified nonsense: {result}"
    if isinstance(result, float) and math.isnan(result):
        return "NaN"
    if (
        isinstance(result, np.ndarray)
        and result.dtype.kind == "f"
        and np.isnan(result).any()
        and name not in MAY_BE_NAN
    ):
        return "an array with NaN"
    return None


MAY_BE_NAN = ("metrics.ndcg", "metrics.average_precision")  # a query without relevant documents, with "skip"


# --- The process --------------------------------------------------------------------------------------------------


def main() -> None:
    """Make calls and print what is wrong, a line of JSON each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first call, to repeat one")
    parser.add_argument("--only", default="", help="only functions whose name contains this")
    parser.add_argument("--trace", type=Path, default=Path(os.devnull))
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGPROF, _too_long)
    functions = {name: f for name, f in public().items() if chosen.only in name}
    names = list(functions)
    with tempfile.TemporaryDirectory() as folder, chosen.trace.open("w") as trace:
        os.chdir(folder)
        good = Good(Path(folder))
        for call in range(chosen.first, chosen.first + chosen.calls):
            rng = random.Random(f"{chosen.seed}/{call}")
            name = names[call % len(names)] if call < 3 * len(names) else rng.choice(names)
            function, arguments, spoilt = misused(name, functions[name], good, rng)
            print(call, name, spoilt, file=trace, flush=True)
            findings = outcome(name, function, arguments, spoilt, refusal(name, functions[name], good))
            if findings is not None:
                given = {key: repr(arguments[key])[:80] for key in spoilt if key in arguments}
                print(json.dumps({"call": call, "name": name, "spoilt": given, "found": findings}), flush=True)
    print("done")


@functools.cache
def refusal(name: str, function: Callable[..., Any], good: Good) -> str | None:
    """What a function says to good arguments if it refuses these too, such as that a loss has no such constant."""
    arguments = good.arguments(name, function)
    try:
        (functools.partial(function, good.owner(name, function)) if is_method(function) else function)(**arguments)
    except PipelineError as error:
        return str(error)
    return None


def is_method(function: Callable[..., Any]) -> bool:
    """Does it take its object first?"""
    return inspect.isfunction(function) and "self" in inspect.signature(function).parameters


def misused(
    name: str, function: Callable[..., Any], good: Good, rng: random.Random
) -> tuple[Callable[..., Any], dict[str, Any], list[str]]:
    """The function with its object, arguments of which some are spoilt, and the names of those."""
    arguments = good.arguments(name, function)
    if is_method(function):
        function = functools.partial(function, good.owner(name, function))
    chosen = rng.sample(list(arguments), min(len(arguments), rng.choice([1, 1, 1, 2])))
    if len(arguments) > 1 and rng.random() < 0.1:
        first, second = rng.sample(list(arguments), 2)
        arguments[first], arguments[second] = arguments[second], arguments[first]
        return function, arguments, [first, second]
    if rng.random() < 0.03:
        arguments.pop(chosen[0])
        return function, arguments, chosen[:1]
    if rng.random() < 0.01:
        return function, arguments | {"no_such_argument": 1}, ["no_such_argument"]
    for key in chosen:
        arguments[key] = spoiled(arguments[key], rng)
    return function, arguments, chosen


def _too_long(number: int, frame: Any) -> None:
    raise TookTooLong(f"no answer after {SECONDS_PER_CALL} s of work")


if __name__ == "__main__":
    main()

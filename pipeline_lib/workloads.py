"""How long does a job take whose work its settings decide, and how much memory?

The data set decides how long a job of most rules takes (:mod:`pipeline_lib.planning`). An experiment's settings decide
it for the jobs here: each formula counts what its cost is proportional to (rounds, documents drawn, pairs of
retrainings) and multiplies it by what one of them took on one core of 2020s server hardware. They are within a factor
of about three of what was measured, for the default study and at paper scale; a cluster is asked for ten times as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Settings = Mapping[str, Any]
Wildcards = Mapping[str, str]
Experiments = Mapping[str, Mapping[str, Settings]]


@dataclass(frozen=True)
class Workload:
    """What decides the work of a rule's jobs.

    Attributes
    ----------
    section : tuple of str
        Where the settings stand under ``experiments``.
    seconds : callable
        Settings and wildcards to seconds, beyond what the job takes anyway.
    mb : callable, optional
        Settings to MB, likewise.
    per_million_cells : bool
        The seconds are those for every million feature values of the job's data set.
    """

    section: tuple[str, str]
    seconds: Callable[[Settings, Wildcards], float]
    mb: Callable[[Settings], float] = lambda settings: 0.0
    per_million_cells: bool = False


def _games(settings: Settings, wildcards: Wildcards) -> float:
    return sum(settings["rounds"]) * float(settings["seeds"])


def _slam_risk(settings: Settings, wildcards: Wildcards) -> float:
    # queries trained on by one of the jobs that share the repetitions
    return sum(settings["sizes"]) * len(settings["radii"]) * settings["repetitions"] / float(settings["parts"])


def _cell_sizes(settings: Settings, m: int) -> list[int]:
    return [n * m for n in settings["queries"] if n * m <= settings["documents_at_most"]]


def _lists_grid(settings: Settings, wildcards: Wildcards) -> float:
    # documents trained on, in all cells
    first = settings["lengths"][0]
    kinds = ("rate_repetitions" if m == first else "repetitions" for m in settings["lengths"])
    cells = zip(settings["lengths"], kinds, strict=True)
    return float(sum(settings[kind] * sum(_cell_sizes(settings, m)) for m, kind in cells))


def _best_ranker_documents(settings: Settings) -> float:
    # drawn to measure the best ranker, at most: two populations
    return float(settings["best_ranker_documents"] * (len(settings["lengths"]) + len(settings["realisable_lengths"])))


def _largest_cell(settings: Settings) -> float:
    return float(max((size for m in settings["lengths"] for size in _cell_sizes(settings, m)), default=0))


def _areas(settings: Settings) -> float:
    return float(sum(settings["queries"]) * sum(settings["documents"]))


def _lists_sparse(settings: Settings, wildcards: Wildcards) -> float:
    return float(settings["queries"] * settings["documents"] * settings["repetitions"] * sum(settings["features"]))


def _sparse_cell(settings: Settings) -> float:
    # feature values of one sample and the reference sample of the search for the worst gap
    return float(3 * settings["queries"] * settings["documents"] * max(settings["features"]))


def _twolayer_documents(settings: Settings) -> float:
    # documents of one repetition of the grid and its two arms
    arms = (
        sum(settings["more_queries"]) * settings["documents"][0]
        + sum(settings["more_documents"]) * (settings["queries"][0])
    )
    return float(_areas(settings) + arms)


def _cone_cones(settings: Settings, wildcards: Wildcards) -> float:
    # the first passes on a data set, and fold steps of the small sample
    small = settings["small"]
    fold_steps = small["queries"] * small["passes"] * sum(small["fold_steps"])
    return float(1e-4 * settings["pairs"] * settings["passes"] + 1e-8 * fold_steps)


def _cone_bases(settings: Settings, wildcards: Wildcards) -> float:
    # basis vectors passed over the data
    varied = sum(len(settings[name]) for name in ("methods", "alphas", "rhos", "cs", "largest_sums"))
    vectors = sum(settings["bases"]) + settings["basis"] * varied
    return float(settings["starts"] * settings["passes"] * vectors)


def _cone_stability(settings: Settings, wildcards: Wildcards) -> float:
    # queries passed by all retrainings of one number of queries
    P = int(wildcards["queries"])
    return float(P**2 * settings["passes"] * settings["repetitions"] * len(settings["methods"]))


WORKLOADS: Mapping[str, Workload] = {
    "slam_losses": Workload(("slam", "losses"), lambda s, _: 10e-3 * s["lists"]),
    "slam_perceptron": Workload(("slam", "perceptron"), lambda s, _: 2e-4 * s["rounds"] * s["repetitions"]),
    "slam_risk": Workload(("slam", "risk"), lambda s, w: 2e-4 * _slam_risk(s, w)),
    "topk_exactness": Workload(("topk", "exactness"), lambda s, _: 1.0 * s["repetitions"]),
    "topk_regret_slice": Workload(("topk", "regret"), lambda s, w: 1e-6 * _games(s, w) / s["slices"]),
    "topk_adversary": Workload(("topk", "adversary"), lambda s, w: 4e-6 * _games(s, w)),
    "topk_repair": Workload(
        ("topk", "figure"),
        lambda s, _: 4e-6 * s["rounds"] * s["repair_seeds"] * len(s["repair_factors"]) * len(s["repair_radii"]),
    ),
    "topk_figure": Workload(("topk", "figure"), lambda s, _: 2e-5 * s["rounds"] * s["seeds"]),
    "lists_constants": Workload(("lists", "constants"), lambda s, _: 0.1 * sum(s["lengths"]) * s["restarts"]),
    "lists_grid": Workload(
        ("lists", "grid"),
        lambda s, w: 1e-5 * _lists_grid(s, w) + 1.5e-7 * _best_ranker_documents(s),
        lambda s: 6e-4 * _largest_cell(s),
    ),
    "lists_real": Workload(("lists", "real"), lambda s, _: 4e-4 * s["repetitions"] * sum(s["queries"])),
    "lists_sparse": Workload(
        ("lists", "sparse"), lambda s, w: 6e-8 * _lists_sparse(s, w), lambda s: 12e-6 * _sparse_cell(s)
    ),
    "lists_averages": Workload(("lists", "averages"), lambda s, _: 1e-5 * s["draws"] * _areas(s)),
    "twolayer_statements": Workload(("twolayer", "statements"), lambda s, _: 5e-5 * s["draws"]),
    "twolayer_gaps_slice": Workload(
        ("twolayer", "gaps"), lambda s, _: 1.4e-5 * s["repetitions"] / s["slices"] * _twolayer_documents(s)
    ),
    "twolayer_gaps": Workload(("twolayer", "gaps"), lambda s, _: 7e-7 * s["draws"] * _areas(s)),
    "twolayer_samplings": Workload(("twolayer", "samplings"), lambda s, _: 4e-5 * s["repetitions"] * _areas(s)),
    "twolayer_tradeoff_slice": Workload(
        ("twolayer", "tradeoff"), lambda s, _: 5e-5 * s["repetitions"] / s["slices"] * sum(s["budgets"])
    ),
    "cone_cones": Workload(("cone", "cones"), _cone_cones),
    "cone_bases_fold": Workload(("cone", "bases"), lambda s, w: 0.015 * _cone_bases(s, w), per_million_cells=True),
    "cone_stability_slice": Workload(("cone", "stability"), lambda s, w: 7e-6 * _cone_stability(s, w)),
}


def _passes(settings: Settings) -> float:
    return 0.02 * float(settings["passes"])


TRAINING: Mapping[str, Callable[[Settings], float]] = {
    "adarank": lambda settings: 0.01 * settings["rounds"],
    "cone": lambda settings: 0.01 * settings["passes"] * settings["restarts"] * sum(settings["basis"]),
    "ogd": _passes,
    # every number of passes up to the largest is run from the start
    "perceptron": lambda settings: 0.01 * float(settings["passes"]) ** 2,
    "rankboost": lambda settings: 0.003 * settings["rounds"],
    "top-k-feedback": _passes,
}
"""Seconds per million cells by a learner's settings, for those whose settings say how long they train."""


def seconds(rule: str, experiments: Experiments, wildcards: Wildcards, cells: float = 0.0) -> float:
    """Seconds that an experiment's settings ask for; 0 for rules that have no such settings.

    Parameters
    ----------
    rule : str
    experiments : mapping
        The section ``experiments`` of the configuration.
    wildcards : mapping
        Those of the job.
    cells : float
        Feature values in the job's data set.

    Example
    -------
    >>> asked = {"topk": {"regret": {"rounds": [100000, 900000], "seeds": 5, "slices": 2}}}
    >>> seconds("topk_regret_slice", asked, {}), seconds("train_model", asked, {})
    (2.5, 0.0)
    """
    if rule not in WORKLOADS:
        return 0.0
    workload = WORKLOADS[rule]
    paper, section = workload.section
    found = float(workload.seconds(experiments[paper][section], wildcards))
    return found * cells / 1e6 if workload.per_million_cells else found


def megabytes(rule: str, experiments: Experiments) -> float:
    """MB that an experiment's settings ask for; 0 for rules that have no such settings.

    Example
    -------
    >>> grid = {"queries": [100, 10000], "lengths": [10, 1000], "documents_at_most": 1000000}
    >>> round(megabytes("lists_grid", {"lists": {"grid": grid}}))
    60
    """
    if rule not in WORKLOADS:
        return 0.0
    paper, section = WORKLOADS[rule].section
    return float(WORKLOADS[rule].mb(experiments[paper][section]))


def training_seconds(algorithm: str, settings: Settings, cells: float) -> float:
    """Seconds that training takes on a data set of ``cells`` feature values; 1 a million where settings say nothing.

    Example
    -------
    >>> training_seconds("cone", {"passes": 30, "restarts": 2, "basis": [10]}, 2e6), training_seconds("erm", {}, 2e6)
    (12.0, 2.0)
    """
    rate = TRAINING[algorithm](settings) if algorithm in TRAINING else 1.0
    return rate * cells / 1e6

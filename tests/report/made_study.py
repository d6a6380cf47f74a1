"""A made-up study: plausible tables for two data sets, four learners, three controls and five folds.

Nothing here is a result. Tests read it; ``python tests/report/made_study.py FOLDER`` renders it for the eye.
"""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pipeline_lib.claims import ledger
from pipeline_lib.claims.kinds import Cells, Comparison
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.planted import Planted
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Check
from pipeline_lib.core import storage
from pipeline_lib.papers import names
from pipeline_lib.statistics import Interval
from tests.readings import ledger_of_claims

ROOT = Path(__file__).parents[2]
PATH = [1e-4, 1e-3, 1e-2]
MODELS: list[dict[str, Any]] = [
    {"model": model, "title": title, "algorithm": algorithm, "surrogate": surrogate, "control": control}
    | {"settings": settings}
    for model, title, algorithm, surrogate, control, settings in (
        ("erm-listnet", "ListNet", "erm", "listnet", False, {"l2": PATH, "tol": 1e-6}),
        ("erm-ranksvm", "RankSVM", "erm", "ranksvm", False, {"l2": PATH, "normalisation": "sum"}),
        ("erm-slam-ndcg", "SLAM-NDCG", "erm", "slam-ndcg", False, {"l2": PATH}),
        ("adarank-map", "AdaRank-MAP", "adarank", None, False, {"rounds": 300}),
        ("random", "random", "random", None, True, {}),
        ("best-single-feature", "best single feature", "best-feature", None, True, {}),
        ("ideal", "ideal", "ideal", None, True, {}),
    )
]
LEVEL = dict(zip((one["model"] for one in MODELS), (0.705, 0.702, 0.698, 0.671, 0.455, 0.641, 1.0), strict=True))
SHIFT = {"letor4_mean_ndcg": -0.22, "map": -0.23, "letor4_ndcg@1": -0.11, "letor4_ndcg@5": -0.03}
SHIFT |= {"ndcg@10": 0.0, "p@10": -0.45, "err": -0.4}
WITHOUT_SURROGATE = "expected a surrogate, found none"
"""Why nothing is certified of a learner without a surrogate."""
DATASETS = {"letor-sim": ("Simulated queries", 500, 0.05), "MQ2008": ("MQ2008 (LETOR 4.0)", 784, -0.02)}


def make(folder: Path) -> Path:
    """Write ``folder/made`` as a study leaves it, and return it."""
    study = folder / "made"
    (study / "tables").mkdir(parents=True)
    (study / "data").mkdir()
    rng = np.random.default_rng(7)
    measures, summary, comparisons, training, validation = [], [], [], [], []
    for dataset, (_, queries, offset) in DATASETS.items():
        for measure, shift in SHIFT.items():
            means = {}
            for model, level in LEVEL.items():
                middle = 1.0 if model == "ideal" else level + shift + offset
                folds = [float(middle + (model != "ideal") * rng.normal(0, 0.02)) for _ in range(5)]
                for fold, value in enumerate(folds, 1):
                    row = _row(dataset, model, fold=fold, measure=measure, value=value)
                    measures.append({**row, "n_queries": queries // 5})
                mean, half = float(np.mean(folds)), 0.0 if model == "ideal" else 0.017
                means[model] = mean
                summary.append(
                    _row(dataset, model, measure=measure, mean=mean, sd=float(np.std(folds, ddof=1)))
                    | {"low": mean - half, "high": mean + half, "n_folds": 5, "n_queries": queries}
                )
            for a, b in combinations(LEVEL, 2) if measure in ("letor4_mean_ndcg", "map") else ():
                difference = means[a] - means[b]
                p = float(np.exp(-abs(difference) / 0.006))
                comparisons.append(
                    {"dataset": dataset, "measure": measure, "model_a": a, "model_b": b, "difference": difference}
                    | {
                        "low": difference - 0.012,
                        "high": difference + 0.012,
                        "p_value": p,
                        "p_adjusted": min(1.0, 8 * p),
                    }
                    | {"detectable": 0.02}
                )
        training += _training(dataset)
        validation += [
            _row(dataset, model, fold=fold, measure="letor4_mean_ndcg", l2=l2)
            | {"value": 0.69 - 0.01 * abs(np.log10(l2) + 3 - i) + e}
            for i, model in enumerate(list(LEVEL)[:3])
            for l2 in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
            for fold, e in enumerate(rng.normal(0, 0.004, 5), 1)
        ]
    tables = {"measures": measures, "summary": summary, "comparisons": comparisons, "training": training}
    tables["certificates"] = [row for dataset in DATASETS for row in _certificates(dataset)]
    for name, rows in (tables | {"validation": validation, "published": _published()}).items():
        storage.write_table(study / "tables" / f"{name}.parquet", pl.DataFrame(rows, infer_schema_length=None))
    _describe(study)
    storage.write_table(study / "tables/slam-checks.parquet", pl.DataFrame({"m": [3, 5, 10, 50]}))
    return study


def _row(dataset: str, model: str, **values: Any) -> dict[str, Any]:
    return {"dataset": dataset, "model": model, **values}


def _training(dataset: str) -> list[dict[str, Any]]:
    rows = []
    for entry in MODELS[:4]:
        convex = entry["algorithm"] == "erm"
        for fold in range(1, 6):
            certified = not (entry["model"] == "erm-slam-ndcg" and fold == 3 and dataset == "MQ2008")
            rows.append(
                _row(dataset, entry["model"], fold=fold, algorithm=entry["algorithm"], surrogate=entry["surrogate"])
                | {"l2": 1e-3 if convex else None, "objective": 2.4173 if convex else None}
                | {"gap": 8.1e-7 if convex else None, "relative_gap": 3.4e-7 if convex else None}
                | {"certified": certified if convex else None, "certificate": "duality gap" if convex else None}
                | {"iterations": 57 + fold, "validation_value": 0.69 + 0.003 * fold, "selection": "letor4_mean_ndcg"}
            )
    return rows


def _certificates(dataset: str) -> list[dict[str, Any]]:
    rows = []
    for entry in MODELS[:4]:
        for fold in range(1, 6):
            about = _row(dataset, entry["model"], fold=fold)
            holds = {"n": 300, "delta": 0.05, "empirical_risk": 0.4, "largest_loss": 66.0, "reason": None}
            holds |= {"zero_risk": 12.5}
            if entry["surrogate"] is None:
                nothing = dict.fromkeys([*holds, "bound", "place", "risk", "deviation", "informative"])
                rows.append(about | nothing | {"informative_from": None, "reason": WITHOUT_SURROGATE})
                continue
            bounds = [("chapelle-wu", "Section 4", 44.0 + fold), ("erm", "Theorem 9", 448.0)]
            for bound, place, deviation in (*bounds, ("held-out", "Hoeffding", 10.0 + fold)):
                value = {"bound": bound, "place": place, "deviation": deviation, "risk": 0.4 + deviation}
                known = {"informative": 0.4 + deviation < 12.5, "informative_from": 200 if bound != "erm" else None}
                rows.append(about | holds | value | known)
    return rows


def _published() -> list[dict[str, Any]]:
    found = [("erm-ranksvm", "map", 0.450, 0.4469), ("erm-ranksvm", "letor4_mean_ndcg", 0.458, 0.4577)]
    found += [("erm-listnet", "map", 0.450, 0.4553), ("erm-listnet", "letor4_mean_ndcg", 0.469, 0.4641)]
    return [
        _row("MQ2008", model, folds="1", measure=measure, published=there, measured=here, delta=here - there)
        | {"standard_error": 0.01, "in_standard_errors": (here - there) / 0.01}
        | {"source": "cone, Table 1"}
        for model, measure, there, here in found
    ]


def _describe(study: Path) -> None:
    availability = [{"dataset": name, "status": "at hand", "reason": "", "how_to_get": ""} for name in DATASETS]
    how = "download MQ2007.rar from the LETOR 4.0 page by hand and place it in data/raw"
    missing = {"dataset": "MQ2007", "status": "missing", "reason": "neither in data/raw nor in a mirror"}
    availability.append({**missing, "how_to_get": how})
    storage.write_json(study / "availability.json", {"datasets": availability})
    storage.write_json(study / "models.json", {"models": MODELS})
    changed = {"setting": "seed", "default": 2026, "value": 7, "description": "Seed of every random number. Any."}
    storage.write_json(study / "changes.json", {"changes": [changed]})
    labels = {"letor-sim": {"0": 9301, "1": 2011, "2": 988}, "MQ2008": {"0": 12279, "1": 2001, "2": 931}}
    for name, (title, queries, _) in DATASETS.items():
        rows = sum(labels[name].values())
        known = name == "MQ2008"
        parts = [
            {"name": f"S{i}", "rows": rows // 5, "queries": queries // 5, "verified": True}
            | {"sha256": hashlib.sha256(f"{name}{i}".encode()).hexdigest()}
            for i in range(1, 6)
        ]
        described = {
            "dataset": name,
            "title": title,
            "licence": "Microsoft's terms for LETOR" if known else "made here, public domain",
            "citation": "Qin and Liu (2013), Introducing LETOR 4.0 Datasets" if known else "this study",
            "rows": rows,
            "queries": queries,
            "features": 46,
            "labels": labels[name],
            "documents_per_query": {"min": 5, "median": 8, "max": 121},
            "queries_without_relevant": 220 if known else 31,
            "parts": parts,
            "expected": {"rows": rows, "queries": queries, "labels": None, "approximate": []} if known else None,
            "folds": 5,
            "notes": ["Queries without a relevant document are kept; they count 0 in every measure."],
        }
        storage.write_json(study / "data" / f"{name}.json", described)
    provenance = {"command": "snakemake --cores 4", "commit": "0123456789abcdef", "seed": 20261}
    versions = {"python": "3.11.7", "numpy": "2.4.6", "pipeline_lib": "0.1.0"}
    storage.write_json(study / "provenance.json", {**provenance, "versions": versions})
    (study / "configuration.yaml").write_text(CONFIGURATION)


def _trials() -> dict[str, list[Trial]]:
    """What some claims are judged by."""
    table = "tables/slam-checks.parquet"
    slack = [Trial({"m": m}, {"smallest_slack": 0.012 / m}, table) for m in (3, 5, 10, 50)]
    eta = [
        Trial(
            {"dataset": name, "eta": eta},
            {"rounds": 400, "rounds_that_differ": differ, "rounds_that_differ_misordered": 0},
            table,
        )
        for name in DATASETS
        for eta, differ in ((0.1, 2), (0.001, 4))
    ]
    excess = [
        Trial(
            {"surrogate": name, "n": n},
            {"excess_risk": Interval(0.4 / n, 0.3 / n, 0.5 / n), "bound": 9 / n**0.5},
            table,
        )
        for name in ("listnet", "slam-ndcg")
        for n in (50 * 2**i for i in range(11))
    ]
    cells = [
        Trial({"method": m, "measure": k}, {"measured": ours, "published": theirs}, PUBLISHED)
        for m, k, theirs, ours in (
            ("RankSVM-struct", "MAP", 0.450, 0.4469),
            ("RankSVM-struct", "NDCG", 0.458, 0.4577),
            ("ConeRank-SG", "MAP", 0.454, 0.4312),
        )
    ]
    return {
        "slam-thm2": slack,
        "slam-eta-free": eta,
        "slam-thm8": excess,
        "slam-thm10": [Trial({"m": 3, "d": 2}, {"dimension": 4, "features": 2}, table)],
        "cone-table1-mq2008": cells,
    }


NOTES = {"slam-eta-free": "400 rounds each."}
NOT_JUDGED = {"slam-kernel": "The kernel perceptron is not part of this study."}
PUBLISHED = "tables/published.parquet"
CONFIGURATION = """study: made
seed: 20261
datasets: [letor-sim, MQ2008, MQ2007]
evaluation:
  headline: letor4_mean_ndcg
  compared: [letor4_mean_ndcg, map]
statistics:
  level: 0.95
"""


RULES: dict[str, tuple[Check, ...]] = {
    "slam-thm2": (Comparison(check="bound", statistic="smallest_slack", relation=">=", limit=0.0),),
    "slam-eta-free": (Comparison(check="equals", statistic="rounds_that_differ", relation="=", limit=0.0),),
    "slam-thm8": (Comparison(check="bound", statistic="excess_risk", relation="<=", limit="bound"),),
    "slam-thm10": (Comparison(check="bound", statistic="dimension", relation="<=", limit="features"),),
    "cone-table1-mq2008": (Cells(check="cells", statistic="measured", expected="published", tolerance=0.015),),
}
"""By what the claims with evidence are judged here."""
PLANTED = {
    "slam-thm2": Planted(
        name="short", statement="The constant is smaller by .01.", values={"smallest_slack": "smallest_slack - 0.01"}
    ),
    "slam-thm8": Planted(name="rate", statement="The risk falls as 1/n^2.", values={"bound": "bound / (n * SQRT(n))"}),
}


def _judged(claim: Claim, trials: Mapping[str, list[Trial]], context: ledger.Context) -> ledger.JudgedClaim:
    """A claim of the ledger, by a rule for the made-up trials if there are any, else as if nothing had been run."""
    if claim.id not in trials:
        [found] = ledger.judge([claim], context)
        return replace(found, explanation=NOT_JUDGED.get(claim.id, found.explanation))
    planted = (PLANTED[claim.id],) if claim.id in PLANTED else ()
    made = claim.model_copy(update={"checks": RULES[claim.id], "planted": planted, "readings": ()})
    return ledger.judge_trials(made, trials[claim.id], context, NOTES.get(claim.id, ""))


def claims_of(results: Path, folder: Path) -> None:
    """Judge the claims and write them, as the command of the study does."""
    availability = results / "availability.json"
    entries = storage.read_json(availability)["datasets"] if availability.exists() else []
    context = ledger.Context.of(results.name, entries)
    trials = {name: made for name, made in _trials().items() if (results / made[0].table).is_file()}
    ledger.write(folder / "claims.json", [_judged(claim, trials, context) for claim in ledger_of_claims()], context)


def report(results: Path, folder: Path, papers: Sequence[str] = names()) -> None:
    """Judge the claims, write them, and render the page, as the commands of the study do."""
    from pipeline_lib.report import site

    claims_of(results, folder)
    site.render(results, folder, claims=folder / "claims.json", papers=papers)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    report(make(target / "results"), target / "reports" / "made")

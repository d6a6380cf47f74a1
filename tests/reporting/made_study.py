"""A made-up study: plausible tables for two data sets, four learners, three controls and five folds.

Nothing here is a result. Tests read it; ``python tests/reporting/made_study.py FOLDER`` renders it for the eye.
"""

from __future__ import annotations

import dataclasses
import hashlib
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pipeline_lib import storage
from pipeline_lib.claims.evidence import Evidence, Interval, Trial, write_evidence
from pipeline_lib.claims.kinds import Bound, Cells, Equals
from pipeline_lib.claims.ledger import Claim
from pipeline_lib.claims.planted import Planted
from pipeline_lib.claims.verdicts import Check
from pipeline_lib.papers import names
from tests.readings import ledger_of_claims

ROOT = Path(__file__).parents[2]
MODELS: list[dict[str, Any]] = [
    {
        "model": "erm-listnet",
        "title": "ListNet",
        "algorithm": "erm",
        "surrogate": "listnet",
        "control": False,
        "settings": {"l2": [1e-4, 1e-3, 1e-2], "tol": 1e-6},
    },
    {
        "model": "erm-ranksvm",
        "title": "RankSVM",
        "algorithm": "erm",
        "surrogate": "ranksvm",
        "control": False,
        "settings": {"l2": [1e-4, 1e-3, 1e-2], "normalisation": "sum"},
    },
    {
        "model": "erm-slam-ndcg",
        "title": "SLAM-NDCG",
        "algorithm": "erm",
        "surrogate": "slam-ndcg",
        "control": False,
        "settings": {"l2": [1e-4, 1e-3, 1e-2]},
    },
    {
        "model": "adarank-map",
        "title": "AdaRank-MAP",
        "algorithm": "adarank",
        "surrogate": None,
        "control": False,
        "settings": {"rounds": 300},
    },
    {
        "model": "random",
        "title": "random",
        "algorithm": "random",
        "surrogate": None,
        "control": True,
        "settings": {},
    },
    {
        "model": "best-single-feature",
        "title": "best single feature",
        "algorithm": "best-feature",
        "surrogate": None,
        "control": True,
        "settings": {},
    },
    {
        "model": "ideal",
        "title": "ideal",
        "algorithm": "ideal",
        "surrogate": None,
        "control": True,
        "settings": {},
    },
]
LEVEL = {
    "erm-listnet": 0.705,
    "erm-ranksvm": 0.702,
    "erm-slam-ndcg": 0.698,
    "adarank-map": 0.671,
    "random": 0.455,
    "best-single-feature": 0.641,
    "ideal": 1.0,
}
SHIFT = {
    "letor4_mean_ndcg": -0.22,
    "map": -0.23,
    "letor4_ndcg@1": -0.11,
    "letor4_ndcg@5": -0.03,
    "ndcg@10": 0.0,
    "p@10": -0.45,
    "err": -0.4,
}
WITHOUT_SURROGATE = "expected a surrogate, found none"
"""Why nothing is certified of a learner without a surrogate."""
DATASETS = {"letor-sim": ("Simulated queries", 500, 0.05), "MQ2008": ("MQ2008 (LETOR 4.0)", 784, -0.02)}


def make(folder: Path) -> Path:
    """Write ``folder/made`` as a study leaves it, and return it."""
    import polars as pl

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
                    measures.append(
                        _row(dataset, model, fold=fold, measure=measure, value=value, n_queries=queries // 5)
                    )
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
                    | {"low": difference - 0.012, "high": difference + 0.012, "p_value": p, "p_holm": min(1.0, 8 * p)}
                )
        training += _training(dataset)
        validation += [
            _row(
                dataset,
                model,
                fold=fold,
                measure="letor4_mean_ndcg",
                l2=l2,
                value=0.69 - 0.01 * abs(np.log10(l2) + 3 - i) + e,
            )
            for i, model in enumerate(list(LEVEL)[:3])
            for l2 in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
            for fold, e in enumerate(rng.normal(0, 0.004, 5), 1)
        ]
    tables = {"measures": measures, "summary": summary, "comparisons": comparisons, "training": training}
    tables["certificates"] = [row for dataset in DATASETS for row in _certificates(dataset)]
    for name, rows in (tables | {"validation": validation, "published": _published()}).items():
        storage.write_table(study / "tables" / f"{name}.parquet", pl.DataFrame(rows, infer_schema_length=None))
    _describe(study)
    _evidence(study)
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
            if entry["surrogate"] is None:
                nothing = dict.fromkeys([*holds, "bound", "place", "risk", "deviation", "informative"])
                rows.append(about | nothing | {"informative_from": None, "reason": WITHOUT_SURROGATE})
                continue
            bounds = [("chapelle-wu", "Section 4", 44.0 + fold), ("erm", "Theorem 9", 448.0)]
            for bound, place, deviation in (*bounds, ("held-out", "Hoeffding", 10.0 + fold)):
                value = {"bound": bound, "place": place, "deviation": deviation, "risk": 0.4 + deviation}
                known = {"informative": 0.4 + deviation < 66.0, "informative_from": 200 if bound != "erm" else None}
                rows.append(about | holds | value | known)
    return rows


def _published() -> list[dict[str, Any]]:
    found = [("erm-ranksvm", "map", 0.450, 0.4469), ("erm-ranksvm", "letor4_mean_ndcg", 0.458, 0.4577)]
    found += [("erm-listnet", "map", 0.450, 0.4553), ("erm-listnet", "letor4_mean_ndcg", 0.469, 0.4641)]
    return [
        _row("MQ2008", model, fold=1, measure=measure, published=there, measured=here, delta=here - there)
        | {"source": "cone, Table 1"}
        for model, measure, there, here in found
    ]


def _describe(study: Path) -> None:
    availability = [{"dataset": name, "status": "at hand", "reason": "", "how_to_get": ""} for name in DATASETS]
    availability.append(
        {
            "dataset": "MQ2007",
            "status": "missing",
            "reason": "neither in data/raw nor in a mirror",
            "how_to_get": "download MQ2007.rar from the LETOR 4.0 page by hand and place it in data/raw",
        }
    )
    storage.write_json(study / "availability.json", {"datasets": availability})
    storage.write_json(study / "models.json", {"models": MODELS})
    changed = {"setting": "seed", "default": 2026, "value": 7, "description": "Seed of every random number. Any."}
    storage.write_json(study / "changes.json", {"changes": [changed]})
    labels = {"letor-sim": {"0": 9301, "1": 2011, "2": 988}, "MQ2008": {"0": 12279, "1": 2001, "2": 931}}
    for name, (title, queries, _) in DATASETS.items():
        rows = sum(labels[name].values())
        edges = list(range(0, 130, 10))
        counts = [int(queries * share) for share in np.diff(1 - np.exp(-np.array(edges) / 18))]
        storage.write_json(
            study / "data" / f"{name}.json",
            {
                "dataset": name,
                "title": title,
                "licence": "made here, public domain" if name == "letor-sim" else "Microsoft's terms for LETOR",
                "citation": "Qin and Liu (2013), Introducing LETOR 4.0 Datasets" if name == "MQ2008" else "this study",
                "rows": rows,
                "queries": queries,
                "features": 46,
                "labels": labels[name],
                "documents_per_query": {"min": 5, "median": 8, "max": 121},
                "queries_without_relevant": 220 if name == "MQ2008" else 31,
                "parts": [
                    {
                        "name": f"S{i}",
                        "rows": rows // 5,
                        "queries": queries // 5,
                        "sha256": hashlib.sha256(f"{name}{i}".encode()).hexdigest(),
                        "verified": True,
                    }
                    for i in range(1, 6)
                ],
                "expected": {"rows": rows, "queries": queries, "labels": None, "approximate": []}
                if name == "MQ2008"
                else None,
                "folds": 5,
                "notes": ["Queries without a relevant document are kept; they count 0 in every measure."],
                "document_counts_histogram": {"edges": edges, "counts": counts},
            },
        )
    storage.write_json(
        study / "provenance.json",
        {
            "command": "snakemake --cores 4",
            "commit": "0123456789abcdef",
            "seed": 20261,
            "versions": {"python": "3.11.7", "numpy": "2.4.6", "pipeline_lib": "0.1.0"},
        },
    )
    (study / "configuration.yaml").write_text(CONFIGURATION)


def _evidence(study: Path) -> None:
    table = "tables/slam-checks.parquet"
    storage.write_table(study / table, pl.DataFrame({"m": [3, 5, 10, 50]}))
    slack = [Trial({"m": m}, {"smallest_slack": 0.012 / m}, table) for m in (3, 5, 10, 50)]
    eta = [
        Trial({"dataset": name, "eta": eta}, {"rounds_that_differ": differ, "rounds_that_differ_misordered": 0}, table)
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
        for n in (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200)
    ]
    cells = [
        Trial({"method": m, "measure": k}, {"measured": ours, "published": theirs}, PUBLISHED)
        for m, k, theirs, ours in (
            ("RankSVM-struct", "MAP", 0.450, 0.4469),
            ("RankSVM-struct", "NDCG", 0.458, 0.4577),
            ("ConeRank-SG", "MAP", 0.454, 0.4312),
        )
    ]
    found = {
        "slam-thm2": Evidence("slam-thm2", tuple(slack)),
        "slam-eta-free": Evidence("slam-eta-free", tuple(eta), "400 rounds each."),
        "slam-thm8": Evidence("slam-thm8", tuple(excess)),
        "slam-thm10": Evidence("slam-thm10", (Trial({"m": 3, "d": 2}, {"dimension": 4, "features": 2}, table),)),
        "cone-table1-mq2008": Evidence("cone-table1-mq2008", tuple(cells)),
        "slam-kernel": Evidence("slam-kernel", not_run="The kernel perceptron is not part of this study."),
    }
    for name, evidence in found.items():
        write_evidence(study / "evidence" / f"{name}.json", evidence)


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
    "slam-thm2": (Bound("at-least", "smallest_slack", 0),),
    "slam-eta-free": (Equals("rounds_that_differ", 0, 0),),
    "slam-thm8": (Bound("at-most", "excess_risk", "bound"),),
    "slam-thm10": (Bound("at-most", "dimension", "features"),),
    "cone-table1-mq2008": (Cells("measured", "published", 0.015),),
}
"""By what the claims with evidence are judged here."""
PLANTED = {
    "slam-thm2": Planted("short", "The constant is smaller by .01.", {"smallest_slack": "smallest_slack - 0.01"}),
    "slam-thm8": Planted("rate", "The risk falls as 1/n^2.", {"bound": "bound / (n * SQRT(n))"}),
}


def _claims() -> list[Claim]:
    """The claims of the ledger, some with rules for the made-up evidence."""
    return [
        dataclasses.replace(
            claim,
            checks=RULES.get(claim.id, claim.checks),
            planted=(PLANTED[claim.id],) if claim.id in PLANTED else (),
            displayed=("rounds_that_differ_misordered",),
            readings=(),
        )
        for claim in ledger_of_claims()
    ]


def claims_of(results: Path, folder: Path) -> None:
    """Judge the claims and write them, as the command of the study does."""
    from pipeline_lib.claims import ledger

    availability = results / "availability.json"
    entries = storage.read_json(availability)["datasets"] if availability.exists() else []
    context = ledger.Context.of(results.name, entries)
    evidence = sorted((results / "evidence").glob("*.json"))
    ledger.write(folder / "claims.json", ledger.judge(_claims(), evidence, context), context)


def report(results: Path, folder: Path, papers: Sequence[str] = names()) -> None:
    """Judge the claims, write them, and render the page, as the commands of the study do."""
    from pipeline_lib.reporting import site

    claims_of(results, folder)
    site.render(results, folder, claims=folder / "claims.json", papers=papers)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    report(make(target / "results"), target / "reports" / "made")

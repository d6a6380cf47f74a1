"""Put the seven methods of ConeRank's Table 1 beside what was published for them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.cone import table1
from pipeline_lib.reporting.evidence import write_all

SCHEMA = {
    **dict.fromkeys(("dataset", "method", "model", "measure"), pl.String),
    **dict.fromkeys(
        (
            *("published", "fold1", "fold1_low", "fold1_high", "five_fold_mean", "five_fold_sd", "five_fold_low"),
            *("five_fold_high", "delta"),
        ),
        pl.Float64,
    ),
    "status": pl.String,
}
WAY = (
    "{dataset} with models that reproduce the rows of Table 1 is not part of this study: run workflow/studies/{study}, "
    "which trains all seven on it. To get it: {how}"
)
STUDIES = {"MQ2008": "letor-real.yaml", "MQ2007": "cone-paper-scale.yaml"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--evaluations", nargs="*", type=Path, default=[], help="DATASET/MODEL.parquet, a row a query")
    parser.add_argument("--published", required=True, type=Path, help="the transcribed table, as CSV")
    parser.add_argument("--reproduces", required=True, type=json.loads, help="model -> row of the published table")
    parser.add_argument("--how-to-get", required=True, type=json.loads, help="data set -> how to get it")
    parser.add_argument("--resamples", required=True, type=int, help="bootstrap draws of each interval")
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument("--tables", required=True, nargs=1, type=Path, help="where the table goes")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the table and the evidence."""
    published = pl.read_csv(arguments.published, comment_prefix="#").to_dicts()
    measured = {(path.parent.name, path.stem): path for path in arguments.evaluations}
    rows = []
    for entry in published:
        for (dataset, model), path in measured.items():
            if dataset == entry["dataset"] and arguments.reproduces.get(model) == entry["row"]:
                frame = storage.read_table(path, columns=["fold", entry["measure"]])
                values = {
                    fold: frame.filter(pl.col("fold") == fold)[entry["measure"]].to_numpy()
                    for fold in sorted(frame["fold"].unique().to_list())
                }
                if table1.FOLD in values:
                    names = (dataset, entry["row"], model, entry["measure"])
                    rows.append(
                        table1.cell(*names, entry["value"], values, seed=arguments.seed, resamples=arguments.resamples)
                    )
    storage.write_table(arguments.tables[0], pl.DataFrame(rows, schema=SCHEMA))
    ways = {
        name: WAY.format(dataset=name, study=STUDIES[name], how=arguments.how_to_get[name]) for name in table1.DATASETS
    }
    write_all(arguments.evidence, table1.evidence(rows, published, ways))

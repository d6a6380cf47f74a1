"""Run one step of an experiment: read its inputs, compute, and write its tables and evidence."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pipeline_lib import experiment, papers
from pipeline_lib.claims.evidence import write_all
from pipeline_lib.errors import ConfigurationError, hint


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--paper", required=True, help="short name of the paper")
    parser.add_argument("--experiment", required=True, help="name of the experiment")
    parser.add_argument("--step", required=True, help="name of the step")
    parser.add_argument(
        "--settings", default={}, type=json.loads, help="settings, as JSON; those left out take their defaults"
    )
    parser.add_argument("--seed", required=True, type=int, help="the study's seed")
    parser.add_argument(
        "--cell", default={}, type=json.loads, help="part of the divided work that the job computes, as JSON"
    )
    parser.add_argument(
        "--facts", default={}, type=json.loads, help="facts about the study that the step uses, as JSON"
    )
    parser.add_argument(
        "--most-queries", type=int, help="read a random sample of so many queries of every larger data set"
    )
    for name, what in (
        ("documents", "documents of the data sets, DATASET/documents.parquet"),
        ("folds", "folds of the data sets, DATASET/folds.parquet"),
        ("tables", "tables of earlier steps"),
        ("evaluations", "evaluations, DATASET/MODEL.parquet, with one row per query"),
        ("files", "other files"),
    ):
        parser.add_argument(f"--{name}", nargs="*", default=[], type=Path, help=what)
    parser.add_argument(
        "--write",
        nargs="*",
        default=[],
        type=Path,
        help="output files for the tables, in the order in which they are declared",
    )
    parser.add_argument(
        "--evidence", nargs="*", default=[], type=Path, help="output files for the evidence, one CLAIM.json per claim"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the step."""
    declared = papers.experiment(arguments.paper, arguments.experiment)
    steps = {step.name: step for step in declared.steps}
    if arguments.step not in steps:
        raise ConfigurationError(f"unknown step {arguments.step!r}; {hint(arguments.step, steps)}")
    step = steps[arguments.step]
    outcome = step.run(
        experiment.Job(
            settings=declared.settings.parse(arguments.settings, f"{arguments.paper}.{arguments.experiment}"),
            seed=arguments.seed,
            cell=arguments.cell,
            facts=arguments.facts,
            documents=arguments.documents,
            folds=arguments.folds,
            tables=arguments.tables,
            evaluations=arguments.evaluations,
            files=arguments.files,
            most_queries=arguments.most_queries,
        )
    )
    experiment.write(step.tables, arguments.write, outcome)
    write_all(arguments.evidence, outcome.evidence)

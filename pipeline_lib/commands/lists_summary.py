"""Join the measured gaps: means and bounds a cell, fitted exponents, and from which n on each bound says something."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import polars as pl

from pipeline_lib import storage
from pipeline_lib.experiments.lists import summary
from pipeline_lib.experiments.lists.grid import Settings
from pipeline_lib.reporting.evidence import write_all

NUMBERS = (
    "gap",
    "gap_low",
    "gap_high",
    "gap_size",
    "gap_size_low",
    "gap_size_high",
    "largest_gap",
    "excess",
    "excess_low",
    "excess_high",
    "optimal_risk",
    "optimal_risk_error",
    "risk_error",
    "relative_risk_error",
    "largest_certified_gap",
    "loss_bound",
    "chapelle_wu",
    "bound_ogd",
    "bound_rerm",
    "bound_erm",
    "bound_erm_integral",
    "bound_smooth_ogd",
    "bound_optimistic",
)
SCHEMAS = {
    "cells": {
        "loss": pl.String,
        "population": pl.String,
        "m": pl.Int64,
        "n": pl.Int64,
        "learner": pl.String,
        "repetitions": pl.Int64,
        **dict.fromkeys(NUMBERS, pl.Float64),
    },
    "bounds": {
        "loss": pl.String,
        "population": pl.String,
        "m": pl.Int64,
        "n": pl.Int64,
        "bound": pl.String,
        "value": pl.Float64,
        "loss_bound": pl.Float64,
        "vacuous": pl.Boolean,
        "optimal_risk": pl.Float64,
        "not_vacuous_from": pl.Int64,
        "beats_theorem_9_from": pl.Int64,
    },
    "exponents": {
        "axis": pl.String,
        "loss": pl.String,
        "population": pl.String,
        "learner": pl.String,
        "statistic": pl.String,
        "fixed": pl.Int64,
        "points": pl.String,
        "slope": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--settings", required=True, type=json.loads, help="experiments: lists: grid, as JSON")
    parser.add_argument("--grid", required=True, nargs="+", type=Path, help="the slices of the grid, a file a loss")
    parser.add_argument("--real", nargs="*", default=[], type=Path, help="gaps on data sets, a file each")
    parser.add_argument("--tables", required=True, nargs=3, type=Path, help="cells, bounds and exponents")
    parser.add_argument("--evidence", required=True, nargs="+", type=Path, help="a JSON file a claim")


def run(arguments: argparse.Namespace) -> None:
    """Write the three tables and the evidence."""
    rows = [row for path in arguments.grid for row in storage.read_table(path).to_dicts()]
    real = [row for path in arguments.real for row in storage.read_table(path).to_dicts()]
    found = summary.run(Settings.from_mapping(arguments.settings), rows, real)
    for path, name in zip(arguments.tables, SCHEMAS, strict=True):
        storage.write_table(path, pl.DataFrame(getattr(found, name), schema=SCHEMAS[name]))
    write_all(arguments.evidence, found.evidence)

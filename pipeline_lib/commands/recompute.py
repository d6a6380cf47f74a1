"""Recompute the published numbers of a study by separate code, and name those that differ.

The values of all cards are read a second time from their tables, by SQLite; fitted exponents, tables that are joined
from slices, and the measures of models are computed again from the rows behind them, by code that shares nothing with
that of the study but the reader of tables. Numbers differ if they are further apart than 1e-9 of the larger, and than
1e-12 of the numbers whose difference they are: sums in another order are as near as that. The exit status is 1 if any
differ.
"""

import sqlite3
from pathlib import Path
from typing import Annotated

import polars as pl

from pipeline_lib.core.errors import DataError
from pipeline_lib.recompute import whole


def run(
    study: Annotated[str, "name of the study, whose results are in results/STUDY and its report in reports/STUDY"],
) -> None:
    """Print what differs, how much was compared, and what was not; DataError if the study is not of this version."""
    results, report = Path("results") / study, Path("reports") / study
    if not (report / "claims.json").is_file():
        raise DataError(
            f"{report}/claims.json: expected the judged claims of the study {study}, found none; start in the folder "
            "of the project, after a run of the study has ended"
        )
    try:
        found = whole.recomputed(results, report)
    except (sqlite3.Error, pl.exceptions.PolarsError, LookupError, ValueError) as error:
        raise DataError(
            f"results/{study}: expected the tables of this version of the code, found others ({error}); run the study "
            "again"
        ) from error
    print("\n".join([*whole.lines(found), whole.summary(found), *(f"  {one}" for one in whole.not_compared(found))]))
    if found.differences:
        raise SystemExit(1)

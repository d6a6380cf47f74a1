"""Recompute the published numbers of a study by separate code, and name those that differ.

The values of all cards are read a second time from their tables, by SQLite; fitted exponents, tables that are joined
from slices, and the measures of models are computed again from the rows behind them, those of some test queries from
the documents, by code that shares nothing with that of the study but the reader of tables. Numbers differ if they are
further apart than 1e-9 of the larger, and than 1e-12 of the numbers whose difference they are: sums in another order
are as near as that. The exit status is 1 if any differ.
"""

from typing import Annotated

from pipeline_lib.recompute import whole
from pipeline_lib.study import recomputation


def run(
    study: Annotated[str, "name of the study, whose results are in results/STUDY and its report in reports/STUDY"],
) -> None:
    """Print what differs, how much was compared, and what was not; DataError if the study is not of this version."""
    found = recomputation.of_study(study)
    print("\n".join([*whole.lines(found), whole.summary(found), *(f"  {one}" for one in whole.not_compared(found))]))
    if found.differences:
        raise SystemExit(1)

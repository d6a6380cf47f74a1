"""The numbers of a study, recomputed from its results and its report."""

import sqlite3
from pathlib import Path

from polars.exceptions import PolarsError

from pipeline_lib.core.errors import DataError
from pipeline_lib.recompute import whole
from pipeline_lib.recompute.comparison import Comparison


def of_study(name: str) -> Comparison:
    """Recompute the numbers of a study in ``results/NAME`` and ``reports/NAME``.

    Raises
    ------
    DataError
        When there are no judged claims, or the tables are those of another version of the code.
    DamagedFileError
        When a table does not have the checksum that it states.
    """
    results, report = Path("results") / name, Path("reports") / name
    if not (report / "claims.json").is_file():
        raise DataError(
            f"{report}/claims.json: expected the judged claims of the study {name}, found none; start in the folder "
            "of the project, after a run of the study has ended"
        )
    try:
        return whole.recomputed(results, report)
    except DataError:  # which is a ValueError, and says by itself what is wrong
        raise
    except (sqlite3.Error, PolarsError, LookupError, ValueError) as error:
        raise DataError(
            f"results/{name}: expected the tables of this version of the code, found others ({error}); run the study "
            "again"
        ) from error

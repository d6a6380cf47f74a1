"""Which tables did a study leave in its folder, as data frames?

``table`` reads one by its name, as a frame of polars, which ``to_pandas()`` makes one of pandas::

    from pipeline_lib import results

    results.names("results/default")
    summary = results.table("results/default", "summary").to_pandas()
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_lib.core import storage
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import DataError, hint

if TYPE_CHECKING:
    import polars as pl


@checked
def names(study: str | os.PathLike[str]) -> list[str]:
    """The names of the tables in the folder of a study, such as ``results/default``.

    Raises
    ------
    DataError
        When there is no such folder, or it has no tables.

    Example
    -------
    >>> import tempfile
    >>> import polars as pl
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "tables").mkdir()
    >>> storage.write_table(folder / "tables/summary.parquet", pl.DataFrame({"model": ["listnet"], "mean": [0.5]}))
    >>> names(folder)
    ['summary']
    """
    try:
        found = sorted(path.stem for path in (Path(study) / "tables").glob("*.parquet"))
    except OSError:  # such as a name that is too long
        found = []
    if not found:
        raise DataError(f"{study}: expected the results of a study, results/STUDY with tables/*.parquet, found none")
    return found


@checked
def table(study: str | os.PathLike[str], name: str) -> "pl.DataFrame":
    """A table of a study, in the order of its rows; ``to_pandas()`` of it is a frame of pandas.

    ``summary`` holds the mean of every measure with its interval, ``measures`` that of every fold, ``comparisons`` the
    paired tests of models, and ``training`` what training took. Experiments of papers have tables of their own.

    Raises
    ------
    DataError
        When there is no such folder or table; the message gives the nearest name.
    DamagedFileError
        When the table has changed since the study wrote it.

    Example
    -------
    >>> import tempfile
    >>> import polars as pl
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "tables").mkdir()
    >>> storage.write_table(folder / "tables/summary.parquet", pl.DataFrame({"model": ["listnet"], "mean": [0.5]}))
    >>> table(folder, "summary").to_pandas().loc[0, "mean"].item()
    0.5
    """
    if name not in (known := names(study)):
        raise DataError(f"{study}: unknown table {name!r}; {hint(name, known)}")
    return storage.read_table(Path(study) / "tables" / f"{name}.parquet")

"""How is LETOR text (SVMlight with query ids) read and written?

Every line describes one document::

    label qid:Q id:value id:value ... # comment

``label`` is a whole number in 0..255, ``Q`` a whole number, and ``id`` the number of a feature, counted from 1.
Features may come in any order; a feature that is missing is 0. Fields are separated by blanks or tabs, and lines end
with LF or CRLF, which the last line may lack. Lines that are empty or contain only a comment are skipped. A comment may
contain any byte except NUL, and a UTF-8 byte order mark is ignored. The documents of a query must be contiguous.

The file may be compressed with gzip, bzip2 or Zstandard. On demand, labels may be decimals, queries may be named by
text or by nothing, and ids may count from 0: see
:class:`pipeline_lib.sources.letor_reader.Form`.

A number is ``[+-]digits[.digits][e[+-]digits]`` (``5``, ``.5``, ``5.``, ``1e-3``) and becomes the float32 nearest to
the float64 nearest to it: bit for bit ``numpy.float32(float(text))``.

A file is read in pieces: besides its results, a reader holds one piece (1 MiB, or the longest line) and one entry per
query in memory. A line may have at most 64 MiB. A single wrong id cannot fill the memory: where the number of features
is not stated, the size of the array is limited by the size of the text.
"""

import os
from typing import Literal

import numpy as np

from pipeline_lib.core import storage
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import check_replaceable, replacing
from pipeline_lib.data.derived import filled
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.stored_data import Extreme, Repeated, TextMissing
from pipeline_lib.sources.letor_reader import Form, Reader, gathered

_SMALLEST_FIXED, _FIXED_LIMIT = np.float32(1e-4), np.float32(2.0**24)
"""Values of this range (and zero) are written without an exponent."""

Labels = Literal["integer", "rounded", "doubled", "shifted", "lowered", "clipped"]
Qid = Literal["token", "comment"]


@checked
def read(
    path: str | os.PathLike[str],
    *,
    n_features: Natural | None = None,
    labels: Labels = "integer",
    qid: Qid = "token",
    extreme: Extreme = "refuse",
    missing: TextMissing = "refuse",
    repeated_features: Repeated = "refuse",
) -> RankingData:
    """Read a whole file of LETOR text.

    Parameters
    ----------
    path : path
        The file.
    n_features : int, optional
        The number of features d; a larger id is an error. By default the largest id in the file (at most 65,536), as
        long as the array takes at most 256 MiB or 32 times the bytes of the file.
    labels : {"integer", "rounded", "doubled", "shifted", "lowered", "clipped"}
        ``rounded`` also takes real labels (Yandex IMAT2009 has them) and rounds halves up; ``doubled`` takes halves and
        doubles all labels; ``shifted`` counts from -1 and adds 1; ``lowered`` counts from 1 and subtracts 1;
        ``clipped`` takes negative labels for 0.
    qid : {"token", "comment"}
        ``comment`` takes the query's name from the first word of the comment: ``label id:value ... # Q``.
    extreme : {"refuse", "clip", "missing"}
        Values beyond the range of float32 are an error, the nearest float32, or missing, and then 0 or the mean.
    missing : {"refuse", "zero", "mean"}
        Missing values, such as ``nan``, are an error, 0, or the mean of the other documents of the query, and 0 where
        none has a value.
    repeated_features : {"refuse", "last"}
        A feature that stands several times in a line is an error, or has the last value, as in RankLib and XGBoost.

    Raises
    ------
    DataError
        ``file:line: expected ..., found ...`` when the text breaks the format of this module's docstring, a number is
        not finite in float32 or missing, an id occurs twice in a line, a query returns after others, or there is no
        document, with a line for each of the first problems; and when a large id makes the array too large for a width
        that nobody states.

    Example
    -------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "two.txt"
    >>> _ = path.write_text("2 qid:10 1:0.5 3:1e-1 # doc A\\n0 qid:10 2:1\\n")
    >>> data = read(path); data.X.tolist(), data.y.tolist(), data.qids.tolist()
    ([[0.5, 0.0, 0.10000000149011612], [0.0, 1.0, 0.0]], [2, 0], [10])
    """
    form = Form(n_features, labels, qid, extreme=extreme, missing=missing, repeated=repeated_features)
    X, y, names = gathered(Reader(path, form))
    starts = np.flatnonzero(np.r_[True, names[1:] != names[:-1]])
    if missing == "mean":
        X = filled(X, starts)
    return RankingData(X, y, np.r_[starts, len(names)].astype(np.int64), names[starts])


@checked
def write(path: str | os.PathLike[str], data: RankingData, *, force: bool = False) -> None:
    """Write a data set as LETOR text, ``label qid:Q 1:v 2:v ...`` with LF ends; the same data give the same bytes.

    Every value is the shortest decimal that reads back as the same float32: in fixed notation for magnitudes in
    [1e-4, 2^24), else with an exponent. The file appears under its name only when complete.

    Raises
    ------
    DataError
        When there is no document (such a file could not be read), or a query's name occurs twice.
    StorageError
        When it cannot be written, or without ``force`` there is a file that this project did not store; of text, nobody
        can tell who wrote it.

    Example
    -------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.txt"
    >>> write(path, RankingData.from_arrays([[0.1, 0.0, 1e-7]], [2], [10])); path.read_text()
    '2 qid:10 1:0.1 2:0 3:1e-7\\n'
    """
    if not data.n_documents:
        raise DataError(f"{path}: expected at least one document to write, found none")
    if len(np.unique(data.qids)) < data.n_queries:
        raise DataError(f"{path}: expected every query to have its own name, found one that several queries have")
    check_replaceable(path, storage.is_stored, force=force)
    qids = np.repeat(data.qids, data.documents_per_query)
    with replacing(path) as partial, open(partial, "w", encoding="ascii", newline="\n") as file:
        for label, query, x in zip(data.y.tolist(), qids.tolist(), data.X, strict=True):
            values = "".join(f" {j}:{_shortest_decimal(one)}" for j, one in enumerate(x, start=1))
            file.write(f"{label} qid:{query}{values}\n")


def _shortest_decimal(x: np.float32) -> str:
    if x == 0 or _SMALLEST_FIXED <= abs(x) < _FIXED_LIMIT:
        return np.format_float_positional(x, unique=True, trim="-")
    return np.format_float_scientific(x, unique=True, trim="-", exp_digits=1)

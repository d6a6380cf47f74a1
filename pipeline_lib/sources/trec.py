"""How are rankings and relevance judgements exchanged with other programs: as TREC runs and qrels?

A line of a run is ``query Q0 document rank score tag``, a line of qrels ``query 0 document label``; blanks or tabs
separate the fields. Programs that read runs sort by the score, many of them in single precision, and break ties each in
its own way. So the scores that are written here fall strictly in single precision: those of the ranker as nearly as
that allows.

Text is in UTF-8, with or without a byte order mark, and may be compressed by gzip, bzip2 or Zstandard. As for
trec_eval, lines that begin with ``#`` are comments. Numbers are written in the digits 0 to 9.

Reading keeps in memory where the lines of every query stand, and of the lines themselves those of one query at a time.
The lines of a query need not stand together.
"""

import io
import os
import re
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.checks import MAX_LABEL, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.files import naming, reading
from pipeline_lib.sources import compression

__all__ = ["LARGEST", "Judgements", "Run", "falling", "run_lines"]

LARGEST = 1e38
"""Scores beyond it, which single precision cannot hold, are written as it."""
IN_MEMORY = 2**26
"""Bytes of what was compressed that are held in memory; more goes to a temporary file."""
_MARK = b"\xef\xbb\xbf"
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@checked
def falling(scores: ArrayLike) -> NDArray[np.float32]:
    """The nearest single-precision numbers that fall strictly, for scores that fall but for ties.

    Raises
    ------
    DataError
        When the scores rise somewhere.

    Example
    -------
    >>> falling([2.0, 1.0, 1.0, 0.5]).tolist()
    [2.0, 1.0, 0.9999999403953552, 0.5]
    """
    given = checks.floats("scores", scores, ndim=1)
    if (np.diff(given) > 0.0).any():
        raise DataError("scores: expected numbers that do not rise")
    # The bits of a float32 are the place of its magnitude among all of them, so that neighbours differ by 1.
    bits = np.clip(given, -LARGEST, LARGEST).astype(np.float32).view(np.int32).astype(np.int64)
    places = np.where(bits >= 0, bits, -(bits & 0x7FFFFFFF))
    steps = np.arange(len(places))
    places = np.minimum.accumulate(places + steps) - steps
    bits = np.where(places >= 0, places, -places + 0x80000000)
    return bits.astype(np.uint32).view(np.float32)


@checked
def run_lines(query: str, documents: Sequence[str], scores: ArrayLike, tag: str) -> str:
    """The lines of a run for one query, its documents from the top down, equal scores in their order.

    Raises
    ------
    DataError
        When a name is empty or contains a blank, or there is not one score a document.

    Example
    -------
    >>> print(run_lines("7", ["a", "b"], [0.5, 1.5], "bm25"), end="")
    7 Q0 b 1 1.5 bm25
    7 Q0 a 2 0.5 bm25
    """
    for name, value in (("query", query), ("tag", tag), *(("documents", document) for document in documents)):
        if not value or value.split() != [value]:
            raise DataError(f"{name}: expected a name without blanks, as TREC runs have them, found {value!r}")
    values = checks.floats("scores", scores, shape=(len(documents),))
    order = np.argsort(-values, kind="stable")
    lines = zip(order.tolist(), falling(values[order]), strict=True)
    return "".join(
        f"{query} Q0 {documents[k]} {rank} {score} {tag}\n" for rank, (k, score) in enumerate(lines, start=1)
    )


def _unpacked(path: Path) -> IO[bytes]:
    """Open a file, or where it is compressed a temporary copy of its content, in which lines can be found again."""
    raw = reading(path)
    packed = compression.compression(raw.read(10)) is not None
    raw.seek(0)
    if not packed:
        return io.BufferedReader(raw)  # type: ignore[arg-type]
    raw.close()
    copy = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    with compression.opened(path) as file, naming(tempfile.gettempdir()):
        shutil.copyfileobj(file, copy)
    copy.seek(0)
    return copy


class _Lines:
    """The lines of a file by the query that they begin with; ``n_fields`` is what every line must have.

    The file is opened once and closed with the object.

    Attributes
    ----------
    queries : list of str
        In the order of their first lines.
    """

    def __init__(self, path: str | os.PathLike[str], n_fields: int) -> None:
        self.path = Path(path)
        self._n_fields = n_fields
        # query -> for every stretch of its lines: where it begins and ends, and the number of its first line
        self._stretches: dict[str, array[int]] = {}
        self._file = _unpacked(self.path)
        weakref.finalize(self, self._file.close)
        self._find_queries()
        if not self._stretches:
            raise DataError(f"{self.path}:1: expected at least one line of {n_fields} fields, found none")

    def _find_queries(self) -> None:
        last, position = "", 0
        for number, line in enumerate(self._file, start=1):
            if fields := self._fields(line, number):
                if fields[0] != last:
                    last = fields[0]
                    self._stretches.setdefault(last, array("q")).extend((position, position, number))
                self._stretches[last][-2] = position + len(line)
            position += len(line)

    @property
    def queries(self) -> list[str]:
        """The names of the queries."""
        return list(self._stretches)

    def __contains__(self, query: str) -> bool:
        return query in self._stretches

    def _of(self, query: str) -> Iterator[tuple[int, list[str]]]:
        """The number and the fields of every line of a query."""
        stretches = self._stretches.get(query, array("q"))
        for begin, end, first in zip(stretches[::3], stretches[1::3], stretches[2::3], strict=True):
            self._file.seek(begin)
            for number, line in enumerate(self._file.read(end - begin).split(b"\n"), start=first):
                if fields := self._fields(line, number):
                    yield number, fields

    def _fields(self, line: bytes, number: int) -> list[str]:
        """What stands in a line; nothing in one that is empty or a comment."""
        words = (line.removeprefix(_MARK) if number == 1 else line).split()
        if not words or words[0].startswith(b"#"):
            return []
        try:
            fields = [word.decode() for word in words]
        except UnicodeDecodeError as error:
            kind = "UTF-16" if number == 1 and words[0][:2] in (b"\xff\xfe", b"\xfe\xff") else "another encoding"
            raise DataError(
                f"{self.path}:{number}: expected text in UTF-8, found {str(error.object)[1:40]}, which is {kind}; "
                "convert the file, as `iconv -t UTF-8` does"
            ) from error
        if len(fields) != self._n_fields:
            self._wrong(number, f"{self._n_fields} fields", " ".join(fields))
        return fields

    def _number(self, number: int, text: str) -> float:
        """The number that stands in a line."""
        if not _NUMBER.fullmatch(text):
            self._wrong(number, "a finite number" if _NOT_FINITE.fullmatch(text) else "a number, as in 12 or 0.5", text)
        if not np.isfinite(value := float(text)):
            self._wrong(number, "a finite number", text)
        return value

    def _wrong(self, number: int, expected: str, found: str) -> NoReturn:
        """Raise the error for a line."""
        raise DataError(f"{self.path}:{number}: expected {expected}, found {found[:40]!r}")


class Run(_Lines):
    """A TREC run.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "some.run"
    >>> _ = path.write_text("7 Q0 a 1 0.5 bm25\\n7 Q0 b 2 1.5 bm25\\n")
    >>> Run(path).scores("7")
    {'a': 0.5, 'b': 1.5}
    """

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, 6)

    @checked
    def scores(self, query: str) -> dict[str, float]:
        """The score of every document of a query, in the order of the file.

        Raises
        ------
        DataError
            When a score is no finite number, or a document stands there twice.
        """
        found: dict[str, float] = {}
        for number, (_, _, document, _, score, _) in self._of(query):
            if document in found:
                self._wrong(number, f"every document of query {query} once", document)
            found[document] = self._number(number, score)
        return found


class Judgements(_Lines):
    """TREC qrels; a label below 0, by which some collections mark what was not judged, counts as 0.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("7 0 a 2\\n7 0 b 0\\n8 0 a -1\\n")
    >>> Judgements(path).labels("7"), Judgements(path).largest_label
    ({'a': 2, 'b': 0}, 2)
    """

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, 4)

    @property
    def largest_label(self) -> int:
        """Of all queries."""
        return max(max(self.labels(query).values()) for query in self.queries)

    @checked
    def labels(self, query: str) -> dict[str, int]:
        """The label of every judged document of a query.

        Raises
        ------
        DataError
            When a label is no whole number up to 255, or a document is judged twice.
        """
        found: dict[str, int] = {}
        for number, (_, _, document, label) in self._of(query):
            if document in found:
                self._wrong(number, f"every document of query {query} once", document)
            value = self._number(number, label)
            if value != int(value) or value > MAX_LABEL:
                self._wrong(number, f"a whole number up to {MAX_LABEL} as the label", label)
            found[document] = max(int(value), 0)
        return found

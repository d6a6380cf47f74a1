"""How are rankings and relevance judgements exchanged with other programs: as TREC runs and qrels?

A line of a run is ``query Q0 document rank score tag``, a line of qrels ``query 0 document label``; blanks or tabs
separate the fields. Programs that read runs sort by the score, many of them in single precision, and break ties each in
its own way. So the scores that are written here fall strictly in single precision: those of the ranker as nearly as
that allows.

Reading keeps in memory where the lines of every query stand, and of the lines themselves those of one query at a time.
The lines of a query need not stand together.
"""

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks
from pipeline_lib.core.checks import MAX_LABEL, checked
from pipeline_lib.core.errors import DataError

__all__ = ["LARGEST", "Judgements", "Run", "falling", "run_lines"]

LARGEST = 1e38
"""Scores beyond it, which single precision cannot hold, are written as it."""


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


class _Lines:
    """The lines of a file by the query that they begin with; ``n_fields`` is what every line must have.

    Attributes
    ----------
    queries : list of str
        In the order of their first lines.
    """

    def __init__(self, path: str | os.PathLike[str], n_fields: int) -> None:
        self.path = Path(path)
        # query -> the first byte and the number of each of its lines, one after the other
        self._places: dict[str, array[int]] = {}
        position = 0
        with self._opened() as file:
            for number, line in enumerate(file, start=1):
                fields = line.decode("utf-8", "backslashreplace").split()
                if fields and len(fields) != n_fields:
                    self._wrong(number, f"{n_fields} fields", " ".join(fields))
                if fields:
                    self._places.setdefault(fields[0], array("q")).extend((position, number))
                position += len(line)
        if not self._places:
            raise DataError(f"{self.path}:1: expected at least one line of {n_fields} fields, found none")

    @property
    def queries(self) -> list[str]:
        """The names of the queries."""
        return list(self._places)

    def __contains__(self, query: str) -> bool:
        return query in self._places

    def _of(self, query: str) -> Iterator[tuple[int, list[str]]]:
        """The number and the fields of every line of a query."""
        with self._opened() as file:
            places = self._places.get(query, array("q"))
            for position, number in zip(places[::2], places[1::2], strict=True):
                file.seek(position)
                yield number, file.readline().decode("utf-8", "backslashreplace").split()

    def _wrong(self, number: int, expected: str, found: str) -> NoReturn:
        """Raise the error for a line."""
        raise DataError(f"{self.path}:{number}: expected {expected}, found {found[:40]!r}")

    def _opened(self) -> IO[bytes]:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise DataError(f"{self.path}: expected a readable file, found none ({error.strerror})") from error


class Run(_Lines):
    """A TREC run.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "some.run"
    >>> _ = path.write_text("7 Q0 a 1 0.5 bm25\\n7 Q0 b 2 1.5 bm25\\n")
    >>> Run(path).ranked("7")
    ['b', 'a']
    """

    @checked
    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path, 6)

    @checked
    def ranked(self, query: str) -> list[str]:
        """The documents of a query by falling score, equal scores in the order of the file; errors as in `scores`."""
        scores = self.scores(query)
        return sorted(scores, key=scores.__getitem__, reverse=True)

    @checked
    def scores(self, query: str) -> dict[str, float]:
        """The score of every document of a query, in the order of the file.

        Raises
        ------
        DataError
            When a score is no finite number, or a document stands there twice.
        """
        scores: dict[str, float] = {}
        for number, (_, _, document, _, score, _) in self._of(query):
            if document in scores:
                self._wrong(number, f"every document of query {query} once", document)
            scores[document] = _number(self, number, score)
        return scores


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
            value = _number(self, number, label)
            if value != int(value) or value > MAX_LABEL:
                self._wrong(number, f"a whole number up to {MAX_LABEL} as the label", label)
            found[document] = max(int(value), 0)
        return found


def _number(lines: _Lines, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        lines._wrong(number, "a number", text)
    if not np.isfinite(value):
        lines._wrong(number, "a finite number", text)
    return value

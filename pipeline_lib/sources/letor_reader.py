"""How is a file of LETOR text read in one pass, and how are its errors put into words?

The half of :mod:`pipeline_lib.sources.letor` between the compiled kernels and the public functions, which document the
format.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.errors import DataError
from pipeline_lib.data.derived import ABSENT, MAX_FEATURES
from pipeline_lib.data.labels import SCALE_AND_SHIFT, SPELLED, PolicyOrNone, expected, grades, remedy
from pipeline_lib.data.problems import Enough, Problems
from pipeline_lib.data.stored_data import BYTES_PER_GROUP, LARGEST_VALUE, Extreme, Missing, Repeated, rows_per_group
from pipeline_lib.sources import letor_kernels as kernels
from pipeline_lib.sources.compression import opened, other_kind

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_QUERY_FORMS = {
    "token": kernels.IN_TOKEN,
    "text": kernels.IN_TOKEN,
    "comment": kernels.IN_COMMENT,
    "none": kernels.NOWHERE,
}
_WHOLE = re.compile(rb"[+-]?[0-9]+")
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")

PIECE = 1 << 20
LONGEST_LINE = 1 << 26
"""Bytes of a line, without its line feed."""
LARGEST_SPARSE, SPARSEST = 1 << 28, 32
"""An array whose width nobody states has at most the larger of this many bytes and this many times those of its text;
a value that is written out takes 4 bytes or more in both."""
_QUOTED = 40
_MISSING = frozenset(text.encode() for text in ABSENT if text)


@dataclass(frozen=True)
class Form:
    """What may differ between files.

    Attributes
    ----------
    n_features : int or None
        The number of features; a larger id is an error. None takes the largest id.
    labels : "integer", "ignored" or a policy of :mod:`pipeline_lib.data.labels`
        ``whole`` takes decimals that are whole, such as ``1.0``, and ``integer`` does not; ``ignored`` takes lines with
        any label, or with none, for a label of 0.
    qid : {"token", "comment", "text", "none"}
        ``comment`` takes the query's name from the comment; ``text`` takes any text as a name, and numbers the queries
        from 0; with ``none``, lines have no query, and all belong to query 0.
    first_id : {0, 1}
        The id of the first feature.
    spelled : str
        How whoever reads the file asks for another policy, for messages.
    extreme : "refuse", "clip" or "missing"
        What is done about values beyond the range of float32: see :data:`pipeline_lib.data.stored_data.Extreme`.
    missing : "refuse", "zero", "mean" or "flag"
        What is done about values such as ``nan``; for ``mean`` and ``flag``, and then for those that are ``extreme``,
        too, blocks hold NaN, and whoever reads them calls :func:`pipeline_lib.data.derived.filled`. Otherwise a missing
        value is 0.
    repeated : "refuse" or "last"
        Which value a feature has that stands several times in a line, if that is no error.
    """

    n_features: int | None = None
    labels: Literal["integer"] | PolicyOrNone = "integer"
    qid: Literal["token", "comment", "text", "none"] = "token"
    first_id: int = 1
    spelled: str = SPELLED
    extreme: Extreme = "refuse"
    missing: Missing = "refuse"
    repeated: Repeated = "refuse"


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive documents of a file.

    Attributes
    ----------
    qid : int64 array, shape (n,)
        The query of every document.
    label : uint8 array, shape (n,)
    X : float32 array, shape (n, d)
    names : list of str, optional
        Where queries are named by text: the names of queries 0, 1, ... of the file, up to this block.
    grouped : bool
        Whether the queries follow from group sizes, so that their numbers are no names.
    documents : object array, shape (n,), optional
        The ids of the documents, None where one has none, if they are read.
    weights : float64 array, shape (n,), optional
        The weight of every document's query, if these have any.
    """

    qid: NDArray[np.int64]
    label: NDArray[np.uint8]
    X: NDArray[np.float32]
    names: list[str] | None = None
    grouped: bool = False
    documents: NDArray[np.object_] | None = None
    weights: NDArray[np.float64] | None = None

    def rows(self, rows: slice | NDArray[np.bool_]) -> "Block":
        """Some of the documents."""
        ids = None if self.documents is None else self.documents[rows]
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, qid=self.qid[rows], label=self.label[rows], X=self.X[rows], documents=ids, weights=weights)

    @staticmethod
    def joined(blocks: "Sequence[Block]") -> "Block":
        """The documents of several blocks of the same width, one after the other, with the names of the last."""
        qid, label, X = (np.concatenate([getattr(one, name) for one in blocks]) for name in ("qid", "label", "X"))
        ids = [one.documents for one in blocks if one.documents is not None]
        weights = [one.weights for one in blocks if one.weights is not None]
        return replace(
            blocks[-1],
            qid=qid,
            label=label,
            X=X,
            documents=np.concatenate(ids) if ids else None,
            weights=np.concatenate(weights) if weights else None,
        )


def whole_queries(blocks: Iterator[Block]) -> Iterator[Block]:
    """The same documents in blocks that end where a query does; one query at most is kept until its end is met."""
    kept: list[Block] = []
    for block in blocks:
        last = int(np.flatnonzero(np.r_[True, block.qid[1:] != block.qid[:-1]])[-1])
        if last or (kept and kept[0].qid[0] != block.qid[0]):
            yield Block.joined([*kept, block.rows(slice(last))])
            kept = []
        # Copied: a few rows must not keep a whole block in memory.
        kept.append(Block.joined([block.rows(slice(last, None))]))
    yield Block.joined(kept)


class Reader:
    """One pass over one file, which tells how many features there are where that is not stated.

    The first problem is an error, unless ``problems`` take down all.
    """

    def __init__(self, path: str | os.PathLike[str], form: Form, problems: Problems | None = None) -> None:
        n_features = form.n_features
        if n_features is not None and not 1 <= n_features <= MAX_FEATURES:
            raise DataError(f"n_features: expected a number in 1..{MAX_FEATURES}, found {n_features}")
        self.path = Path(path)
        self.form = form
        self._problems = problems
        self._refused = 0
        self.line = 0
        self.bytes_read = 0
        self.names: list[str] | None = [] if form.qid == "text" else None
        self._numbers: list[int] = []
        self._first_lines: dict[int | str, int] = {}
        # The last line in which each feature stood; no line has the number 0.
        self._seen = np.zeros(n_features or MAX_FEATURES, np.int64)

    @property
    def n_features(self) -> int:
        """The number of features: as stated, or as far as the file was read; the first is not counted if it is id 0
        and stands nowhere."""
        return self.form.n_features or self._largest_column + 1 - self.skipped

    @property
    def skipped(self) -> int:
        """How many columns are left out: one where ids may count from 0 and the number of features is not stated."""
        return int(self.form.first_id == 0 and not self.form.n_features and not self._seen[0])

    @property
    def _largest_column(self) -> int:
        return int(np.flatnonzero(self._seen).max(initial=0))

    def blocks(self) -> Iterator[Block]:
        """The documents of a file whose number of features is stated, as many at a time as a row group has."""
        for rows in self.rows():
            yield Block(rows.queries, rows.labels, self.dense(rows), self.names)

    def dense(self, rows: kernels.Rows) -> NDArray[np.float32]:
        """The features of some rows, one after the other."""
        X = np.zeros((len(rows.labels), self.n_features), np.float32)
        kernels.spread(rows, self.skipped, X)
        return X

    def read_ids(self) -> None:
        """Parse the whole file for its features and queries."""
        for _ in self.rows():
            pass

    def rows(self) -> Iterator[kernels.Rows]:
        """Parse the file, block by block.

        Raises
        ------
        DataError
            With the problems of the whole file, for which it is read once more where there is one.
        """
        try:
            yield from self._rows()
        except DataError as error:
            if self._problems is not None:
                raise
            raise DataError(self._all_problems() or str(error)) from error

    def _all_problems(self) -> str:
        found, last = Problems(), ""
        try:
            Reader(self.path, self.form, found).read_ids()
        except Enough:
            pass
        except DataError as error:
            last = str(error)
        return found.message(self.path, last)

    def _rows(self) -> Iterator[kernels.Rows]:
        block, row, used = self._new_block(), 0, 0
        hard = np.empty((4096 + len(self._seen), 5), np.int64)
        name, known = np.empty(kernels.LONGEST_NAME, np.uint8), np.array([0, -1 if self.form.qid != "none" else 0])
        scale_and_shift, labelled = SCALE_AND_SHIFT.get(self.form.labels, (1, 0)), self.form.labels != "ignored"
        empty = True
        for piece, position, end in self._pieces():
            text = np.frombuffer(piece, np.uint8)
            while position < end:
                status, position, self.line, row, used, n_hard = kernels.parse(
                    text, position, end, self.line, labelled, scale_and_shift, _QUERY_FORMS[self.form.qid],
                    self.form.first_id, self.form.repeated == "last", block, row, used, self._seen, hard, name, known,
                )  # fmt: skip
                for kind, index, line, start, stop in hard[:n_hard].tolist():
                    self._settle(kind, piece, start, stop, block, index, line)
                if status == kernels.FULL:
                    yield self._finished(block, row, used)
                    block, row, used, empty = self._new_block(), 0, 0, False
                elif status not in (kernels.DONE, kernels.HARD_FULL):
                    self._complain(self._expected(status), piece, position, self.line + 1)
                    self.line, position = self.line + 1, piece.index(b"\n", position) + 1
        if row:
            yield self._finished(block, row, used)
        elif self._problems is not None and self._problems.lines:
            return
        elif empty:
            found = "only blank lines and comments" if self.line else "an empty file"
            raise DataError(f"{self.path}:{max(self.line, 1)}: expected at least one document, found {found}")
        if self.form.n_features is None and not self._seen.any():
            raise DataError(f"{self.path}: expected at least one feature in the file, found none")

    def check_size(self, n_documents: int) -> None:
        """Raise DataError when so many documents take more memory than a width that nobody states may ask for."""
        size = 4 * n_documents * self.n_features
        if not self.form.n_features and size > max(LARGEST_SPARSE, SPARSEST * self.bytes_read):
            largest = self._largest_column + self.form.first_id
            raise DataError(
                f"{self.path}:{self._seen[self._largest_column]}: expected features that are mostly written out, found "
                f"the id {largest}, with which {n_documents:,} documents take {size / 1e6:,.0f} MB, nearly all of it "
                f"zeros; if that is right, state n_features={largest}"
            )

    def _new_block(self) -> kernels.Rows:
        n = rows_per_group(self.form.n_features or 1)
        n_values = n * self.form.n_features if self.form.n_features else BYTES_PER_GROUP // 4
        values = np.empty(n_values, np.float32)
        columns = np.empty(n_values, np.uint16)
        return kernels.Rows(np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64), columns, values)

    def _finished(self, block: kernels.Rows, row: int, used: int) -> kernels.Rows:
        """The rows of a block that were filled, whose queries have the numbers that are their names, if these are."""
        queries = block.queries[:row]
        if self.form.qid in ("token", "comment"):
            queries = np.array(self._numbers)[queries]
        return kernels.Rows(block.labels[:row], queries, block.ends[:row], block.columns[:used], block.values[:used])

    def _pieces(self) -> Iterator[tuple[bytes, int, int]]:
        """Complete lines: the bytes, where they begin and where they end (behind a newline)."""
        rest, first, more = b"", True, b""
        with opened(self.path) as file:
            while True:
                more = file.read(min(PIECE, LONGEST_LINE + 1 - len(rest)))
                self.bytes_read += len(more)
                text = rest + more if more or not rest else rest + b"\n"
                end = text.rfind(b"\n") + 1
                if end:
                    yield text, self._beginning(text) if first else 0, end
                    first = False
                elif len(text) > LONGEST_LINE:
                    raise DataError(
                        f"{self.path}:{self.line + 1}: expected a line of at most {LONGEST_LINE:,} bytes, found a "
                        "longer one; is this LETOR text?"
                    )
                if not more:
                    return
                rest = text[end:]

    def _beginning(self, text: bytes) -> int:
        """Where the text begins: behind a UTF-8 byte order mark, if there is one."""
        if (name := other_kind(text[:32])) is not None:
            raise DataError(f"{self.path}:1: expected LETOR text, found {name}")
        for marks, name in (
            ((b"\x1f\x8b",), "gzip once more: unpack it first"),
            ((b"PK\x03\x04",), "a zip archive: unpack it first"),
            ((b"\xff\xfe", b"\xfe\xff"), "UTF-16: convert it to UTF-8"),
            ((b"PAR1",), "Parquet: give the file the ending .parquet"),
        ):
            if text.startswith(marks):
                raise DataError(f"{self.path}:1: expected LETOR text, found {name}")
        return 3 if text.startswith(b"\xef\xbb\xbf") else 0

    def _settle(
        self, kind: int, piece: bytes, start: int, stop: int, block: kernels.Rows, index: int, line: int
    ) -> None:
        """Read a token of which the kernel was not sure, or take down the name of a query that begins."""
        text = piece[start:stop]
        if kind == kernels.LABEL:
            block.labels[index] = self._label(text, piece, start, line)
        elif kind == kernels.NAME:
            self._note_name(text, piece, start, line)
        else:
            feature = int(block.columns[index]) + self.form.first_id
            block.values[index] = self._value(text, feature, piece, start, line)

    def _value(self, text: bytes, feature: int, piece: bytes, start: int, line: int) -> np.float32:
        """A value of many digits, one that float32 cannot hold, or none."""
        absent = np.float32(np.nan if self.form.missing in ("mean", "flag") else 0.0)
        if not NUMBER.fullmatch(text):
            if text not in _MISSING:
                fault = len(piece[: start - 1].rstrip(b"0123456789"))
                self._complain(self._expected(kernels.BAD_VALUE), piece, fault, line)
            elif self.form.missing == "refuse":
                ways = f"{self._way('missing', 'zero')} takes 0, {self._way('missing', 'mean')} the mean of the query"
                self._complain(f"a finite number as the value of feature {feature} ({ways})", piece, start, line)
            return absent
        with np.errstate(over="ignore"):
            value = np.float32(float(text))
        if np.isfinite(value):
            return value
        if self.form.extreme == "refuse":
            ways = f"{self._way('extreme', 'clip')} takes the nearest float32, {self._way('extreme', 'missing')} none"
            self._complain(f"a value that is finite in float32 for feature {feature} ({ways})", piece, start, line)
        return np.copysign(np.float32(LARGEST_VALUE), value) if self.form.extreme == "clip" else absent

    def _way(self, key: str, policy: str) -> str:
        """How another policy is asked for."""
        return self.form.spelled.replace("labels", key).format(policy)

    def _label(self, text: bytes, piece: bytes, start: int, line: int) -> int:
        policy = self.form.labels
        value = float(text) if NUMBER.fullmatch(text) else np.nan
        [grade] = grades(np.array([value]), policy)
        if np.isnan(grade) or (policy == "integer" and not _WHOLE.fullmatch(text)):
            advice = remedy(value, policy, self.form.spelled)
            self._complain(f"{expected(policy)} as the label{advice}", piece, start, line)
            return 0
        return int(grade)

    def _note_name(self, text: bytes, piece: bytes, start: int, line: int) -> None:
        name: int | str
        if self.names is not None:
            try:
                name = text.decode("utf-8")
            except UnicodeDecodeError:
                self._complain("the query's name in UTF-8", piece, start, line)
                name = text.decode("utf-8", "backslashreplace")
            self.names.append(name)
        else:
            name = int(text) if _WHOLE.fullmatch(text) else 2**63
            if abs(name) >= 2**63:
                in_comment = self.form.qid == "comment"
                expected = self._expected(kernels.NO_COMMENT if in_comment else kernels.BAD_QID)
                self._complain(expected, piece, start if in_comment else start - len("qid:"), line)
                name = -1 - line
            self._numbers.append(name)
            if self._numbers[-2:-1] == [name]:  # written in another way, such as 7 and 07
                return
        if self._first_lines.setdefault(name, line) != line:
            self._refuse(
                "order",
                line,
                f"expected the documents of a query to stand together, found query {name} again, first seen on line "
                f"{self._first_lines[name]}; sort the lines by query, as `sort -s -k 2,2` does",
            )

    def _expected(self, status: int) -> str:
        id_range = f"a feature id in {self.form.first_id}..{len(self._seen) - 1 + self.form.first_id}"
        query, or_sizes = "qid: and a whole number of 64 bits", ""
        if self.form.qid == "text":
            query, file = f"qid: and a name of at most {kernels.LONGEST_NAME} bytes", self.path.name
            or_sizes = f" (or the numbers of documents in {file}.query or {file}.group)"
        return {
            kernels.NO_QID: f"'qid:' and the query's name after the label{or_sizes}",
            kernels.BAD_QID: query,
            kernels.BAD_ID: f"{id_range} and its value, as in 7:0.5",
            kernels.ID_RANGE: id_range,
            kernels.NO_COLON: "a colon right after the feature id, as in 7:0.5",
            kernels.BAD_VALUE: "a finite number as the feature's value, as in 7:0.5 (a feature that is left out is 0)",
            kernels.REPEATED: "every feature id once in a line (remove all but one, or "
            f"{self._way('repeated_features', 'last')} takes the last)",
            kernels.OFTEN_REPEATED: f"at most {kernels.MOST_REPEATED:,} repeated feature ids in a line",
            kernels.NO_COMMENT: "a comment that begins with the query's name, a whole number of 64 bits",
            kernels.NUL: "a comment without NUL bytes",
        }[status]

    def _complain(self, expected: str, piece: bytes, fault: int, line: int) -> None:
        text = piece[fault : fault + 4096].split(b"\n", 1)[0].removesuffix(b"\r")
        token = re.match(rb"[^ \t#]*", text).group() or text[:1]  # type: ignore[union-attr]
        found = token.decode("utf-8", "backslashreplace")
        found = repr(found if len(found) <= _QUOTED else found[: _QUOTED - 1] + "…") if token else "the end of the line"
        if "as the label" in expected and any(separator in found for separator in ",;"):
            found += "; if this is a table with named columns, give its file the ending .csv (commas) or .tsv (tabs)"
        self._refuse(expected, line, f"expected {expected}, found {found}")

    def _refuse(self, kind: str, line: int, text: str) -> None:
        if self._problems is None:
            raise DataError(f"{self.path}:{line}: {text}")
        if line > self._refused:  # what else is wrong in a line may follow from the first
            self._problems.add(kind, f"{self.path}:{line}: {text}")
        self._refused = line


def gathered(reader: Reader) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
    """Features, labels and queries of all documents; where id 0 is allowed and stands nowhere, ids count from 1."""
    blocks = list(reader.rows())
    names = np.concatenate([block.queries for block in blocks])
    y = np.concatenate([block.labels for block in blocks]).astype(np.int32)
    reader.check_size(len(y))
    X = np.zeros((len(y), reader.n_features), np.float32)
    stop = len(X)
    while blocks:  # from the last, so that each is given back as soon as it is copied
        block = blocks.pop()
        kernels.spread(block, reader.skipped, X[stop - len(block.labels) : stop])
        stop -= len(block.labels)
    return X, y, names

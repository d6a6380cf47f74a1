"""How is a file of LETOR text read in one pass, and how are its errors put into words?

The half of :mod:`pipeline_lib.sources.letor` between the compiled kernels and the public functions, which document the
format.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.checks import MAX_LABEL
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.stored_data import rows_per_group
from pipeline_lib.sources import letor_kernels as kernels
from pipeline_lib.sources.compression import Digest, opened

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_LABEL_FORMS = {"integer": kernels.INTEGER, "rounded": kernels.ROUNDED_REAL, "whole": kernels.WHOLE_REAL}
_QUERY_FORMS = {
    "token": kernels.IN_TOKEN,
    "comment": kernels.IN_COMMENT,
    "text": kernels.AS_TEXT,
    "none": kernels.NOWHERE,
}

MAX_FEATURES = 65_536
PIECE = 1 << 20
LONGEST_LINE = 1 << 26
"""Bytes of a line, without its line feed."""
LARGEST_SPARSE, SPARSEST = 1 << 28, 32
"""An array whose width nobody states has at most the larger of this many bytes and this many times those of its text;
a value that is written out takes 4 bytes or more in both."""
_QUOTED = 40


@dataclass(frozen=True)
class Form:
    """What may differ between files.

    Attributes
    ----------
    n_features : int or None
        The number of features; a larger id is an error. None takes the largest id.
    labels : {"integer", "rounded", "whole"}
        ``rounded`` takes real labels and rounds halves up; ``whole`` takes decimals that are whole, such as ``1.0``.
    qid : {"token", "comment", "text", "none"}
        ``comment`` takes the query's name from the comment; ``text`` takes any text as a name, and numbers the queries
        from 0; with ``none``, lines have no query, and all belong to query 0.
    first_id : {0, 1}
        The id of the first feature.
    rounding : str
        How whoever reads the file asks for rounded labels, for messages.
    """

    n_features: int | None = None
    labels: Literal["integer", "rounded", "whole"] = "integer"
    qid: Literal["token", "comment", "text", "none"] = "token"
    first_id: int = 1
    rounding: str = "labels='rounded'"


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
    """

    qid: NDArray[np.int64]
    label: NDArray[np.uint8]
    X: NDArray[np.float32]
    names: list[str] | None = None
    grouped: bool = False

    def rows(self, rows: slice | NDArray[np.bool_]) -> "Block":
        """Some of the documents."""
        return replace(self, qid=self.qid[rows], label=self.label[rows], X=self.X[rows])

    @staticmethod
    def joined(blocks: "Sequence[Block]") -> "Block":
        """The documents of several blocks of the same width, one after the other, with the names of the last."""
        qid, label, X = (np.concatenate([getattr(one, name) for one in blocks]) for name in ("qid", "label", "X"))
        return replace(blocks[-1], qid=qid, label=label, X=X)


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
    """One pass over one file. Without a number of features, blocks get wider as larger ids turn up."""

    def __init__(self, path: str | os.PathLike[str], form: Form, digest: Digest | None = None) -> None:
        n_features = form.n_features
        if n_features is not None and not 1 <= n_features <= MAX_FEATURES:
            raise DataError(f"n_features: expected a number in 1..{MAX_FEATURES}, found {n_features}")
        self.path = Path(path)
        self.form = form
        self.digest = digest
        self.n_features = n_features
        self.line = 0
        self.width = n_features or 1
        self.id_limit = (n_features or MAX_FEATURES) - 1 + form.first_id
        self.largest_id = self.line_of_largest_id = 0
        self.bytes_read = 0
        self._prepare_ids(False)
        self.first_lines: dict[int | str, int] = {}
        self.last_query: int | None = None
        self.names: list[str] | None = [] if form.qid == "text" else None
        self._name = np.empty(kernels.LONGEST_NAME, np.uint8)
        self._known = np.array([0, -1], np.int64)

    @property
    def has_id_0(self) -> bool:
        """Whether the id 0 stood in the lines that were read."""
        return bool(self.seen[0])

    def blocks(self) -> Iterator[Block]:
        """Parse the file; blocks have as many documents as a row group, unless the block after is wider."""
        X, label, qid, lines = self._new_block()
        hard = np.empty((4096 + self.id_limit, 4), np.int64)
        row = n_documents = 0
        for piece, begin, end in self._pieces():
            position = begin
            while position < end:
                status, position, self.line, row, n_hard, fault = kernels.parse(
                    piece, position, end, self.line,
                    _LABEL_FORMS[self.form.labels], _QUERY_FORMS[self.form.qid], self.form.first_id,
                    X, label, qid, lines, row, *self.id_texts, self.id_limit, self.seen, hard, 0,
                    self._name, self._known,
                )  # fmt: skip
                for r, column, start, stop in hard[:n_hard]:
                    text = piece[start:stop].tobytes()
                    text_line = int(lines[r]) if r < row else self.line + 1
                    try:
                        if column == kernels.QUERY_COLUMN:
                            self._note_name(text, text_line)
                        else:
                            self._settle(text.decode("ascii"), column, X[r], label[r : r + 1], text_line)
                    except DataError:
                        self._check_queries(qid[:r], lines[:r])  # the one that stands first in the file is reported
                        raise
                if status in (kernels.FULL, kernels.WIDER):
                    self._check_queries(qid[:row], lines[:row])
                    if row:
                        yield Block(qid[:row], label[:row], X[:row], self.names)
                    if status == kernels.WIDER:
                        self._widen(piece, position)
                    n_documents += row
                    row = 0
                    X, label, qid, lines = self._new_block()
                elif status not in (kernels.DONE, kernels.HARD_FULL):
                    self._check_queries(qid[:row], lines[:row])
                    self._complain(status, piece, fault)
        self._check_queries(qid[:row], lines[:row])
        if not n_documents + row:
            found = "only blank lines and comments" if self.line else "an empty file"
            raise DataError(f"{self.path}:{max(self.line, 1)}: expected at least one document, found {found}")
        self._note_largest_id()
        if self.n_features is None and not (self.largest_id or self.has_id_0):
            raise DataError(f"{self.path}: expected at least one feature in the file, found none")
        if row:
            yield Block(qid[:row], label[:row], X[:row], self.names)

    def read_ids(self) -> int:
        """Parse the whole file for its largest id."""
        for _ in self.blocks():
            pass
        return self.largest_id

    def check_size(self, n_documents: int) -> None:
        """Raise DataError when so many documents take more memory than a width that nobody states may ask for."""
        if self.n_features is not None:
            return
        self._note_largest_id()
        size = 4 * n_documents * self.largest_id
        if size > max(LARGEST_SPARSE, SPARSEST * self.bytes_read):
            raise DataError(
                f"{self.path}:{self.line_of_largest_id}: expected features that are mostly written out, found the id "
                f"{self.largest_id}, with which {n_documents:,} documents take {size / 1e6:,.0f} MB, nearly all of it "
                f"zeros; if that is right, state n_features={self.largest_id}"
            )

    def _new_block(self) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        n = rows_per_group(self.width)
        X = np.zeros((n, self.width), np.float32)
        return X, np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)

    def _pieces(self) -> Iterator[tuple[NDArray[np.uint8], int, int]]:
        """Complete lines: the bytes, where they begin and where they end (behind a newline)."""
        largest = LONGEST_LINE + 1 + kernels.PADDING + 1  # the longest line with its line feed
        buffer = bytearray(min(PIECE, largest))
        kept = 0
        first = True
        with opened(self.path, self.digest) as file:
            while True:
                room = len(buffer) - kernels.PADDING - 1
                n = file.readinto(memoryview(buffer)[kept:room])
                stop = kept + n
                self.bytes_read += n
                if n == 0:
                    buffer[stop : stop + 1] = b"\n"
                    end = stop + 1 if stop else 0
                else:
                    end = buffer.rfind(b"\n", kept, stop) + 1
                begin = 0
                if end and first:
                    begin = self._check_beginning(bytes(buffer[:4]))
                    first = False
                if end:
                    yield np.frombuffer(buffer, np.uint8), begin, end
                if n == 0:
                    return
                kept = stop - end
                if kept < room:
                    buffer[:kept] = buffer[end:stop]
                elif len(buffer) < largest:
                    buffer = buffer + bytearray(min(len(buffer), largest - len(buffer)))
                else:
                    raise DataError(
                        f"{self.path}:{self.line + 1}: expected a line of at most {LONGEST_LINE:,} bytes, found a "
                        "longer one; is this LETOR text?"
                    )

    def _check_beginning(self, head: bytes) -> int:
        """Where the text begins: behind a UTF-8 byte order mark, if there is one."""
        for marks, name in (
            ((b"\x1f\x8b",), "gzip once more: unpack it first"),
            ((b"PK\x03\x04",), "a zip archive: unpack it first"),
            ((b"\xff\xfe", b"\xfe\xff"), "UTF-16: convert it to UTF-8"),
        ):
            if head.startswith(marks):
                raise DataError(f"{self.path}:1: expected LETOR text, found {name}")
        return 3 if head.startswith(b"\xef\xbb\xbf") else 0

    def _settle(
        self, text: str, column: int, features: NDArray[np.float32], label: NDArray[np.uint8], line: int
    ) -> None:
        """Let Python read a number that the kernel could not be sure to round correctly."""
        value = float(text)
        if column == kernels.LABEL_COLUMN:
            value = min(value, MAX_LABEL + 1.0)  # it may be infinite
            whole = np.floor(value) + (value - np.floor(value) >= 0.5)
            if value < 0 or whole > MAX_LABEL or (self.form.labels == "whole" and whole != value):
                kind = "a whole number as the label" if self.form.labels == "whole" else "a label"
                raise DataError(f"{self.path}:{line}: expected {kind} in 0..{MAX_LABEL}, found {_quote(text)}")
            label[0] = whole
            return
        with np.errstate(over="ignore"):
            features[column] = np.float32(value)
        if not np.isfinite(features[column]):
            raise DataError(
                f"{self.path}:{line}: expected a value that is finite in float32 for feature {column + 1}, "
                f"found {_quote(text)}"
            )

    def _widen(self, piece: NDArray[np.uint8], position: int) -> None:
        """Make room for all ids of the line at ``position``, and a quarter more than before unless it is the first."""
        self._note_largest_id()
        line = piece[position:].tobytes().split(b"\n", 1)[0].split(b"#", 1)[0]
        ids = [int(text) for text in re.findall(rb"(\d{1,18}):", line)]
        known = self.width + self.width // 4 if self.first_lines else 1
        limit = self.id_limit + 1 - self.form.first_id
        largest = (i + 1 - self.form.first_id for i in ids if i <= self.id_limit)
        self.width = min(limit, max(known, *largest, self.width + 1))
        self._prepare_ids(self.has_id_0)

    def _prepare_ids(self, has_id_0: bool) -> None:
        texts = [
            f"{j}:".encode() for j in range(self.width + 1)
        ]  # as little-endian words, with the masks of their bytes
        words = np.array([int.from_bytes(text, "little") for text in texts], np.uint64)
        masks = np.array([256 ** len(text) - 1 for text in texts], np.uint64)
        self.id_texts = words, masks, np.array([len(text) for text in texts])
        self.seen = np.zeros(self.width + 1, np.int64)
        self.seen[0] = -1 if has_id_0 else 0  # no line has this number

    def _note_name(self, text: bytes, line: int) -> None:
        """Take down the name of a query that begins."""
        assert self.names is not None
        try:
            name = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{self.path}:{line}: expected the query's name in UTF-8, found {_quote(repr(text))}"
            ) from error
        self._check_new(name, line)
        self.names.append(name)

    def _check_new(self, name: int | str, line: int) -> None:
        if self.first_lines.setdefault(name, line) != line:
            raise DataError(
                f"{self.path}:{line}: expected the documents of a query to stand together, found query {name} "
                f"again, first seen on line {self.first_lines[name]}"
            )

    def _note_largest_id(self) -> None:
        largest = int(np.flatnonzero(self.seen).max(initial=0))
        if largest > self.largest_id:
            self.largest_id, self.line_of_largest_id = largest, int(self.seen[largest])

    def _check_queries(self, qid: NDArray[np.int64], lines: NDArray[np.int64]) -> None:
        """The documents of every query of these rows must continue the row before or begin a query not seen yet."""
        if self.form.qid in ("text", "none"):
            return  # names are noted as they begin
        for start in np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]]) if len(qid) else ():
            query = int(qid[start])
            if query != self.last_query:
                self._check_new(query, int(lines[start]))
            self.last_query = query

    def _complain(self, status: int, piece: NDArray[np.uint8], fault: int) -> NoReturn:
        number = "a number" if self.form.labels == "rounded" else "a whole number"
        hint = "" if self.form.labels == "rounded" else f" (real labels are read with {self.form.rounding})"
        id_range = f"a feature id in {self.form.first_id}..{self.id_limit}"
        query, or_sizes = "qid: and a whole number of 64 bits", ""
        if self.form.qid == "text":
            query, file = f"qid: and a name of at most {len(self._name)} bytes", self.path.name
            or_sizes = f" (or the numbers of documents in {file}.query or {file}.group)"
        expected = {
            kernels.BAD_LABEL: f"{number} in 0..{MAX_LABEL} as the label{hint}",
            kernels.LABEL_RANGE: f"a label in 0..{MAX_LABEL}",
            kernels.NO_QID: f"'qid:' and the query's name after the label{or_sizes}",
            kernels.BAD_QID: query,
            kernels.BAD_ID: f"{id_range} and its value, as in 7:0.5",
            kernels.ID_RANGE: id_range,
            kernels.NO_COLON: "a colon right after the feature id, as in 7:0.5",
            kernels.BAD_VALUE: "a finite number as the feature's value, as in 7:0.5",
            kernels.DUPLICATE: "every feature id once in a line",
            kernels.NO_COMMENT: "a comment that begins with the query's name, a whole number of 64 bits",
            kernels.NUL: "text",
        }[status]
        found = _quote_token(piece, fault)
        if status == kernels.NUL:
            found = "a NUL byte in a comment"
        elif status == kernels.DUPLICATE:
            found += " as well as another value of that id"
        elif status == kernels.BAD_LABEL and any(separator in found for separator in ",;"):
            found += "; if this is a table with named columns, give its file the ending .csv (commas) or .tsv (tabs)"
        raise DataError(f"{self.path}:{self.line + 1}: expected {expected}, found {found}")


def _quote_token(piece: NDArray[np.uint8], fault: int) -> str:
    line = piece[fault : fault + 4096].tobytes().split(b"\n", 1)[0].removesuffix(b"\r")
    token = re.match(rb"[^ \t#]*", line).group() or line[:1]  # type: ignore[union-attr]
    return _quote(token.decode("utf-8", "backslashreplace")) if token else "the end of the line"


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…")


def gathered(reader: Reader) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]]:
    """Features, labels and queries of all documents; where id 0 is allowed and stands nowhere, ids count from 1."""
    blocks, n_documents = [], 0
    for block in reader.blocks():
        blocks.append(block)
        n_documents += len(block.X)
        reader.check_size(n_documents)
    names = np.concatenate([block.qid for block in blocks])
    y = np.concatenate([block.label for block in blocks]).astype(np.int32)
    skipped = 1 - reader.form.first_id - reader.has_id_0 if reader.n_features is None else 0
    n_features = reader.n_features or reader.largest_id + 1 - reader.form.first_id - skipped
    X = np.zeros((len(names), n_features), np.float32)
    stop = len(X)
    while blocks:  # from the last, so that each is given back as soon as it is copied
        block = blocks.pop()
        width = min(n_features, block.X.shape[1] - skipped)
        X[stop - len(block.X) : stop, :width] = block.X[:, skipped : skipped + width]
        stop -= len(block.X)
    return X, y, names

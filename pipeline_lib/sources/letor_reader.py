"""How does one pass over a file of LETOR text become blocks of documents, or an error that names the line?

:mod:`pipeline_lib.sources.letor` documents the format and contains the public functions.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.checks import MAX_LABEL
from pipeline_lib.errors import DataError
from pipeline_lib.ranking_data import rows_per_group
from pipeline_lib.sources import letor_kernels as kernels

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.checks)

Labels = Literal["integer", "rounded"]
Qid = Literal["token", "comment"]

MAX_FEATURES = 65_536
PIECE = 1 << 20
LONGEST_LINE = 1 << 26
"""Bytes of a line, without its line feed."""
LARGEST_SPARSE, SPARSEST = 1 << 28, 32
"""If the number of features is not stated, the array may have at most the larger of this many bytes and this many times
the bytes of the text; a value that is written out takes at least 4 bytes in both."""
_QUOTED = 40


class Digest(Protocol):
    """An object of ``hashlib``, which receives a file's bytes as they are read."""

    def update(self, data: Any, /) -> None:
        """Add some more bytes."""

    def hexdigest(self) -> str:
        """The digest of all bytes added."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive documents of a file.

    Attributes
    ----------
    qid : int64 array, shape (n,)
        The query of every document.
    label : uint8 array, shape (n,)
    X : float32 array, shape (n, d)
    """

    qid: NDArray[np.int64]
    label: NDArray[np.uint8]
    X: NDArray[np.float32]


class Reader:
    """One pass over one file. If the number of features is not stated, blocks become wider as larger ids occur."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        n_features: int | None,
        labels: Labels,
        qid: Qid,
        digest: Digest | None = None,
    ) -> None:
        if n_features is not None and not 1 <= n_features <= MAX_FEATURES:
            raise DataError(f"n_features: expected a number in 1..{MAX_FEATURES}, found {n_features}")
        if labels not in ("integer", "rounded"):
            raise DataError(f"labels: expected 'integer' or 'rounded', found {labels!r}")
        if qid not in ("token", "comment"):
            raise DataError(f"qid: expected 'token' or 'comment', found {qid!r}")
        self.path = Path(path)
        self.rounded_labels, self.qid_in_comment = labels == "rounded", qid == "comment"
        self.digest = digest
        self.n_features = n_features
        self.line = 0
        self.width = n_features or 1
        self.id_limit = n_features or MAX_FEATURES
        self.largest_id = self.line_of_largest_id = 0
        self.bytes_read = 0
        self._prepare_ids()
        self.first_lines: dict[int, int] = {}
        self.last_query: int | None = None

    def blocks(self) -> Iterator[Block]:
        """Parse the file; blocks have as many documents as a row group, unless the next block is wider."""
        X, label, qid, lines = self._new_block()
        hard = np.empty((4096 + self.id_limit, 4), np.int64)
        row = n_documents = 0
        for piece, begin, end in self._pieces():
            position = begin
            while position < end:
                status, position, self.line, row, n_hard, fault = kernels.parse(
                    piece, position, end, self.line, self.rounded_labels, self.qid_in_comment,
                    X, label, qid, lines, row, *self.id_texts, self.id_limit, self.seen, hard, 0,
                )  # fmt: skip
                for r, column, start, stop in hard[:n_hard]:
                    text = piece[start:stop].tobytes().decode("ascii")
                    text_line = int(lines[r]) if r < row else self.line + 1
                    try:
                        self._settle(text, column, X[r], label[r : r + 1], text_line)
                    except DataError:
                        self._check_queries(qid[:r], lines[:r])  # of two errors, the first in the file is reported
                        raise
                if status in (kernels.FULL, kernels.WIDER):
                    self._check_queries(qid[:row], lines[:row])
                    if row:
                        yield Block(qid[:row], label[:row], X[:row])
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
        if self.n_features is None and not self.largest_id:
            raise DataError(f"{self.path}: expected at least one feature in the file, found none")
        if row:
            yield Block(qid[:row], label[:row], X[:row])

    def check_size(self, n_documents: int) -> None:
        """Raise DataError when so many documents need more memory than an unstated number of features may require."""
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
        return (
            np.zeros((n, self.width), np.float32),
            np.empty(n, np.uint8),
            np.empty(n, np.int64),
            np.empty(n, np.int64),
        )

    def _pieces(self) -> Iterator[tuple[NDArray[np.uint8], int, int]]:
        """Complete lines: the bytes, where they begin, and where they end (after a newline)."""
        buffer = bytearray(min(PIECE, self._largest_buffer()))
        kept = 0
        first = True
        with self._open() as file:
            while True:
                capacity = len(buffer) - kernels.PADDING - 1
                n = file.readinto(memoryview(buffer)[kept:capacity])
                if self.digest is not None:
                    self.digest.update(memoryview(buffer)[kept : kept + n])
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
                if kept == capacity:
                    buffer = self._larger(buffer)
                else:
                    buffer[:kept] = buffer[end:stop]

    def _open(self) -> Any:
        try:
            return open(self.path, "rb", buffering=0)
        except OSError as error:
            raise DataError(f"{self.path}: expected a readable file, found none ({error.strerror})") from error

    def _check_beginning(self, head: bytes) -> int:
        """The position at which the text begins: after a UTF-8 byte order mark, if there is one."""
        others = {
            b"\x1f\x8b": "gzip: unpack it first",
            b"PK\x03\x04": "a zip archive: unpack it first",
            b"\xff\xfe": "UTF-16: convert it to UTF-8",
            b"\xfe\xff": "UTF-16: convert it to UTF-8",
        }
        for mark, name in others.items():
            if head.startswith(mark):
                raise DataError(f"{self.path}:1: expected LETOR text, found {name}")
        return 3 if head.startswith(b"\xef\xbb\xbf") else 0

    @staticmethod
    def _largest_buffer() -> int:
        return LONGEST_LINE + 1 + kernels.PADDING + 1  # the longest line with its line feed

    def _larger(self, buffer: bytearray) -> bytearray:
        if len(buffer) >= self._largest_buffer():
            raise DataError(
                f"{self.path}:{self.line + 1}: expected a line of at most {LONGEST_LINE:,} bytes, found a longer one; "
                "is this LETOR text?"
            )
        return buffer + bytearray(min(len(buffer), self._largest_buffer() - len(buffer)))

    def _settle(
        self, text: str, column: int, features: NDArray[np.float32], label: NDArray[np.uint8], line: int
    ) -> None:
        """Let Python read a number that the kernel cannot be certain to round correctly."""
        value = float(text)
        if column == kernels.LABEL_COLUMN:
            whole = np.floor(value) + (value - np.floor(value) >= 0.5)
            if value < 0 or whole > MAX_LABEL:
                raise DataError(f"{self.path}:{line}: expected a label in 0..{MAX_LABEL}, found {_quote(text)}")
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
        """Widen blocks for all ids of the line at ``position``, and by a quarter unless it is the first line."""
        self._note_largest_id()
        line = piece[position:].tobytes().split(b"\n", 1)[0].split(b"#", 1)[0]
        ids = [int(text) for text in re.findall(rb"(\d{1,18}):", line)]
        known = self.width + self.width // 4 if self.first_lines else 1
        self.width = min(self.id_limit, max(known, *(i for i in ids if i <= self.id_limit), self.width + 1))
        self._prepare_ids()

    def _prepare_ids(self) -> None:
        self.id_texts = _id_texts(self.width)
        self.seen = np.zeros(self.width + 1, np.int64)

    def _note_largest_id(self) -> None:
        largest = int(np.flatnonzero(self.seen).max(initial=0))
        if largest > self.largest_id:
            self.largest_id, self.line_of_largest_id = largest, int(self.seen[largest])

    def _check_queries(self, qid: NDArray[np.int64], lines: NDArray[np.int64]) -> None:
        """Check that the documents of every query in these rows are contiguous."""
        for start in np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]]) if len(qid) else ():
            name, line = int(qid[start]), int(lines[start])
            if name != self.last_query and self.first_lines.setdefault(name, line) != line:
                raise DataError(
                    f"{self.path}:{line}: expected the documents of a query to be contiguous, found query {name} "
                    f"again, first seen on line {self.first_lines[name]}"
                )
            self.last_query = name

    def _complain(self, status: int, piece: NDArray[np.uint8], fault: int) -> NoReturn:
        number = "a number" if self.rounded_labels else "a whole number"
        hint = "" if self.rounded_labels else " (real labels are read with labels='rounded')"
        id_range = f"a feature id in 1..{self.id_limit}"
        expected = {
            kernels.BAD_LABEL: f"{number} in 0..{MAX_LABEL} as the label{hint}",
            kernels.LABEL_RANGE: f"a label in 0..{MAX_LABEL}",
            kernels.NO_QID: "'qid:' and the query's name after the label",
            kernels.BAD_QID: "qid: and a whole number of 64 bits",
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
        raise DataError(f"{self.path}:{self.line + 1}: expected {expected}, found {found}")


def _id_texts(n_features: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """The texts ``0:``, ``1:``, ..., ``d:`` as little-endian words, the masks of their bytes, and their lengths."""
    texts = [f"{j}:".encode() for j in range(n_features + 1)]
    words = np.array([int.from_bytes(text, "little") for text in texts], np.uint64)
    masks = np.array([256 ** len(text) - 1 for text in texts], np.uint64)
    return words, masks, np.array([len(text) for text in texts])


def _quote_token(piece: NDArray[np.uint8], fault: int) -> str:
    line = piece[fault : fault + 4096].tobytes().split(b"\n", 1)[0].removesuffix(b"\r")
    token = re.match(rb"[^ \t#]*", line).group() or line[:1]  # type: ignore[union-attr]
    return _quote(token.decode("utf-8", "backslashreplace")) if token else "the end of the line"


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…")

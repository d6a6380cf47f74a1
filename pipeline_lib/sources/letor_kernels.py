"""How do the bytes of LETOR text become numbers?

The compiled part of :mod:`pipeline_lib.sources.letor`, which documents the format; files are read and errors worded in
:mod:`pipeline_lib.sources.letor_reader`. All kernels are in one module because numba's cache depends on the source file
of the outermost kernel only. The caller guarantees that the last line ends with a newline, so that no loop has to check
for the end. What is rare, such as a number of many digits, is listed as ``hard`` and left to Python.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# Why a kernel stopped: the text is used up; the rows are full; the list of hard tokens is full; or the line is wrong.
DONE, FULL, HARD_FULL, NO_QID, BAD_QID, BAD_ID, ID_RANGE, NO_COLON, BAD_VALUE, REPEATED, OFTEN_REPEATED = range(11)
NO_COMMENT, NUL = 11, 12

# Where the query's name stands.
IN_TOKEN, IN_COMMENT, NOWHERE = 0, 1, 2

# What a hard token is.
LABEL, NAME, VALUE = 0, 1, 2

# How a number was read: as the nearest float32; left to Python; not a number.
ROUNDED, HARD, MALFORMED = 0, 1, 2

LONGEST_NAME = 4096
"""Bytes of a query's name."""
MOST_REPEATED = 1024
"""Values of a line that may stand in the place of earlier ones."""

_TAB, _NEWLINE, _RETURN, _BLANK, _HASH, _PLUS, _MINUS, _DOT, _ZERO, _COLON = (ord(c) for c in "\t\n\r #+-.0:")
_POWER_LIMIT = 290
_POWERS = np.array([float(f"1e{e}") for e in range(-_POWER_LIMIT, _POWER_LIMIT + 1)])
_NINE, _TEN = np.uint64(9), np.uint64(10)
_NINETEEN_DIGITS = np.uint64(10**18)


class Rows(NamedTuple):
    """The documents of a block: their labels, the numbers of their queries, and their features in sparse form.

    The features of row r are ``values[ends[r - 1]:ends[r]]``, in the columns of the same places, which count from 0.
    """

    labels: NDArray[np.uint8]
    queries: NDArray[np.int64]
    ends: NDArray[np.int64]
    columns: NDArray[np.uint16]
    values: NDArray[np.float32]


@njit
def _ends(c: Any) -> Any:
    """Whether a token ends before this byte."""
    return c in (_BLANK, _NEWLINE, _TAB, _RETURN, _HASH)


@njit
def _past_blanks(text: Any, position: Any) -> Any:
    """The next byte that is not a blank; a carriage return before a newline counts as a blank."""
    while True:
        c = text[position]
        if c != _BLANK and c != _TAB and not (c == _RETURN and text[position + 1] == _NEWLINE):
            return position
        position += 1


@njit
def _past_token(text: Any, position: Any) -> Any:
    """The position behind the bytes that belong together."""
    while not _ends(text[position]):
        position += 1
    return position


@njit
def _past_label(text: Any, position: Any) -> Any:
    """The position behind a label of any kind; a token with a colon is a query or a feature, and no label."""
    stop = _past_token(text, position)
    for i in range(position, stop):
        if text[i] == _COLON:
            return position
    return stop


@njit
def _past_line(text: Any, position: Any) -> Any:
    """The position after the line's newline, or of a NUL byte before it, and whether there is one."""
    while text[position] != _NEWLINE:
        if text[position] == 0:
            return position, True
        position += 1
    return position + 1, False


@njit
def _digit(c: Any) -> Any:
    """The number that a digit stands for; above 9 for all other bytes."""
    return np.uint64(c) - np.uint64(_ZERO)


@njit
def _limited(text: Any, position: Any, limit: Any) -> Any:
    """Read digits: the position after them, and the number, or one above the limit if it is larger."""
    whole = 0
    while _digit(text[position]) <= _NINE:
        whole = min(10 * whole + np.int64(text[position]) - _ZERO, limit + 1)
        position += 1
    return position, whole


@njit
def _single(whole: Any, exponent: Any, exact: Any) -> Any:
    """float32(float64(whole 10^exponent)): (value, ROUNDED or HARD); HARD also for what overflows float32.

    One operation on exact doubles is correctly rounded. Elsewhere value = whole x power carries a relative error below
    4 x 2^-53 (three roundings and the digits dropped). Rounding is monotone: if both ends of the interval
    value (1 -+ 2^-50) give the same float32, so does the correctly rounded double between them. What remains, one in
    tens of millions, is left to Python.
    """
    if whole == 0:
        return np.float32(0.0), ROUNDED
    if not -_POWER_LIMIT <= exponent <= _POWER_LIMIT:
        return np.float32(0.0), HARD
    value = np.float64(whole) * _POWERS[_POWER_LIMIT + exponent]
    if exact and whole <= np.uint64(2**53) and 0 < exponent <= 22:
        rounded = np.float32(value)
        return rounded, HARD if np.isinf(rounded) else ROUNDED
    low, high = np.float32(value * (1.0 - 2.0**-50)), np.float32(value * (1.0 + 2.0**-50))
    return low, ROUNDED if low == high and not np.isinf(low) else HARD


@njit
def _number(text: Any, position: Any) -> Any:
    """Read ``[+-] digits [. digits] [e [+-] digits]``: the position after it, its float32, and how it was read."""
    negative = text[position] == _MINUS
    if negative or text[position] == _PLUS:
        position += 1
    whole, exponent, n_digits, exact, after_point = np.uint64(0), 0, 0, True, False
    while True:
        c = text[position]
        digit = _digit(c)
        if digit <= _NINE:
            n_digits += 1
            if whole < _NINETEEN_DIGITS:
                whole = _TEN * whole + digit
                exponent -= after_point
            else:
                exact = False
                exponent += not after_point
        elif c == _DOT and not after_point:
            after_point = True
        else:
            break
        position += 1
    well_formed = n_digits > 0
    if well_formed and c in (101, 69):  # e or E
        sign = text[position + 1]
        start = position + (2 if sign in (_MINUS, _PLUS) else 1)
        position, power = _limited(text, start, 1_000_000)
        well_formed = position > start
        exponent += -power if sign == _MINUS else power
    if not well_formed or not _ends(text[position]):
        return position, np.float32(0.0), MALFORMED
    value, how = _single(whole, exponent, exact)
    return position, -value if negative else value, how


@njit
def _may_be_missing(text: Any, position: Any) -> Any:
    """Whether a value begins as one that says that there is none does: nan, -NaN, null, N/A."""
    if text[position] == _MINUS:
        position += 1
    return text[position] in (78, 110)  # N or n


@njit
def _query(text: Any, start: Any, stop: Any, name: Any, known: Any) -> Any:
    """Whether a query begins, whose name these bytes are: ``name`` and ``known`` are then of this query."""
    i = 0
    if stop - start == known[0]:
        while i < known[0] and text[start + i] == name[i]:
            i += 1
        if i == known[0]:
            return False
    for i in range(stop - start):
        name[i] = text[start + i]
    known[0] = stop - start
    known[1] += 1
    return True


@njit
def _noted(hard: Any, n_hard: Any, what: Any, row: Any, line: Any, start: Any, stop: Any) -> Any:
    """Note what must be read with care, and where it stands; the number of notes."""
    hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3], hard[n_hard, 4] = what, row, line, start, stop
    return n_hard + 1


@njit
def _features(
    text: Any, position: Any, line: Any, first_id: Any, last: Any, rows: Any, used: Any, seen: Any, hard: Any,
    n_hard: Any,
) -> Any:  # fmt: skip
    """Read the features of a line: status, position behind them (of the fault, if there is one), used, n_hard.

    Nearly all bytes of a file are read here, where a call for each number would cost as much as its digits.
    """
    limit, repeated = np.uint64(first_id + len(seen)), 0
    while True:
        while text[position] == _BLANK:
            position += 1
        fault, digit, feature = position, _digit(text[position]), np.uint64(0)
        while digit <= _NINE:
            feature = min(_TEN * feature + digit, limit)
            position += 1
            digit = _digit(text[position])
        if position == fault:
            position = _past_blanks(text, position)
            if text[position] in (_NEWLINE, _HASH):
                return DONE, position, used, n_hard
            if position == fault:
                return BAD_ID, fault, used, n_hard
            continue
        if text[position] != _COLON:
            return NO_COLON, fault, used, n_hard
        column = np.int64(feature) - first_id
        if not 0 <= column < len(seen):
            return ID_RANGE, fault, used, n_hard
        place = used
        if seen[column] == line:
            if not last:
                return REPEATED, fault, used, n_hard
            repeated += 1
            if repeated > MOST_REPEATED:
                return OFTEN_REPEATED, fault, used, n_hard
            place -= 1
            while rows.columns[place] != column:
                place -= 1
        seen[column] = line

        start = position + 1
        position, digit, whole, places = start, _digit(text[start]), np.uint64(0), 0
        while digit <= _NINE:
            whole = _TEN * whole + digit
            position += 1
            digit = _digit(text[position])
        n_digits = position - start
        if text[position] == _DOT:
            point = position
            position += 1
            digit = _digit(text[position])
            while digit <= _NINE:
                whole = _TEN * whole + digit
                position += 1
                digit = _digit(text[position])
            places = position - point - 1
            n_digits += places
        # Nearly all numbers of real files. One operation on exact doubles is correctly rounded, as in _single.
        if 0 < n_digits <= 15 and _ends(text[position]):
            value = np.float32(np.float64(np.int64(whole)) / _POWERS[_POWER_LIMIT + places])
        else:
            position, value, how = _number(text, start)
            if how == MALFORMED:
                if not _may_be_missing(text, start):
                    return BAD_VALUE, fault, used, n_hard
                position, how = _past_token(text, start), HARD
            if how == HARD and place == used:
                n_hard = _noted(hard, n_hard, VALUE, used, line, start, position)
        if place < used:  # Python, which may have to read the earlier value, writes them in turn
            n_hard = _noted(hard, n_hard, VALUE, place, line, start, position)
            continue
        rows.columns[used] = column
        rows.values[used] = value
        used += 1


@njit
def parse(
    text: NDArray[np.uint8],
    position: int,
    end: int,
    line: int,
    labelled: bool,
    scale_and_shift: tuple[int, int],
    query_form: int,
    first_id: int,
    last: bool,
    rows: Rows,
    row: int,
    used: int,
    seen: NDArray[np.int64],
    hard: NDArray[np.int64],
    name: NDArray[np.uint8],
    known: NDArray[np.int64],
) -> Any:
    """Parse the complete lines of ``text[position:end]`` into ``row``, ``row + 1``, ... of the block.

    ``line`` is the number of the last line read, and ``used`` that of the values stored so far. Unless the text is
    ``labelled``, a label may be missing, is not read, and counts as 0. Whole labels are multiplied by a number, and
    another one is added. Ids count from ``first_id``; ``seen[j]`` is the last line on which the feature of column j
    stood. Of a feature that stands several times in a line, the ``last`` value is taken, or it is an error. Tokens
    that need Python are listed in ``hard`` as (what it is, row or place among the values, line, first byte, byte
    behind): labels that are not simply 0..255, values, and names of queries where these begin. Queries are numbered as
    they come: ``name`` holds the bytes of the last name, and ``known`` how many these are and its number.

    Returns
    -------
    status, position, line, row, used, n_hard
        ``position`` is where the next line begins. If the status is an error (from NO_QID on), line number
        ``line + 1`` is the faulty one and ``position`` the byte at which the error is.
    """
    n_hard = 0
    while position < end:
        if row == len(rows.labels) or used + len(seen) > len(rows.values):
            return FULL, position, line, row, used, n_hard
        if n_hard + len(seen) + MOST_REPEATED + 2 > len(hard):
            return HARD_FULL, position, line, row, used, n_hard
        position = _past_blanks(text, position)
        if text[position] in (_NEWLINE, _HASH):
            position, nul = _past_line(text, position)
            if nul:
                return NUL, position, line, row, used, n_hard
            line += 1
            continue

        stop, label = _limited(text, position, 255)
        simple = stop > position and label <= 255 and _ends(text[stop])
        label = label * scale_and_shift[0] + scale_and_shift[1]
        if not labelled:
            stop, label = _past_label(text, position), 0
        elif not simple or not 0 <= label <= 255:
            stop = _past_token(text, position)
            n_hard = _noted(hard, n_hard, LABEL, row, line + 1, position, stop)
        rows.labels[row] = label
        position = stop

        if query_form == IN_TOKEN:
            position = _past_blanks(text, position)
            for i in range(4):
                if text[position + i] != (113, 105, 100, _COLON)[i]:  # qid:
                    return NO_QID, position, line, row, used, n_hard
            start, stop = position + 4, _past_token(text, position + 4)
            if not 0 < stop - start <= len(name):
                return BAD_QID, position, line, row, used, n_hard
            position = stop
            if _query(text, start, stop, name, known):
                n_hard = _noted(hard, n_hard, NAME, row, line + 1, start, stop)

        status, position, used, n_hard = _features(
            text, position, line + 1, first_id, last, rows, used, seen, hard, n_hard
        )
        if status != DONE:
            return status, position, line, row, used, n_hard

        if query_form == IN_COMMENT:
            start = _past_blanks(text, position + 1) if text[position] == _HASH else position
            stop = _past_token(text, start)
            if not 0 < stop - start <= len(name):
                return NO_COMMENT, start, line, row, used, n_hard
            if _query(text, start, stop, name, known):
                n_hard = _noted(hard, n_hard, NAME, row, line + 1, start, stop)
        position, nul = _past_line(text, position)
        if nul:
            return NUL, position, line, row, used, n_hard
        rows.queries[row] = known[1]
        rows.ends[row] = used
        line += 1
        row += 1
    return DONE, position, line, row, used, n_hard


@njit
def spread(rows: Rows, skipped: int, X: NDArray[np.float32]) -> None:
    """Write the features of all rows into an array of zeros, without the first ``skipped`` columns."""
    begin = 0
    for row in range(len(X)):
        for k in range(begin, rows.ends[row]):
            X[row, rows.columns[k] - skipped] = rows.values[k]
        begin = rows.ends[row]

"""How do the bytes of LETOR text become numbers, and numbers bytes, at the speed of memory access?

The compiled part of :mod:`pipeline_lib.sources.letor`, which documents the format; files are read and errors worded in
:mod:`pipeline_lib.sources.letor_reader`. All kernels are in one module because numba's cache depends on the source file
of the outermost kernel only.

Eight bytes are processed together, as one little-endian word. The caller guarantees that the last line ends with a
newline, so that no loop has to check for the end, and that ``PADDING`` more bytes after it may be read. The functions
below receive the text as an address, because passing an array costs two atomic operations per call.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from pipeline_lib.core.compiled import njit

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

# Why a kernel stopped.
DONE, FULL, WIDER, HARD_FULL = 0, 1, 2, 3  # buffer used up; block full; larger feature id; list of hard numbers full
BAD_LABEL, LABEL_RANGE, NO_QID, BAD_QID, BAD_ID, ID_RANGE, NO_COLON, BAD_VALUE, DUPLICATE, NO_COMMENT, NUL = range(
    4, 15
)

# How labels are written: whole numbers; decimals, to be rounded; decimals that are whole.
INTEGER, ROUNDED_REAL, WHOLE_REAL = 0, 1, 2

# Where the query's name stands: a number or a text in a token, a number in the comment, nowhere.
IN_TOKEN, IN_COMMENT, AS_TEXT, NOWHERE = 0, 1, 2, 3

# How a number was read: correctly rounded; left to Python; not a number.
ROUNDED, HARD, MALFORMED = 0, 1, 2

LABEL_COLUMN, QUERY_COLUMN = -1, -2
"""The columns under which a hard label, and the name of a query that begins, are listed."""

LONGEST_NAME = 4096
"""Bytes of a query's name that is a text."""

PADDING = 16
"""Bytes that must be readable after the last newline."""

_TAB, _NEWLINE, _RETURN, _BLANK, _HASH, _PLUS, _MINUS, _DOT, _COLON = (ord(c) for c in "\t\n\r #+-.:")
_ZERO_DIGITS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)
_LOW_BITS = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)
_NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
_QID, _QID_MASK = np.uint64(int.from_bytes(b"qid:", "little")), np.uint64(0xFFFFFFFF)
_INT64_MAX = np.uint64(2**63 - 1)
_POWER_LIMIT = 290
_POWERS = np.array([float(f"1e{e}") for e in range(-_POWER_LIMIT, _POWER_LIMIT + 1)])
_WHOLE_POWERS = np.array([10**e for e in range(9)], np.uint64)


@intrinsic
def _load(_: Any, address: Any) -> Any:
    """The eight bytes at an address, aligned or not, in one instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.uint64)
        return builder.load(builder.inttoptr(arguments[0], word.as_pointer()), align=1)

    return types.uint64(types.uint64), generate


@intrinsic
def _trailing_zeros(_: Any, word: Any) -> Any:
    """The number of zero bits below the lowest one; 64 for zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@njit
def _word(text: Any, position: Any) -> Any:
    """The eight bytes from ``position`` on as a word."""
    return _load(text + np.uint64(position))  # type: ignore[call-arg]


@njit
def _byte(text: Any, position: Any) -> Any:
    """The byte at ``position``."""
    return np.int64(_word(text, position) & np.uint64(0xFF))


@njit
def _first(flags: Any) -> Any:
    """Which byte holds the lowest of the flags (bit 7 of bytes); 8 when there is none."""
    return np.int64(_trailing_zeros(flags) >> np.uint64(3))  # type: ignore[call-arg]


@njit
def _digit_count(digits: Any) -> Any:
    """How many of the low bytes of ``digits`` (a word exclusive-or'ed with "00000000") are 0..9."""
    # A digit plus 0x76 stays below 0x80; anything above nine reaches it or has bit 7 already.
    return _first(((digits + _ABOVE_NINE) | digits) & _HIGH_BITS)


@njit
def _eight_digits(digits: Any, n: Any) -> Any:
    """The number that the lowest ``n`` (1..8) bytes stand for: pairs, then fours, then all eight are put together."""
    v = digits << np.uint64(64 - 8 * n)
    v = v * np.uint64(10) + (v >> np.uint64(8))
    even = (v & np.uint64(0x000000FF000000FF)) * np.uint64(0x000F424000000064)
    odd = ((v >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(0x0000271000000001)
    return (even + odd) >> np.uint64(32)


@njit
def _digits(text: Any, position: Any, whole: Any) -> Any:
    """Append the digits at ``position`` to ``whole``: the position after them, the number, how many did not fit.

    Nineteen significant digits fit; further digits are dropped and never overflow.
    """
    digits = _word(text, position) ^ _ZERO_DIGITS
    n = _digit_count(digits)
    if n == 8 or whole >= np.uint64(100_000_000_000):
        return _many_digits(text, position, whole)
    if n > 0:
        whole = whole * _WHOLE_POWERS[n] + _eight_digits(digits, n)
    return position + n, whole, 0


@njit
def _many_digits(text: Any, position: Any, whole: Any) -> Any:
    """The same as :func:`_digits`, for eight digits and more."""
    dropped = 0
    while True:
        digits = _word(text, position) ^ _ZERO_DIGITS
        n = _digit_count(digits)
        if n == 0:
            return position, whole, dropped
        if whole < np.uint64(100_000_000_000):
            whole = whole * _WHOLE_POWERS[n] + _eight_digits(digits, n)
        else:
            for i in range(n):
                if whole < np.uint64(1_000_000_000_000_000_000):
                    whole = whole * np.uint64(10) + np.uint64(_byte(text, position + i) - 48)
                else:
                    dropped += 1
        position += n
        if n < 8:
            return position, whole, dropped


@njit(inline="always")
def _decimal(text: Any, position: Any) -> Any:
    """Read ``[+-] digits [. digits] [e [+-] digits]``: end, is it one, sign, whole, exponent, dropped.

    The number is (-1)^sign whole 10^exponent, up to the digits dropped.
    """
    c = _byte(text, position)
    negative = c == _MINUS
    if negative or c == _PLUS:
        position += 1
    start = position
    # Most values have one digit before the point; with this guess, the processor need not wait for the count of digits.
    digit = np.uint64(_byte(text, position) ^ 48)
    if digit < np.uint64(10) and _byte(text, position + 1) == _DOT:
        whole, dropped = digit, 0
        position += 1
    else:
        position, whole, dropped = _digits(text, position, np.uint64(0))
    n_digits, exponent = position - start, dropped
    if _byte(text, position) == _DOT:
        start = position + 1
        position, whole, more = _digits(text, start, whole)
        n_digits += position - start
        exponent -= position - start - more
        dropped += more
    well_formed = n_digits > 0
    if well_formed and (_byte(text, position) | 0x20) == 101:  # e or E
        position += 1
        c = _byte(text, position)
        if c in (_MINUS, _PLUS):
            position += 1
        start = position
        position, power, overflow = _digits(text, position, np.uint64(0))
        well_formed = position > start
        power = np.uint64(1_000_000) if overflow or power > np.uint64(1_000_000) else power
        exponent += int(np.int64(power)) * (-1 if c == _MINUS else 1)
    return position, well_formed, negative, whole, exponent, dropped


@njit(inline="always")
def _double(whole: Any, exponent: Any, dropped: Any) -> Any:
    """whole 10^exponent where one correctly rounded operation on exact doubles gives it: (value, ROUNDED or HARD)."""
    if whole == 0 and dropped == 0:
        return 0.0, ROUNDED
    if whole <= np.uint64(2**53) and dropped == 0 and -22 <= exponent <= 22:
        if exponent < 0:
            return np.float64(whole) / _POWERS[_POWER_LIMIT - exponent], ROUNDED
        return np.float64(whole) * _POWERS[_POWER_LIMIT + exponent], ROUNDED
    return 0.0, HARD


@njit(inline="always")
def _single(whole: Any, exponent: Any, dropped: Any) -> Any:
    """float32(float64(whole 10^exponent)): (value, ROUNDED or HARD); HARD also for what overflows float32.

    Where the double is not exact, value = whole x power carries a relative error below 4 x 2^-53 (three roundings and
    the digits dropped). Rounding is monotone: if both ends of the interval value (1 -+ 2^-50) give the same float32,
    so does the correctly rounded double between them. What remains, one in tens of millions, is left to Python.
    """
    value, how = _double(whole, exponent, dropped)
    if how == HARD:
        if not -_POWER_LIMIT <= exponent <= _POWER_LIMIT:
            return np.float32(0.0), HARD
        value = np.float64(whole) * _POWERS[_POWER_LIMIT + exponent]
        low, high = np.float32(value * (1.0 - 2.0**-50)), np.float32(value * (1.0 + 2.0**-50))
        if low != high:
            return np.float32(0.0), HARD
    rounded = np.float32(value)
    return rounded, HARD if np.isinf(rounded) else ROUNDED


@njit(inline="always")
def _number(text: Any, position: Any) -> Any:
    """Read one number: the position after it, its float32, and ROUNDED, HARD or MALFORMED."""
    position, well_formed, negative, whole, exponent, dropped = _decimal(text, position)
    if not well_formed:
        return position, np.float32(0.0), MALFORMED
    value, how = _single(whole, exponent, dropped)
    return position, -value if negative else value, how


@njit
def _ends(c: Any) -> Any:
    """Whether a token ends before this byte."""
    return c in (_BLANK, _NEWLINE, _TAB, _RETURN, _HASH)


@njit
def _past_blanks(text: Any, position: Any) -> Any:
    """The next byte that is not a blank; a carriage return before a newline counts as a blank."""
    while True:
        c = _byte(text, position)
        if c != _BLANK and c != _TAB and not (c == _RETURN and _byte(text, position + 1) == _NEWLINE):
            return position
        position += 1


@njit
def _past_line(text: Any, position: Any) -> Any:
    """The position after the line's newline, and whether there is a NUL byte before it."""
    while True:
        word = _word(text, position)
        newline = word ^ _NEWLINES
        # The lowest flag of (v - 1) & ~v & 0x80 is the lowest zero byte of v.
        newlines = _first((newline - _LOW_BITS) & ~newline & _HIGH_BITS)
        nuls = _first((word - _LOW_BITS) & ~word & _HIGH_BITS)
        if nuls < newlines:
            return position + nuls, True
        if newlines < 8:
            return position + newlines + 1, False
        position += 8


@njit
def _whole_number(text: Any, position: Any) -> Any:
    """A signed whole number within int64 that ends its token: (position after it, number, whether it is one)."""
    negative = _byte(text, position) == _MINUS
    start = position + 1 if negative or _byte(text, position) == _PLUS else position
    position, whole, dropped = _digits(text, start, np.uint64(0))
    good = position > start and dropped == 0 and whole <= _INT64_MAX and _ends(_byte(text, position))
    return position, -np.int64(whole) if negative else np.int64(whole), good


@njit
def _past_token(text: Any, position: Any) -> Any:
    """The position behind the bytes that belong together."""
    while not _ends(_byte(text, position)):
        position += 1
    return position


@njit
def _same_bytes(text: Any, start: Any, stop: Any, name: Any, n: Any) -> Any:
    """Are these bytes of the text the first ``n`` of ``name``?"""
    if stop - start != n:
        return False
    i = 0
    while i < n and _byte(text, start + i) == name[i]:
        i += 1
    return i == n


@njit
def parse(
    buffer: NDArray[np.uint8],
    position: int,
    end: int,
    line: int,
    label_form: int,
    query_form: int,
    first_id: int,
    X: NDArray[np.float32],
    labels: NDArray[np.uint8],
    qids: NDArray[np.int64],
    lines: NDArray[np.int64],
    row: int,
    id_words: NDArray[np.uint64],
    id_masks: NDArray[np.uint64],
    id_lengths: NDArray[np.int64],
    id_limit: int,
    seen: NDArray[np.int64],
    hard: NDArray[np.int64],
    n_hard: int,
    name: NDArray[np.uint8],
    known: NDArray[np.int64],
) -> Any:
    """Parse the complete lines of ``buffer[position:end]`` into rows ``row``, ``row + 1``, ... of the block.

    ``X`` must hold zeros from ``row`` on; ``lines`` gets every row's line number, ``line`` being the last one read.
    ``id_words[j]`` under ``id_masks[j]`` is the text ``j:``, likely to stand where id j - 1 has been read, and
    ``id_lengths[j]`` its length; ids beyond the width of ``X`` up to ``id_limit`` ask for a wider block. ``seen[j]``
    is the last line on which id j stood. Numbers that need Python are listed in ``hard`` as (row, column, first byte,
    byte behind). Ids count from ``first_id``.

    Names that are text are numbered as they come, and listed in ``hard`` where they begin: ``name`` holds the bytes of
    the last one, and ``known`` how many these are and its number.

    Returns
    -------
    status, position, line, row, n_hard, fault
        ``position`` is where the next line begins. If the status is an error (from BAD_LABEL on), that line, number
        ``line + 1``, is the faulty one and ``fault`` the byte at which the error is; WIDER requires a block that is
        wide enough for that line.
    """
    text = np.uint64(buffer.ctypes.data)
    n_rows, n_features = X.shape
    last_id = n_features - 1 + first_id
    while position < end:
        if row == n_rows:
            return FULL, position, line, row, n_hard, 0
        if n_hard + n_features + 2 > len(hard):
            return HARD_FULL, position, line, row, n_hard, 0
        start = position
        hard_before = n_hard
        position = _past_blanks(text, position)
        c = _byte(text, position)
        if c in (_NEWLINE, _HASH):
            position, nul = _past_line(text, position)
            if nul:
                return NUL, position, line, row, n_hard, position
            line += 1
            continue

        # Label.
        fault = position
        if label_form != INTEGER:
            position, well_formed, negative, whole, exponent, dropped = _decimal(text, position)
            if not well_formed or not _ends(_byte(text, position)):
                return BAD_LABEL, start, line, row, n_hard, fault
            label, how = _double(whole, exponent, dropped)
            if label_form == WHOLE_REAL and how == ROUNDED and label != np.floor(label):
                return BAD_LABEL, start, line, row, n_hard, fault
            if how == HARD:
                hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3] = row, LABEL_COLUMN, fault, position
                n_hard += 1
            # floor(label + 1/2) without the rounding error of the sum.
            label = np.floor(label) + (1.0 if label - np.floor(label) >= 0.5 else 0.0)
            if label > 255.0 or (negative and whole != 0):
                return LABEL_RANGE, start, line, row, n_hard, fault
            labels[row] = np.uint8(label)
        else:
            position, whole_label, good = _whole_number(text, position)
            if not good:
                return BAD_LABEL, start, line, row, n_hard, fault
            if whole_label < 0 or whole_label > 255 or c == _MINUS:
                return LABEL_RANGE, start, line, row, n_hard, fault
            labels[row] = np.uint8(whole_label)

        # Query.
        name_start = name_stop = position
        if query_form in (IN_TOKEN, AS_TEXT):
            position = _past_blanks(text, position)
            if (_word(text, position) & _QID_MASK) != _QID:
                return NO_QID, start, line, row, n_hard, position
            fault = position
            if query_form == IN_TOKEN:
                position, qids[row], good = _whole_number(text, position + 4)
                if not good:
                    return BAD_QID, start, line, row, n_hard, fault
            else:
                name_start, name_stop = position + 4, _past_token(text, position + 4)
                position = name_stop
                if not 0 < name_stop - name_start <= len(name):
                    return BAD_QID, start, line, row, n_hard, fault
        elif query_form == NOWHERE:
            qids[row] = 0
            if not _ends(_byte(text, position)):
                return BAD_LABEL, start, line, row, n_hard, fault

        # Features.
        feature = first_id - 1
        while True:
            position = _past_blanks(text, position)
            c = _byte(text, position)
            if c in (_NEWLINE, _HASH):
                break
            fault = position
            if feature < last_id and (_word(text, position) & id_masks[feature + 1]) == id_words[feature + 1]:
                feature += 1
                position += id_lengths[feature]
            else:
                position, whole, dropped = _digits(text, position, np.uint64(0))
                if position == fault:
                    return BAD_ID, start, line, row, n_hard, fault
                if _byte(text, position) != _COLON:
                    return NO_COLON, start, line, row, n_hard, fault
                if dropped or not np.uint64(first_id) <= whole <= np.uint64(last_id):
                    if whole >= np.uint64(first_id) and not dropped and whole <= np.uint64(id_limit):
                        return WIDER, start, line, row, hard_before, fault
                    return ID_RANGE, start, line, row, n_hard, fault
                feature = int(np.int64(whole))
                position += 1
            if seen[feature] == line + 1:
                return DUPLICATE, start, line, row, n_hard, fault
            seen[feature] = line + 1
            column = feature - first_id
            number = position
            position, value, how = _number(text, position)
            if how == MALFORMED or not _ends(_byte(text, position)):
                return BAD_VALUE, start, line, row, n_hard, fault
            if how == HARD:
                hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2], hard[n_hard, 3] = row, column, number, position
                n_hard += 1
            X[row, column] = value

        # Comment.
        if c == _HASH:
            if query_form == IN_COMMENT:
                fault = _past_blanks(text, position + 1)
                _, qids[row], good = _whole_number(text, fault)
                if not good:
                    return NO_COMMENT, start, line, row, n_hard, fault
            position, nul = _past_line(text, position)
            if nul:
                return NUL, start, line, row, n_hard, position
        elif query_form == IN_COMMENT:
            return NO_COMMENT, start, line, row, n_hard, position
        else:
            position += 1
        line += 1
        lines[row] = line
        if query_form == AS_TEXT:
            if not _same_bytes(text, name_start, name_stop, name, known[0]):
                known[0] = name_stop - name_start
                known[1] += 1
                for i in range(known[0]):
                    name[i] = _byte(text, name_start + i)
                hard[n_hard, 0], hard[n_hard, 1] = row, QUERY_COLUMN
                hard[n_hard, 2], hard[n_hard, 3] = name_start, name_stop
                n_hard += 1
            qids[row] = known[1]
        row += 1
    return DONE, position, line, row, n_hard, 0


SMALLEST_FIXED, FIXED_LIMIT = float(np.float32(1e-4)), 2.0**24
"""Values of this range (and zero) are written in fixed notation by :func:`format_documents`."""

LONGEST_VALUE, LONGEST_HEAD = 40, 40
"""Bytes that ``id:value`` with its blank, and ``label qid:Q``, can take."""


@njit
def _put_whole(out: Any, position: Any, whole: Any, n_digits: Any) -> Any:
    """Write ``whole`` with leading zeros up to ``n_digits`` digits; the position after them."""
    count, rest = 1, whole // np.uint64(10)
    while rest > 0:
        count += 1
        rest //= np.uint64(10)
    stop = position + max(count, n_digits)
    for i in range(stop - 1, position - 1, -1):
        out[i] = np.uint8(48) + np.uint8(whole % np.uint64(10))
        whole //= np.uint64(10)
    return stop


@njit
def _fewest_decimals(x: Any) -> Any:
    """The fewest decimals p, and whole, such that whole / 10^p reads back as the float32 ``x`` > 0 of fixed notation.

    If a number of p decimals rounds to x, then one of the two nearest to x does, so that no other has to be tried. The
    quotient is correctly rounded (whole < 2^53, p <= 22), so it is the number that a reader obtains.
    """
    p = 0
    while True:
        power = _POWERS[_POWER_LIMIT + p]
        scaled = np.float64(x) * power
        nearest = np.rint(scaled)
        other = np.floor(scaled) if nearest > scaled else np.ceil(scaled)
        if np.float32(nearest / power) == x:
            return p, np.uint64(nearest)
        if np.float32(other / power) == x:
            return p, np.uint64(other)
        p += 1


@njit
def format_documents(
    X: NDArray[np.float32], labels: NDArray[np.int32], qids: NDArray[np.int64], row: int, out: NDArray[np.uint8]
) -> Any:
    """Write rows from ``row`` on until ``out`` may be full or a value needs an exponent: (next row, bytes used)."""
    n_rows, n_features = X.shape
    position = 0
    while row < n_rows and position + LONGEST_HEAD + n_features * LONGEST_VALUE < len(out):
        for j in range(n_features):
            size = abs(np.float64(X[row, j]))
            if size != 0.0 and not SMALLEST_FIXED <= size < FIXED_LIMIT:
                return row, position
        position = _put_whole(out, position, np.uint64(labels[row]), 1)
        for c in (_BLANK, 113, 105, 100, _COLON):  # " qid:"
            out[position] = c
            position += 1
        name = np.uint64(qids[row])
        if qids[row] < 0:
            out[position] = _MINUS
            position += 1
            name = ~name + np.uint64(1)
        position = _put_whole(out, position, name, 1)
        for j in range(n_features):
            out[position] = _BLANK
            position = _put_whole(out, position + 1, np.uint64(j + 1), 1)
            out[position] = _COLON
            position += 1
            x = X[row, j]
            if np.copysign(np.float32(1.0), x) < 0:
                out[position] = _MINUS
                position += 1
                x = -x
            if x == 0:
                out[position] = 48
                position += 1
                continue
            p, whole = _fewest_decimals(x)
            unit = np.uint64(_POWERS[_POWER_LIMIT + p])
            position = _put_whole(out, position, whole // unit, 1)
            if p:
                out[position] = _DOT
                position = _put_whole(out, position + 1, whole % unit, p)
        out[position] = _NEWLINE
        position += 1
        row += 1
    return row, position

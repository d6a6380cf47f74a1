"""How are names and numbers written in running text, so that no name is taken for markup and no limit is exceeded?"""

import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

Direction = Literal["down", "up"]


def quoted(words: str) -> str:
    r"""The running text that shows ``words`` literally: what would be markup is escaped by a backslash.

    Example
    -------
    >>> print(quoted(r"[x](#y), `code` and \(x_i\)"))
    \[x](#y), \`code\` and \\(x_i\)
    """
    return re.sub(r"\\(?=[\\`\[(]|$)|`|\[(?=[^\]]*\](?:\(|$))", r"\\\g<0>", words)


def listed(names: Sequence[str]) -> str:
    """Join several names in a sentence; the result is empty if there are none.

    Example
    -------
    >>> listed(["MAP"]), listed(["MAP", "NDCG"]), listed(["MAP", "NDCG", "P@10"])
    ('MAP', 'MAP and NDCG', 'MAP, NDCG and P@10')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    Example
    -------
    >>> count(1, "query", "queries"), count(1200, "query", "queries")
    ('1 query', '1,200 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def rounded(number: float, direction: Direction, *, digits: int | None = None, decimals: int | None = None) -> float:
    """The next smaller or larger number of so many significant digits, or decimals: for "at least" and "at most".

    What rounding errors and solvers leave in the ninth digit must not take one from those that are shown.

    Example
    -------
    >>> rounded(4.559, "down", digits=3), rounded(4.551, "up", digits=3), rounded(3352.9, "down", digits=3)
    (4.55, 4.56, 3350.0)
    >>> rounded(1.7499999997, "down", digits=3), rounded(1.7499, "down", digits=3), rounded(-0.12, "up", decimals=1)
    (1.75, 1.74, -0.1)
    """
    exact = Decimal(f"{number:.9g}")
    last = -decimals if decimals is not None else exact.adjusted() + 1 - (digits or 1)
    side = ROUND_FLOOR if direction == "down" else ROUND_CEILING
    return float(exact.quantize(Decimal(1).scaleb(last), rounding=side)) + 0.0  # -0.0 is 0.0, too

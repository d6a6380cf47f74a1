"""How are names written in running text, so that none is interpreted as markup?"""

import re
from collections.abc import Sequence


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

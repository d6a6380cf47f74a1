"""How do names come into running text: as they are where somebody chose them, and several in a row?"""

from __future__ import annotations

import re
from collections.abc import Sequence


def quoted(words: str) -> str:
    r"""The running text that shows ``words`` as they are: what would be markup gets a backslash.

    Example
    -------
    >>> print(quoted(r"[x](#y), `code` and \(x_i\)"))
    \[x](#y), \`code\` and \\(x_i\)
    """
    return re.sub(r"\\(?=[\\`\[(]|$)|`|\[(?=[^\]]*\](?:\(|$))", r"\\\g<0>", words)


def listed(names: Sequence[str]) -> str:
    """Several names in a sentence; nothing for none.

    Example
    -------
    >>> listed(["MAP"]), listed(["MAP", "NDCG"]), listed(["MAP", "NDCG", "P@10"])
    ('MAP', 'MAP and NDCG', 'MAP, NDCG and P@10')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))

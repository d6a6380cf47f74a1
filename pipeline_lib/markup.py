"""How are words that somebody chose kept from being markup in running text?"""

from __future__ import annotations

import re


def quoted(words: str) -> str:
    r"""The running text that shows ``words`` as they are: what would be markup gets a backslash.

    Example
    -------
    >>> print(quoted("[x](#y) and `code`"))
    \[x](#y) and \`code\`
    """
    return re.sub(r"\\(?=[\\`\[]|$)|`|\[(?=[^\]]*\](?:\(|$))", r"\\\g<0>", words)

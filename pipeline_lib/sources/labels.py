"""What do the labels of a data set not allow?"""

from collections.abc import Mapping

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)


def warning(documents: Mapping[str, int] | Mapping[int, int]) -> str:
    """Why nothing can be learned from labels, given the number of documents with each; nothing where they differ.

    Example
    -------
    >>> warning({"0": 12})
    'no document is relevant (all 12 have the label 0): every measure is 0, whatever the order'
    >>> warning({1: 12}), warning({0: 5, 1: 7})
    ('all 12 documents have the label 1: no order is better than another', '')
    """
    if len(documents) != 1:
        return ""
    [(label, count)] = documents.items()
    if int(label) == 0:
        return f"no document is relevant (all {count:,} have the label 0): every measure is 0, whatever the order"
    return f"all {count:,} documents have the label {label}: no order is better than another"

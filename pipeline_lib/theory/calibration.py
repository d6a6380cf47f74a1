r"""Does the order of a surrogate's minimisers maximise the expected NDCG under every law of labels?

`topk`, Theorem 5.1 (Ravikumar, Tewari and Yang 2011): a surrogate is calibrated for NDCG if the scores that minimise
its expectation under any law P of labels sort the documents as a_i(P) = E G(y_i)/Z(y) does. A law under which all
minimisers put document 1 before document 2, while a_2 - a_1 > 0, shows that a surrogate is not calibrated. The largest
such difference is the value of a linear programme, because the minimisers of these surrogates are known:

| surrogate | its minimisers sort by |
|---|---|
| `squared` | E y_i |
| `kl` | E exp(y_i) |
| `listnet` | E softmax(y)_i |
| `squared-ndcg` | E G(y_i)/Z(y) |

The expectation of `ranksvm` is sum_ij P(y_i > y_j) max(0, 1 + s_j - s_i), the dual of a flow: among the scores with
s_1 <= s_2, and among all others, some with whole numbers 0, ..., m - 1 minimise it. (A gap above 1 between neighbouring
scores can be made 1 at no cost.)
"""

import itertools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Count, Positive, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import partial_labels

__all__ = ["SORTED_BY", "Misordering", "largest_misordering"]


def _softmax(labels: Floats) -> Floats:
    weights = np.exp(labels - labels.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


SORTED_BY: Mapping[str, Callable[[Floats], Floats]] = {
    "squared": lambda labels: labels,
    "kl": np.exp,
    "listnet": _softmax,
}
"""What the minimisers of the expected surrogate sort by is the expectation of this function of a label vector."""


class Misordering(NamedTuple):
    """A law of labels under which a surrogate's minimisers are in the wrong order, if there is any.

    Attributes
    ----------
    law : shape (grades^m,)
        Probabilities of the rows of :func:`pipeline_lib.theory.partial_labels.label_vectors`.
    gap : float
        a_2 - a_1 under this law, while all minimisers have s_1 > s_2. With a gap > 0 the surrogate is not calibrated.
    """

    law: Floats
    gap: float


@checked
def largest_misordering(surrogate: str, m: Count, grades: int, margin: Positive = 0.01) -> Misordering:
    """The law with the largest a_2 - a_1 under which all minimisers put document 1 first, by linear programming.

    Parameters
    ----------
    surrogate : str
        ``squared``, ``kl``, ``listnet``, ``ranksvm`` or ``squared-ndcg``.
    m, grades : int
        Documents, at least 2, and grades 0, 1, ..., at least 2.
    margin : float > 0
        By how much document 1 leads: in the expectation that sorts the minimisers, or for ``ranksvm`` in the expected
        loss of scores with s_1 <= s_2 over the least one.

    Raises
    ------
    DataError
        When the minimisers of the surrogate are not known here.

    Example
    -------
    >>> [round(largest_misordering(name, 3, 2).gap, 3) for name in ("squared", "ranksvm", "squared-ndcg")]
    [0.185, 0.187, -0.01]
    """
    vectors, values = partial_labels.label_vectors(m, grades), partial_labels.relevances(m, grades)
    if m < 2:
        raise DataError(f"m: expected at least two documents, found {m}")
    lead = values[:, 1] - values[:, 0]
    found = [_programme(lead, leads, margin) for leads in _leads(surrogate, vectors, values)]
    possible = [one for one in found if one is not None]
    if not possible:
        raise DataError(f"{surrogate}: no law of labels puts document 1 first by {margin:g}")
    return max(possible, key=lambda one: one.gap)


def _leads(surrogate: str, vectors: NDArray[np.int64], values: Floats) -> list[Floats]:
    """Sets of functions of the label vector; where all of one set have expectations of at least the margin, 1 leads."""
    if surrogate == "squared-ndcg":
        return [(values[:, 0] - values[:, 1])[None]]
    if surrogate in SORTED_BY:
        sorted_by = SORTED_BY[surrogate](vectors.astype(np.float64))
        return [(sorted_by[:, 0] - sorted_by[:, 1])[None]]
    if surrogate != "ranksvm":
        known = ", ".join([*SORTED_BY, "ranksvm", "squared-ndcg"])
        raise DataError(f"surrogate: expected one of {known}, found {surrogate!r}")
    scores, losses = _whole_scores(vectors)
    first = scores[:, 0] > scores[:, 1]
    return [losses[~first] - losses[best] for best in np.flatnonzero(first)]


def _whole_scores(vectors: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """Scores in 0, ..., m - 1, the least of which is 0, and RankSVM's loss of each for every label vector."""
    m = vectors.shape[1]
    scores = np.array([s for s in itertools.product(range(m), repeat=m) if min(s) == 0])
    hinges = np.maximum(0.0, 1.0 + scores[:, None, :] - scores[:, :, None])
    preferred = vectors[:, :, None] > vectors[:, None, :]
    return scores, np.einsum("sij,vij->sv", hinges, preferred.astype(np.float64))


def _programme(lead: Floats, leads: Floats, margin: float) -> Misordering | None:
    """max E lead  s.t.  E of every row of ``leads`` is at least the margin; None if no law satisfies this."""
    from scipy.optimize import linprog

    found = linprog(
        -lead,
        A_ub=-leads,
        b_ub=np.full(len(leads), -margin),
        A_eq=np.ones((1, len(lead))),
        b_eq=[1.0],
        bounds=(0.0, None),
        method="highs",
    )
    if found.x is None:
        return None
    law = np.maximum(found.x, 0.0)
    return Misordering(law / law.sum(), float(lead @ found.x))

"""Which constants of a surrogate do the bounds need, and how large are they exactly?

A surrogate's class states them: its Lipschitz and smoothness constants, a bound B on the loss over a class of rankers,
the number of labels on which the gradient depends jointly, the ranking loss that the surrogate bounds, and which of the
constants are exact. This module collects them for the theorems. ``search`` finds the same suprema numerically.

A class {||w||_2 <= W2} with documents ||x||_2 <= R_X (or ||w||_1 <= W1, ||x||_inf <= Rbar_X) has scores
||s||_inf <= S = W2 R_X (W1 Rbar_X), attained for suitable documents: this S is the ``score_bound``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline_lib import surrogates
from pipeline_lib.checks import checked
from pipeline_lib.surrogates.base import Surrogate, What, needed_score_bound
from pipeline_lib.theory.constant_search import Found, search

__all__ = ["Constants", "Found", "What", "constants", "search", "supremum"]


@dataclass(frozen=True)
class Constants:
    """The constants of one surrogate over lists of at most m documents with labels in 0..y_max.

    Attributes
    ----------
    surrogate : str
        The registry name.
    m, y_max : int
    score_bound : float or None
        The S of ||s||_inf <= S, where one was given.
    lipschitz, lipschitz_l2 : float
        G with respect to l_inf and G^CW with respect to l_2.
    smoothness : float or None
        H with respect to l_inf; None where the surrogate has kinks.
    bound : float or None
        B >= sup |phi| over ||s||_inf <= S; None without S, or if it is not known.
    excess_bound : float or None
        B >= sup of phi(s, y) - inf over all s' of phi(s', y): the B of the loss after its infimum has been subtracted.
    convex, smooth : bool
    order : int or None
        The gradient is a sum of functions of at most this many labels (`topk`, Lemma 1: the labels that partial
        feedback must show); m if it depends on all jointly; None if it is not known.
    upper_bounds : str or None
        The ranking loss that phi is never below, if any: "1-ndcg", "1-map", ... (as stated by the class).
    """

    surrogate: str
    m: int
    y_max: int
    score_bound: float | None
    lipschitz: float
    lipschitz_l2: float
    smoothness: float | None
    bound: float | None
    excess_bound: float | None
    convex: bool
    smooth: bool
    order: int | None
    upper_bounds: str | None


@checked
def constants(surrogate: str | Surrogate, m: int, y_max: int, *, score_bound: float | None = None) -> Constants:
    """All constants of ``surrogate`` that the bounds need.

    Parameters
    ----------
    surrogate : str or Surrogate
        A name of ``surrogates.NAMES`` (then with default options) or an object.
    m : int >= 1
        The longest list.
    y_max : int in 0..255
        The largest label.
    score_bound : float >= 0, optional
        The S of ||s||_inf <= S.

    Raises
    ------
    DataError
        When an argument is out of range, or the surrogate has no global constants and ``score_bound`` is missing.

    Example
    -------
    >>> known = constants("ranksvm", 10, 1, score_bound=2.0)
    >>> known.lipschitz, known.bound, known.order, known.smoothness
    (50.0, 125.0, 2, None)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    return Constants(
        surrogate=loss.name,
        m=m,
        y_max=y_max,
        score_bound=score_bound,
        lipschitz=loss.lipschitz(m, y_max, "linf", score_bound=score_bound),
        lipschitz_l2=loss.lipschitz(m, y_max, "l2", score_bound=score_bound),
        smoothness=loss.smoothness(m, y_max, score_bound=score_bound) if loss.smooth else None,
        bound=None if score_bound is None else loss.bound(m, y_max, score_bound),
        excess_bound=None if score_bound is None else loss.excess_bound(m, y_max, score_bound),
        convex=loss.convex,
        smooth=loss.smooth,
        order=loss.order(m, y_max),
        upper_bounds=loss.upper_bounds,
    )


@checked
def supremum(
    surrogate: str | Surrogate, m: int, y_max: int, what: What, *, score_bound: float | None = None
) -> float | None:
    """The exact supremum that a constant bounds, if it is known; otherwise None. Arguments as in ``constants``.

    Published constants can be larger: ListNet's is 2 instead of 2 - 2 / (1 + (m - 1) e^y_max), SmoothDCG's is four
    times the supremum. Where the surrogate has global constants, the supremum is over all scores.

    Example
    -------
    >>> supremum("smooth-dcg", 10, 1, "lipschitz-linf"), constants("smooth-dcg", 10, 1).lipschitz
    (0.5, 2.0)
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    if what == "bound":
        needed_score_bound(f"the value of {loss.name}", score_bound)
    return loss.supremum(what, m, y_max, score_bound=score_bound)

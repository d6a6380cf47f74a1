"""How do the constants of the three losses of Lan et al. (2009), ListMLE, ListNet and RankCosine, grow with the list?

A contraction for one score at a time, as in their proof technique, pays the largest partial derivative of the loss for
each of the m scores; the bounds of `lists` pay G, the largest l1 norm of the gradient. Exactly, over all scores and for
labels up to y_max,

    ListNet (top 1)    partial  1 - 1/(1 + (m-1) e^y_max)     G  2 - 2/(1 + (m-1) e^y_max)
    ListMLE            partial  m - 1                         G  2 (m - 1)
    RankCosine         partial  at most G                     G  2 / (3 sqrt(3))

ListMLE is the sum over positions i of log(sum over j >= i of e^(s_j)) - s_i, for documents in the order of their
labels: where scores increase steeply along that order, every term pulls at the last document. RankCosine is (1 - cos)/2
of the angle between two vectors with positive entries, here e^s and e^y. With u and v their unit vectors and c the
cosine, the l1 norm of the gradient is half the sum of u_j |v_j - c u_j|. Without the signs the sum is 0, so that it is
at most 2 c times the share of |u|^2 where v_j < c u_j, and c^2 is at most the rest; the largest 2 c (1 - c^2) is 4 /
(3 sqrt(3)), attained for v = e_1 and u_1^2 = 1/3.
"""

import math

import numpy as np
from scipy.special import softmax

from pipeline_lib.core.arrays import Floats

STEEP = 40.0
"""The difference of neighbouring scores at which a softmax is its largest entry."""
RANDOM_LISTS = 50


def listnet_gradient(s: Floats, y: Floats) -> Floats:
    """softmax(s) - softmax(y).

    Example
    -------
    >>> listnet_gradient(np.zeros(2), np.zeros(2))
    array([0., 0.])
    """
    return np.asarray(softmax(s) - softmax(y))


def listmle_gradient(s: Floats, y: Floats) -> Floats:
    """Sum over positions of softmax(scores from there on) - the position's document, in the order of the labels.

    Example
    -------
    >>> listmle_gradient(np.array([0.0, 0.0]), np.array([1.0, 0.0]))
    array([-0.5,  0.5])
    """
    order = np.argsort(-y, kind="stable")
    gradient = np.zeros(len(s))
    for i in range(len(order) - 1):
        gradient[order[i:]] += softmax(s[order[i:]])
        gradient[order[i]] -= 1.0
    return gradient


def rankcosine_gradient(s: Floats, y: Floats) -> Floats:
    """-(v_j - c u_j) u_j / 2 of the unit vectors u and v along e^s and e^y, whose cosine is c.

    Example
    -------
    >>> rankcosine_gradient(np.zeros(2), np.zeros(2)).round(9) + 0.0
    array([0., 0.])
    """
    u, v = np.exp(s - s.max()), np.exp(y - y.max())
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    return -0.5 * (v - float(u @ v) * u) * u


LOSSES = {"listnet": listnet_gradient, "listmle": listmle_gradient, "rankcosine": rankcosine_gradient}
"""The gradient of every loss."""


def exact(loss: str, constant: str, m: int, y_max: int) -> float | None:
    """The supremum of the table above; None where only a bound is stated."""
    away = 1.0 / (1.0 + (m - 1) * math.exp(y_max))
    return {
        ("listnet", "partial"): 1.0 - away,
        ("listnet", "lipschitz-linf"): 2.0 - 2.0 * away,
        ("listmle", "partial"): m - 1.0,
        ("listmle", "lipschitz-linf"): 2.0 * (m - 1.0),
        ("rankcosine", "lipschitz-linf"): 2.0 / (3.0 * math.sqrt(3.0)),
    }.get((loss, constant))


def searched(loss: str, m: int, y_max: int, rng: np.random.Generator) -> dict[str, float]:
    """The largest G and partial derivative on lists that come near the suprema, and on random ones."""
    random = ((rng.normal(scale=3.0, size=m), rng.integers(y_max + 1, size=m)) for _ in range(RANDOM_LISTS))
    sizes = [np.abs(LOSSES[loss](s, y.astype(np.float64))) for s, y in (_steep(loss, m, y_max), *random)]
    of_each = {"lipschitz-linf": [size.sum() for size in sizes], "partial": [size.max() for size in sizes]}
    return {constant: float(max(values)) for constant, values in of_each.items()}


def _steep(loss: str, m: int, y_max: int) -> tuple[Floats, Floats]:
    # The list in which the suprema above are approached.
    first, places = np.eye(m)[0], np.arange(float(m))
    return {
        "listnet": (STEEP * first, float(y_max) * (1.0 - first)),
        "listmle": (STEEP * places, places[::-1]),
        # u_1^2 = 1/3 at the first document, whose label is far above the others.
        "rankcosine": (0.5 * math.log((m - 1) / 2.0) * first, STEEP * first),
    }[loss]

"""With which probabilities does Algorithm 1 show documents, in exact arithmetic?

The distribution of rankings is that of its step 6: with probability 1 - gamma the order by scores, here 1, 2, ..., m,
and otherwise one of the m! orders.
"""

from fractions import Fraction as F
from itertools import permutations
from math import factorial

__all__: list[str] = []


def shown(m: int, gamma: F) -> dict[tuple[int, ...], F]:
    """The probability of every order of the documents 1 to m."""
    orders = permutations(range(1, m + 1))
    return {order: gamma / factorial(m) + (1 - gamma) * (order == tuple(range(1, m + 1))) for order in orders}


def first(m: int, gamma: F) -> dict[int, F]:
    """p(j) of eq. (1): the probability that document j is shown first."""
    found = dict.fromkeys(range(1, m + 1), F(0))
    for order, probability in shown(m, gamma).items():
        found[order[0]] += probability
    return found

"""On which small instances do printed statements on the two layers fail, in exact arithmetic?

Expectations over finite populations are sums.
"""

from fractions import Fraction as F
from itertools import product
from math import comb

from pipeline_lib.papers.witnesses import Instance, Relation, listed, witness

__all__: list[str] = []


def document_layer_error(n: int) -> F:
    """E sup over f and -f of (risk given the queries - empirical risk), for n queries with one pair of documents each.

    A document has feature and label +-1, independent and uniform, and f(x) = x. The pairwise 0-1 loss of f is 1 with
    probability 1/8, so is that of -f, and never both: with A and B their sums, the error is 1/8 - E min(A, B)/n.
    """
    least = sum(
        min(a, b) * comb(n, a) * comb(n - a, b) * int(6 ** (n - a - b)) for a in range(n + 1) for b in range(n + 1 - a)
    )
    return F(1, 8) - F(least, n * 8**n)


@witness(
    "layer-of-documents",
    place="twolayer, Discussion 2",
    says="With finitely many documents per query, there is always a document-layer error, however many queries.",
    errata="R",
    claims=("twolayer-both", "twolayer-both-corrected", "twolayer-tradeoff"),
    true_for={"n": 2},
)
def layer_of_documents(n: int = 64) -> Instance:
    types = list(product((-1, 1), repeat=2))
    losses = [((y - y_) * (x - x_) < 0, (y - y_) * (x_ - x) < 0) for (x, y), (x_, y_) in product(types, types)]
    term = F(sum(2 * max(pair) for pair in losses), len(losses))
    error, first = document_layer_error(n), document_layer_error(1)
    return Instance(
        "m = 2 documents with feature and label ±1, uniform and independent, f(x) = ±x, pairwise 0-1 loss: E sup of "
        f"the risk given the queries minus the empirical risk is {first} for n = 1; n = {n}",
        (Relation("it stays: for n queries it is at least half of that for one", error, "≥", first / 2),),
        (
            Relation(
                "it tends to 0: its square is at most 4 (1/8)(7/8)/n, twice the deviations of two means",
                error**2,
                "≤",
                F(7, 16 * n),
            ),
            Relation(
                "while the term of Theorem 1, E sup |2 sigma l(z, z'; f)|, is 1/2 for every n", term, "=", F(1, 2)
            ),
        ),
    )


@witness(
    "at-most",
    place="twolayer, eq. (4)",
    says="(4): the event G(S) ≤ its bound has a probability of at most 1 - delta.",
    errata="AA",
    claims=("twolayer-thm3",),
    true_for={"delta": F(0)},
)
def at_most(delta: F = F(1, 2)) -> Instance:
    gaps = [F(0), F(0)]  # a loss that is 0 for all documents: both samples have G(S) = 0
    probability = F(sum(gap <= 0 for gap in gaps), len(gaps))
    return Instance(
        f"one function with loss 0 on every pair, n = 1, m = 2, delta = {delta}: G(S) = 0, and the bound is not "
        "negative",
        (Relation("the probability is at most 1 - delta", probability, "≤", 1 - delta),),
        (
            Relation("it is at least 1 - delta", probability, "≥", 1 - delta),
            Relation("delta is positive", delta, ">", 0),
        ),
    )


@witness(
    "bounded-difference",
    place="twolayer, Theorem 2",
    says="sqrt(2 M^2 log(2/delta)/n) is McDiarmid's deviation for means that change by up to 2 M/n with one query.",
    errata="AA",
    claims=("twolayer-thm2", "twolayer-thm2-corrected"),
    true_for={"changed": F(1, 2)},
)
def bounded_difference(changed: F = F(1), n: int = 2) -> Instance:
    before, after = [F(0)] * n, [changed] + [F(0)] * (n - 1)
    difference = F(abs(changed), n)
    return Instance(
        f"n = {n} queries, M = 1, mean losses {listed(before)} and {listed(after)}",
        (Relation("the mean changes by at most 2 M/n", difference, "≤", F(2, n)),),
        (Relation("the largest change is M/n, which halves the deviation", difference, "=", F(1, n)),),
        valid=True,
    )

"""On which smallest instances do printed statements of `twolayer` fail, in exact arithmetic?

Rademacher averages of finite classes and expectations over finite populations are sums. 5/2 < e < 3.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from math import comb

from pipeline_lib.witnesses import E, Instance, Number, Relation, listed, witness

__all__: list[str] = []


# --- R: the document layer ----------------------------------------------------------------------------------------


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
    claims=("two-both", "two-both-corrected", "two-tradeoff"),
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
    "one-short-list",
    place="twolayer, Discussion 2",
    says="The bound converges only if the documents of every query become many: if those of some query are finite in "
    "number, the error of the document layer remains.",
    errata="R",
    claims=("two-some-query", "two-some-query-corrected"),
    true_for={"n": 1},
)
def one_short_list(n: int = 16) -> Instance:
    others = 2 * n**2  # documents of every query but the first, so that D = 1/sqrt(m/2) = 1/n
    term = (1 + (n - 1) * F(1, n)) / n
    return Instance(
        f"D(k) = 1/sqrt(k), n = {n} queries: the first has 2 documents, the others {others}",
        (Relation("the term (1/n) sum D(floor(m_i/2)) is at least D(1)/4 for every n", term, "≥", F(1, 4)),),
        (
            Relation("it is less than 2/n, because the first query enters with D(1)/n", term, "<", F(2, n)),
            Relation("the largest summand stays: D(1)", F(1), "=", 1),
        ),
    )


# --- S: the complexity of a surrogate -----------------------------------------------------------------------------


@witness(
    "loss-at-zero",
    place="twolayer, remark after Theorem 1, D of a surrogate",
    says="E R_k ≤ D(k) = c_2 B phi'(B) sqrt(V/k).",
    errata="S",
    claims=("two-remark", "two-remark-corrected"),
    true_for={"at_zero": 0},
)
def loss_at_zero(at_zero: int = 1, k: int = 4) -> Instance:
    signs = list(product((-1, 1), repeat=k))
    average = F(2, k) * F(sum(abs(sum(s)) for s in signs), len(signs)) * at_zero
    return Instance(
        f"the class of f = 0 alone, |f| ≤ B = 0, k = {k}, phi(0) = {at_zero} "
        f"({'hinge' if at_zero else 'a loss without margin'})",
        (
            Relation(
                "the average (2/k) E |sigma_1 + ... + sigma_k| phi(0) is at most c_2 B phi'(B) sqrt(V/k)",
                average,
                "≤",
                0,
            ),
        ),
        (
            Relation("it is positive", average, ">", 0),
            Relation("its square is at most (2 phi(0))^2/k", average**2, "≤", F((2 * at_zero) ** 2, k)),
        ),
    )


@witness(
    "slope-at-twice-b",
    place="twolayer, remark after Theorem 1, D of a surrogate",
    says="|f| ≤ B gives D(k) = c_2 B phi'(B) sqrt(V/k): but differences f(x) - f(x') reach 2 B.",
    errata="S",
    claims=("two-remark", "two-remark-corrected"),
    true_for={"B": 1},
)
def slope_at_twice_b(B: int = 4, c: int = 10) -> Instance:
    growth: Number = F(1)
    for _ in range(B):
        growth = growth * E
    return Instance(
        f"phi(t) = e^t, the class of f and -f, V = 1, one pair with f(x) = -f(x') = B = {B}, k = 1, c_2 = {c} (for "
        "any c_2, a large enough B does it)",
        (Relation("2 e^(2 B) ≤ c_2 B e^B, divided by e^B", 2 * growth, "≤", c * B),),
        (
            Relation(
                "2 e^(2 B) ≤ 2 (phi(0) + 2 B phi'(2 B)), of which 2 e^(2 B) ≤ 4 B e^(2 B) is enough", 2, "≤", 4 * B
            ),
            Relation("e^B exceeds 5 B for this B, so that phi'(B) is too small", growth, ">", 5 * B),
        ),
    )


# --- Z: the budget ------------------------------------------------------------------------------------------------


@witness(
    "programme",
    place="twolayer, Discussion 3",
    says="The printed programme has its minimum at the printed n*.",
    why="With D(k) = c_1 sqrt(V/k), m = C/n and M = 1, the printed programme is c_1 sqrt(V) (n^(-1/2) + n sqrt(2 "
    "n/C)) plus a constant; the bound of Theorem 1 is (c_1 sqrt(V) + sqrt(2 log(4/delta))) n^(-1/2) + c_1 sqrt(2 "
    "V n/C) plus another.",
    errata="Z",
    claims=("two-budget",),
    true_for={"averaged": True},
)
def programme(averaged: bool = False) -> Instance:
    c1V, confidence = 6, 2
    best = F(c1V + confidence, c1V) * 12  # times sqrt(C/2) = 12

    def printed(n_root: int) -> F:
        return F(c1V, n_root) + F(c1V, 12) * (n_root if averaged else n_root**3)

    def bound(n_root: int) -> F:
        return F(c1V + confidence, n_root) + F(c1V, 12) * n_root

    return Instance(
        "C = 288, c_1 sqrt(V) = 6, M = 1, log(4/delta) = 2, so that n* = (8/6) sqrt(144) = 16; values without the "
        "constant",
        (Relation("the programme at n = 16 is at most that at n = 4", printed(4), "≤", printed(2)),),
        (
            Relation("the printed n* is 16", best, "=", 16),
            Relation("the bound of Theorem 1 at n = 16 is less than at n = 9", bound(4), "<", bound(3)),
            Relation("and less than at n = 25", bound(4), "<", bound(5)),
            Relation("the printed programme is less at n = 1 than at n = 16", printed(1), "<", printed(4)),
        ),
    )


@witness(
    "confidence",
    place="twolayer, Discussion 3 (ii)",
    says="n* increases with delta; it is a constant plus a multiple of sqrt(log(4/delta)).",
    errata="Z",
    claims=("two-capacity",),
    true_for={"deltas": (F(1, 5), F(1, 10))},
)
def confidence(deltas: tuple[F, F] = (F(1, 10), F(1, 5))) -> Instance:
    small, large = deltas
    return Instance(
        f"delta = {small} and {large}; n* increases with 4/delta",
        (Relation("4/delta for the second exceeds that for the first", 4 / large, ">", 4 / small),),
        (
            Relation(
                "it is less, so that n* decreases with delta and increases with the confidence 1 - delta",
                4 / large,
                "<",
                4 / small,
            ),
        ),
    )


# --- AA: Theorems 2 and 3 -----------------------------------------------------------------------------------------


@witness(
    "at-most",
    place="twolayer, eq. (4)",
    says="(4): the event G(S) ≤ its bound has a probability of at most 1 - delta.",
    errata="AA",
    claims=("two-thm3", "two-thm3-probability"),
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
    claims=("two-thm2", "two-thm2-corrected"),
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


# --- BC: (n, m)-sampling ------------------------------------------------------------------------------------------


@witness(
    "elements-of-a-row",
    place="twolayer, section 3.1",
    says="In (n, m)-sampling, all the elements are independent and identically distributed.",
    errata="BC",
    claims=("two-nm-elements", "two-nm-elements-corrected"),
    true_for={"tasks": (F(1, 2), F(1, 2))},
)
def elements_of_a_row(tasks: tuple[F, F] = (F(1, 4), F(3, 4))) -> Instance:
    one = sum(tasks, F(0)) / 2
    both = F(sum(p * p for p in tasks)) / 2
    given = [p * p - p**2 for p in tasks]
    return Instance(
        f"a task is drawn for every row, each of two with probability 1/2; an element is 1 with probability {tasks[0]} "
        f"under the first and {tasks[1]} under the second",
        (Relation("P(z_1 = z_2 = 1) = P(z_1 = 1) P(z_2 = 1) for two elements of a row", both, "=", one * one),),
        (
            Relation("the first is at least the second, by the variance of the probability", both, "≥", one * one),
            Relation("given the task, the elements are independent: the largest covariance", max(given), "=", 0),
        ),
    )

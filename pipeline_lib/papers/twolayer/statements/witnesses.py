"""On which small instances do the remark after Theorem 1 and the printed discussions fail, in exact arithmetic?

Rademacher averages of finite classes are sums. 5/2 < e < 3.
"""

from fractions import Fraction as F
from itertools import product

from pipeline_lib.papers.witnesses import E, Instance, Number, Relation, witness

__all__: list[str] = []


@witness(
    "one-short-list",
    place="twolayer, Discussion 2",
    says="The bound converges only if the documents of every query become many: if those of some query are finite in "
    "number, the error of the document layer remains.",
    errata="R",
    claims=("twolayer-some-query", "twolayer-some-query-corrected"),
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


@witness(
    "loss-at-zero",
    place="twolayer, remark after Theorem 1, D of a surrogate",
    says="E R_k ≤ D(k) = c_2 B phi'(B) sqrt(V/k).",
    errata="S",
    claims=("twolayer-remark", "twolayer-remark-corrected"),
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
    claims=("twolayer-remark", "twolayer-remark-corrected"),
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


@witness(
    "programme",
    place="twolayer, Discussion 3",
    says="The printed programme has its minimum at the printed n*.",
    why="With D(k) = c_1 sqrt(V/k), m = C/n and M = 1, the printed programme is c_1 sqrt(V) (n^(-1/2) + n sqrt(2 "
    "n/C)) plus a constant; the bound of Theorem 1 is (c_1 sqrt(V) + sqrt(2 log(4/delta))) n^(-1/2) + c_1 sqrt(2 "
    "V n/C) plus another.",
    errata="Z",
    claims=("twolayer-budget",),
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
    claims=("twolayer-capacity",),
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

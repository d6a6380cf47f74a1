"""On which smallest instances do printed statements of `topk` fail, in exact arithmetic?

The distribution of rankings is that of step 6 of Algorithm 1: with probability 1 - gamma the order by scores, here 1,
2, ..., m, and otherwise one of the m! orders. D(2) = 1/log2(3) lies between 5/8 and 12/19, because 3^5 < 2^8 and
2^19 < 3^12.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from itertools import combinations, permutations, product
from math import factorial

from pipeline_lib.witnesses import D2, E, Instance, Number, Relation, ends, exp, listed, log2, witness

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


# --- AO: Lemma 1 --------------------------------------------------------------------------------------------------


@witness(
    "never-shown",
    place="topk, Lemma 1",
    says="For every distribution of rankings, (3) is an unbiased estimator of F.",
    why="With F(x) = x and k = 1, the estimator is x_j e_j/p(j), where j is the document shown first.",
    errata="AO",
    claims=("topk-lemma1",),
    true_for={"gamma": F(1, 4)},
)
def never_shown(gamma: F = F(0)) -> Instance:
    x, p = (1, 1), first(2, gamma)
    mean = [sum((p[j] * x[j - 1] / p[j] for j in p if j == i and p[j] > 0), F(0)) for i in (1, 2)]
    return Instance(
        f"m = 2, F(x) = x = (1, 1), k = 1; document 1 is shown first with probability {p[1]}, document 2 with {p[2]}",
        (Relation("the mean of the second entry of (3) is x_2", mean[1], "=", x[1]),),
        (
            Relation("the mean of the first one is x_1, because p(1) > 0", mean[0], "=", x[0]),
            Relation("the second one is lost, because p(2) = 0", p[2], "=", 0),
        ),
    )


# --- C: probabilities of section 4.2 ------------------------------------------------------------------------------


@witness(
    "shown-first",
    place="topk, section 4.2, p(sigma(1))",
    says="p(sigma(1)) = 1 - gamma + gamma/m.",
    errata="C",
    claims=("topk-p-compact", "topk-p-compact-corrected"),
    true_for={"document": 1},
)
def shown_first(document: int = 2, gamma: F = F(1, 3)) -> Instance:
    m = 2
    p, printed = first(m, gamma)[document], 1 - gamma + gamma / m
    return Instance(
        f"m = 2, gamma = {gamma}, scores that put document 1 first, and document {document} shown first",
        (
            Relation("its probability (1) is 1 - gamma + gamma/m", p, "=", printed),
            Relation("the estimate of its label R = 1 has mean p(j) R/p(sigma(1)) = R", p / printed, "=", 1),
        ),
        (
            Relation(
                "its probability is (1 - gamma) 1(j = 1) + gamma/m", p, "=", (1 - gamma) * (document == 1) + gamma / m
            ),
        ),
    )


@witness(
    "shown-pair",
    place="topk, section 4.2, p(sigma(1), sigma(2))",
    says="p(sigma(1), sigma(2)) = 1 - gamma + 2 gamma/(m (m - 1)); the estimator divides by the sum over both orders.",
    errata="C",
    claims=("topk-p-compact", "topk-p-compact-corrected"),
    true_for={"gamma": F(0), "orders": 1},
)
def shown_pair(gamma: F = F(1, 3), orders: int = 2) -> Instance:
    m = 3
    one, other = (sum(p for order, p in shown(m, gamma).items() if order[:2] == pair) for pair in ((1, 2), (2, 1)))
    printed = 1 - gamma + 2 * gamma / (m * (m - 1))
    return Instance(
        f"m = 3, gamma = {gamma}, documents 1 and 2 are shown in the order of their scores",
        (
            Relation("the probability (1) of this order is the printed one", one, "=", printed),
            Relation(
                "p(1, 2) + p(2, 1) is the printed one, added once for each order", one + other, "=", orders * printed
            ),
        ),
        (
            Relation("the printed one is already p(1, 2) + p(2, 1)", one + other, "=", printed),
            Relation("p(1, 2) = 1 - gamma + gamma/(m (m - 1))", one, "=", 1 - gamma + gamma / (m * (m - 1))),
        ),
    )


# --- D: the sign of SmoothDCG -------------------------------------------------------------------------------------


@witness(
    "gain",
    place="topk, section 4.1.1 with step 10 of Algorithm 1",
    says="Algorithm 1, w <- w - eta z, on phi_SD.",
    errata="D",
    claims=("topk-smoothdcg-sign",),
    true_for={"sign": -1},
)
def gain(sign: int = 1) -> Instance:
    p = (F(1, 2), F(1, 2))  # the softmax of s = (0, 0)
    gradient = [p[0] * (int(i == 0) - p[i]) for i in (0, 1)]  # of G(1) p_1, for epsilon = 1
    step = [-sign * g for g in gradient]
    return Instance(
        f"X = I, R = (1, 0), epsilon = 1, s = w = (0, 0), eta = 1: the gradient of phi_SD is {listed(gradient)}; the "
        f"step is {'- the gradient' if sign == 1 else '+ the gradient'}, to {listed(step)}",
        (Relation("after the step the relevant document leads", step[0], ">", step[1]),),
        (
            Relation(
                "it leads after a step by + the gradient, which descends on -phi_SD", gradient[0], ">", gradient[1]
            ),
        ),
    )


# --- O: how many labels ListNet's gradient needs ------------------------------------------------------------------


def interaction(levels: Sequence[tuple[Number, Number]]) -> Number:
    """The mixed difference of all labels in e^(R_1)/(e^(R_1) + ... + e^(R_m)), each e^(R_i) at one of two values.

    It is 0 for every choice of values where the function is a sum of functions of fewer than m labels.
    """
    total: Number = F(0)
    for choice in product((0, 1), repeat=len(levels)):
        values = [pair[c] for pair, c in zip(levels, choice, strict=True)]
        total = total + values[0] / sum(values[1:], values[0]) * (-1) ** (len(levels) - sum(choice))
    return total


@witness(
    "two-labels-of-three",
    place="topk, Lemma 3 and the remark after it",
    says="ListNet's gradient cannot be decomposed over two labels.",
    why="For m = 3 and binary labels, the mixed difference is a rational function of a = e. Its terms are 1/3 and "
    "-1/3, -2 a/(2 a + 1) - 1/(2 a + 1) = -1, and a/(a + 2) + 2/(a + 2) = 1: it is 0 for every a. Multiplied by "
    "3 a (a + 2) (2 a + 1), it is a polynomial of degree at most 3, so that its values at six points prove the "
    "same.",
    errata="O",
    claims=("topk-lemma3", "topk-lemma3-corrected"),
    true_for={"grades": (1, 1, 2)},
)
def two_labels_of_three(grades: tuple[int, int, int] = (1, 1, 1)) -> Instance:
    values = [interaction([(F(1), F(a) ** grade) for grade in grades]) for a in range(2, 8)]
    fine = exp(1, 10)
    third = interaction([(F(1), fine), (F(1), fine), (F(1), fine * fine)])
    return Instance(
        f"m = 3, labels R_i in {{0, {grades[0]}}}, {{0, {grades[1]}}}, {{0, {grades[2]}}}; the mixed difference of "
        "a^(R_1)/(a^(R_1) + a^(R_2) + a^(R_3)) over all eight label vectors is 1/3 - 2 a/(2 a + 1) - 1/(2 a + 1) + "
        "a/(a + 2) + 2/(a + 2) - 1/3 if all labels are 0 or 1",
        (Relation("some of its values at a = 2, ..., 7 are not 0", 6 - values.count(F(0)), ">", 0),),
        (
            Relation("it is 0 for all a, also for a = e: two labels of three are enough", values.count(F(0)), "=", 6),
            Relation("for labels {0, 1}, {0, 1}, {0, 2} and a = e it is not 0: all three are needed", third, ">", 0),
        ),
    )


# --- T, U: the constants of Lemma 5 -------------------------------------------------------------------------------


@witness(
    "squared-constant",
    place="topk, Lemma 5 and its proof, C^sq",
    says="E ||z||^2 ≤ C^sq/gamma with C^sq = m^4 R_D^4 U^2 R_max^2.",
    errata="T",
    claims=("topk-lemma5", "topk-lemma5-corrected"),
    true_for={"U": F(1)},
)
def squared_constant(U: F = F(1, 2)) -> Instance:
    m, gamma = 2, F(1, 4)
    second_moment = sum(4 * p * (1 / p) ** 2 for p in first(m, gamma).values())  # z = -2 R x/p(j), ||x|| = R = 1
    return Instance(
        f"m = 2, gamma = 1/4, orthogonal documents of norm R_D = 1, R = (1, 1), R_max = 1, w = 0, U = {U}: p = (7/8, "
        "1/8)",
        (Relation("E ||z||^2 ≤ m^4 R_D^4 U^2 R_max^2/gamma", second_moment, "≤", m**4 * U**2 / gamma),),
        (
            Relation(
                "E ||z||^2 ≤ 4 m^2 R_D^2 (m R_D U + R_max)^2/gamma",
                second_moment,
                "≤",
                4 * m**2 * (m * U + 1) ** 2 / gamma,
            ),
        ),
    )


@witness(
    "kl-constant",
    place="topk, Lemma 5 and its proof, C^KL",
    says="E ||z||^2 ≤ C^KL/gamma with C^KL = m^2 R_D^2 exp(2 R_D U).",
    errata="T",
    claims=("topk-lemma5", "topk-lemma5-corrected"),
    true_for={"R": 0},
)
def kl_constant(R: int = 2) -> Instance:
    m, gamma = 2, F(1, 4)
    label: Number = E * E if R == 2 else F(1)
    second_moment = (1 - label) * (1 - label) * sum(1 / p for p in first(m, gamma).values())
    return Instance(
        f"m = 2, gamma = 1/4, orthogonal documents of norm R_D = 1, R = ({R}, {R}) = (R_max, R_max), w = 0, U = 1/2; "
        "the gradient is 1 - e^R, and 5/2 < e < 3",
        (Relation("E ||z||^2 ≤ m^2 R_D^2 e^(2 R_D U)/gamma", second_moment, "≤", m**2 * E / gamma),),
        (
            Relation(
                "E ||z||^2 ≤ m^2 R_D^2 e^{2 max(R_D U, R_max)}/gamma",
                second_moment,
                "≤",
                m**2 * (label * label if R == 2 else E) / gamma,
            ),
        ),
    )


@witness(
    "no-polynomial",
    place="topk, Lemma 5, degree of C",
    says="C^KL is a polynomial of R_D, m, U and R_max of degree at most four.",
    why="With one document, p(1) = 1 and R_D = ||x|| = 1, R = 0, w = U x: E ||z||^2 = (e^U - 1)^2, at least (2^U - "
    "1)^2.",
    errata="U",
    claims=("topk-lemma5",),
    true_for={"U": 4},
)
def no_polynomial(U: int = 16) -> Instance:
    c = 1000
    return Instance(
        f"m = 1, R_D = 1, R = R_max = 0, w = U x with U = {U}, gamma < 1/2, and C = {c} (1 + U)^4 (for any factor, a "
        "large enough U does it)",
        (
            Relation(
                "(2^U - 1)^2 ≤ E ||z||^2 ≤ C/gamma, with 1/gamma = 4", F((2**U - 1) ** 2), "≤", F(4 * c * (1 + U) ** 4)
            ),
        ),
        (
            Relation(
                "E ||z||^2 grows as e^(2 U): from U to U + 1 even (2^U - 1)^2 grows by 3 or more",
                (2 ** (U + 1) - 1) ** 2,
                "≥",
                3 * (2**U - 1) ** 2,
            ),
            Relation("while (1 + U)^4 grows by less than 3", F(2 + U, 1 + U) ** 4, "<", 3),
        ),
    )


# --- AV, AW: section 6 --------------------------------------------------------------------------------------------


def relative_variances(relevant: int, gamma: F) -> tuple[F, F]:
    """Of RankSVM from two labels and the squared loss from one: m = 3, one relevant document, orthonormal features."""
    m, tops = 3, shown(3, gamma)
    others = [other for other in range(1, m + 1) if other != relevant]
    pairs = [sum(p for order, p in tops.items() if set(order[:2]) == {relevant, other}) for other in others]
    ranksvm: F = sum((2 / F(p) for p in pairs), F(0)) / ((m - 1) ** 2 + (m - 1)) - 1
    return ranksvm, 1 / first(m, gamma)[relevant] - 1


@witness(
    "noise-of-pairs",
    place="topk, section 6, RankSVM",
    says="The estimator of RankSVM's gradient, from two labels, has a lower variance than that of the squared loss.",
    why="The gradients at w = 0 are -2 R and the sum over j of e_j - e_i for the relevant document i, with squared "
    "lengths 4 and (m - 1)^2 + (m - 1). The estimates have one term for every set of documents that may be shown, "
    "divided by its probability, so that E||z||^2 is the sum of the squared lengths of terms, each "
    "divided by its probability.",
    errata="AV",
    claims=("topk-variance", "topk-variance-corrected"),
    true_for={"relevant": 3},
)
def noise_of_pairs(relevant: int = 1, gamma: F = F(1, 3)) -> Instance:
    ranksvm, squared = relative_variances(relevant, gamma)
    other = relative_variances(4 - relevant, gamma)
    return Instance(
        f"m = 3, orthonormal documents, w = 0, scores that put them in the order 1, 2, 3, gamma = {gamma}; document "
        f"{relevant} is relevant, R = 1; variances E ||z||^2 - ||E z||^2 are divided by ||E z||^2",
        (Relation("RankSVM's is less than that of the squared loss", ranksvm, "<", squared),),
        (Relation(f"it is if document {4 - relevant} is relevant instead", other[0], "<", other[1]),),
    )


@witness(
    "sum-over-documents",
    place="topk, section 6, KL",
    says="The KL loss is listwise in nature: it takes the scores of several documents together.",
    why="Apart from terms that are linear in the scores, the KL loss is e^(s_1) + ... + e^(s_m), and ListNet's is the "
    "logarithm of this sum. e^(s_i) is 1 or 2 here.",
    errata="AW",
    claims=("topk-kl-listwise", "topk-kl-listwise-corrected"),
    true_for={"normalised": True},
)
def sum_over_documents(normalised: bool = False) -> Instance:
    totals = {(a, b): F(a + b) for a in (1, 2) for b in (1, 2)}
    raised, mixed = totals[2, 2] + totals[1, 1], totals[2, 1] + totals[1, 2]
    if normalised:  # the second difference of a logarithm is 0 if and only if the products agree
        raised, mixed = totals[2, 2] * totals[1, 1], totals[2, 1] * totals[1, 2]
    return Instance(
        "m = 2, scores 0 or log 2; the second difference of "
        + ("the logarithm of e^(s_1) + e^(s_2)" if normalised else "e^(s_1) + e^(s_2)")
        + " in both scores",
        (Relation("it is not 0", raised, "≠", mixed),),
        (
            Relation(
                "that of e^(s_1) + e^(s_2) is 0: KL is a sum over documents",
                totals[2, 2] - totals[2, 1] - totals[1, 2] + totals[1, 1],
                "=",
                0,
            ),
            Relation(
                "that of its logarithm is not: 4 * 2 and 3 * 3 differ",
                totals[2, 2] * totals[1, 1],
                "≠",
                totals[2, 1] * totals[1, 2],
            ),
        ),
    )


# --- Section 1: surrogates that are not calibrated ----------------------------------------------------------------


@witness(
    "order-of-labels",
    place="topk, section 1 and Theorem 5.1",
    says="The minimiser of the squared loss against the labels, E[R], sorts documents as E[G/Z] does.",
    why="The law is the second one of Table 1.",
    claims=("topk-not-calibrated",),
    true_for={"law": (F(3, 10), F(0), F(7, 10))},
)
def order_of_labels(law: tuple[F, F, F] = (F(3, 10), F(3, 10), F(4, 10))) -> Instance:
    pair, one_each, third = law
    labels = pair + one_each / 2, third  # E[R_1] = E[R_2] and E[R_3]
    shares: tuple[Number, Number] = (pair / (1 + D2) + one_each / 2, third)
    return Instance(
        f"m = 3, R = (1, 1, 0) with probability {pair}, (1, 0, 0) and (0, 1, 0) with {one_each / 2} each, (0, 0, 1) "
        f"with {third}",
        (
            Relation(
                "documents 1 and 3 have the same order by both: the product of the differences is positive",
                (labels[0] - labels[1]) * (shares[0] - shares[1]),
                ">",
                0,
            ),
        ),
        (
            Relation("document 3 belongs first: E[G_3/Z] > E[G_1/Z]", shares[1] - shares[0], ">", 0),
            Relation("by E[R] it would be last" if labels[0] > labels[1] else "as by E[R]", labels[0], "≠", labels[1]),
        ),
    )


# --- AN: Theorem 5.2 ----------------------------------------------------------------------------------------------


@witness(
    "midpoint",
    place="topk, proof of Theorem 5.2",
    says="The regret is at least min(eps_p, eps_q) T/2, because the learner plays s*_p or s*_q.",
    why="The loss is ||s - G(R)/Z||^2, whose expectation exceeds its minimum by the squared distance of s from E[G/Z].",
    errata="AN",
    claims=("topk-thm52-constant", "topk-thm52"),
    true_for={"weight": F(1)},
)
def midpoint(weight: F = F(1, 2)) -> Instance:
    half = F(1, 2)
    a = half  # both entries of E[G/Z] under p, which draws (1, 0) or (0, 1)
    b = half / (1 + D2)  # under q, which draws (1, 1) or (0, 0)
    regret = ((1 - weight) ** 2 + weight**2) / 2
    return Instance(
        "m = 2, squared loss, G/Z = (0, 0) for labels (0, 0); p draws (1, 0) or (0, 1), q draws (1, 1) or (0, 0), "
        "with probability 1/2 each, so that any document is relevant with probability 1/2; s*_p = a = (1/2, 1/2), "
        f"s*_q = b = a/(1 + D(2)), eps_p = eps_q = ||a - b||^2; the learner plays {weight} a + {1 - weight} b",
        (Relation("its mean regret in a round, divided by ||a - b||^2, is at least 1/2", regret, "≥", half),),
        (
            Relation(
                "no s has less than 1/4, which is ||a - b||^2 ≤ 2 ||s - a||^2 + 2 ||s - b||^2", regret, "=", F(1, 4)
            ),
            Relation("a and b differ: so the regret is linear, already with two documents", a - b, ">", 0),
        ),
    )


# --- The open question of section 5: labels of two documents ------------------------------------------------------


@witness(
    "two-labels-shown",
    place="topk, section 5, the open question of k ≥ 2",
    says="Laws of three labels that agree in any two of them have the same best order of NDCG.",
    why="By E[G/Z], the expectation that orders the documents, document 1 belongs before document 2 under the one "
    "law and behind it under the other, and a learner who sees two labels of three cannot tell the laws apart: "
    "its regret in NDCG is linear.",
    claims=("topk-thm52",),
    true_for={"scale": ((1, 3), (0, 2), (1, 3))},
)
def two_labels_shown(scale: tuple[tuple[int, int], ...] = ((1, 3), (0, 4), (1, 3))) -> Instance:

    def lead(odd: int) -> Number:
        total: Number = F(0)
        for upper in product((0, 1), repeat=3):
            if sum(upper) % 2 == odd:
                gains = [2 ** pair[u] - 1 for pair, u in zip(scale, upper, strict=True)]
                best = sorted(gains, reverse=True)
                total = total + (gains[0] - gains[1]) / (best[0] + best[1] * D2 + F(best[2], 2)) / 4
        return total

    def pairs(odd: int) -> list[list[tuple[int, int]]]:
        vectors = [u for u in product((0, 1), repeat=3) if sum(u) % 2 == odd]
        return [sorted((u[i], u[j]) for u in vectors) for i, j in ((0, 1), (0, 2), (1, 2))]

    even, odd = lead(0), lead(1)
    differing = sum(a != b for a, b in zip(pairs(0), pairs(1), strict=True))
    return Instance(
        f"labels {' x '.join(map(listed, scale))}, drawn uniformly from the four vectors with an even number of upper "
        "labels, or from the four with an odd number",
        (
            Relation(
                "the two laws have the same best order: the product of both E[(G_1 - G_2)/Z] is positive",
                even * odd,
                ">",
                0,
            ),
        ),
        (
            Relation("the pairs of documents whose labels have another joint law", differing, "=", 0),
            Relation("document 1 belongs first under the one law: E[(G_1 - G_2)/Z]", even, ">", 0),
            Relation("and second under the other", odd, "<", 0),
        ),
    )


DISCOUNTS: tuple[Number, ...] = (F(1), *(1 / log2(rank + 1, 200) for rank in range(2, 7)))
"""D(1), ..., D(6), each up to 1/200 in the logarithm."""

Law = list[tuple[int, ...]]
"""The label vectors that are drawn, all with the same probability."""


def with_parity(grades: Sequence[tuple[int, ...]], odd: int) -> Law:
    """One of two grades for every document, or a single one; all vectors with an even, or odd, number of upper ones."""
    choices = product(*(range(len(pair)) for pair in grades))
    return [tuple(pair[c] for pair, c in zip(grades, u, strict=True)) for u in choices if sum(u) % 2 == odd]


def exchanged(law: Law) -> Law:
    """The law with documents 1 and 2 exchanged."""
    return [(y[1], y[0], *y[2:]) for y in law]


def lead_of_first(law: Law, discounts: Sequence[Number] = DISCOUNTS) -> Number:
    """E (G(y_1) - G(y_2))/Z(y): document 1 belongs before document 2 if it is positive."""
    total: Number = F(0)
    for y in law:
        gains = sorted((2**label - 1 for label in y), reverse=True)
        ideal: Number = F(0)
        for G, D in zip(gains, discounts, strict=False):
            ideal = ideal + G * D
        if y[0] != y[1]:
            total = total + F(2 ** y[0] - 2 ** y[1]) / ideal
    return total / F(len(law))


def told_apart(one: Law, other: Law, k: int) -> int:
    """How many sets of k documents have joint laws of their labels that differ."""
    sets = combinations(range(len(one[0])), k)
    return sum(sorted([y[i] for i in A] for y in one) != sorted([y[i] for i in A] for y in other) for A in sets)


def two_laws(grades: Sequence[tuple[int, ...]], mixed: bool) -> tuple[Law, Law]:
    """Vectors with even and with odd parity, each mixed with the other one's exchange."""
    even, odd = with_parity(grades, 0), with_parity(grades, 1)
    return (even + exchanged(odd), odd + exchanged(even)) if mixed else (even, odd)


def opposite_orders(
    cases: Sequence[tuple[int, Sequence[tuple[int, ...]]]], mixed: bool
) -> tuple[list[Relation], list[Relation]]:
    """The relations of two laws for every k and grades: what is supposed of their orders, and what is the case."""
    supposed, holds = [], []
    for k, grades in cases:
        p, q = two_laws(grades, mixed)
        leads, about = (lead_of_first(p), lead_of_first(q)), f"m = {len(grades)}, k = {k}"
        supposed.append(Relation(f"{about}: both laws have one best order", leads[0] * leads[1], ">", 0))
        holds += [
            Relation(f"{about}: sets of k documents that tell the laws apart", told_apart(p, q, k), "=", 0),
            Relation(f"{about}: document 1 belongs first under one law", max(leads, key=lambda x: ends(x)[0]), ">", 0),
            Relation(f"{about}: and second under the other", min(leads, key=lambda x: ends(x)[0]), "<", 0),
        ]
    return supposed, holds


@witness(
    "binary-labels-shown",
    place="topk, section 5, the open question of k ≥ 2",
    says="Laws of m binary labels that agree in any k = m - 2 of them have the same best order of NDCG.",
    why="Document 2 is irrelevant, and the others are relevant in an even number under P, in an odd number under Q; "
    "each law is then mixed with the other one, documents 1 and 2 exchanged. With k = m - 1 nothing of the kind "
    "exists: the sum over all label vectors of (-1)^(y_1 + ... + y_m) (y_1 - y_2)/Z(y) is 0 because Z does not change "
    "if documents 1 and 2 are exchanged.",
    claims=("topk-more-labels", "topk-more-labels-limit"),
    true_for={"mixed": False},
)
def binary_labels_shown(mixed: bool = True) -> Instance:
    cases = [(m - 2, [(0, 1), (0,), *[(0, 1)] * (m - 2)]) for m in range(3, 7)]
    supposed, holds = opposite_orders(cases, mixed)
    reciprocal = [F(1, rank) for rank in range(1, 7)]
    for m in range(3, 7):
        even, odd = (lead_of_first(with_parity([(0, 1)] * m, parity), reciprocal) for parity in (0, 1))
        holds.append(Relation(f"m = {m}, k = m - 1, D(i) = 1/i: the sum over all vectors", even - odd, "=", 0))
    return Instance(
        "E (G(y_1) - G(y_2))/Z(y) for m = 3, 4, 5, 6 and uniform laws on label vectors with even or odd sums, y_2 = 0"
        + (", mixed with each other" if mixed else ""),
        tuple(supposed),
        tuple(holds),
    )


@witness(
    "graded-labels-shown",
    place="topk, section 5, the open question of k ≥ 2",
    says="Laws of m labels with three grades that agree in any k = m - 1 of them have the same best order of NDCG.",
    why="Document 1 has the label 1 or 2, the others 0 or 2; 2 is drawn an even number of times under P, an odd number "
    "of times under Q; each law is then mixed with the other one, documents 1 and 2 exchanged.",
    claims=("topk-more-labels", "topk-more-labels-limit"),
    true_for={"mixed": False},
)
def graded_labels_shown(mixed: bool = True) -> Instance:
    cases = [(m - 1, [(1, 2), *[(0, 2)] * (m - 1)]) for m in range(2, 7)]
    supposed, holds = opposite_orders(cases, mixed)
    return Instance(
        "E (G(y_1) - G(y_2))/Z(y) for m = 2, ..., 6 and uniform laws on the label vectors with an even or odd number "
        "of labels 2, y_1 in {1, 2} and the other labels in {0, 2}" + (", mixed with each other" if mixed else ""),
        tuple(supposed),
        tuple(holds),
    )

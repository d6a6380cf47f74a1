"""On which small instances do the printed estimators, probabilities, lemmas and constants fail, exactly?"""

from collections.abc import Sequence
from fractions import Fraction as F
from itertools import product

from pipeline_lib.papers.topk.exact import first, shown
from pipeline_lib.papers.witnesses import E, Instance, Number, Relation, exp, witness

__all__: list[str] = []


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

"""On which smallest instances do printed statements of `lists` fail, in exact arithmetic?

Logarithms of 2 are enclosed by e^2 < 8 and e^7 > 2^10, which give 2/3 < ln 2 < 7/10; e itself lies between 5/2 and 3.
Bounds that are printed with "at most" and are not sharp are called valid, with the sharp value next to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction as F
from itertools import product

from pipeline_lib.witnesses import Between, E, Instance, Relation, listed, log2, root, witness

__all__: list[str] = []

LN2 = Between(F(2, 3), F(7, 10))
Vector = Sequence[F | int]


def softmax_hessian(p: Vector) -> list[list[F]]:
    """diag(p) - p p', the second derivative of ListNet's loss, and of log of a sum of exponentials."""
    return [[F(a) * (int(i == j) - F(b)) for j, b in enumerate(p)] for i, a in enumerate(p)]


def to_l1(matrix: list[list[F]]) -> F:
    """The norm of a matrix from the maximum norm to l_1: the largest u' M v over signs u and v."""
    signs, places = list(product((-1, 1), repeat=len(matrix))), list(product(range(len(matrix)), repeat=2))
    return max(sum((u[i] * matrix[i][j] * v[j] for i, j in places), F(0)) for u, v in product(signs, signs))


# --- I, J, N: constants of section 3 ------------------------------------------------------------------------------


@witness(
    "listnet-smoothness",
    place="lists, Proposition 1",
    says="The smoothness constant of ListNet with respect to the maximum norm is at most 2, its Lipschitz constant "
    "at most 2.",
    why="u' H v is a covariance of two variables in [-1, 1], which is at most 1.",
    errata="I",
    claims=("lists-prop1",),
    true_for={"p": (F(1), F(0))},
)
def listnet_smoothness(p: Vector = (F(1, 2), F(1, 2))) -> Instance:
    norm = to_l1(softmax_hessian(p))
    return Instance(
        f"m = 2, P(s) = {listed(p)}, H = diag(P) - P P'; for the Lipschitz constant labels (1, 0), so that P(y) = (e, "
        "1)/(e + 1), and 5/2 < e < 3",
        (
            Relation("the norm of H from the maximum norm to l_1 is at most 2", norm, "≤", 2),
            Relation("the supremum of ||P(s) - P(y)||_1 is at most 2", 2 - 2 / (1 + E), "≤", 2),
        ),
        (
            Relation("it reaches the largest covariance, 1", norm, "=", 1),
            Relation("the supremum is 2 - 2/(1 + (m - 1) e^y_max)", 2 - 2 / (1 + E), "<", 2),
        ),
        valid=True,
    )


@witness(
    "listnet-l2",
    place="lists, section 3.1",
    says="The Lipschitz constant of ListNet with respect to l_2 is also 2.",
    why="The gradient is the difference of two probability vectors p and q. Its squared length ||p||^2 + ||q||^2 - 2 "
    "p'q is at most 1 + 1 - 0.",
    errata="J",
    claims=("lists-listnet-l2", "lists-listnet-l2-corrected"),
    true_for={"q": (-1, 0)},
)
def listnet_l2(q: Vector = (0, 1)) -> Instance:
    p = (1, 0)
    squared = sum((F(a) - b) ** 2 for a, b in zip(p, q, strict=True))
    return Instance(
        f"m = 2, the most distant p = (1, 0), q = {listed(q)}, to which P(s) and P(y) can come as near as desired",
        (Relation("the squared distance is 2^2", squared, "=", 4),),
        (Relation("it is at most sqrt(2)^2", squared, "≤", 2),),
    )


@witness(
    "smooth-dcg-constant",
    place="lists, Proposition 2",
    says="The Lipschitz constant of SmoothDCG with respect to the maximum norm is at most 2 D(1) G(Y_max)/sigma.",
    errata="N",
    claims=("lists-prop2",),
    true_for={"p": F(1, 4)},
)
def smooth_dcg_constant(p: F = F(1, 2)) -> Instance:

    def norm(q: F) -> F:
        return sum(map(abs, softmax_hessian((q, 1 - q))[0]), F(0))

    return Instance(
        f"m = 2, labels (1, 0), sigma = 1, softmax p = ({p}, {1 - p}): the gradient is p_1 p_2 (1, -1) = "
        f"{listed([p * (1 - p), -p * (1 - p)])}",
        (Relation("its l_1 norm is at most 2 D(1) G(Y_max)/sigma", norm(p), "≤", 2),),
        (
            Relation("it reaches D(1) G(Y_max)/(2 sigma), a quarter of it", norm(p), "=", F(1, 2)),
            Relation(
                "which it does not exceed for p_1 = 0, 1/8, ..., 1", max(norm(F(k, 8)) for k in range(9)), "≤", F(1, 2)
            ),
        ),
        valid=True,
    )


@witness(
    "smooth-dcg-l2",
    place="lists, section 3.2",
    says="The constant G^CW of SmoothDCG with respect to l_2 is the same as that with respect to the maximum norm.",
    errata="N",
    claims=("lists-smoothdcg-l2", "lists-smoothdcg-l2-corrected"),
    true_for={"p": F(1)},
)
def smooth_dcg_l2(p: F = F(1, 2)) -> Instance:
    a = p * (1 - p)
    return Instance(
        f"m = 2, labels (1, 0), sigma = 1, softmax ({p}, {1 - p}): the gradient is {listed((a, -a))}, the longest of "
        "all in both norms",
        (Relation("the squared norms in l_2 and l_1 are the same", 2 * a**2, "=", (2 * a) ** 2),),
        (
            Relation("twice the squared norm in l_2 is that in l_1", 2 * (2 * a**2), "=", (2 * a) ** 2),
            Relation("and the norm in l_1 is the largest, 1/2", 2 * a, "=", F(1, 2)),
        ),
    )


# --- AG, AH: gradients and signs ----------------------------------------------------------------------------------


@witness(
    "ranksvm-gradient",
    place="lists, appendix C",
    says="The gradient of RankSVM is the sum of max(0, 1(y_i > y_j) (1 + s_j - s_i)) (e_j - e_i).",
    errata="AG",
    claims=("lists-appendix-c", "lists-appendix-c-corrected"),
    true_for={"s": (0, 0)},
)
def ranksvm_gradient(s: tuple[int, int] = (0, 1)) -> Instance:
    hinge = max(0, 1 + s[1] - s[0])
    step = F(1, 4)
    slope = (max(F(0), 1 + s[1] + step - s[0]) - hinge) / step
    return Instance(
        f"m = 2, y = (1, 0), s = {listed(s)}: phi = 1 + s_2 - s_1 = {hinge} near s",
        (
            Relation(
                "the second entry of the gradient, a quotient of differences, is max(0, 1 + s_2 - s_1)",
                slope,
                "=",
                hinge,
            ),
        ),
        (Relation("it is the indicator of 1 + s_2 - s_1 > 0", slope, "=", int(hinge > 0)),),
    )


@witness(
    "gain-as-loss",
    place="lists, section 3.2 with section 2",
    says="Smoothed DCG@1 is a loss phi_SD, of which the minimiser w* is wanted.",
    errata="AH",
    claims=("lists-smoothdcg-sign", "lists-smoothdcg-sign-corrected"),
    true_for={"sign": -1},
)
def gain_as_loss(sign: int = 1) -> Instance:
    weights = (2, 1)  # e^(s_i/sigma)
    right, wrong = (F(w, sum(weights)) for w in weights)
    return Instance(
        "m = 2, y = (1, 0), scores with e^(s_i/sigma) = 2 and 1, once with the relevant document first and once "
        f"second; the loss is {'phi_SD' if sign == 1 else '-phi_SD'}",
        (Relation("the right order has the lesser loss", sign * right, "<", sign * wrong),),
        (Relation("it has the greater phi_SD, which is a gain", right, ">", wrong),),
    )


# --- Q: online gradient descent -----------------------------------------------------------------------------------


@witness(
    "descent-factor",
    place="lists, sections 5 and 8.3",
    says="The regret of gradient descent is at most W_2^2/(2 eta) + eta n G^2.",
    errata="Q",
    claims=("lists-thm5", "lists-eq8"),
    true_for={"eta": F(2)},
)
def descent_factor(eta: F = F(1)) -> Instance:
    W, G, w, u = 1, 1, 0, -1
    regret = F(G * w - G * u)
    return Instance(
        f"n = 1, f_1(w) = w, G = W_2 = 1, w_1 = 0, eta = {eta}, against w = -1",
        (Relation("the regret is at most W_2^2/(2 eta) + eta G^2", regret, "≤", F(W**2) / (2 * eta) + eta * G**2),),
        (Relation("it is W_2^2/(2 eta) + (eta/2) G^2", regret, "=", F(W**2) / (2 * eta) + eta * G**2 / 2),),
        valid=True,
    )


# --- X, AM: closed forms for Rademacher averages ------------------------------------------------------------------


@witness(
    "negative-bound",
    place="lists, Corollary 8",
    says="The Rademacher average is at most 10 G W2 R_X sqrt(log2(3mn)/n) times the logarithm of a quotient.",
    why="For n = 1, the average of RankSVM's class is half the difference of its largest and its smallest loss, 5/2.",
    errata="X",
    claims=("lists-cor8",),
    true_for={"n": 4},
)
def negative_bound(n: int = 1) -> Instance:
    m, G, WR = 2, 2, 2
    B = 1 + 2 * WR
    rademacher = F(B - 0, 2)
    squared = F((6 * B) ** 2 * n, (5 * G * WR) ** 2)
    return Instance(
        f"RankSVM, m = 2, y = (1, 0), x_1 = -x_2, |w x_1| ≤ W2 R_X = 2: G = 2, losses from 0 to B = 5, n = {n}; the "
        "quotient 6 B sqrt(n)/(5 G W2 R_X sqrt(log2(3 m n))) is at least 1 if its square is",
        (
            Relation(
                "the logarithm is not negative: (6 B)^2 n/(5 G W2 R_X)^2 ≥ log2(3 m n)",
                squared,
                "≥",
                log2(3 * m * n, 4),
            ),
        ),
        (
            Relation("9/4 < log2(6), because 2^9 < 6^4", 2**9, "<", (3 * m * n) ** 4),
            Relation("the Rademacher average for n = 1 is positive", rademacher, ">", 0),
            Relation("it is at most 4 B, which is (6) for alpha = B", rademacher, "≤", 4 * B),
        ),
    )


@witness(
    "ceiling",
    place="lists, appendix L, and the same step for Corollary 8",
    says="ceil(A^2/eps^2) log2(2 m n + 1) ≤ (A^2/eps^2) log2(3 m n) for all eps; ratio = A/eps.",
    errata="X",
    claims=("lists-cor8-proof",),
    true_for={"ratio": F(1)},
)
def ceiling(ratio: F = F(1, 2)) -> Instance:
    squared = ratio**2
    steps = math.ceil(squared)
    return Instance(
        f"m = n = 1, where both logarithms are log2(3); A/eps = {ratio}",
        (Relation("divided by log2(3), ceil(A^2/eps^2) ≤ A^2/eps^2", steps, "≤", squared),),
        (
            Relation("one centre is enough at eps ≥ A, where the ceiling is 1 and log2 of 1 is 0", steps, "=", 1),
            Relation("eps ≥ A", ratio, "<", 1),
        ),
    )


@witness(
    "root-of-negative",
    place="lists, Corollary 11",
    says="The Rademacher average is at most 120 sqrt(2) G W1 R_X sqrt(log(d) log2(24 m n G W1 R_X)/n) times a square.",
    errata="AM",
    claims=("lists-cor8-corrected",),
    true_for={"scale": F(1)},
)
def root_of_negative(scale: F = F(1, 192)) -> Instance:
    m, n, G = 2, 1, 2
    under = log2(24 * m * n * G * scale, 1)
    rademacher = ((1 + 2 * scale) - (1 - min(F(1, 2), scale) * 2)) / 2
    return Instance(
        f"RankSVM, m = 2, n = 1, y = (1, 0), x_1 = -x_2, d = 2, W1 R_X = {scale}: G = 2 and 24 m n G W1 R_X = "
        f"{96 * scale}",
        (Relation("the logarithm under the root, log2(24 m n G W1 R_X), is not negative", under, "≥", 0),),
        (
            Relation(
                "the Rademacher average, half the difference of the largest and the smallest loss, is positive",
                rademacher,
                ">",
                0,
            ),
            Relation(
                "multiplying the loss by 256 makes the logarithm positive, although it only multiplies the average",
                under + 8,
                ">",
                0,
            ),
        ),
    )


@witness(
    "length-of-lists",
    place="lists, sections 3 and 9",
    says="For ListNet, the bound of Theorem 9 is much tighter than Chapelle and Wu's; lists have 100 to 1,000 "
    "documents.",
    why="Theorem 9 is at least twice the average of Corollary 8, 20 G W2 R_X sqrt(log2(3 m n)/n) log(q) with q = 6 B "
    "sqrt(n)/(5 G W2 R_X sqrt(log2(3 m n))); Chapelle and Wu's bound is 3 G W2 R_X sqrt(m/n) + sqrt(8 "
    "log(1/delta)/n).",
    errata="AR",
    claims=("lists-tighter", "lists-tighter-lengths"),
    true_for={"m": 10**6},
)
def length_of_lists(m: int = 1000, n: int = 1000) -> Instance:
    G, WR = 2, 1
    logarithm = log2(3 * m * n, 8)
    steep = Between(root(logarithm.low / n, 1000).low, root(logarithm.high / n, 1000).high)
    B = log2(m, 8) * LN2 + 2 * WR
    quotient = B * 6 / (steep * (5 * G * WR))
    log_q = Between(log2(quotient.low, 8).low, log2(quotient.high, 8).high) * LN2
    theorem_9 = steep * log_q * (20 * G * WR)
    older = root(F(9 * G**2 * WR**2 * m, n), 1000) + Between(F(0), F(1, 2))
    return Instance(
        f"m = {m:,}, n = {n:,}, G = 2 in both norms, as printed, W2 R_X = 1, B = log m + 2, delta = 1/20, so that "
        "sqrt(8 log(1/delta)/n) < 1/2",
        (Relation("twice the average of Corollary 8 is at most Chapelle and Wu's bound", theorem_9, "≤", older),),
        (
            Relation("it is more than twice that bound", theorem_9, ">", 2 * older),
            Relation("that of Theorem 5, G W2 R_X sqrt(2/n), is less", root(F(2 * G**2, n), 1000), "<", older),
        ),
    )


# --- Y: footnote 3 ------------------------------------------------------------------------------------------------


@witness(
    "bound-of-the-loss",
    place="lists, footnote 3",
    says="If every label vector has scores s_y of loss 0, the loss is at most G (W2 R_X + max ||s_y||) ≤ 2 G W2 R_X.",
    errata="Y",
    claims=("lists-footnote3", "lists-footnote3-corrected", "lists-thm9"),
    true_for={"WR": F(1, 2)},
)
def bound_of_the_loss(WR: F = F(1, 4)) -> Instance:
    G, zero = 2, F(1, 2)
    largest = 1 + 2 * WR
    return Instance(
        f"RankSVM, m = 2, y = (1, 0), G = 2, s_y = (1/2, -1/2) of loss 0, x_1 = -x_2, W2 R_X = {WR}: the largest loss "
        "is 1 + 2 W2 R_X",
        (Relation("the largest loss is at most 2 G W2 R_X", largest, "≤", 2 * G * WR),),
        (
            Relation("it is at most G (W2 R_X + the largest entry of s_y)", largest, "≤", G * (WR + zero)),
            Relation("the printed step requires that this entry is at most W2 R_X, but", zero, ">", WR),
        ),
    )


@witness(
    "loss-without-zero",
    place="lists, footnote 3, for ListNet",
    says="ListNet's loss is at most 2 G W2 R_X with G = 2, because for every y there are scores with loss 0.",
    why="For y = (0, 0) the loss is -log(p (1 - p))/2 ≥ log 2, because p (1 - p) ≤ 1/4; at s = 0 it is log 2.",
    errata="Y",
    claims=("lists-footnote3", "lists-footnote3-corrected", "lists-thm9"),
    true_for={"WR": F(1)},
)
def loss_without_zero(WR: F = F(1, 10)) -> Instance:
    return Instance(
        f"m = 2, y = (0, 0), W2 R_X = {WR}; 2/3 < log 2 < 7/10, because e^2 < 8 and e^7 > 2^10",
        (Relation("the loss at s = 0, log 2, is at most 4 W2 R_X", LN2, "≤", 4 * WR),),
        (
            Relation("the smallest loss, log 2, is positive", LN2, ">", 0),
            Relation("log 2 ≤ log m + 2 W2 R_X with log m = log 2", 0, "≤", 2 * WR),
            Relation("the printed bound is too small for this class", LN2, ">", 4 * WR),
        ),
    )


# --- AF: appendix M.1 ---------------------------------------------------------------------------------------------


@witness(
    "without-leading-term",
    place="lists, appendix M.1",
    says="L(w^) ≤ sqrt(D_0 Lhat(w*)) + D_0 with probability 1 - 2 delta, where D_0 = 45 r* + 20 r_0.",
    why="The loss is ListNet's, y = (0, 0) in all queries, so that every risk is at least log 2 > 2/3 and every loss "
    "at most 1. With delta = 1/e, H = 2, B = 1, W2 R_X = 1/1000 and 4 ≤ n ≤ 2^16: r_0 = (1 + log log n)/n with 0 "
    "≤ log log n < 5/2, because log n ≤ 16 log 2 < 56/5 and (56/5)^2 < (27/10)^5 < e^5; C^2 = 75 (W2 R_X)^2 H "
    "log2(3 m n)/n; and log(3/C) < 10, because 3/C < (27/10)^10 < e^10, so that r* = (4 C log(3/C))^2 < 1600 C^2.",
    errata="AF",
    claims=("lists-m1", "lists-m1-corrected", "lists-thm17"),
    true_for={"power": 2},
)
def without_leading_term(power: int = 16) -> Instance:
    n = 2**power
    C_squared = 75 * F(1, 1000) ** 2 * 2 * log2(6 * n, 1) / n
    D = Between(F(20, n), 45 * 1600 * C_squared.high + 20 * F(7, 2 * n))
    printed = Between(D.low, root(D.high, 1000).high + D.high)
    return Instance(
        f"ListNet, m = 2, y = (0, 0), H = 2, B = 1, W2 R_X = 1/1000, delta = 1/e, n = 2^{power}: D_0 is between 20/n "
        "and 72000 C^2 + 70/n",
        (
            Relation(
                "every risk, at least log 2 > 2/3, is at most sqrt(D_0 Lhat(w*)) + D_0 with Lhat(w*) ≤ 1",
                LN2,
                "≤",
                printed,
            ),
        ),
        (
            Relation("with the leading term, Lhat(w*) + D_0 ≥ 2/3 + 20/n", LN2.low + D.low, "≥", F(2, 3)),
            Relation("3/C < (27/10)^10, because (27/10)^20 C^2 > 3^2", F(27, 10) ** 20 * C_squared, ">", 9),
        ),
    )


# --- BA, BB: what sections 3 and 4 leave out ----------------------------------------------------------------------


@witness(
    "logarithm-of-m",
    place="lists, section 3",
    says="The complexity term is O(G W2 R_X sqrt(1/n)), free of any explicit dependence on m; here with the factor 4.",
    why="For the ranker W2 e_j the loss is W2 R_X where document j is irrelevant and 0 elsewhere. If document j is "
    "relevant in all n queries, its empirical risk is 0 and its risk W2 R_X/2. That no document is has the "
    "probability (1 - 1/2^n)^m ≤ 1/(1 + m/2^n). Whatever the factor, n = 256 can be replaced by a larger number.",
    errata="BA",
    claims=("lists-explicit-m", "lists-explicit-m-corrected", "lists-minimiser-length"),
    true_for={"power": 0},
)
def logarithm_of_m(power: int = 256) -> Instance:
    n, m = 256, 3 * 2**power
    some = 1 - 1 / (1 + F(m, 2**n))
    return Instance(
        "phi(s, y) = max(0, largest s_j with y_j = 0), for which G = 1; documents x_j = e_j, W2 = R_X = 1, each "
        f"irrelevant with probability 1/2; n = {n}, m = 3 * 2^{power}",
        (
            Relation(
                "the mean of the largest gap, at least (1 - 1/(1 + m/2^n))/2, is at most 4 G W2 R_X/sqrt(n)",
                some / 2,
                "≤",
                F(4, 16),
            ),
        ),
        (
            Relation(
                "its square is at most that of 4 G W2 R_X sqrt(log2(m)/n)",
                (some / 2) ** 2,
                "≤",
                F(16 * max(power, 1), n),
            ),
            Relation("no gap exceeds W2 R_X/2", some / 2, "≤", F(1, 2)),
        ),
    )


@witness(
    "unbounded-loss",
    place="lists, section 4",
    says="Chapelle and Wu's bound holds for every Lipschitz loss, with the second term sqrt(8 log(1/delta)/n).",
    why="The loss does not depend on the scores, so that G^CW = 0 and the first term is 0. The gap of every ranker is "
    "the deviation of a mean of n values 0 or B; for n = 1 it is B/2 with probability 1/2.",
    errata="BB",
    claims=("lists-chapelle-wu", "lists-chapelle-wu-corrected"),
    true_for={"B": 1},
)
def unbounded_loss(B: int = 8) -> Instance:
    # delta = 1/4, n = 1: 8 log 4 = 16 log 2.
    term = Between(root(16 * LN2.low, 10).low, root(16 * LN2.high, 10).high)
    return Instance(
        f"phi(s, y) = {B} if y_1 = 1, else 0; P(y_1 = 1) = 1/2, n = 1, delta = 1/4: the gap is {F(B, 2)} with "
        "probability 1/2 > delta; 2/3 < log 2 < 7/10",
        (Relation("the gap is at most sqrt(8 log(1/delta)/n)", F(B, 2), "≤", term),),
        (Relation("it is at most B sqrt(8 log(1/delta)/n)", F(B, 2), "≤", term * B),),
    )

"""On which small instances do closed forms, short statements and proof steps of `lists` fail, in exact arithmetic?

The logarithm of 2 is enclosed by e^2 < 8 and e^7 > 2^10, which give 2/3 < ln 2 < 7/10.
"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Between, Instance, Relation, listed, log2, root, witness

__all__: list[str] = []

LN2 = Between(F(2, 3), F(7, 10))


@witness(
    "ranksvm-gradient",
    place="lists, appendix C",
    says="The gradient of RankSVM is the sum of max(0, 1(y_i > y_j) (1 + s_j - s_i)) (e_j - e_i).",
    errata="AG",
    claims=("lists-appendix-c-corrected",),
    true_for={"s": (0, 0)},
)
def ranksvm_gradient(s: tuple[int, int] = (0, 1)) -> Instance:
    hinge = max(0, 1 + s[1] - s[0])
    step = F(1, 4)
    slope = (max(F(0), 1 + s[1] + step - s[0]) - hinge) / step
    return Instance(
        f"m = 2, y = (1, 0), s = {listed(s)}: phi = 1 + s_2 - s_1 = {hinge} near s",
        (Relation("the second entry of the gradient is max(0, 1 + s_2 - s_1)", slope, "=", hinge),),
        (Relation("it is the indicator of 1 + s_2 - s_1 > 0", slope, "=", int(hinge > 0)),),
    )


@witness(
    "gain-as-loss",
    place="lists, section 3.2 with section 2",
    says="Smoothed DCG@1 is a loss phi_SD, of which the minimiser w* is wanted.",
    errata="AH",
    claims=("lists-smoothdcg-sign-corrected",),
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
        (Relation("(6 B)^2 n/(5 G W2 R_X)^2 ≥ log2(3 m n)", squared, "≥", log2(3 * m * n, 4)),),
        (
            Relation("9/4 < log2(6), because 2^9 < 6^4", 2**9, "<", (3 * m * n) ** 4),
            Relation("the Rademacher average for n = 1 is positive", rademacher, ">", 0),
            Relation("it is at most 4 B, which is (6) for alpha = B", rademacher, "≤", 4 * B),
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


@witness(
    "bound-of-the-loss",
    place="lists, footnote 3",
    says="If every label vector has scores s_y of loss 0, the loss is at most G (W2 R_X + max ||s_y||) ≤ 2 G W2 R_X.",
    errata="Y",
    claims=("lists-footnote3-corrected", "lists-thm9"),
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
    claims=("lists-footnote3-corrected", "lists-thm9"),
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


@witness(
    "without-leading-term",
    place="lists, appendix M.1",
    says="L(w^) ≤ sqrt(D_0 Lhat(w*)) + D_0 with probability 1 - 2 delta, where D_0 = 45 r* + 20 r_0.",
    why="The loss is ListNet's, y = (0, 0) in all queries, so that every risk is at least log 2 > 2/3 and every loss "
    "at most 1. With delta = 1/e, H = 2, B = 1, W2 R_X = 1/1000 and 4 ≤ n ≤ 2^16: r_0 = (1 + log log n)/n with 0 "
    "≤ log log n < 5/2, because log n ≤ 16 log 2 < 56/5 and (56/5)^2 < (27/10)^5 < e^5; C^2 = 75 (W2 R_X)^2 H "
    "log2(3 m n)/n; and log(3/C) < 10, because 3/C < (27/10)^10 < e^10, so that r* = (4 C log(3/C))^2 < 1600 C^2.",
    errata="AF",
    claims=("lists-m1-corrected", "lists-thm17"),
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
        (Relation("log 2, which no risk is below, is at most sqrt(D_0) + D_0 with Lhat(w*) ≤ 1", LN2, "≤", printed),),
        (
            Relation("with the leading term, Lhat(w*) + D_0 ≥ 2/3 + 20/n", LN2.low + D.low, "≥", F(2, 3)),
            Relation("3/C < (27/10)^10, because (27/10)^20 C^2 > 3^2", F(27, 10) ** 20 * C_squared, ">", 9),
        ),
    )

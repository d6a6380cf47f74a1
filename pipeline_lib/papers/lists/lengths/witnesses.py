"""On which small instances do the bounds need the length of lists and the range of losses, in exact arithmetic?"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Between, Instance, Relation, root, witness

__all__: list[str] = []


@witness(
    "logarithm-of-m",
    place="lists, section 3",
    says="The complexity term is O(G W2 R_X sqrt(1/n)), free of any explicit dependence on m; here with the factor 4.",
    why="For the ranker W2 e_j the loss is W2 R_X where document j is irrelevant and 0 elsewhere. If document j is "
    "relevant in all n queries, its empirical risk is 0 and its risk W2 R_X/2. That no document is has the "
    "probability (1 - 1/2^n)^m ≤ 1/(1 + m/2^n). Whatever the factor, n = 256 can be replaced by a larger number.",
    errata="BA",
    claims=("lists-explicit-m-corrected", "lists-minimiser-length"),
    true_for={"power": 0},
)
def logarithm_of_m(power: int = 256) -> Instance:
    n, m = 256, 3 * 2**power
    some = 1 - 1 / (1 + F(m, 2**n))
    return Instance(
        "phi(s, y) = max(0, largest s_j with y_j = 0), for which G = 1; documents x_j = e_j, W2 = R_X = 1, each "
        f"irrelevant with probability 1/2; n = {n}, m = 3 * 2^{power}",
        (Relation("(1 - 1/(1 + m/2^n))/2, no more than the mean gap, is at most 4/sqrt(n)", some / 2, "≤", F(4, 16)),),
        (
            Relation("its square is at most 16 (G W2 R_X)^2 log2(m)/n", (some / 2) ** 2, "≤", F(16 * max(power, 1), n)),
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
    term = Between(root(16 * F(2, 3), 10).low, root(16 * F(7, 10), 10).high)
    return Instance(
        f"phi(s, y) = {B} if y_1 = 1, else 0; P(y_1 = 1) = 1/2, n = 1, delta = 1/4: the gap is {F(B, 2)} with "
        "probability 1/2 > delta; 2/3 < log 2 < 7/10",
        (Relation("the gap is at most sqrt(8 log(1/delta)/n)", F(B, 2), "≤", term),),
        (Relation("it is at most B sqrt(8 log(1/delta)/n)", F(B, 2), "≤", term * B),),
    )

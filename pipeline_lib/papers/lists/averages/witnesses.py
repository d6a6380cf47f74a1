"""On which small samples do the proofs and closed forms of Rademacher averages fail, in exact arithmetic?"""

import math
from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Instance, Relation, log2, witness

__all__: list[str] = []


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
            Relation("the Rademacher average, half the range of the losses, is positive", rademacher, ">", 0),
            Relation("the logarithm is positive once the loss is multiplied by 256", under + 8, ">", 0),
        ),
    )

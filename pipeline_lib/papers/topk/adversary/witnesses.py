"""On which smallest instances do the constant of Theorem 5.2 and the hope for two labels fail, exactly?"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

from pipeline_lib.papers.witnesses import D2, Instance, Number, Relation, listed, witness

__all__: list[str] = []


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

"""On which small instances do printed statements of `cone` on prediction fail, exactly?

A cone is {U w: w ≥ 0}; the basis vectors are the columns u_1, ..., u_K of U, here written as rows.
"""

from fractions import Fraction as F
from itertools import combinations

from pipeline_lib.papers.cone.exact import Vector, coefficients, minus
from pipeline_lib.papers.witnesses import Instance, Relation, listed, witness

__all__: list[str] = []


@witness(
    "vote",
    place="cone, Algorithm 2",
    says="A document gets a point for every pair in which the sum of the coefficients favours it.",
    why="The sum of the least-squares coefficients is linear in z, so that a document's points are the number of "
    "documents of lower score. (They would not be if the majority of the signs decided.)",
    errata="E",
    claims=("cone-alg2-linear-corrected",),
    true_for={"by_signs": True},
)
def vote(by_signs: bool = False) -> Instance:
    basis: tuple[Vector, Vector] = ((1, 0), (1, 1))
    documents: list[Vector] = [(0, 0), (2, 1), (1, 3), (3, -1)]
    scores = [sum(coefficients(basis, x), F(0)) for x in documents]
    points = [0] * len(documents)
    for (i, a), (j, b) in combinations(enumerate(documents), 2):
        w = coefficients(basis, minus(a, b))
        points[i if (sum((c > 0) - (c < 0) for c in w) if by_signs else sum(w)) > 0 else j] += 1
    below = [sum(s < score for s in scores) for score in scores]
    wrong = sum(a != b for a, b in zip(points, below, strict=True))
    linear = f"documents whose points in the vote, {listed(points)}, are not the number of documents of lower score"
    return Instance(
        "u_1 = (1, 0), u_2 = (1, 1), documents (0, 0), (2, 1), (1, 3), (3, -1); the coefficients of (a, b) are (a - "
        f"b, b) and add up to a: the scores are {listed(scores)}",
        (Relation("a vote over all pairs of documents: points in all", sum(points), "=", 6),),
        (Relation(linear, wrong, "=", 0),),
        valid=True,
    )

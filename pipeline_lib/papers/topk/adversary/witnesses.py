"""On which small instance does the constant of Theorem 5.2 fail, exactly?"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import D2, Instance, Relation, witness

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

"""On which small instances do printed statements of `cone` on projections and descent fail, exactly?

A cone is {U w: w ≥ 0}; the basis vectors are the columns u_1, ..., u_K of U, here written as rows.
"""

from fractions import Fraction as F

from pipeline_lib.papers.cone.exact import Vector, dot, minus
from pipeline_lib.papers.witnesses import Instance, Relation, listed, witness

__all__: list[str] = []


@witness(
    "negative-cone",
    place="cone, section 3.2",
    says="A point of the cone with basis -U is projected onto 0.",
    why="A point p = U w of the cone is the projection of z if and only if z - p has no positive product with a "
    "basis vector, and the product 0 with p.",
    errata="V",
    claims=("cone-project", "cone-project-corrected"),
    true_for={"u": (F(3, 5), F(4, 5))},
)
def negative_cone(u: Vector = (F(-3, 5), F(4, 5))) -> Instance:
    e, z = (F(1), F(0)), (F(-1), F(0))
    w = max(F(0), dot(z, u))
    p = (w * u[0], w * u[1])
    rest = minus(z, p)
    return Instance(
        f"u_1 = (1, 0), u_2 = {listed(u)}, z = -u_1 = (-1, 0), p = max(0, <z, u_2>) u_2 = {listed(p)}",
        (Relation("the squared norm of the projection p is 0", dot(p, p), "=", 0),),
        (
            Relation("p is the projection: <z - p, u_1> ≤ 0", dot(rest, e), "≤", 0),
            Relation("<z - p, u_2> ≤ 0", dot(rest, u), "≤", 0),
            Relation("<z - p, p> = 0", dot(rest, p), "=", 0),
            Relation("the angle of u_1 and u_2 is more than 90 degrees", dot(e, u), "<", 0),
        ),
    )


@witness(
    "rescaled-steps",
    place="cone, Algorithm 1, steps 1a to 1c",
    says="A gradient step, truncated at 0 and divided by its sum, does not increase the objective ||z - U w||^2 of "
    "(18).",
    errata="W",
    claims=("cone-descent", "cone-descent-corrected"),
    true_for={"projected": True},
)
def rescaled_steps(projected: bool = False) -> Instance:
    z, best, rate = (F(1), F(1, 2)), (F(3, 4), F(1, 4)), F(1, 10)

    def objective(w: Vector) -> F:
        return dot(minus(z, w), minus(z, w))

    stepped = [max(F(0), w - rate * 2 * (w - x)) for w, x in zip(best, z, strict=True)]
    total = sum(stepped, F(0))
    after = tuple(s - (total - 1) / 2 if projected else s / total for s in stepped)
    end = (F(2, 3), F(1, 3))  # proportional to z
    moved = [w - rate * 2 * (w - x) for w, x in zip(end, z, strict=True)]
    fixed = "the steps end at w = (2/3, 1/3), where w - mu gradient is a multiple of w"
    how = "projected onto the simplex" if projected else "divided by its sum"
    return Instance(
        "U = I, z = (1, 1/2), mu = 1/10, w = (3/4, 1/4), where the gradient (-1/2, -1/2) is constant, so that w is "
        f"the minimum over the simplex; the step leads to {listed(stepped)}, {how} {listed(after)}",
        (Relation("the objective after the step is at most that before it", objective(after), "≤", objective(best)),),
        (
            Relation(fixed, moved[0] * end[1], "=", moved[1] * end[0]),
            Relation("the objective there exceeds the minimum", objective(end), ">", objective(best)),
        ),
    )


@witness(
    "not-jointly-convex",
    place="cone, section 4",
    says="There is no guarantee of a global solution because the problem (18) is not strictly convex.",
    errata="AQ",
    claims=("cone-descent",),
    true_for={"same": True},
)
def not_jointly_convex(same: bool = False) -> Instance:
    z, u, v = 1, (F(1), F(0)), (F(0), F(1))
    second = u if same else v

    def objective(U: Vector, w: Vector) -> F:
        return (z - dot(U, w)) ** 2

    middle = tuple((F(x) + y) / 2 for x, y in zip(u, second, strict=True))
    inside, mean = objective(middle, middle), (objective(u, u) + objective(second, second)) / 2
    return Instance(
        f"N = 1, K = 2, z = 1: U = w = {listed(u)}, U = w = {listed(second)}, and their mean {listed(middle)}",
        (Relation("(18) is convex, if not strictly: its value at the mean is at most", inside, "≤", mean),),
        (Relation("it is not convex in U and w together: the value exceeds the mean", inside, ">", mean),),
    )

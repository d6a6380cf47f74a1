"""On which small instances do printed statements of `cone` on the geometry of cones fail, exactly?

A cone is {U w: w ≥ 0}; the basis vectors are the columns u_1, ..., u_K of U, here written as rows.
"""

from fractions import Fraction as F

from pipeline_lib.papers.cone.exact import Vector, coefficients, dot, minus
from pipeline_lib.papers.witnesses import Instance, Relation, listed, witness

__all__: list[str] = []


@witness(
    "pointed",
    place="cone, section 3.2, proper cones",
    says="A polyhedral cone of order K is proper; in particular, it contains no z ≠ 0 together with -z.",
    errata="AI",
    claims=("cone-proper", "cone-proper-corrected"),
    true_for={"third": (0, 1)},
)
def pointed(third: Vector = (F(-3, 5), F(-4, 5))) -> Instance:
    u = ((F(1), F(0)), (F(-3, 5), F(4, 5)), third)
    w = F(5, 6)
    z = tuple(w * (a + b) for a, b in zip(u[1], u[2], strict=True))
    end = minus(z, (-1, 0))
    most = max(min(coefficients((u[i - 2], u[i - 1]), u[i])) for i in range(3))
    order = "no u_k is a conic combination of the other two: the smaller coefficient is at most"
    line = "the cone is pointed: the squared length of u_1 + 5/6 (u_2 + u_3) is positive"
    return Instance(
        f"u_1 = (1, 0), u_2 = (-3/5, 4/5), u_3 = {listed(third)}, N = 2; 5/6 (u_2 + u_3) = {listed(z)}",
        (Relation(line, dot(end, end), ">", 0),),
        (
            Relation(order, most, "<", 0),
            Relation("u_1 and -u_1 = 5/6 (u_2 + u_3) lie in the cone: their product", dot(u[0], z), "=", -1),
        ),
    )


@witness(
    "solid",
    place="cone, section 3.2, proper cones",
    says="A polyhedral cone of order K is proper; in particular, it has interior points.",
    errata="AI",
    claims=("cone-proper", "cone-proper-corrected"),
    true_for={"K": 2},
)
def solid(K: int = 1) -> Instance:
    N = 2
    return Instance(
        f"N = {N}, K = {K}: the cone spans a subspace of dimension at most K",
        (Relation("the dimension of the span is N", K, "=", N),),
        (Relation("a cone of K < N basis vectors has no interior", K, "<", N),),
    )


@witness(
    "least-stability",
    place="cone, section 3.4, after Theorem 2",
    says="The bound (16) on beta can be made small by lowering lambda_u.",
    errata="AJ",
    claims=("cone-lambda",),
    true_for={"least": F(1, 10)},
)
def least_stability(least: F = F(1)) -> Instance:
    s, rho, K, c = 1, 1, 1, 2
    bound = 2 * s * least * (rho + K * c * least) + s**2 * least**2
    return Instance(
        f"s_max = 1, rho = 1, K = 1, c = 2 rho; lambda_l = {least} ≤ lambda_u: the least bound is that for lambda_u = "
        f"{least}",
        (Relation("some lambda_u ≥ lambda_l makes the bound at most 1", bound, "≤", 1),),
        (Relation("the least bound is 2 s_max (rho + sqrt(K) c) + s_max^2", bound, "=", 2 * s * (rho + K * c) + s**2),),
    )


@witness(
    "halfspace",
    place="cone, section 5",
    says="RankSVM is the special case of a cone that approaches a halfspace {z: <u, z> ≥ 0}.",
    errata="AL",
    claims=("cone-halfspace", "cone-halfspace-corrected"),
    true_for={"z": (F(2), F(0))},
)
def halfspace(z: Vector = (F(1, 2), F(0))) -> Instance:
    u, aside = (F(1), F(0)), (F(0), F(1))
    distance = min(F(0), dot(u, z)) ** 2
    hinge = max(F(0), 1 - dot(u, z))
    rest = minus(aside, (max(F(0), dot(u, aside)), F(0)))
    same = "the loss (2) of the halfspace, min(0, <u, z>)^2, is RankSVM's hinge max(0, 1 - <u, z>)"
    ray = "the cone with K = 1 is a ray, not a halfspace: the loss (2) of (0, 1) is 1 and not 0"
    return Instance(
        f"u = (1, 0), z = {listed(z)}",
        (Relation(same, distance, "=", hinge),),
        (
            Relation("a pair in the right order has no loss (2), but a hinge", hinge, ">", distance),
            Relation(ray, dot(rest, rest), "=", 1),
        ),
    )


@witness(
    "wider-cone",
    place="cone, sections 3.3 and 4",
    says="With sum w = 1, problem (18) prefers the smaller of two cones that contain the differences.",
    why="The simplex of the wider cone contains that of the narrower one, so that no difference is further from it.",
    errata="AY",
    claims=("cone-size", "cone-size-corrected"),
    true_for={"wide": (F(3, 5), F(4, 5))},
)
def wider_cone(wide: Vector = (F(4, 5), F(8, 5))) -> Instance:
    z = (F(4, 5), F(3, 5))

    def loss(corner: Vector) -> F:
        # The segment from (a, -b) to (a, b) at the difference z, whose second entry is at most b.
        return (F(z[0]) - corner[0]) ** 2

    return Instance(
        f"N = K = 2, rho = 1, c = 2; differences (4/5, 3/5) and (4/5, -3/5); the narrow cone has these as its basis, "
        f"the wide one {listed(wide)} and {listed((wide[0], -wide[1]))}",
        (Relation("the wide cone has the larger loss", loss(wide), ">", loss(z)),),
        (
            Relation("the basis vectors of the wide cone are allowed: ||u||^2 ≤ c^2", dot(wide, wide), "≤", 4),
            Relation("they are steeper than the differences", F(wide[1]) / wide[0], ">", F(z[1]) / z[0]),
        ),
    )

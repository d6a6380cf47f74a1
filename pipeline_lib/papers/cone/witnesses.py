"""On which smallest instances do printed statements of `cone` fail, in exact arithmetic?

A cone is {U w: w ≥ 0}; the basis vectors are the columns u_1, ..., u_K of U, here written as rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F
from itertools import combinations, product

from pipeline_lib.witnesses import Instance, Relation, exp, listed, witness

__all__: list[str] = []

Vector = tuple[F | int, ...]


def dot(a: Sequence[F | int], b: Sequence[F | int]) -> F:
    """The inner product."""
    return sum((F(x) * y for x, y in zip(a, b, strict=True)), F(0))


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return tuple(F(x) - y for x, y in zip(a, b, strict=True))


def coefficients(basis: tuple[Vector, Vector], z: Vector) -> tuple[F, F]:
    """The least-squares coefficients of z over two linearly independent vectors, by Cramer's rule."""
    (a, b), (_, c) = ([dot(u, v) for v in basis] for u in basis)
    p, q = (dot(u, z) for u in basis)
    return (p * c - b * q) / (a * c - b * b), (a * q - b * p) / (a * c - b * b)


# --- E: prediction ------------------------------------------------------------------------------------------------


@witness(
    "vote",
    place="cone, Algorithm 2",
    says="A document gets a point for every pair in which the sum of the coefficients favours it.",
    why="The sum of the least-squares coefficients is linear in z, so that a document's points are the number of "
    "documents of lower score. (They would not be if the majority of the signs decided.)",
    errata="E",
    claims=("cone-alg2-linear", "cone-alg2-linear-corrected"),
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
    return Instance(
        "u_1 = (1, 0), u_2 = (1, 1), documents (0, 0), (2, 1), (1, 3), (3, -1); the coefficients of (a, b) are (a - "
        f"b, b) and add up to a: the scores are {listed(scores)}",
        (Relation("a vote over all pairs of documents: points in all", sum(points), "=", 6),),
        (
            Relation(
                f"documents whose points in the vote, {listed(points)}, are not the number of documents of lower score",
                sum(a != b for a, b in zip(points, below, strict=True)),
                "=",
                0,
            ),
        ),
        valid=True,
    )


# --- V: projection ------------------------------------------------------------------------------------------------


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


# --- W: folding in ------------------------------------------------------------------------------------------------


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
    how = "projected onto the simplex" if projected else "divided by its sum"
    return Instance(
        "U = I, z = (1, 1/2), mu = 1/10, w = (3/4, 1/4), where the gradient (-1/2, -1/2) is constant, so that w is "
        f"the minimum over the simplex; the step leads to {listed(stepped)}, {how} {listed(after)}",
        (Relation("the objective after the step is at most that before it", objective(after), "≤", objective(best)),),
        (
            Relation(
                "the steps end at w = (2/3, 1/3), where w - mu gradient is a multiple of w",
                moved[0] * end[1],
                "=",
                moved[1] * end[0],
            ),
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
    mean = (objective(u, u) + objective(second, second)) / 2
    return Instance(
        f"N = 1, K = 2, z = 1: U = w = {listed(u)}, U = w = {listed(second)}, and their mean {listed(middle)}",
        (
            Relation(
                "(18) is convex, if not strictly: its value at the mean is at most",
                objective(middle, middle),
                "≤",
                mean,
            ),
        ),
        (
            Relation(
                "it is not convex in U and w together: the value exceeds the mean", objective(middle, middle), ">", mean
            ),
        ),
    )


# --- AI: proper cones ---------------------------------------------------------------------------------------------


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
    combinations_ = []
    for i in range(3):
        p, q = (u[j] for j in range(3) if j != i)
        determinant = F(p[0]) * q[1] - F(p[1]) * q[0]
        a = (F(u[i][0]) * q[1] - F(u[i][1]) * q[0]) / determinant
        b = (F(p[0]) * u[i][1] - F(p[1]) * u[i][0]) / determinant
        combinations_.append(min(a, b))
    return Instance(
        f"u_1 = (1, 0), u_2 = (-3/5, 4/5), u_3 = {listed(third)}, N = 2; 5/6 (u_2 + u_3) = {listed(z)}",
        (
            Relation(
                "the cone is pointed: the squared length of u_1 + 5/6 (u_2 + u_3) is positive",
                dot(minus(z, (-1, 0)), minus(z, (-1, 0))),
                ">",
                0,
            ),
        ),
        (
            Relation(
                "no u_k is a conic combination of the other two: the smaller coefficient is at most",
                max(combinations_),
                "<",
                0,
            ),
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


# --- AJ, AK: stability --------------------------------------------------------------------------------------------


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
    "beta-of-one-sample",
    place="cone, eq. (12) and Theorem 1",
    says="Theorem 1 holds with probability 1 - epsilon, for beta of (12), the supremum over queries for the sample "
    "at hand.",
    why="With K = 1 and ||w||_1 = 1, (18) minimises the mean of (z_i - u)^2: u is the mean of the sample.",
    errata="AK",
    claims=("cone-eq12", "cone-thm1"),
    true_for={"epsilon": F(1, 3)},
)
def beta_of_one_sample(epsilon: F = F(2, 5)) -> Instance:
    values, P, failing, uniform = (F(1), F(2)), 2, F(0), F(0)
    for sample in product(values, repeat=P):
        u = sum(sample, F(0)) / P
        beta = max(abs((z - u) ** 2 - (z - sample[1 - i]) ** 2) for z in values for i in range(P))
        uniform = max(uniform, beta)
        risk, training = (sum(((z - u) ** 2 for z in zs), F(0)) / 2 for zs in (values, sample))
        gamma = max((z - u) ** 2 for z in values)
        excess = risk - training - 2 * beta
        # (15) fails if excess > (4 P beta + gamma) sqrt(ln(1/epsilon)/(2 P)), which is ln(1/epsilon) < limit.
        limit = max(F(0), excess) ** 2 * 2 * P / (4 * P * beta + gamma) ** 2
        failing += F(1, 4) * Relation("", 1 / epsilon, "<", exp(limit, 6)).holds
    return Instance(
        f"N = K = 1, P = 2 queries of one pair each, z = 1 or 2 with probability 1/2, epsilon = {epsilon}: if z_1 = "
        "z_2, then u = z_1, beta = 0, the empirical risk is 0, the risk 1/2 and gamma = 1, so that (15) says 1/4 ≤ "
        "ln(1/epsilon)/4",
        (Relation("(15) fails with probability at most epsilon", failing, "≤", epsilon),),
        (
            Relation("ln(1/epsilon) < 1, because 1/epsilon < 1 + 1 + 1/2 + 1/6 < e", 1 / epsilon, "<", exp(1, 4)),
            Relation(
                "with the supremum of (12) over all samples, beta = 3/4, (15) holds: 1/2 ≤ 2 beta",
                F(1, 2),
                "≤",
                2 * uniform,
            ),
        ),
    )


# --- AL: halfspaces -----------------------------------------------------------------------------------------------


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
    to_ray = dot(minus(aside, (max(F(0), dot(u, aside)), F(0))), minus(aside, (max(F(0), dot(u, aside)), F(0))))
    return Instance(
        f"u = (1, 0), z = {listed(z)}",
        (
            Relation(
                "the loss (2) of the halfspace, min(0, <u, z>)^2, is RankSVM's hinge max(0, 1 - <u, z>)",
                distance,
                "=",
                hinge,
            ),
        ),
        (
            Relation("a pair in the right order has no loss (2), but a hinge", hinge, ">", distance),
            Relation(
                "the cone with K = 1 is a ray, not a halfspace: the loss (2) of (0, 1) is 1 and not 0", to_ray, "=", 1
            ),
        ),
    )


@witness(
    "lower-lambda",
    place="cone, section 3.4, bias and variance",
    says="Lowering lambda_u improves the stability.",
    why="u reaches the numbers from u to lambda_u u. With lambda_u = 2 and u = 1 these include both differences; with "
    "lambda_u = 1 the best u is the mean of the sample.",
    errata="AX",
    claims=("cone-tradeoff", "cone-tradeoff-corrected"),
    true_for={"high": F(1)},
)
def lower_lambda(high: F = F(2)) -> Instance:
    differences, P = (F(1), F(2)), 2

    def loss(z: F, u: F, largest: F) -> F:
        return max(u - z, z - largest * u, F(0)) ** 2

    def best(sample: Sequence[F], largest: F) -> F:
        # Of all u that are best: 1 for lambda_u = 2, where it has no loss, and the mean for lambda_u = 1.
        return F(1) if largest >= 2 else sum(sample, F(0)) / len(sample)

    def beta(largest: F) -> F:
        changes = []
        for sample in product(differences, repeat=P):
            u = best(sample, largest)
            for i in range(P):
                v = best(sample[:i] + sample[i + 1 :], largest)
                changes += [abs(loss(z, u, largest) - loss(z, v, largest)) for z in differences]
        return max(changes)

    one, mean = F(1), F(3, 2)
    return Instance(
        f"N = K = 1, P = 2 queries of one pair each, z = 1 or 2, lambda_l = 1, lambda_u = 1 instead of {high}",
        (Relation("beta, over all samples, is not larger with lambda_u = 1", beta(one), "≤", beta(high)),),
        (
            Relation(
                "with lambda_u = 2, u = 1 has no loss at 1 or 2", loss(one, one, F(2)) + loss(F(2), one, F(2)), "=", 0
            ),
            Relation(
                "with lambda_u = 1 the sample of both has a loss",
                loss(one, mean, one) + loss(F(2), mean, one),
                ">",
                0,
            ),
        ),
    )


# --- AY: the size of a cone ---------------------------------------------------------------------------------------


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


# --- AZ: margins --------------------------------------------------------------------------------------------------


@witness(
    "three-per-cent",
    place="cone, section 6.2 and Table 1",
    says="On MQ2008 ConeRank is within 3 % of the best method on both measures.",
    errata="AZ",
    claims=("cone-margins",),
    true_for={"cone": F(466, 1000)},
)
def three_per_cent(cone: F = F(464, 1000)) -> Instance:
    best, half = F(480, 1000), F(1, 2000)
    return Instance(
        f"Table 1, NDCG on MQ2008: best {best.numerator}/{best.denominator}, ConeRank-SG {cone}",
        (Relation("the difference is at most 3 % of the best", (best - cone) / best, "≤", F(3, 100)),),
        (
            Relation(
                "it is more, whatever was rounded to three digits",
                (best - half - (cone + half)) / (best - half),
                ">",
                F(3, 100),
            ),
            Relation("it is at most 3 points, hundredths of NDCG", best - cone, "≤", F(3, 100)),
        ),
    )

"""On which small instances do printed statements of `cone` on stability fail, exactly?

A cone is {U w: w ≥ 0}; the basis vectors are the columns u_1, ..., u_K of U, here written as rows.
"""

from collections.abc import Sequence
from fractions import Fraction as F
from itertools import product

from pipeline_lib.papers.witnesses import Instance, Relation, exp, witness

__all__: list[str] = []


@witness(
    "beta-of-one-sample",
    place="cone, eq. (12) and Theorem 1",
    says="Theorem 1 holds with probability 1 - epsilon, for beta of (12), the supremum over queries for the sample "
    "at hand.",
    why="With K = 1 and ||w||_1 = 1, (18) minimises the mean of (z_i - u)^2: u is the mean of the sample.",
    errata="AK",
    claims=("cone-thm1",),
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
    over_samples = "with the supremum of (12) over all samples, beta = 3/4, (15) holds: 1/2 ≤ 2 beta"
    return Instance(
        f"N = K = 1, P = 2 queries of one pair each, z = 1 or 2 with probability 1/2, epsilon = {epsilon}: if z_1 = "
        "z_2, then u = z_1, beta = 0, the empirical risk is 0, the risk 1/2 and gamma = 1, so that (15) says 1/4 ≤ "
        "ln(1/epsilon)/4",
        (Relation("(15) fails with probability at most epsilon", failing, "≤", epsilon),),
        (
            Relation("ln(1/epsilon) < 1, because 1/epsilon < 1 + 1 + 1/2 + 1/6 < e", 1 / epsilon, "<", exp(1, 4)),
            Relation(over_samples, F(1, 2), "≤", 2 * uniform),
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
    differences, P = (F(1), F(2)), 4

    def loss(z: F, u: F, largest: F) -> F:
        return max(u - z, z - largest * u, F(0)) ** 2

    def best(sample: Sequence[F], largest: F) -> F:
        # Both differences occur, so that no other u is as good: 1 has no loss for lambda_u = 2.
        return F(1) if largest >= 2 else sum(sample, F(0)) / len(sample)

    def beta(largest: F) -> F:
        sample = (*differences, *differences)
        u = best(sample, largest)
        left_out = (best(sample[:i] + sample[i + 1 :], largest) for i in range(P))
        return max(abs(loss(z, u, largest) - loss(z, v, largest)) for v in left_out for z in differences)

    one, mean, changed = F(1), F(3, 2), "the change of a loss without one query is not larger with lambda_u = 1"
    reached, missed = (loss(one, u, high) + loss(F(2), u, high) for u, high in ((one, F(2)), (mean, one)))
    return Instance(
        f"N = K = 1, P = 4 queries of one pair each, z = 1, 2, 1, 2, lambda_l = 1, lambda_u = 1 instead of {high}",
        (Relation(changed, beta(one), "≤", beta(high)),),
        (
            Relation("with lambda_u = 2, u = 1 has no loss at 1 or 2", reached, "=", 0),
            Relation("with lambda_u = 1 the sample of both has a loss", missed, ">", 0),
        ),
    )

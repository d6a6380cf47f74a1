"""On which lists of two documents do the constants that `lists` prints differ from the sharp ones, in exact arithmetic?

e lies between 5/2 and 3. Bounds that are printed with "at most" and are not sharp are called valid, with the sharp
value next to them.
"""

from collections.abc import Sequence
from fractions import Fraction as F
from itertools import product

from pipeline_lib.papers.witnesses import E, Instance, Relation, listed, witness

__all__: list[str] = []

Vector = Sequence[F | int]


def softmax_hessian(p: Vector) -> list[list[F]]:
    """diag(p) - p p', the second derivative of ListNet's loss, and of log of a sum of exponentials."""
    return [[F(a) * (int(i == j) - F(b)) for j, b in enumerate(p)] for i, a in enumerate(p)]


def to_l1(matrix: list[list[F]]) -> F:
    """The norm of a matrix from the maximum norm to l_1: the largest u' M v over signs u and v."""
    signs, places = list(product((-1, 1), repeat=len(matrix))), list(product(range(len(matrix)), repeat=2))
    return max(sum((u[i] * matrix[i][j] * v[j] for i, j in places), F(0)) for u, v in product(signs, signs))


@witness(
    "listnet-smoothness",
    place="lists, Proposition 1",
    says="The smoothness constant of ListNet with respect to the maximum norm is at most 2, its Lipschitz constant "
    "at most 2.",
    why="u' H v is a covariance of two variables in [-1, 1], which is at most 1.",
    errata="I",
    claims=("lists-prop1",),
    true_for={"p": (F(1), F(0))},
)
def listnet_smoothness(p: Vector = (F(1, 2), F(1, 2))) -> Instance:
    norm = to_l1(softmax_hessian(p))
    return Instance(
        f"m = 2, P(s) = {listed(p)}, H = diag(P) - P P'; for the Lipschitz constant labels (1, 0), so that P(y) = (e, "
        "1)/(e + 1), and 5/2 < e < 3",
        (
            Relation("the norm of H from the maximum norm to l_1 is at most 2", norm, "≤", 2),
            Relation("the supremum of ||P(s) - P(y)||_1 is at most 2", 2 - 2 / (1 + E), "≤", 2),
        ),
        (
            Relation("it reaches the largest covariance, 1", norm, "=", 1),
            Relation("the supremum is 2 - 2/(1 + (m - 1) e^y_max)", 2 - 2 / (1 + E), "<", 2),
        ),
        valid=True,
    )


@witness(
    "listnet-l2",
    place="lists, section 3.1",
    says="The Lipschitz constant of ListNet with respect to l_2 is also 2.",
    why="The gradient is the difference of two probability vectors p and q. Its squared length ||p||^2 + ||q||^2 - 2 "
    "p'q is at most 1 + 1 - 0.",
    errata="J",
    claims=("lists-listnet-l2", "lists-listnet-l2-corrected"),
    true_for={"q": (-1, 0)},
)
def listnet_l2(q: Vector = (0, 1)) -> Instance:
    p = (1, 0)
    squared = sum((F(a) - b) ** 2 for a, b in zip(p, q, strict=True))
    return Instance(
        f"m = 2, the most distant p = (1, 0), q = {listed(q)}, to which P(s) and P(y) can come as near as desired",
        (Relation("the squared distance is 2^2", squared, "=", 4),),
        (Relation("it is at most sqrt(2)^2", squared, "≤", 2),),
    )


@witness(
    "smooth-dcg-constant",
    place="lists, Proposition 2",
    says="The Lipschitz constant of SmoothDCG with respect to the maximum norm is at most 2 D(1) G(Y_max)/sigma.",
    errata="N",
    claims=("lists-prop2",),
    true_for={"p": F(1, 4)},
)
def smooth_dcg_constant(p: F = F(1, 2)) -> Instance:

    def norm(q: F) -> F:
        return sum(map(abs, softmax_hessian((q, 1 - q))[0]), F(0))

    return Instance(
        f"m = 2, labels (1, 0), sigma = 1, softmax p = ({p}, {1 - p}): the gradient is p_1 p_2 (1, -1) = "
        f"{listed([p * (1 - p), -p * (1 - p)])}",
        (Relation("its l_1 norm is at most 2 D(1) G(Y_max)/sigma", norm(p), "≤", 2),),
        (
            Relation("it reaches D(1) G(Y_max)/(2 sigma), a quarter of it", norm(p), "=", F(1, 2)),
            Relation(
                "which it does not exceed for p_1 = 0, 1/8, ..., 1", max(norm(F(k, 8)) for k in range(9)), "≤", F(1, 2)
            ),
        ),
        valid=True,
    )


@witness(
    "smooth-dcg-l2",
    place="lists, section 3.2",
    says="The constant G^CW of SmoothDCG with respect to l_2 is the same as that with respect to the maximum norm.",
    errata="N",
    claims=("lists-smoothdcg-l2", "lists-smoothdcg-l2-corrected"),
    true_for={"p": F(1)},
)
def smooth_dcg_l2(p: F = F(1, 2)) -> Instance:
    a = p * (1 - p)
    return Instance(
        f"m = 2, labels (1, 0), sigma = 1, softmax ({p}, {1 - p}): the gradient is {listed((a, -a))}, the longest of "
        "all in both norms",
        (Relation("the squared norms in l_2 and l_1 are the same", 2 * a**2, "=", (2 * a) ** 2),),
        (
            Relation("twice the squared norm in l_2 is that in l_1", 2 * (2 * a**2), "=", (2 * a) ** 2),
            Relation("and the norm in l_1 is the largest, 1/2", 2 * a, "=", F(1, 2)),
        ),
    )

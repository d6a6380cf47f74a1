"""On which small instance is the printed regret of gradient descent not sharp, in exact arithmetic?"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Instance, Relation, witness

__all__: list[str] = []


@witness(
    "descent-factor",
    place="lists, sections 5 and 8.3",
    says="The regret of gradient descent is at most W_2^2/(2 eta) + eta n G^2.",
    errata="Q",
    claims=("lists-thm5", "lists-eq8"),
    true_for={"eta": F(2)},
)
def descent_factor(eta: F = F(1)) -> Instance:
    W, G, w, u = 1, 1, 0, -1
    regret = F(G * w - G * u)
    return Instance(
        f"n = 1, f_1(w) = w, G = W_2 = 1, w_1 = 0, eta = {eta}, against w = -1",
        (Relation("the regret is at most W_2^2/(2 eta) + eta G^2", regret, "≤", F(W**2) / (2 * eta) + eta * G**2),),
        (Relation("it is W_2^2/(2 eta) + (eta/2) G^2", regret, "=", F(W**2) / (2 * eta) + eta * G**2 / 2),),
        valid=True,
    )

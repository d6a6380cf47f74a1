"""On which small instances do printed statements of `slam` on its perceptron fail, in exact arithmetic?"""

from fractions import Fraction as F

from pipeline_lib.papers.slam.exact import average_precision, hinge, play
from pipeline_lib.papers.witnesses import Instance, Relation, listed, log2, witness

__all__: list[str] = []


@witness(
    "step-size",
    place="slam, section 5",
    says="The predictions of Algorithm 1 do not depend on eta > 0.",
    errata="A",
    claims=("slam-eta-free",),
    true_for={"steps": (F(1), F(1, 2))},
)
def step_size(steps: tuple[F, F] = (F(1), F(1, 10))) -> Instance:
    rounds = [
        ([(0, 0), (2, 0)], (0, 1)),  # a mistake: w = 0 leaves the order as listed; w becomes eta (1, 0)
        ([(-1, 4), (2, -12), (0, 0)], (1, 1, 0)),  # the first is misordered, the second 2 eta above the third
        ([(0, 1), (0, 0)], (1, 0)),
    ]
    lead = {
        misordered: [scores[0] - scores[1] for scores in (play(rounds, step, misordered)[2] for step in steps)]
        for misordered in (False, True)
    }
    first, second = lead[False]
    words = (
        "three rounds with X_1 = ((0, 0), (2, 0)), R_1 = (0, 1); X_2 = ((-1, 4), (2, -12), (0, 0)), R_2 = (1, 1, 0); "
        f"X_3 = ((0, 1), (0, 0)); MAP; eta = {steps[0]} and {steps[1]}. In round 2 the second document is active if 2 "
        "eta < 1"
    )
    same = "the product of the two leads s_1 - s_2 of document 1 in round 3 is positive"
    return Instance(
        words,
        (Relation(f"the order is the same for both eta: {same}", first * second, ">", 0),),
        (Relation(f"it is if only misordered documents are active: {same}", lead[True][0] * lead[True][1], ">", 0),),
    )


@witness(
    "unit-step",
    place="slam, section 5.1, before Theorem 5",
    says="The bound of Theorem 5 holds for Algorithm 1 with eta = 1 as well.",
    why="In round 1, where w = 0, the irrelevant document 1 stands first, as listed. While the score of document 2 "
    "is less than 1, both hinges are active, and every round adds r (1/12, 5/36) to w: after t rounds the scores "
    "are t r^2 (0, 7/54, -1/27), the ranking is 2, 1, 3, and the loss 1/6. This lasts for 54/(7 r^2) rounds, "
    "which a bound without R_X cannot allow.",
    errata="A",
    claims=("slam-thm5-eta1",),
    true_for={"r": F(1)},
)
def unit_step(r: F = F(1, 20), T: int = 1200) -> Instance:
    X, y = [(F(0), F(0)), (r, r / 3), (-r, r / 3)], (0, 1, 1)

    def loss(step: F) -> F:
        total = F(0)
        for s in play([(X, y)] * T, step, misordered=False):
            ranking = sorted(range(3), key=lambda i: -s[i])
            total += 1 - average_precision([(i - 1) % 3 for i in ranking], 2)
        return total

    R_squared, v_max = r**2 + (r / 3) ** 2, F(3, 2)
    bound = 4 * (3 / r) ** 2 * 3 * R_squared * v_max
    return Instance(
        f"T = {T} rounds with x_1 = (0, 0), x_2 = r (1, 1/3), x_3 = r (-1, 1/3), r = {r}, R = (0, 1, 1), MAP, v = "
        "(1/4, 1/6) for documents 2 and 3; u = (0, 3/r) has scores (0, 1, 1) and f_t(u) = 0, R_X^2 = 10 r^2/9, v_max "
        "= 3/2, and the bound (18) is 4 ||u||^2 m R_X^2 v_max = 180",
        (Relation("with eta = 1, the sum of the losses is at most 180", loss(F(1)), "≤", bound),),
        (Relation("it is with eta = 1/(4 m R_X^2 v_max)", loss(1 / (12 * R_squared * v_max)), "≤", bound),),
    )


@witness(
    "ties",
    place="slam, section 5 and section 7.4",
    says="A loss other than 0 means that some document of lower label has a strictly greater score, and c > 1 there.",
    errata="AP",
    claims=("slam-prop4", "slam-mistakes-corrected"),
    true_for={"s": (1, 0)},
)
def ties(s: tuple[int, int] = (0, 0)) -> Instance:
    ranking = (0, 1) if s[0] >= s[1] else (1, 0)  # ties are ranked as listed, here the irrelevant document first
    relevant_first = ranking[0] == 1
    loss = 0 if relevant_first else F(1, 2)
    c = max(0, 1 + s[0] - s[1])
    return Instance(
        f"R = (0, 1), s = {listed(s)}{', as in round 1, where w = 0' if s == (0, 0) else ''}: 1 - MAP = {loss}",
        (Relation("where the loss is not 0, the hinge c = max(0, 1 + s_1 - s_2) exceeds 1", c, ">", 1),),
        (
            Relation("it is at least 1, which is enough for (16)", c, "≥", 1),
            Relation("the loss is not 0", loss, ">", 0),
            Relation("the scores are equal", s[0], "=", s[1]),
        ),
    )


@witness(
    "factor-m",
    place="slam, section 7.4",
    says="||z|| ≤ 2 R_X and ||z|| ≤ 2 R_X m v_max phi give ||z||^2 ≤ 4 m R_X^2 m v_max phi.",
    errata="L",
    claims=("slam-prop4",),
    true_for={"m": 1},
)
def factor_m(m: int = 2) -> Instance:
    R, v_max, phi = 1, 1, F(3, 2)
    product_ = 2 * R * (2 * R * m * v_max * phi)
    return Instance(
        f"m = {m}, R_X = 1, v_max = 1, phi = 3/2",
        (Relation("the product is 4 m R_X^2 m v_max phi", product_, "=", 4 * m * R**2 * m * v_max * phi),),
        (Relation("it is 4 m R_X^2 v_max phi, as in (16)", product_, "=", 4 * m * R**2 * v_max * phi),),
    )


@witness(
    "variance-of-k",
    place="slam, after Corollary 7",
    says="v_max = O(log k), thus the variance term 4 ||u||^2 k R_X^2 v_max is O(k).",
    errata="AD",
    claims=("slam-variance-k", "slam-vmax-k"),
    true_for={"k": 7},
)
def variance_of_k(k: int = 15, c: int = 3) -> Instance:
    v_max = log2(k + 1, 1).low  # k + 1 is a power of 2
    return Instance(
        f"k = {k} documents of equal label among others: v_max = D(1)/D(k) = log2({k + 1}) = {v_max}; the constant of "
        f"O is {c} (for any c, k = 2^(c + 1) - 1 does it)",
        (Relation("k v_max ≤ c k", k * v_max, "≤", c * k),),
        (Relation("k v_max = k log2(k + 1), which is O(k log k)", k * v_max, "=", k * ((k + 1).bit_length() - 1)),),
    )


@witness(
    "margin-attained",
    place="slam, section 7.6",
    says="Divided by the margin gamma, the scores of u* are more than 1 apart wherever labels differ.",
    errata="AT",
    claims=("slam-cor6",),
    true_for={"share": F(1, 2)},
)
def margin_attained(share: F = F(1)) -> Instance:
    scores, gamma = (F(1, 2), F(-1, 2)), share
    lead = (scores[0] - scores[1]) / gamma
    return Instance(
        f"X = (1/2, -1/2)', R = (1, 0), u* = 1, gamma = {gamma}{', the largest margin' if share == 1 else ''}",
        (Relation("s_1 - s_2 is more than 1 for u = u*/gamma", lead, ">", 1),),
        (
            Relation("it is at least 1", lead, "≥", 1),
            Relation("so that f_t(u) = 0", hinge([score / gamma for score in scores], (1, 0), 0), "=", 0),
        ),
    )


@witness(
    "truncated-weights",
    place="slam, section 7.10",
    says="For a document i' with a less relevant one above it, sum v_i ≤ k v_max v_i' c_i', with the weights (31).",
    errata="BG",
    claims=("slam-cor7", "slam-prop4"),
    true_for={"chosen": 1},
)
def truncated_weights(chosen: int = 2) -> Instance:
    k, labels, v, scores = 1, (1, 1, 0), (F(1), F(0), F(0)), (1, 0, 2)
    v_max = F(1)  # only one weight is positive

    def right(i: int) -> F:
        return k * v_max * v[i - 1] * hinge(scores, labels, i - 1)

    return Instance(
        f"k = 1, R = {listed(labels)}, v = {listed(v)}, s = {listed(scores)}: document 3 is above both others, and 1 - "
        f"NDCG@1 = 1; i' = {chosen}",
        (Relation("sum v_i ≤ k v_max v_i' c_i'", sum(v, F(0)), "≤", right(chosen)),),
        (Relation("it is with i' = 1, one of the first k", sum(v, F(0)), "≤", right(1)),),
    )

"""On which smallest instances do printed statements of `slam` fail, in exact arithmetic?

Documents are listed in the order of their labels, the most relevant first, unless an instance says otherwise. D(2) =
1/log2(3) is enclosed by 2^19 < 3^12 and 3^5 < 2^8, which give 5/8 < D(2) < 12/19.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction as F
from itertools import permutations, product

from pipeline_lib.witnesses import D2, Instance, Number, Relation, listed, log2, witness

__all__: list[str] = []

Rows = Sequence[Sequence[F | int]]


def discount(rank: int) -> Number:
    """D(rank) = 1/log2(rank + 1); rational for ranks 1, 3, 7, ..."""
    log = log2(rank + 1, 12)
    if log.low == log.high:
        return 1 / log.low
    return D2 if rank == 2 else 1 / log


def map_weights(m: int, r: int) -> list[F]:
    """v^MAP of eq. (6) for r relevant documents of m."""
    return [F(1, r) - F(i, r * (m - r + i)) for i in range(1, r + 1)] + [F(0)] * (m - r)


def average_precision(ranking: Sequence[int], r: int) -> F:
    """AP of a ranking of documents of which those below r are relevant."""
    relevant = [rank for rank, document in enumerate(ranking, 1) if document < r]
    return sum((F(i, rank) for i, rank in enumerate(relevant, 1)), F(0)) / r


def hinge(scores: Sequence[F | int], labels: Sequence[int], i: int) -> F:
    """max(0, max over less relevant j of 1 + s_j - s_i), as in eq. (5)."""
    return max([F(0), *(1 + F(s) - scores[i] for s, y in zip(scores, labels, strict=True) if y < labels[i])])


# --- A, AB: the perceptron of section 5 ---------------------------------------------------------------------------


def play(rounds: Sequence[tuple[Rows, Sequence[int]]], step: F, misordered: bool) -> list[list[F]]:
    """The scores that Algorithm 1 gives in every round, for MAP; ties are ranked as listed.

    The active documents are those with a positive hinge or, if ``misordered``, those ranked below a less relevant one.
    """
    w, played = [F(0)] * len(rounds[0][0][0]), []
    for X, y in rounds:
        s = [sum((F(a) * b for a, b in zip(x, w, strict=True)), F(0)) for x in X]
        played.append(s)
        ranking = sorted(range(len(y)), key=lambda i: -s[i])
        if [y[i] for i in ranking] == sorted(y, reverse=True):
            continue
        positions = sorted(range(len(y)), key=lambda i: -y[i])
        v = dict(zip(positions, map_weights(len(y), sum(y)), strict=True))
        for i in (i for i in positions if y[i]):
            k = max((j for j in range(len(y)) if y[j] < y[i]), key=lambda j: s[j])
            if (s[k] >= s[i]) if misordered else (1 + s[k] > s[i]):
                w = [a - step * v[i] * (F(b) - c) for a, b, c in zip(w, X[k], X[i], strict=True)]
    return played


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
    "prediction",
    place="slam, section 5, Pred_t",
    says="Pred_t = sort(-eta sum over mistakes i < t of X_i z_i).",
    errata="AB",
    claims=("slam-prediction", "slam-prediction-corrected"),
    true_for={"second": (0, 2)},
)
def prediction(second: tuple[int, int] = (1, 0)) -> Instance:
    first = (0, 2)
    played = play([([(x,) for x in first], (0, 1)), ([(x,) for x in second], (1, 0))], F(1), misordered=False)[1]
    z = -F(1, 2) * (first[1] - first[0])
    printed = [-x * z for x in first]
    return Instance(
        f"X_1 = {listed(first)}', R_1 = (0, 1), X_2 = {listed(second)}', eta = 1, MAP: w_2 = -z_1 = {-z}",
        (Relation("s_1 - s_2 in round 2 is that of -X_1 z_1", played[0] - played[1], "=", printed[0] - printed[1]),),
        (Relation("it is that of -X_2 z_1", played[0] - played[1], "=", -z * (second[0] - second[1])),),
    )


@witness(
    "ties",
    place="slam, section 5 and section 7.4",
    says="A loss other than 0 means that some document of lower label has a strictly greater score, and c > 1 there.",
    errata="AP",
    claims=("slam-prop4", "slam-mistakes", "slam-mistakes-corrected"),
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


# --- B: linear maps that commute with permutations of the documents -----------------------------------------------


@witness(
    "linear-maps",
    place="slam, section 6, before and after Theorem 10",
    says="Linear maps f of m x d matrices to m scores with f(PX) = P f(X) form a space of dimension at most d.",
    why="The equation says that coefficients of f that a permutation takes into each other are equal: the dimension "
    "is the number of classes of such coefficients.",
    errata="B",
    claims=("slam-thm10", "slam-thm10-scores", "lists-thm3"),
    true_for={"m": 1},
)
def linear_maps(m: int = 2, d: int = 1) -> Instance:
    documents, features = range(m), range(d)
    moves = list(permutations(documents))
    to_scores = {
        frozenset((p[i], p[j], k) for p in moves) for i in documents for j in documents for k in features
    }  # the coefficient of X_jk in score i
    to_number = {frozenset((p[j], k) for p in moves) for j in documents for k in features}
    return Instance(
        f"m = {m}, d = {d}: f(X) = X w + (1'X v) 1 commutes with permutations for all numbers w, v",
        (Relation("the dimension of maps to scores is at most d", len(to_scores), "≤", d),),
        (
            Relation("it is 2 d", len(to_scores), "=", 2 * d),
            Relation("for maps to one number, f(PX) = f(X), it is at most d", len(to_number), "≤", d),
        ),
    )


# --- H, AE: norms of gradients ------------------------------------------------------------------------------------


@witness(
    "ranksvm-norm",
    place="slam, section 7.9",
    says="The l_1 norm of RankSVM's gradient is at most 2 m.",
    errata="H",
    claims=("slam-ranksvm", "slam-ranksvm-corrected"),
    true_for={"m": 4},
)
def ranksvm_norm(m: int = 5, r: int = 2) -> Instance:
    gradient = [0] * m
    for i, j in product(range(r), range(r, m)):
        gradient[i], gradient[j] = gradient[i] - 1, gradient[j] + 1
    norm = sum(map(abs, gradient))
    return Instance(
        f"m = {m}, {r} relevant documents, s = 0, where all {r * (m - r)} hinges are active: the gradient is "
        f"{listed(gradient)}",
        (Relation("the norm is at most 2 m", norm, "≤", 2 * m),),
        (Relation("it is 2 r (m - r)", norm, "=", 2 * r * (m - r)),),
    )


@witness(
    "normalised-features",
    place="slam, section 6.1",
    says="If the dependence on m is removed by normalisation, the loss of Chapelle, Le and Smola does not remain a "
    "bound on 1 - NDCG.",
    why="The loss is max(0, max over rankings p of 1 - NDCG(p) + <s, A(p) - A(p_R)>), with A(p)_i = m - rank of "
    "document i. With two documents, 1 - NDCG is 0 for the right order and 1 - D(2) for the wrong one, and A "
    "differs by (-1, 1).",
    errata="AE",
    claims=("slam-normalisation",),
    true_for={"whole": True},
)
def normalised_features(whole: bool = False) -> Instance:
    wrong = 1 - D2
    least = wrong / 2 - wrong if whole else F(0)  # at t = 0: [1 - D(2)] - [1 - D(2)]
    said = "the least difference of the loss and 1 - NDCG, at t = 0"
    return Instance(
        "m = 2, R = (1, 0), s_2 - s_1 = t ≥ 0, so that document 2 is ranked first and 1 - NDCG = 1 - D(2); with "
        f"{'the whole loss' if whole else 'A'} divided by m^2/2 = 2, the loss is "
        f"{'(1 - D(2) + t)/2' if whole else '1 - D(2) + t/2'}",
        (Relation(f"{said}, is negative", least, "<", 0),),
        (
            Relation("it is never negative", least, "≥", 0),
            Relation("the norm of the gradient, |-1/2| + |1/2|, is at most 1", F(1, 2) + F(1, 2), "≤", 1),
        ),
    )


# --- K, L, M: weights ---------------------------------------------------------------------------------------------


@witness(
    "smallest-weights",
    place="slam, eq. (8)",
    says="v^MAP lies below every weight vector v whose surrogate bounds 1 - AP.",
    why="On the scores of a given ranking, the smallest value of the surrogate is the sum of v_i over the relevant "
    "documents below an irrelevant one: their hinges are 1 in the limit, the others can be 0.",
    errata="K",
    claims=("slam-eq8", "slam-thm2-tight"),
    true_for={"v": (F(1, 4), F(1, 6))},
)
def smallest_weights(v: tuple[F, F] = (F(1, 6), F(1, 4))) -> Instance:
    least = min(
        sum((v[i] for i in (0, 1) if p.index(2) < p.index(i)), F(0)) - (1 - average_precision(p, 2))
        for p in permutations(range(3))
    )
    optimal = map_weights(3, 2)
    return Instance(
        f"R = (1, 1, 0), v = ({v[0]}, {v[1]}, 0), v^MAP = (1/4, 1/6, 0); the losses are 5/12 for the ranking 3, 1, 2 "
        "or 3, 2, 1, and 1/6 for 1, 3, 2 or 2, 3, 1",
        (
            Relation("v^MAP_1 ≤ v_1", optimal[0], "≤", v[0]),
            Relation("v^MAP_2 ≤ v_2", optimal[1], "≤", v[1]),
        ),
        (
            Relation("the surrogate with v bounds 1 - AP: the least difference over all six rankings", least, "≥", 0),
            Relation("no valid v lies below v^MAP, because v_1 + v_2 ≥ 5/12", sum(v), "≥", sum(optimal)),
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
    "positions-by-score",
    place="slam, proofs of Theorem 3 and Corollary 7",
    says="The loss is convex, although documents of equal label exchange their positions with their scores.",
    errata="M",
    claims=("slam-lemma1",),
    true_for={"by_score": False},
)
def positions_by_score(by_score: bool = True) -> Instance:
    v = map_weights(3, 2)

    def loss(scores: tuple[int, int, int], exchanged: bool) -> F:
        hinges = [hinge(scores, (1, 1, 0), i) for i in (0, 1)]
        first = int(exchanged and scores[1] > scores[0])
        return v[0] * hinges[first] + v[1] * hinges[1 - first]

    ends, middle = ((-1, -3, 0), (-3, -1, 0)), (-2, -2, 0)
    means = {how: sum((loss(s, how) for s in ends), F(0)) / 2 for how in (by_score, False)}
    return Instance(
        "R = (1, 1, 0), v^MAP = (1/4, 1/6, 0), scores (-1, -3, 0), (-3, -1, 0) and their mean (-2, -2, 0), with "
        "hinges (2, 4), (4, 2) and (3, 3); the greater weight goes to "
        f"{'the greater score' if by_score else 'document 1'}",
        (
            Relation(
                "the loss of the mean is at most the mean of the losses", loss(middle, by_score), "≤", means[by_score]
            ),
        ),
        (Relation("with fixed positions it is", loss(middle, False), "≤", means[False]),),
    )


# --- P, AC, AD: NDCG ----------------------------------------------------------------------------------------------


@witness(
    "ndcg-at-k",
    place="slam, eq. (30)",
    says="NDCG@k is the sum over the first k documents of the list, by label.",
    errata="P",
    claims=("slam-eq30", "slam-cor7-weights"),
    true_for={"s": (1, 0)},
)
def ndcg_at_k(s: tuple[int, int] = (0, 1)) -> Instance:
    rank = 1 if s[0] > s[1] else 2
    return Instance(
        f"R = (1, 0), s = {listed(s)}, k = 1, so that Z_1 = 1: document 1 has rank {rank}",
        (
            Relation(
                "the gain of the k documents shown first is (30), the sum over document 1",
                int(rank == 1),
                "=",
                discount(rank),
            ),
        ),
        (Relation("it is the sum over rank 1", int(rank == 1), "=", int(rank <= 1) * discount(1)),),
    )


@witness(
    "ndcg-at-k-as-listed",
    place="slam, eqs. (30) and (31) without the assumption on equal labels",
    says="With weights (31), the surrogate bounds 1 - (30), in whatever order equal labels are listed.",
    errata="P",
    claims=("slam-eq30", "slam-cor7-weights"),
    true_for={"s": (1, 0)},
)
def ndcg_at_k_as_listed(s: tuple[int, int] = (0, 1)) -> Instance:
    rank, best = (1 if s[0] >= s[1] else 2), 1
    return Instance(
        f"R = (1, 1), s = {listed(s)}, k = 1: no document is less relevant, so that the surrogate is 0; document 1 "
        f"has rank {rank}",
        (Relation("the surrogate is at least 1 - (30)", 0, "≥", 1 - discount(rank)),),
        (Relation("it is, if s_i ≥ s_j wherever R_i = R_j and i < j", 0, "≥", 1 - discount(best)),),
    )


@witness(
    "margin",
    place="slam, section 7.3, the loss in the proof",
    says="phi = sum of v_i max over j of (1 (R_i - R_j) + s_j - s_i).",
    errata="AC",
    claims=("slam-thm3",),
    true_for={"label": 1},
)
def margin(label: int = 2) -> Instance:
    return Instance(
        f"R = ({label}, 0), s = (0, 0), v^NDCG_1 = 1 - D(2)",
        (Relation("phi/v_1, by (5), is the margin R_1 - R_2", hinge((0, 0), (label, 0), 0), "=", label),),
        (Relation("phi/v_1 is the margin 1", hinge((0, 0), (label, 0), 0), "=", 1),),
    )


@witness(
    "active-documents",
    place="slam, section 7.3, last step",
    says="phi is at least the sum of v_i over all i with a positive hinge.",
    errata="AC",
    claims=("slam-thm3",),
    true_for={"s": (0, 0)},
)
def active_documents(s: tuple[F | int, int] = (F(1, 2), 0)) -> Instance:
    value = hinge(s, (1, 0), 0)
    misordered = int(s[1] >= s[0])
    return Instance(
        f"R = (1, 0), s = {listed(s)}: the hinge of document 1 is {value}",
        (Relation("phi/v_1 ≥ 1, because the hinge is positive", value, "≥", int(value > 0)),),
        (
            Relation(
                "phi/v_1 ≥ 1 if a less relevant document scores at least as much, and ≥ 0 otherwise",
                value,
                "≥",
                misordered,
            ),
        ),
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


# --- AS, AT: steps of proofs in the appendix ------------------------------------------------------------------------


@witness(
    "exchanges",
    place="slam, section 7.3",
    says="1 - NDCG is largest when the active documents are exchanged with the last ones, in turn.",
    errata="AS",
    claims=("slam-thm3-exchanges", "slam-thm3-exchanges-corrected"),
    true_for={"ranking": (0, 2, 1)},
)
def exchanges(ranking: tuple[int, int, int] = (2, 0, 1)) -> Instance:
    gains = (1, 1, 0)
    active = [i for i in (1, 0) if ranking.index(2) < ranking.index(i)]  # i_1 > i_2 > ...

    def summed(pairs: Iterable[tuple[int, int]]) -> Counter[int]:
        """How often D(1), D(2) and D(3) occur in a sum of differences D(a) - D(b)."""
        times: Counter[int] = Counter()
        for a, b in pairs:
            times.update({a: 1})
            times.subtract({b: 1})
        return times

    def over(value: Counter[int]) -> Number:
        left = Counter(loss)
        left.subtract(value)
        return sum((discount(rank) * times for rank, times in left.items() if times), F(0))

    loss = summed((i + 1, ranking.index(i) + 1) for i in (0, 1))
    printed = summed((i + 1, 3 - number) for number, i in enumerate(active) if gains[i] > gains[2 - number])
    weights = summed((i + 1, 3) for i in active)
    shown = ", ".join(str(i + 1) for i in ranking)
    return Instance(
        f"R = (1, 1, 0), Z = 1 + D(2), the ranking {shown}; active are {listed([i + 1 for i in active])}: "
        "document 2 would be exchanged with 3, and 1 with 2, which has the same label",
        (Relation("Z (1 - NDCG) less Z times the value after these exchanges", over(printed), "≤", 0),),
        (Relation("Z (1 - NDCG) less Z times the sum of their weights v^NDCG", over(weights), "≤", 0),),
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

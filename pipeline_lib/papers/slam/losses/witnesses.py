"""On which small instances do printed statements of `slam` on losses and weights fail, in exact arithmetic?"""

from fractions import Fraction as F
from itertools import permutations, product

from pipeline_lib.papers.slam.exact import average_precision, discount, hinge, map_weights
from pipeline_lib.papers.witnesses import D2, Instance, Relation, listed, witness

__all__: list[str] = []


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
        (Relation("v^MAP_1 ≤ v_1", optimal[0], "≤", v[0]), Relation("v^MAP_2 ≤ v_2", optimal[1], "≤", v[1])),
        (
            Relation("the surrogate with v bounds 1 - AP: the least difference over all six rankings", least, "≥", 0),
            Relation("no valid v lies below v^MAP, because v_1 + v_2 ≥ 5/12", sum(v), "≥", sum(optimal)),
        ),
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
    said = "the loss of the mean is at most the mean of the losses"
    return Instance(
        "R = (1, 1, 0), v^MAP = (1/4, 1/6, 0), scores (-1, -3, 0), (-3, -1, 0) and their mean (-2, -2, 0), with "
        "hinges (2, 4), (4, 2) and (3, 3); the greater weight goes to "
        f"{'the greater score' if by_score else 'document 1'}",
        (Relation(said, loss(middle, by_score), "≤", means[by_score]),),
        (Relation("with fixed positions it is", loss(middle, False), "≤", means[False]),),
    )


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
    said = "the gain of the k documents shown first is (30), the sum over document 1"
    return Instance(
        f"R = (1, 0), s = {listed(s)}, k = 1, so that Z_1 = 1: document 1 has rank {rank}",
        (Relation(said, int(rank == 1), "=", discount(rank)),),
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
    said = "phi/v_1 ≥ 1 if a less relevant document scores at least as much, and ≥ 0 otherwise"
    return Instance(
        f"R = (1, 0), s = {listed(s)}: the hinge of document 1 is {value}",
        (Relation("phi/v_1 ≥ 1, because the hinge is positive", value, "≥", int(value > 0)),),
        (Relation(said, value, "≥", misordered),),
    )

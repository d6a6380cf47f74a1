"""On which small instances do printed sentences on the surrogates fail, exactly?"""

from fractions import Fraction as F

from pipeline_lib.papers.topk.exact import first, shown
from pipeline_lib.papers.witnesses import D2, Instance, Number, Relation, witness

__all__: list[str] = []


def relative_variances(relevant: int, gamma: F) -> tuple[F, F]:
    """Of RankSVM from two labels and the squared loss from one: m = 3, one relevant document, orthonormal features."""
    m, tops = 3, shown(3, gamma)
    others = [other for other in range(1, m + 1) if other != relevant]
    pairs = [sum(p for order, p in tops.items() if set(order[:2]) == {relevant, other}) for other in others]
    ranksvm: F = sum((2 / F(p) for p in pairs), F(0)) / ((m - 1) ** 2 + (m - 1)) - 1
    return ranksvm, 1 / first(m, gamma)[relevant] - 1


@witness(
    "noise-of-pairs",
    place="topk, section 6, RankSVM",
    says="The estimator of RankSVM's gradient, from two labels, has a lower variance than that of the squared loss.",
    why="The gradients at w = 0 are -2 R and the sum over j of e_j - e_i for the relevant document i, with squared "
    "lengths 4 and (m - 1)^2 + (m - 1). The estimates have one term for every set of documents that may be shown, "
    "divided by its probability, so that E||z||^2 is the sum of the squared lengths of terms, each "
    "divided by its probability.",
    errata="AV",
    claims=("topk-variance", "topk-variance-losses"),
    true_for={"relevant": 3},
)
def noise_of_pairs(relevant: int = 1, gamma: F = F(1, 3)) -> Instance:
    ranksvm, squared = relative_variances(relevant, gamma)
    other = relative_variances(4 - relevant, gamma)
    return Instance(
        f"m = 3, orthonormal documents, w = 0, scores that put them in the order 1, 2, 3, gamma = {gamma}; document "
        f"{relevant} is relevant, R = 1; variances E ||z||^2 - ||E z||^2 are divided by ||E z||^2",
        (Relation("RankSVM's is less than that of the squared loss", ranksvm, "<", squared),),
        (Relation(f"it is if document {4 - relevant} is relevant instead", other[0], "<", other[1]),),
    )


@witness(
    "sum-over-documents",
    place="topk, section 6, KL",
    says="The KL loss is listwise in nature: it takes the scores of several documents together.",
    why="Apart from terms that are linear in the scores, the KL loss is e^(s_1) + ... + e^(s_m), and ListNet's is the "
    "logarithm of this sum. e^(s_i) is 1 or 2 here.",
    errata="AW",
    claims=("topk-kl-listwise", "topk-kl-listwise-corrected"),
    true_for={"normalised": True},
)
def sum_over_documents(normalised: bool = False) -> Instance:
    totals = {(a, b): F(a + b) for a in (1, 2) for b in (1, 2)}
    raised, mixed = totals[2, 2] + totals[1, 1], totals[2, 1] + totals[1, 2]
    if normalised:  # the second difference of a logarithm is 0 if and only if the products agree
        raised, mixed = totals[2, 2] * totals[1, 1], totals[2, 1] * totals[1, 2]
    return Instance(
        "m = 2, scores 0 or log 2; the second difference of "
        + ("the logarithm of e^(s_1) + e^(s_2)" if normalised else "e^(s_1) + e^(s_2)")
        + " in both scores",
        (Relation("it is not 0", raised, "≠", mixed),),
        (
            Relation(
                "that of e^(s_1) + e^(s_2) is 0: KL is a sum over documents",
                totals[2, 2] - totals[2, 1] - totals[1, 2] + totals[1, 1],
                "=",
                0,
            ),
            Relation(
                "that of its logarithm is not: 4 * 2 and 3 * 3 differ",
                totals[2, 2] * totals[1, 1],
                "≠",
                totals[2, 1] * totals[1, 2],
            ),
        ),
    )


@witness(
    "order-of-labels",
    place="topk, section 1 and Theorem 5.1",
    says="The minimiser of the squared loss against the labels, E[R], sorts documents as E[G/Z] does.",
    why="The law is the second one of Table 1.",
    claims=("topk-not-calibrated",),
    true_for={"law": (F(3, 10), F(0), F(7, 10))},
)
def order_of_labels(law: tuple[F, F, F] = (F(3, 10), F(3, 10), F(4, 10))) -> Instance:
    pair, one_each, third = law
    labels = pair + one_each / 2, third  # E[R_1] = E[R_2] and E[R_3]
    shares: tuple[Number, Number] = (pair / (1 + D2) + one_each / 2, third)
    return Instance(
        f"m = 3, R = (1, 1, 0) with probability {pair}, (1, 0, 0) and (0, 1, 0) with {one_each / 2} each, (0, 0, 1) "
        f"with {third}",
        (
            Relation(
                "documents 1 and 3 have the same order by both: the product of the differences is positive",
                (labels[0] - labels[1]) * (shares[0] - shares[1]),
                ">",
                0,
            ),
        ),
        (
            Relation("document 3 belongs first: E[G_3/Z] > E[G_1/Z]", shares[1] - shares[0], ">", 0),
            Relation("by E[R] it would be last" if labels[0] > labels[1] else "as by E[R]", labels[0], "≠", labels[1]),
        ),
    )

"""On which small instances do laws of labels that k documents do not tell apart have other best orders, exactly?"""

from collections.abc import Sequence
from fractions import Fraction as F
from itertools import combinations, product

from pipeline_lib.papers.witnesses import Instance, Number, Relation, ends, listed, log2, witness

__all__: list[str] = []


DISCOUNTS: tuple[Number, ...] = (F(1), *(1 / log2(rank + 1, 200) for rank in range(2, 7)))
"""D(1), ..., D(6), each up to 1/200 in the logarithm."""

Law = list[tuple[int, ...]]
"""The label vectors that are drawn, all with the same probability."""


def with_parity(grades: Sequence[tuple[int, ...]], odd: int) -> Law:
    """One of two grades for every document, or a single one; all vectors with an even, or odd, number of upper ones."""
    choices = product(*(range(len(pair)) for pair in grades))
    return [tuple(pair[c] for pair, c in zip(grades, u, strict=True)) for u in choices if sum(u) % 2 == odd]


def exchanged(law: Law) -> Law:
    """The law with documents 1 and 2 exchanged."""
    return [(y[1], y[0], *y[2:]) for y in law]


def lead_of_first(law: Law, discounts: Sequence[Number] = DISCOUNTS) -> Number:
    """E (G(y_1) - G(y_2))/Z(y): document 1 belongs before document 2 if it is positive."""
    total: Number = F(0)
    for y in law:
        gains = sorted((2**label - 1 for label in y), reverse=True)
        ideal: Number = F(0)
        for G, D in zip(gains, discounts, strict=False):
            ideal = ideal + G * D
        if y[0] != y[1]:
            total = total + F(2 ** y[0] - 2 ** y[1]) / ideal
    return total / F(len(law))


def told_apart(one: Law, other: Law, k: int) -> int:
    """How many sets of k documents have joint laws of their labels that differ."""
    sets = combinations(range(len(one[0])), k)
    return sum(sorted([y[i] for i in A] for y in one) != sorted([y[i] for i in A] for y in other) for A in sets)


def two_laws(grades: Sequence[tuple[int, ...]], mixed: bool) -> tuple[Law, Law]:
    """Vectors with even and with odd parity, each mixed with the other one's exchange."""
    even, odd = with_parity(grades, 0), with_parity(grades, 1)
    return (even + exchanged(odd), odd + exchanged(even)) if mixed else (even, odd)


def opposite_orders(
    cases: Sequence[tuple[int, Sequence[tuple[int, ...]]]], mixed: bool
) -> tuple[list[Relation], list[Relation]]:
    """The relations of two laws for every k and grades: what is supposed of their orders, and what is the case."""
    supposed, holds = [], []
    for k, grades in cases:
        p, q = two_laws(grades, mixed)
        leads, about = (lead_of_first(p), lead_of_first(q)), f"m = {len(grades)}, k = {k}"
        supposed.append(Relation(f"{about}: both laws have one best order", leads[0] * leads[1], ">", 0))
        holds += [
            Relation(f"{about}: sets of k documents that tell the laws apart", told_apart(p, q, k), "=", 0),
            Relation(f"{about}: document 1 belongs first under one law", max(leads, key=lambda x: ends(x)[0]), ">", 0),
            Relation(f"{about}: and second under the other", min(leads, key=lambda x: ends(x)[0]), "<", 0),
        ]
    return supposed, holds


@witness(
    "two-labels-shown",
    place="topk, section 5, the open question of k ≥ 2",
    says="Laws of three labels that agree in any two of them have the same best order of NDCG.",
    why="By E[G/Z], the expectation that orders the documents, document 1 belongs before document 2 under the one "
    "law and behind it under the other, and a learner who sees two labels of three cannot tell the laws apart: "
    "its regret in NDCG is linear.",
    claims=("topk-thm52",),
    true_for={"scale": ((1, 3), (0, 2), (1, 3))},
)
def two_labels_shown(scale: tuple[tuple[int, int], ...] = ((1, 3), (0, 4), (1, 3))) -> Instance:
    supposed, holds = opposite_orders([(2, scale)], mixed=False)
    return Instance(
        f"labels {' x '.join(map(listed, scale))}, drawn uniformly from the four vectors with an even number of upper "
        "labels, or from the four with an odd number",
        tuple(supposed),
        tuple(holds),
    )


@witness(
    "binary-labels-shown",
    place="topk, section 5, the open question of k ≥ 2",
    says="Laws of m binary labels that agree in any k = m - 2 of them have the same best order of NDCG.",
    why="Document 2 is irrelevant, and the others are relevant in an even number under P, in an odd number under Q; "
    "each law is then mixed with the other one, documents 1 and 2 exchanged. With k = m - 1 nothing of the kind "
    "exists: the sum over all label vectors of (-1)^(y_1 + ... + y_m) (y_1 - y_2)/Z(y) is 0 because Z does not change "
    "if documents 1 and 2 are exchanged.",
    claims=("topk-more-labels", "topk-more-labels-limit"),
    true_for={"mixed": False},
)
def binary_labels_shown(mixed: bool = True) -> Instance:
    cases = [(m - 2, [(0, 1), (0,), *[(0, 1)] * (m - 2)]) for m in range(3, 7)]
    supposed, holds = opposite_orders(cases, mixed)
    reciprocal = [F(1, rank) for rank in range(1, 7)]
    for m in range(3, 7):
        even, odd = (lead_of_first(with_parity([(0, 1)] * m, parity), reciprocal) for parity in (0, 1))
        holds.append(Relation(f"m = {m}, k = m - 1, D(i) = 1/i: the sum over all vectors", even - odd, "=", 0))
    return Instance(
        "E (G(y_1) - G(y_2))/Z(y) for m = 3, 4, 5, 6 and uniform laws on label vectors with even or odd sums, y_2 = 0"
        + (", mixed with each other" if mixed else ""),
        tuple(supposed),
        tuple(holds),
    )


@witness(
    "graded-labels-shown",
    place="topk, section 5, the open question of k ≥ 2",
    says="Laws of m labels with three grades that agree in any k = m - 1 of them have the same best order of NDCG.",
    why="Document 1 has the label 1 or 2, the others 0 or 2; 2 is drawn an even number of times under P, an odd number "
    "of times under Q; each law is then mixed with the other one, documents 1 and 2 exchanged.",
    claims=("topk-more-labels", "topk-more-labels-limit"),
    true_for={"mixed": False},
)
def graded_labels_shown(mixed: bool = True) -> Instance:
    cases = [(m - 1, [(1, 2), *[(0, 2)] * (m - 1)]) for m in range(2, 7)]
    supposed, holds = opposite_orders(cases, mixed)
    return Instance(
        "E (G(y_1) - G(y_2))/Z(y) for m = 2, ..., 6 and uniform laws on the label vectors with an even or odd number "
        "of labels 2, y_1 in {1, 2} and the other labels in {0, 2}" + (", mixed with each other" if mixed else ""),
        tuple(supposed),
        tuple(holds),
    )

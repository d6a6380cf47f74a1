"""On which small instances do printed sentences of `slam` fail, in exact arithmetic?"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction as F

from pipeline_lib.papers.slam.exact import discount, play
from pipeline_lib.papers.witnesses import Instance, Number, Relation, listed, witness

__all__: list[str] = []


@witness(
    "prediction",
    place="slam, section 5, Pred_t",
    says="Pred_t = sort(-eta sum over mistakes i < t of X_i z_i).",
    errata="AB",
    claims=("slam-prediction-corrected",),
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

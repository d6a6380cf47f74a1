"""On which small instances do printed statements of `cone` on Table 1 fail, exactly?"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Instance, Relation, witness

__all__: list[str] = []


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
    least = (best - half - (cone + half)) / (best - half)
    return Instance(
        f"Table 1, NDCG on MQ2008: best {best.numerator}/{best.denominator}, ConeRank-SG {cone}",
        (Relation("the difference is at most 3 % of the best", (best - cone) / best, "≤", F(3, 100)),),
        (
            Relation("it is more, whatever was rounded to three digits", least, ">", F(3, 100)),
            Relation("it is at most 3 points, hundredths of NDCG", best - cone, "≤", F(3, 100)),
        ),
    )

"""On which small instance are elements of an (n, m)-sample dependent, in exact arithmetic?"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Instance, Relation, witness

__all__: list[str] = []


@witness(
    "elements-of-a-row",
    place="twolayer, section 3.1",
    says="In (n, m)-sampling, all the elements are independent and identically distributed.",
    errata="BC",
    claims=("twolayer-nm-elements", "twolayer-nm-elements-corrected"),
    true_for={"tasks": (F(1, 2), F(1, 2))},
)
def elements_of_a_row(tasks: tuple[F, F] = (F(1, 4), F(3, 4))) -> Instance:
    one = sum(tasks, F(0)) / 2
    both = F(sum(p * p for p in tasks)) / 2
    given = [p * p - p**2 for p in tasks]
    return Instance(
        f"a task is drawn for every row, each of two with probability 1/2; an element is 1 with probability {tasks[0]} "
        f"under the first and {tasks[1]} under the second",
        (Relation("P(z_1 = z_2 = 1) = P(z_1 = 1) P(z_2 = 1) for two elements of a row", both, "=", one * one),),
        (
            Relation("the first is at least the second, by the variance of the probability", both, "≥", one * one),
            Relation("given the task, the elements are independent: the largest covariance", max(given), "=", 0),
        ),
    )

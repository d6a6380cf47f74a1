"""On which small instance does Algorithm 1 make the gain of SmoothDCG smaller, exactly?"""

from fractions import Fraction as F

from pipeline_lib.papers.witnesses import Instance, Relation, listed, witness

__all__: list[str] = []


@witness(
    "gain",
    place="topk, section 4.1.1 with step 10 of Algorithm 1",
    says="Algorithm 1, w <- w - eta z, on phi_SD.",
    errata="D",
    claims=("topk-smoothdcg-sign",),
    true_for={"sign": -1},
)
def gain(sign: int = 1) -> Instance:
    p = (F(1, 2), F(1, 2))  # the softmax of s = (0, 0)
    gradient = [p[0] * (int(i == 0) - p[i]) for i in (0, 1)]  # of G(1) p_1, for epsilon = 1
    step = [-sign * g for g in gradient]
    return Instance(
        f"X = I, R = (1, 0), epsilon = 1, s = w = (0, 0), eta = 1: the gradient of phi_SD is {listed(gradient)}; the "
        f"step is {'- the gradient' if sign == 1 else '+ the gradient'}, to {listed(step)}",
        (Relation("after the step the relevant document leads", step[0], ">", step[1]),),
        (
            Relation(
                "it leads after a step by + the gradient, which descends on -phi_SD", gradient[0], ">", gradient[1]
            ),
        ),
    )

"""Statements about cones that need no data: which are proper, the limit of a halfspace, and lambda_u in Theorem 2."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge
from pydantic import Field

from pipeline_lib.cost import Cost
from pipeline_lib.experiment import Experiment, Job, Outcome, Step
from pipeline_lib.settings import Rising, Settings, Whole, at_least


class GeometrySettings(Settings):
    """Proper cones, halfspaces, and the bound of Theorem 2 as a function of lambda_u."""

    features: Annotated[Rising, at_least(2)] = Field((2, 3, 10, 46), description="values of d")
    bases: Rising = Field((2, 3, 10), description="values of K; those above d are left out")
    points: Whole = Field(
        200, description="number of random points whose distance to a halfspace is measured, for every d"
    )
    samples: Whole = Field(10, description="number of samples of differences on which RankSVM is compared")
    differences: Annotated[Whole, Ge(3)] = Field(8, description="number of differences in each sample")
    draws: Annotated[Whole, Ge(2)] = Field(
        10, description="number of random draws for the statements of sections 3 and 4"
    )
    plane_samples: Whole = Field(3, description="number of samples of differences for Figures 1 and 2, each")
    learned_queries: Annotated[Whole, Ge(2)] = Field(10, description="number of queries from which cones are learned")


def _run(job: Job) -> Outcome:
    from pipeline_lib.papers.cone.computations import geometry, plane, steps

    settings, seed = job.settings, job.seed
    return Outcome(
        [
            geometry.proper(settings, seed),
            geometry.distances(settings, seed),
            geometry.solutions(settings, seed),
            geometry.lowered(settings),
            plane.sizes(settings, seed),
            plane.nested(settings, seed),
            plane.surfaces(settings, seed),
            steps.run(settings, seed),
        ]
    )


EXPERIMENT = Experiment(
    GeometrySettings,
    (
        Step(
            "geometry",
            _run,
            tables={
                "tables/cone-proper": {
                    "case": str,
                    **dict.fromkeys(("d", "K"), int),
                    **dict.fromkeys(("of_order", "independent", "solid", "pointed", "proper"), bool),
                },
                "tables/cone-halfspace": {
                    **dict.fromkeys(("d", "points"), int),
                    **dict.fromkeys(("to_hinge", "to_best_hinge", "to_squared", "to_unsquared", "to_two_sided"), float),
                },
                "tables/cone-halfspace-solutions": {
                    **dict.fromkeys(("sample", "differences"), int),
                    **dict.fromkeys(("to_ranksvm", "to_squared"), float),
                },
                "tables/cone-lowered": {
                    **dict.fromkeys(("d", "K"), int),
                    **dict.fromkeys(("share", "share_below"), float),
                },
                "tables/cone-plane": {
                    "sample": int,
                    "case": str,
                    **dict.fromkeys(("c", "largest_sum", "risk", "largest_loss"), float),
                    **dict.fromkeys(("narrowest", "widest", "spread"), float),
                },
                "tables/cone-nested": {
                    **dict.fromkeys(("d", "K"), int),
                    **dict.fromkeys(("largest_sum", "longest", "outwards", "added", "scaled", "replaced"), float),
                    "norm_error": float,
                },
                "tables/cone-surface": {
                    "sample": int,
                    **dict.fromkeys(("noisy", "to_the_cone", "to_the_ray", "to_the_start"), float),
                },
                "tables/cone-steps": {
                    **dict.fromkeys(("claim", "case"), str),
                    **dict.fromkeys(("d", "K"), int),
                    "name": str,
                    **dict.fromkeys(("value", "low", "high"), float),
                },
            },
            cost=Cost(4.0),
        ),
    ),
)

"""How near do gaps, excess risks and packings that are known exactly come to the bounds of `lists`?

Bounds are compared where they say something, with what is known exactly for any number of queries; and short
statements are tried as they are printed. The last step goes through the proofs from the gap to the printed bound.
"""

from collections.abc import Iterator

from pipeline_lib.core.cost import Cost
from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.lists.exact import expectations, lattices, sentences, slack, uniform
from pipeline_lib.papers.lists.exact.settings import (
    ExactSettings,
    Expectation,
    Growth,
    Packing,
    Sentence,
    Slack,
    Uniform,
)


def measure(job: Job) -> Iterator[Row]:
    """The tables of bounds against what is known exactly: gaps, excess risks, packings and short statements."""
    yield from uniform.measured(job.settings, job.seed)
    yield from expectations.measured(job.settings, job.seed)
    yield from lattices.packings(job.settings)
    yield from sentences.tried(job.settings, job.seed)


def take_apart(job: Job) -> Iterator[Slack]:
    """Where a gap comes nearest to each bound, and what each step of its proof loses there."""
    yield from slack.nearest(job.settings, job.rows(Expectation))


EXPERIMENT = Experiment(
    ExactSettings,
    (
        Step(
            "exact",
            measure,
            rows=(Uniform, Growth, Expectation, Packing, Sentence),
            surrogates=("listnet", "ranksvm", "smooth-dcg", "squared"),
            cost=Cost(10.0, start_mb=600.0),
        ),
        Step(
            "slack",
            take_apart,
            rows=(Slack,),
            reads=(Expectation,),
            surrogates=("listnet", "ranksvm", "smooth-dcg"),
            cost=Cost(3.0, start_mb=600.0),
        ),
    ),
)

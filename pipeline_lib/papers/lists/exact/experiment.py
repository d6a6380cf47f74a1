"""How near do gaps, excess risks and packings that are known exactly come to the bounds of `lists`?

Bounds are compared where they say something, with what is known exactly for any number of queries; and short
statements are tried as they are printed.
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
    found = list(expectations.measured(job.settings, job.seed))
    yield from uniform.measured(job.settings, job.seed)
    yield from found
    yield from slack.nearest(job.settings, [row for row in found if isinstance(row, Expectation)])
    yield from lattices.packings(job.settings)
    yield from sentences.tried(job.settings, job.seed)


EXPERIMENT = Experiment(
    ExactSettings,
    (
        Step(
            "exact",
            measure,
            rows=(Uniform, Growth, Expectation, Slack, Packing, Sentence),
            surrogates=("listnet", "ranksvm", "smooth-dcg", "squared"),
            cost=Cost(13.0, start_mb=600.0),
        ),
    ),
)

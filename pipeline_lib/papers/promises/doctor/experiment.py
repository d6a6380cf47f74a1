"""Does `doctor` find every defect that it names where it is planted, and nothing where nothing is?

Every defect is planted into data of its own (:mod:`pipeline_lib.papers.promises.doctor.plants`); it counts as found if
the check of its name says something. Data in which nothing is planted have normal, skewed, whole and yes-or-no
features, some of them shared within queries, and half of them a training and a test part; any finding on them is a
false alarm.

The errors of a careless author are to look at the parts of the data one by one, and to compare the order of the rows
with chance at the level 5 %: the NDCG@10 of the rows differs from its mean over all orders by more than 1.96 standard
deviations (:func:`pipeline_lib.sources.pitfalls.orders`).
"""

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri

from pipeline_lib.core import progress
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.seeds import generator
from pipeline_lib.core.settings import Range, Settings, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Field, FromOne, Proportion, ProportionInterval, Row
from pipeline_lib.evaluation import doctor
from pipeline_lib.evaluation.examination import CHECKS
from pipeline_lib.experiment import Experiment, Job, Step
from pipeline_lib.papers.promises.doctor.clean import drawn
from pipeline_lib.papers.promises.doctor.plants import PLANTS
from pipeline_lib.papers.promises.shares import share
from pipeline_lib.sources import pitfalls
from pipeline_lib.statistics import LEVEL


class DoctorSettings(Settings):
    """Defects that `doctor` finds where they are planted, and its false alarms on clean data."""

    plants: Whole = Field(1, description="data sets into which every defect is planted")
    clean: Whole = Field(380, description="data sets in which nothing is planted")
    queries: Range = Field((5, 40), description="fewest and most queries of a clean part")
    features: Whole = Field(4, description="most features of clean data")


class Found(Row, table="tables/promises-defects", key=("check",)):
    """How often a defect is found where it is planted."""

    check: str = Field(description="name of the check")
    planted: FromOne = Field(description="data sets into which the defect is planted")
    found: Proportion = Field(description="share of these in which the check says something")
    by_part: Proportion = Field(description="the same if the parts of the data are looked at one by one")


class Alarms(Row, table="tables/promises-alarms", key=()):
    """How often something is found in clean data."""

    data_sets: FromOne = Field(description="data sets in which nothing is planted")
    alarms: ProportionInterval = Field(
        description="share of these in which any check says something (Clopper and Pearson)"
    )
    rows_at_5_percent: ProportionInterval = Field(
        description="the same by a test of the order of the rows at the level 5 %"
    )
    checks: str = Field(description="the checks that said something, or nothing")


def measure(job: Job) -> Iterator[Found | Alarms]:
    """Plant every defect, and look for defects in clean data."""
    number = job.settings.plants
    for check in progress.counted(CHECKS, "defects"):
        seen = np.array([_seen(check, generator(job.seed, "doctor", check, k)) for k in range(number)])
        found, by_part = seen.mean(axis=0).tolist()
        yield Found(check=check, planted=number, found=found, by_part=by_part)
    yield _alarms(job)


def _seen(check: str, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether a planted defect is found, in the whole data and part by part."""
    with tempfile.TemporaryDirectory() as folder:
        planted = PLANTS[check](rng, Path(folder))
        found = check in _names(planted.data, planted.difference)
    if not planted.parts:
        return found, found
    return found, any(check in _names(part, planted.difference) for part in planted.parts)


def _names(data: Any, difference: float | None = None) -> list[str]:
    return [one.check for one in doctor(data, difference=difference).found]


def _alarms(job: Job) -> Alarms:
    fewest, most = job.settings.queries
    said: list[list[str]] = []
    unusual = 0
    for number in progress.counted(range(job.settings.clean), "clean data sets"):
        rng = generator(job.seed, "doctor", "clean", number)
        d = int(rng.integers(1, job.settings.features + 1))
        kinds = [int(rng.choice([0, 1, 2, 4])), *rng.integers(0, 5, d - 1).tolist()]
        noise = float(rng.uniform(0.3, 3.0))

        def part(name: str, rng: np.random.Generator = rng, noise: float = noise, kinds: list[int] = kinds) -> Any:
            n = int(rng.integers(fewest, most + 1))
            return drawn(rng, n, name=name, n_features=len(kinds), noise=noise, kinds=kinds)

        data = part("q")
        said.append(_names({"train": data, "test": part("t")} if number % 2 else data))
        unusual += _is_unusual(data)
    return Alarms(
        data_sets=len(said),
        alarms=share(sum(map(bool, said)), len(said)),
        rows_at_5_percent=share(unusual, len(said)),
        checks=", ".join(sorted({check for checks in said for check in checks})) or "nothing",
    )


def _is_unusual(data: RankingData) -> bool:
    """Whether the order of the rows differs from chance at the level 5 %, by the normal approximation."""
    found = pitfalls.orders(data.y.astype(np.uint8), data.offsets)
    z = float(ndtri((1.0 + LEVEL) / 2.0))
    return abs(float((found.in_rows - found.means).sum())) > z * math.sqrt(float(found.variances.sum()))


EXPERIMENT = Experiment(
    DoctorSettings,
    Step(
        "doctor",
        measure,
        rows=(Found, Alarms),
        cost=Cost(2.0),
        seconds=lambda settings, cell: 0.25 * settings.plants + 0.01 * settings.clean,
    ),
)

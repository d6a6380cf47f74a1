"""Cards that state the largest of all repetitions, from the rows of the repetitions, whatever the ledger reads.

The ledger says which column of a table a card shows. If it named that of the mean, both readings of the table would
agree; therefore what these claims are about is stated here once more.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib.recompute.comparison import Comparison
from pipeline_lib.recompute.rows import grouped, numbers
from pipeline_lib.recompute.study import Study


@dataclass(frozen=True)
class Largest:
    """The largest difference of two columns of slices, by some columns, which the trials of claims name otherwise."""

    claims: tuple[str, ...]
    value: str
    slices: str
    greater: str
    lesser: str
    axes: Mapping[str, str]
    learner: str | None = None


SAMPLE = {"loss": "loss", "n": "queries", "m": "documents"}
CELL = {name: name for name in ("loss", "population", "m", "n")}
LARGEST = (
    Largest(("twolayer-thm1", "twolayer-one-layer"), "gap", "twolayer-gaps", "expected", "empirical", SAMPLE),
    Largest(
        ("twolayer-thm2", "twolayer-thm2-corrected"),
        "query_layer_error",
        "twolayer-gaps",
        "expected",
        "middle",
        {"loss": "loss", "n": "queries"},
    ),
    Largest(("twolayer-thm3",), "document_layer_error", "twolayer-gaps", "middle", "empirical", SAMPLE),
    Largest(("lists-thm9",), "gap", "lists-grid", "risk", "empirical", CELL, "erm"),
    Largest(("lists-thm9",), "worst_gap", "lists-grid", "risk", "empirical", CELL, "worst"),
)


def compare(study: Study, found: Comparison) -> None:
    """Compare the values of all trials whose setting names all axes."""
    judged = {claim["id"]: claim for claim in study.claims}
    for one in LARGEST:
        if (study.results / "slices" / one.slices).is_dir():
            largest = _largest(study, one)
            for claim in (judged[name] for name in one.claims if name in judged):
                for setting, value in _stated(claim, one):
                    where = ", ".join(f"{axis} = {setting[axis]}" for axis in one.axes)
                    again = largest.get(tuple(setting[axis] for axis in one.axes))
                    found.cell(f"card {claim['id']}", where, f"{one.value}, largest of all repetitions", value, again)


def _largest(study: Study, one: Largest) -> dict[tuple[Any, ...], float]:
    slices = study.slices(one.slices)
    if one.learner is not None:
        slices = slices.filter(learner=one.learner)
    groups = grouped(slices, *one.axes.values())
    return {key: float(np.max(numbers(of, one.greater) - numbers(of, one.lesser))) for key, of in groups.items()}


def _stated(claim: Mapping[str, Any], one: Largest) -> Iterator[tuple[Mapping[str, Any], float]]:
    """Settings and values of the trials from the joined table."""
    for trial in claim["trials"]:
        if set(one.axes) <= set(trial["setting"]) and one.value in trial["values"]:
            value = trial["values"][one.value]
            yield trial["setting"], value[0] if isinstance(value, list) else value

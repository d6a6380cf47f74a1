"""Cards that state the largest of all repetitions, from the rows of the repetitions, whatever the ledger reads.

The ledger says which column of a table a card shows. If it named that of the mean, both readings of the table would
agree; therefore what these claims are about is stated here once more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_lib.recompute import cards
from pipeline_lib.recompute.comparison import Comparison, listed
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
LABEL = "{}, largest of all repetitions"
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
                for number, trial in enumerate(claim["trials"], 1):
                    setting, values = trial["setting"], trial["values"]
                    if set(one.axes) <= set(setting) and one.value in values:
                        again = largest.get(tuple(setting[axis] for axis in one.axes))
                        stated, where = listed(values[one.value])[0], cards.place(number, setting)
                        found.cell(f"card {claim['id']}", where, LABEL.format(one.value), stated, again)


def _largest(study: Study, one: Largest) -> dict[tuple[Any, ...], float]:
    slices = study.slices(one.slices)
    if one.learner is not None:
        slices = slices.filter(learner=one.learner)
    groups = grouped(slices, *one.axes.values())
    return {key: float(np.max(numbers(of, one.greater) - numbers(of, one.lesser))) for key, of in groups.items()}

"""Look for what makes results on a person's own data set mislead, and count its lists by their documents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core import storage
from pipeline_lib.core.files import Output
from pipeline_lib.data import stored_data
from pipeline_lib.evaluation.examination import doctor
from pipeline_lib.sources import own_data
from pipeline_lib.sources.own_settings import OwnDataSettings


def run(
    *,
    dataset: own_data.Name,
    own: Annotated[Mapping[str, Any], "the entry of the configuration, as JSON"],
    documents: Annotated[Path, "documents.parquet of the data set"],
    output: Annotated[Output, "output file for the findings, as JSON"],
) -> None:
    """Write what the doctor finds in the files, and the numbers of lists by documents and by relevant documents."""
    offsets, *_ = stored_data.query_index(documents, stored=True)
    settings = OwnDataSettings.parse(own, dataset)
    relevant = storage.read_table(documents, ["label"])["label"].to_numpy() >= settings.relevant_from
    lists = {
        "documents": _counted(np.diff(offsets)),
        "relevant": _counted(np.add.reduceat(relevant, offsets[:-1], dtype=int)),
    }
    storage.write_json(output, {**doctor(own).to_dict(), "lists": lists})


def _counted(numbers: NDArray[np.int64]) -> dict[str, int]:
    """How many lists have which number; keys are texts, as in JSON."""
    values, counts = np.unique(numbers, return_counts=True)
    return {str(value): count for value, count in zip(values.tolist(), counts.tolist(), strict=True)}

"""Assign the queries of a data set to the training, validation and test part of every fold."""

from pathlib import Path
from typing import Annotated

from pipeline_lib.core.files import Output
from pipeline_lib.sources import own_data
from pipeline_lib.sources.folds import write_folds


def run(
    *,
    dataset: own_data.Name,
    documents: Annotated[Path, "documents.parquet of the data set"],
    folds: Annotated[Output, "output file for the table of folds, as Parquet"],
    own: own_data.Own = None,
) -> None:
    """Divide the queries as the catalogue or the configuration specifies and write the folds."""
    write_folds(own_data.entry(dataset, own), documents, folds)

"""Run one step of an experiment: read its inputs, compute, and write its tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pipeline_lib import papers
from pipeline_lib.core import origins
from pipeline_lib.core.errors import ConfigurationError, DamagedFileError, DataError, hint
from pipeline_lib.core.files import Output
from pipeline_lib.experiment import Job
from pipeline_lib.experiment import write as write_tables


def run(
    *,
    paper: Annotated[str, "short name of the paper"],
    experiment: Annotated[str, "name of the experiment"],
    step: Annotated[str, "name of the step"],
    seed: Annotated[int, "the study's seed"],
    settings: Annotated[Mapping[str, Any], "settings, as JSON; those left out take their defaults"] = {},
    cell: Annotated[Mapping[str, Any], "part of the divided work that the job computes, as JSON"] = {},
    facts: Annotated[Mapping[str, Any], "facts about the study that the step uses, as JSON"] = {},
    most_queries: Annotated[int | None, "read a random sample of so many queries of every larger data set"] = None,
    documents: Annotated[Sequence[Path], "documents of the data sets, DATASET/documents.parquet"] = (),
    folds: Annotated[Sequence[Path], "folds of the data sets, DATASET/folds.parquet"] = (),
    tables: Annotated[Sequence[Path], "tables of earlier steps"] = (),
    evaluations: Annotated[Sequence[Path], "evaluations, DATASET/MODEL.parquet, with one row per query"] = (),
    files: Annotated[Sequence[Path], "other files"] = (),
    write: Annotated[Sequence[Output], "output files for the tables, in the order in which they are declared"] = (),
) -> None:
    """Run the step."""
    declared = papers.experiment(paper, experiment)
    steps = {step.name: step for step in declared.steps}
    if step not in steps:
        raise ConfigurationError(f"unknown step {step!r}; {hint(step, steps)}")
    parsed = declared.settings.parse(settings, f"{paper}.{experiment}")
    job = Job(parsed, seed, cell, facts, documents, folds, tables, evaluations, files, most_queries)
    try:
        with origins.sharing(seed, parsed.plain(), most_queries):
            write_tables(steps[step], write, steps[step].run(job))
    except DamagedFileError:  # names its file, which is put aside
        raise
    except DataError as error:
        raise DataError(f"step {paper}_{step}: {error}") from error

"""What is an experiment, and how is it declared?

An experiment is declared in a module of its topic, ``pipeline_lib/papers/<paper>/<topic>/experiment.py``, as
``EXPERIMENT = Experiment(...)``: its settings, and the steps of its work. A step is one kind of job: it states the
classes of the rows that it yields, what it reads, how its work is divided, and what it costs. The command
``python -m pipeline_lib experiment`` runs any step, and ``workflow/rules/experiments.smk`` makes a rule of each.

Example
-------
>>> from collections.abc import Iterator
>>> from pipeline_lib.core import settings; from pipeline_lib.data import rows
>>> class Draws(settings.Settings):
...     draws: settings.Whole = settings.Field(100, description="random numbers in the mean")
>>> class Mean(rows.Row, table="tables/toy-mean"):
...     draws: int = rows.Field(description="random numbers in the mean")
...     mean: float = rows.Field(description="their mean")
>>> def mean(job: Job) -> Iterator[Mean]:
...     yield Mean(draws=job.settings.draws, mean=0.5)
>>> EXPERIMENT = Experiment(Draws, Step("mean", mean, rows=[Mean]))
>>> list(EXPERIMENT.tables), list(EXPERIMENT.steps[0].run(Job(Draws(), seed=1)))
(['tables/toy-mean'], [Mean(draws=100, mean=0.5)])
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from pipeline_lib.core import seeds, storage
from pipeline_lib.core.cost import Cost
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.settings import Settings
from pipeline_lib.data import stored_data
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Row, check, frame
from pipeline_lib.sources import folds
from pipeline_lib.sources.folds import Part

Cell = Mapping[str, str]
"""The share of a step's work that a job does: axis -> value, as in the wildcards of the workflow."""

EVERY = "every data set"
"""For :attr:`Step.documents`: one job that reads all data sets of the study."""
ALL_MODELS = "all models"
"""For :attr:`Step.evaluations`: every model on every available data set."""


@dataclass(frozen=True)
class Job:
    """The input of the function of a step: settings, the study's seed, its share of the work, and files.

    Attributes
    ----------
    settings : Settings
        An object of the experiment's class of settings.
    seed : int
        The study's seed.
    cell : mapping of str to str
        The value of every axis.
    facts : mapping
        The facts about the study that the step declared to need (:attr:`Step.facts`).
    documents, folds, tables, evaluations, files : sequences of Path
        The step's inputs.
    most_queries : int or None
        The largest number of queries of a data set that the step gets to see, a sample that is the same for all
        steps; None means all queries.
    """

    settings: Any
    seed: int
    cell: Cell = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    documents: Sequence[Path] = ()
    folds: Sequence[Path] = ()
    tables: Sequence[Path] = ()
    evaluations: Sequence[Path] = ()
    files: Sequence[Path] = ()
    most_queries: int | None = None

    def datasets(self) -> dict[str, RankingData]:
        """Every data set of the job by name, whole, or the sample of ``most_queries`` in the order of the file.

        What the papers state is about queries that count alike: weights of queries, which own data may have, are left
        out.
        """
        return {
            path.parent.name: _alike(RankingData.read_parquet(path, self._sample(path), stored=True))
            for path in self.documents
        }

    def parts(self, dataset: str, fold: int, parts: Sequence[Part]) -> list[RankingData]:
        """Parts of one fold of a data set, such as ``("train", "validation", "test")``, as far as in the sample."""
        documents = next(path for path in self.documents if path.parent.name == dataset)
        table = next(path for path in self.folds if path.parent.name == dataset)
        sample = self._sample(documents)
        return [_alike(folds.read(documents, table, fold, part, sample)) for part in parts]

    def _sample(self, documents: Path) -> NDArray[np.int64] | None:
        """The indices of the queries that may be read, ascending; None if all may be read."""
        if self.most_queries is None:
            return None
        _, names, _ = stored_data.query_index(documents, stored=True)
        rng = seeds.generator(self.seed, "queries of experiments", documents.parent.name)
        return np.sort(rng.permutation(len(names))[: self.most_queries])

    def rows(self, row: type[Row]) -> list[Any]:
        """The rows of a class that an earlier step has yielded, all its parts one after the other.

        Raises
        ------
        DataError
            When the parts were made with different code, settings or seeds, or something does not hold of all together
            that always holds of such rows.
        """
        paths = [path for path in self.tables if re.search(pattern_of(row.table), path.as_posix())]
        storage.compare_parts(paths, self.seed)
        found = [row.of(stored) for path in paths for stored in storage.read_table(path).iter_rows(named=True)]
        check(" and ".join(map(str, paths[:1] + paths[1:][-1:])), frame(found, row), row)
        return found


def _alike(data: RankingData) -> RankingData:
    return data if data.weights is None else replace(data, weights=None)


@dataclass(frozen=True)
class Step:
    """One kind of job of an experiment.

    Attributes
    ----------
    name : str
        Unique among the steps of its paper; the rule is ``<paper>_<name>``.
    run : callable
        Does the work: Job -> rows.
    rows : sequence of classes of rows
        What it yields; every class names its table, a path below the results folder without ending: ``tables/...`` for
        what the report shows, ``slices/...`` for what another step joins. Axes are written in braces.
    divided : mapping of str to callable
        Axes of the division of work: name -> (settings -> values). One job for each combination of values.
    documents : str or sequence of str or callable
        Which data sets it reads: those of :data:`EVERY`, given names (as far as they are available), or nothing. A
        step with the axes ``dataset`` (and ``fold``) in its tables reads that of its job; then names, or a callable of
        the settings that gives them, restrict the data sets for which there are jobs.
    with_folds : bool
        Whether the folds of these data sets are read as well.
    reads : sequence of classes of rows
        What it reads of other steps of the paper.
    evaluations : str or sequence of str
        Measures of models query by query: of :data:`ALL_MODELS`, or, on the named data sets (as far as they are
        available), of the models that reproduce a published row.
    files : sequence of str
        Other files it reads: below the results folder if they begin with ``results/``, else below the project's.
    facts : sequence of str
        What it needs to know of the study: keys of ``pipeline_lib.study.step_rules.FACTS``.
    surrogates : sequence of str or callable
        Surrogates that its settings name, whose code the job depends on without importing it by name.
    cost : Cost
        Seconds and memory that do not depend on the settings.
    seconds, megabytes : callables
        What the settings add to that: (settings, cell) -> seconds, settings -> MB.
    seconds_grow_with_data : bool
        Whether ``seconds`` are those for every million feature values of the job's data set.
    """

    name: str
    run: Callable[[Job], Iterable[Row]]
    rows: Sequence[type[Row]]
    divided: Mapping[str, Callable[[Any], Iterable[Any]]] = field(default_factory=dict)
    documents: str | Sequence[str] | Callable[[Any], Sequence[str] | str] = ()
    with_folds: bool = False
    reads: Sequence[type[Row]] = ()
    evaluations: str | Sequence[str] = ()
    files: Sequence[str] = ()
    facts: Sequence[str] = ()
    surrogates: Sequence[str] | Callable[[Any], Iterable[str]] = ()
    cost: Cost = field(default_factory=lambda: Cost(0.5, 0.0, 600.0))
    seconds: Callable[[Any, Cell], float] = lambda settings, cell: 0.0
    megabytes: Callable[[Any], float] = lambda settings: 0.0
    seconds_grow_with_data: bool = False

    @cached_property
    def tables(self) -> dict[str, type[Row]]:
        """The rows of every table that it writes."""
        return {row.table: row for row in self.rows}

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The axes by which its work is divided, data sets and folds included, in the order of its tables."""
        return axes_of(next(iter(self.tables), ""))

    def __post_init__(self) -> None:
        for table in self.tables:
            if set(axes_of(table)) != set(self.axes):
                raise ConfigurationError(f"step {self.name}: expected the axes {self.axes} in {table}")
        unknown = set(self.axes) - set(self.divided) - {"dataset", "fold"}
        if unknown or not set(self.divided) <= set(self.axes):
            raise ConfigurationError(
                f"step {self.name}: expected the axes of `divided` in the names of its tables, found {self.axes}"
            )

    @property
    def shown(self) -> tuple[str, ...]:
        """Its tables that belong to the report."""
        return tuple(table for table in self.tables if table.startswith("tables/"))

    def surrogates_of(self, settings: Any) -> list[str]:
        """The surrogates on whose code its jobs depend."""
        return sorted(set(self.surrogates(settings) if callable(self.surrogates) else self.surrogates))


class Experiment:
    """The settings and steps of one experiment.

    ``selectors`` are settings that only determine which jobs there are, such as a list of data sets: if one of them is
    changed, the remaining jobs do not run again.
    """

    def __init__(self, settings: type[Settings], *steps: Step, selectors: Sequence[str] = ()) -> None:
        self.settings, self.steps, self.selectors = settings, steps, selectors

    @property
    def tables(self) -> dict[str, type[Row]]:
        """The rows of every table of all its steps."""
        return {table: row for step in self.steps for table, row in step.tables.items()}


def axes_of(table: str) -> tuple[str, ...]:
    """The axes in a table's name.

    Example
    -------
    >>> axes_of("slices/cone-bases/{dataset}/fold-{fold}")
    ('dataset', 'fold')
    """
    return tuple(re.findall(r"\{(\w+)\}", table))


def pattern_of(table: str) -> str:
    """A regular expression that the paths of a declared table match, behind any folder.

    Example
    -------
    >>> re.search(pattern_of("slices/toy/{slice}"), "results/small/slices/toy/3.parquet") is not None
    True
    """
    return r"(^|/)" + r"[^/]+".join(map(re.escape, re.split(r"\{\w+\}", table))) + r"\.parquet$"


def write(step: Step, paths: Sequence[Path], found: Iterable[Row]) -> None:
    """Write the rows that a step yields, each to the table of its class.

    Raises
    ------
    DataError
        At the first row that is not of a class that the step declares, or has a wrong value; it names class and field.
        For a table in which something does not hold that always holds of its rows; nothing is written then.
    """
    tables: dict[type[Row], list[Row]] = {row: [] for row in step.rows}
    try:
        for row in found:
            if type(row) not in tables:
                raise DataError(
                    f"step {step.name}: expected rows of {', '.join(one.__name__ for one in tables)}, "
                    f"found one of {type(row).__name__}"
                )
            tables[type(row)].append(row)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, (error.title, *wrong["loc"])))
        raise DataError(f"step {step.name}: {place}: {wrong['msg']}, found {wrong['input']!r}") from error
    made = {path: (frame(rows, kind), kind) for path, (kind, rows) in zip(paths, tables.items(), strict=True)}
    for path, (table, kind) in made.items():
        check(str(path), table, kind)
    for path, (table, _) in made.items():
        storage.write_table(path, table)

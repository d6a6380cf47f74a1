"""How is every defect that `doctor` names planted into clean data?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.lambdamart import LONGEST_LIST
from pipeline_lib.papers.promises.doctor.clean import NAMES, drawn

QUERIES, TEST_QUERIES = 60, 40
HOPED = 1e-4
"""A difference in NDCG@10 for which so few queries are too few."""


@dataclass(frozen=True)
class Planted:
    """What the doctor is given: data, perhaps in parts or as a file, and the difference that one hopes to see."""

    data: Any
    difference: float | None = None

    @property
    def parts(self) -> list[RankingData]:
        """The parts one by one, where there are several."""
        return list(self.data.values()) if isinstance(self.data, dict) else []


def _single(rng: np.random.Generator) -> RankingData:
    return drawn(rng, QUERIES)


def _with(data: RankingData, column: Floats | NDArray[np.int64], rng: np.random.Generator) -> Planted:
    """Another column in the place of a random one."""
    X = data.X.copy()
    X[:, rng.integers(data.n_features)] = column
    return Planted(replace(data, X=X))


def _labelled(data: RankingData, y: NDArray[Any]) -> Planted:
    return Planted(replace(data, y=y.astype(np.int32)))


def _in_parts(rng: np.random.Generator, change: Callable[[RankingData, RankingData], RankingData]) -> Planted:
    train, test = drawn(rng, QUERIES), drawn(rng, TEST_QUERIES, name="t")
    return Planted({"train": train, "test": change(train, test)})


def _times(data: RankingData, factors: NDArray[Any]) -> RankingData:
    """Each feature with a factor."""
    return replace(data, X=data.X * factors.astype(np.float32))


def _joined(one: RankingData, other: RankingData, name: str) -> RankingData:
    """The queries of the first, and those of the second under new names."""
    sizes = [*one.documents_per_query, *other.documents_per_query]
    names = [*(one.query_names or ()), *(f"{name}{k}" for k in range(other.n_queries))]
    X, y = np.concatenate([one.X, other.X]), np.concatenate([one.y, other.y])
    return RankingData.from_arrays(X, y, np.repeat(names, sizes), feature_names=one.feature_names)


def sorted_rows(rng: np.random.Generator, folder: Path) -> Planted:
    """The rows of every query by falling label, or by rising label."""
    data, sign = _single(rng), rng.choice([-1, 1])
    order = np.lexsort((sign * data.y, np.repeat(np.arange(data.n_queries), data.documents_per_query)))
    return Planted(replace(data, X=data.X[order], y=data.y[order]))


def label_as_feature(rng: np.random.Generator, folder: Path) -> Planted:
    """The label, with a factor of either sign, or with noise that leaves the order."""
    data = _single(rng)
    noise = rng.choice([0.0, 0.9]) * rng.random(data.n_documents)
    return _with(data, rng.choice([-3.0, 1.0]) * (data.y + noise), rng)


def position_as_feature(rng: np.random.Generator, folder: Path) -> Planted:
    """The number of the row in its query."""
    data = _single(rng)
    place = np.arange(data.n_documents) - np.repeat(data.offsets[:-1], data.documents_per_query)
    return _with(data, rng.choice([-1.0, 1.0]) * place, rng)


def constant(rng: np.random.Generator, folder: Path) -> Planted:
    """A number of the query."""
    data = _single(rng)
    return _with(data, np.repeat(rng.integers(1, 9, data.n_queries), data.documents_per_query), rng)


def shared_names(rng: np.random.Generator, folder: Path) -> Planted:
    """Some test queries have the names of training queries."""
    number = int(rng.integers(3, 12))
    return _in_parts(
        rng,
        lambda train, test: replace(
            test, query_names=(*(train.query_names or ())[:number], *(test.query_names or ())[number:])
        ),
    )


def copies(rng: np.random.Generator, folder: Path) -> Planted:
    """Some training queries stand in the test part, too, rounded and under other names."""
    chosen = rng.choice(QUERIES, int(rng.integers(5, 15)), replace=False)

    def copied(train: RankingData, test: RankingData) -> RankingData:
        some = train.take(np.sort(chosen))
        return _joined(test, replace(some, X=some.X.round(4)), "copy")

    return _in_parts(rng, copied)


def single_documents(rng: np.random.Generator, folder: Path) -> Planted:
    """Some lists of one document, which is relevant."""
    single = drawn(rng, int(rng.integers(2, 6)), sizes=(1, 2))
    return Planted(_joined(_single(rng), replace(single, y=np.ones_like(single.y)), "single"))


def _of_one_label(label: int) -> Callable[[np.random.Generator, Path], Planted]:
    def planted(rng: np.random.Generator, folder: Path) -> Planted:
        data = _single(rng)
        chosen = np.isin(np.arange(data.n_queries), rng.choice(data.n_queries, int(rng.integers(1, 6)), replace=False))
        return _labelled(data, np.where(np.repeat(chosen, data.documents_per_query), label, data.y))

    return planted


def raised(rng: np.random.Generator, folder: Path) -> Planted:
    """Labels that begin at 1."""
    data = _single(rng)
    return _labelled(data, data.y + 1)


def with_gaps(rng: np.random.Generator, folder: Path) -> Planted:
    """Labels two or three times as large."""
    data = _single(rng)
    return _labelled(data, data.y * int(rng.integers(2, 4)))


def without_values(rng: np.random.Generator, folder: Path) -> Planted:
    """A table in which some cells of a column are empty."""
    data, path = _single(rng), folder / "some.csv"
    columns: dict[str, Any] = {name: data.X[:, j].astype(np.float64).tolist() for j, name in enumerate(NAMES)}
    chosen, empty = NAMES[rng.integers(3)], rng.random(data.n_documents) < 0.1
    columns[chosen] = [None if missing else value for value, missing in zip(columns[chosen], empty, strict=True)]
    queries = np.repeat(data.query_names or (), data.documents_per_query).tolist()
    pl.DataFrame({"query": queries, "label": data.y.tolist(), **columns}).write_csv(path)
    return Planted(path)


def sentinels(rng: np.random.Generator, folder: Path) -> Planted:
    """A few documents have a number that stands for no value."""
    data = _single(rng)
    column = data.X[:, 0].copy()
    column[data.offsets[rng.choice(data.n_queries, 4, replace=False)]] = rng.choice([-99999.0, 1e6])
    X = data.X.copy()
    X[:, 0] = column
    return Planted(replace(data, X=X))


def other_units(rng: np.random.Generator, folder: Path) -> Planted:
    """A feature is 1000 times as large in the test part."""
    j = rng.integers(3)
    return _in_parts(rng, lambda train, test: _times(test, np.where(np.arange(3) == j, 1000.0, 1.0)))


def absent_feature(rng: np.random.Generator, folder: Path) -> Planted:
    """A feature is 0 in the whole test part."""
    j = rng.integers(3)
    return _in_parts(rng, lambda train, test: _times(test, np.arange(3) != j))


def long_lists(rng: np.random.Generator, folder: Path) -> Planted:
    """Lists on which LambdaMART does not train."""
    return Planted(drawn(rng, 2, sizes=(LONGEST_LIST + 1, LONGEST_LIST + 2), n_features=1))


def few_queries(rng: np.random.Generator, folder: Path) -> Planted:
    """Too few queries for the difference that one hopes to see."""
    return Planted(_single(rng), HOPED)


PLANTS: Mapping[str, Callable[[np.random.Generator, Path], Planted]] = {
    "order of rows": sorted_rows,
    "label among the features": label_as_feature,
    "position among the features": position_as_feature,
    "constant features": constant,
    "queries in two parts": shared_names,
    "near-duplicate documents": copies,
    "lists of one document": single_documents,
    "lists without a relevant document": _of_one_label(0),
    "lists of one label": _of_one_label(1),
    "scale of labels": raised,
    "gaps of the scale": with_gaps,
    "missing values": without_values,
    "extreme values": sentinels,
    "units of a feature": other_units,
    "features of one file": absent_feature,
    "limits of learners": long_lists,
    "number of queries": few_queries,
}
"""What plants the defect that each check names, with a folder for files."""

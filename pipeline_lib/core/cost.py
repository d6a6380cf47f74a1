"""What does one job of a rule cost, as a function of the size of its data?"""

from dataclasses import dataclass

LARGE_CELLS = 1 << 25
"""More feature values than this (256 MiB in double precision) are worked on in blocks (query_blocks), by threads."""


@dataclass(frozen=True)
class Size:
    """How large a data set is, as far as this is known when work is planned: numbers may be estimates.

    Example
    -------
    >>> size = Size(documents=15_211, queries=784, features=46)
    >>> size.cells, round(size.documents_per_query, 1), size.with_features(300).cells
    (699706, 19.4, 4563300)
    """

    documents: float
    queries: float
    features: float

    @property
    def cells(self) -> float:
        """Feature values in all: documents times features."""
        return self.documents * self.features

    @property
    def documents_per_query(self) -> float:
        """The mean number of documents of a query, at least 1."""
        return max(self.documents / max(self.queries, 1.0), 1.0)

    def with_features(self, features: float) -> "Size":
        """The same documents with another number of features, as random features give them."""
        return Size(self.documents, self.queries, features)


NOTHING = Size(0.0, 0.0, 0.0)
"""The size for jobs that belong to no data set."""


@dataclass(frozen=True)
class Cost:
    """Seconds and MB of a job: a constant, and a rate per million feature values (rows times features) of its data.

    Example
    -------
    >>> Cost(2.0, 3.0, 500.0, 100.0).seconds(2e6)
    8.0
    """

    start_seconds: float
    seconds_per_million_cells: float = 0.0
    start_mb: float = 400.0
    mb_per_million_cells: float = 0.0

    def seconds(self, cells: float) -> float:
        """Estimated seconds of a job on a data set of ``cells`` feature values."""
        return self.start_seconds + self.seconds_per_million_cells * cells / 1e6

    def mb(self, cells: float) -> float:
        """Memory in MB that a job may need on a data set of ``cells`` feature values."""
        return self.start_mb + self.mb_per_million_cells * cells / 1e6

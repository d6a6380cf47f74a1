"""Which parameters has the two-layer population, and which values may they have?

The population itself is in :mod:`pipeline_lib.sources.population`. Configurations are checked whenever the workflow is
planned, and this module therefore imports no large library.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator

from pipeline_lib.errors import ConfigurationError, hint
from pipeline_lib.labels import MAX_LABEL


@dataclass(frozen=True)
class LogNormalLengths:
    """A law of the number of documents: log-normal on low..high (:mod:`pipeline_lib.sources.list_lengths`).

    Attributes
    ----------
    mean : float
        The mean of the law, between low and high.
    low, high : int
        The least and the largest number, 1 <= low < high.
    spread : float
        The standard deviation of the logarithm, above 0, before lengths outside low..high are left out.

    Raises
    ------
    ConfigurationError
        When a value is outside its range; the message names the key.

    Example
    -------
    >>> LogNormalLengths(mean=20.0, low=1, high=100, spread=0.5).high
    100
    """

    mean: float
    low: int
    high: int
    spread: float

    def __post_init__(self) -> None:
        _expect_whole("documents.low", self.low, 1)
        _expect_whole("documents.high", self.high, self.low + 1)
        between = f"between low = {self.low} and high = {self.high}"
        _expect_number("documents.mean", self.mean, between, lambda v: self.low < v < self.high)
        _expect_number("documents.spread", self.spread, "above 0", lambda v: v > 0.0)


Documents = int | tuple[int, int] | LogNormalLengths

# Features are stored in single precision; bounds and margins are kept by this much before they are rounded.
ROUNDING = 1e-6


@dataclass(frozen=True)
class PopulationSettings:
    """The parameters of a population; docs/population.md has the formulas.

    Attributes
    ----------
    features : int
        d, at least 1.
    label_shares : tuple of float
        Shares of the labels 0, 1, ..., y_max over the population: positive, sum 1, at least two.
    documents : int, (low, high) or LogNormalLengths
        Documents of a query: fixed, uniform on low..high, both included, or with a log-normal law, given as a mapping
        with the keys ``mean``, ``low``, ``high`` and ``spread``.
    noise : float
        sigma, the standard deviation of a document's own noise, in units of the merit, which is in [-1, 1].
    query_noise : float
        tau, the weight of a query's taste, in the same units.
    query_spread : float
        rho in [0, 1): with 0, the documents of all queries have the same distribution.
    signal : float
        kappa in (0, 1]: the largest share of a document's norm along u.
    margin : float
        gap >= 0 between neighbouring grades along u, less than 2 kappa R / y_max.
    feature_norm : float
        R > 0.
    active : int or None
        Number of features with non-zero weight in u (chosen at random); None: all d.
    seed : int
        Seed from which u is drawn; populations that differ in nothing else are rotations of each other.

    Raises
    ------
    ConfigurationError
        When a value is outside its range; the message names the key.

    Example
    -------
    >>> PopulationSettings(features=3, label_shares=(0.5, 0.5), documents=(2, 8)).y_max
    1
    >>> PopulationSettings(features=0)
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: population: features: expected a whole number of at least 1, found 0
    """

    features: int = 20
    label_shares: tuple[float, ...] = (0.78, 0.14, 0.08)
    documents: Documents = (8, 40)
    noise: float = 0.15
    query_noise: float = 0.15
    query_spread: float = 0.45
    signal: float = 0.5
    margin: float = 0.0
    feature_norm: float = 1.0
    active: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_shares", _shares(self.label_shares))
        object.__setattr__(self, "documents", _documents(self.documents))
        _expect_whole("features", self.features, 1)
        _expect_number("noise", self.noise, "at least 0", lambda v: v >= 0.0)
        _expect_number("query_noise", self.query_noise, "at least 0", lambda v: v >= 0.0)
        _expect_number("query_spread", self.query_spread, "in [0, 1)", lambda v: 0.0 <= v < 1.0)
        _expect_number("signal", self.signal, "in (0, 1]", lambda v: 0.0 < v <= 1.0)
        _expect_number("feature_norm", self.feature_norm, "above 0", lambda v: v > 0.0)
        widest = 2.0 * self.signal * self.feature_norm / self.y_max
        _expect_number("margin", self.margin, f"in [0, {widest:g}) (2 signal feature_norm / y_max)", self._fits)
        if self.active is not None:
            _expect_whole("active", self.active, 1)
            if self.active > self.features:
                raise ConfigurationError(
                    f"population: active: expected at most features = {self.features}, found {self.active}"
                )
        _expect_whole("seed", self.seed, 0)

    def _fits(self, margin: float) -> bool:
        capacity = 2.0 * self.signal * self.feature_norm * (1.0 - ROUNDING) / self.y_max
        return margin == 0.0 or 0.0 < margin < capacity - ROUNDING * self.feature_norm

    @property
    def y_max(self) -> int:
        """The largest label."""
        return len(self.label_shares) - 1

    @property
    def mean_documents(self) -> float:
        """The mean number of documents of a query."""
        if isinstance(self.documents, LogNormalLengths):
            return self.documents.mean
        return sum(self.documents) / 2 if isinstance(self.documents, tuple) else float(self.documents)

    @property
    def most_documents(self) -> int:
        """The largest number of documents of a query."""
        if isinstance(self.documents, LogNormalLengths):
            return self.documents.high
        return self.documents[1] if isinstance(self.documents, tuple) else self.documents

    @property
    def realisable(self) -> bool:
        """Whether u orders every pair of documents correctly: there is no noise of either kind."""
        return self.noise == 0.0 and self.query_noise == 0.0

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> PopulationSettings:
        """Make settings from a plain mapping, as in a configuration file; missing keys have their defaults.

        Raises
        ------
        ConfigurationError
            When a key is unknown (the message names the nearest) or a value is outside its range.

        Example
        -------
        >>> PopulationSettings.from_mapping({"documents": [5, 9], "noise": 0}).documents
        (5, 9)
        >>> PopulationSettings.from_mapping({"nosie": 0})
        Traceback (most recent call last):
        ...
        pipeline_lib.errors.ConfigurationError: population: unknown key 'nosie'; did you mean 'noise'?
        """
        if not isinstance(mapping, Mapping):
            raise ConfigurationError(f"population: expected a mapping, found {mapping!r}")
        known = [field.name for field in dataclasses.fields(cls)]
        for key in mapping:
            if key not in known:
                raise ConfigurationError(f"population: unknown key {key!r}; {hint(key, known)}")
        return cls(**mapping)


def _of_a_population(overrides: dict[str, Any]) -> dict[str, Any]:
    try:
        PopulationSettings.from_mapping(overrides)
    except ConfigurationError as error:
        raise ValueError(str(error).removeprefix("population: ")) from None
    return overrides


def _without_documents(overrides: dict[str, Any]) -> dict[str, Any]:
    if "documents" in overrides:
        raise ValueError("the key 'documents' is not possible here: the experiment varies the documents of a query")
    return overrides


Overrides = Annotated[dict[str, Any], AfterValidator(_of_a_population)]
"""A section of the configuration: what differs from the defaults of :class:`PopulationSettings`."""
WithoutDocuments = Annotated[Overrides, AfterValidator(_without_documents)]
"""The same for experiments that determine the number of documents per query themselves."""


def _shares(shares: Any) -> tuple[float, ...]:
    wrong = "population: label_shares: expected at least two positive shares (of labels 0, 1, ...) that sum to 1"
    if isinstance(shares, str) or not isinstance(shares, Sequence) or not 2 <= len(shares) <= MAX_LABEL + 1:
        raise ConfigurationError(f"{wrong}, found {shares!r}")
    if not all(_is_number(share) and share > 0.0 for share in shares) or abs(sum(shares) - 1.0) > 1e-9:
        raise ConfigurationError(f"{wrong}, found {list(shares)}")
    return tuple(float(share) for share in shares)


def _documents(documents: Any) -> Documents:
    if isinstance(documents, LogNormalLengths):
        return documents
    if isinstance(documents, Mapping):
        return _log_normal(documents)
    ends = [documents] if _is_whole(documents) else documents
    if (
        not isinstance(ends, list | tuple)
        or not 1 <= len(ends) <= 2
        or not all(_is_whole(end) and end >= 1 for end in ends)
        or ends[0] > ends[-1]
    ):
        raise ConfigurationError(
            "population: documents: expected a number of at least 1, or a mapping with the keys mean, low, high and "
            f"spread, or [lowest, highest], found {documents!r}"
        )
    return int(ends[0]) if len(ends) == 1 else (int(ends[0]), int(ends[1]))


def _log_normal(documents: Mapping[str, Any]) -> LogNormalLengths:
    known = [field.name for field in dataclasses.fields(LogNormalLengths)]
    for key in documents:
        if key not in known:
            raise ConfigurationError(f"population: documents: unknown key {key!r}; {hint(key, known)}")
    missing = [key for key in known if key not in documents]
    if missing:
        raise ConfigurationError(
            f"population: documents: expected the keys {', '.join(known)}, {missing[0]} is missing"
        )
    return LogNormalLengths(**documents)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _expect_whole(key: str, value: Any, lowest: int) -> None:
    if not _is_whole(value) or value < lowest:
        raise ConfigurationError(f"population: {key}: expected a whole number of at least {lowest}, found {value!r}")


def _expect_number(key: str, value: Any, range_: str, fits: Callable[[float], bool]) -> None:
    if not _is_number(value) or not fits(value):
        raise ConfigurationError(f"population: {key}: expected a number {range_}, found {value!r}")

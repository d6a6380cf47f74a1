"""Which parameters has the two-layer population, and which values may they have?

The population itself is in :mod:`pipeline_lib.sources.population`. Configurations are checked whenever the workflow is
planned, and this module therefore imports no large library.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from pipeline_lib.core.checks import MAX_LABEL
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.core.settings import NotNegative, Number, Positive, Range, Settings, Whole, demand

__all__: list[str] = []  # internal: a configuration is checked as a whole (pipeline_lib.study.configuration)


class LogNormalLengths(Settings):
    """A law of the number of documents: log-normal on low..high (:mod:`pipeline_lib.sources.length_law`).

    Attributes
    ----------
    mean : float
        The mean of the law, between low and high.
    low, high : int
        The least and the largest number, 1 <= low < high.
    spread : float
        The standard deviation of the logarithm, above 0, before lengths outside low..high are left out.

    Example
    -------
    >>> LogNormalLengths(mean=20.0, low=1, high=100, spread=0.5).high
    100
    """

    mean: Number
    low: Whole
    high: Whole
    spread: Positive

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.low < self.mean < self.high:
            raise ValueError(f"expected a mean between low = {self.low} and high = {self.high}, found {self.mean}")
        return self


_SHARES = demand(
    "at least two positive shares (of labels 0, 1, ...) that sum to 1",
    lambda shares: 2 <= len(shares) <= MAX_LABEL + 1 and abs(sum(shares) - 1.0) <= 1e-9,
)


Documents = Whole | Range | LogNormalLengths
AtLeast0 = Annotated[Number, Field(ge=0)]

# Features are stored in single precision; bounds and margins are kept by this much before they are rounded.
ROUNDING = 1e-6


class PopulationSettings(Settings):
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

    Example
    -------
    >>> PopulationSettings(features=3, label_shares=(0.5, 0.5), documents=(2, 8)).y_max
    1
    """

    features: Whole = 20
    label_shares: Annotated[tuple[Positive, ...], _SHARES] = (0.78, 0.14, 0.08)
    documents: Documents = (8, 40)
    noise: AtLeast0 = 0.15
    query_noise: AtLeast0 = 0.15
    query_spread: Annotated[AtLeast0, Field(lt=1)] = 0.45
    signal: Annotated[Positive, Field(le=1)] = 0.5
    margin: AtLeast0 = 0.0
    feature_norm: Positive = 1.0
    active: Whole | None = None
    seed: NotNegative = 0

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        widest = 2.0 * self.signal * self.feature_norm
        capacity = widest * (1.0 - ROUNDING) / self.y_max
        if self.margin and not self.margin < capacity - ROUNDING * self.feature_norm:
            raise ValueError(
                f"margin: expected a number in [0, {widest / self.y_max:g}) (2 signal feature_norm / y_max), "
                f"found {self.margin}"
            )
        if self.active is not None and self.active > self.features:
            raise ValueError(f"active: expected at most features = {self.features}, found {self.active}")
        return self

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
    def realisable(self) -> bool:
        """Whether u orders every pair of documents correctly: there is no noise of either kind."""
        return self.noise == 0.0 and self.query_noise == 0.0

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> "PopulationSettings":
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
        pipeline_lib.core.errors.ConfigurationError: population: unknown key 'nosie'; did you mean 'noise'?
        """
        return cls.parse(mapping, "population")


def check_overrides(overrides: dict[str, Any]) -> dict[str, Any]:
    """The overrides themselves; a ValueError, which a class of settings turns into its own, if none can have them."""
    try:
        PopulationSettings.parse(overrides)
    except ConfigurationError as error:
        raise ValueError(str(error)) from None
    return overrides


def _without_documents(overrides: dict[str, Any]) -> dict[str, Any]:
    if "documents" in overrides:
        raise ValueError("the key 'documents' is not possible here: the experiment varies the documents of a query")
    return overrides


Overrides = Annotated[dict[str, Any], AfterValidator(check_overrides)]
"""A section of the configuration: what differs from the defaults of :class:`PopulationSettings`."""
WithoutDocuments = Annotated[Overrides, AfterValidator(_without_documents)]
"""The same for experiments that determine the number of documents per query themselves."""

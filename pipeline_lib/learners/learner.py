"""What is a learner, and what do the settings of several learners have in common?

A learner is a module of ``pipeline_lib/learners/``, named like the learner with "_" for "-", which states all there is
to know of it as ``LEARNER = Learner(...)``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator, BeforeValidator, Field, create_model

from pipeline_lib.core import submodules
from pipeline_lib.core.cost import LARGE_CELLS, Size
from pipeline_lib.core.settings import Number, Positive, Positives, Rising, Settings, Text, Whole
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.installed import why_unusable
from pipeline_lib.learners.ranker import Trained

__all__: list[str] = []  # internal: what is asked of a learner while work is planned (see pipeline_lib.core.checks)

Train = Callable[[RankingData, RankingData, Mapping[str, Any], Any], Trained]

IMPORTS = 0.6
"""Seconds that a process takes to import what nearly all learners need; a job that is a fork has it imported."""


TRAINING, VALIDATION = 0.6, 0.2
"""The parts of a data set in one of five folds, as most data sets have them."""


def megabytes(settings: Any, size: Size) -> float:
    """MB that a training on a part of a data set of this size takes beyond the start of its job.

    They are the parts of the fold and the features that the learner computes with, both in single precision; where
    these are few, they are also held in double precision, with about as many intermediate values. Measured with
    synthetic data of 20 to 500 million feature values.

    Example
    -------
    >>> from pipeline_lib.core.cost import Size
    >>> [round(megabytes(Settings(), Size(documents, 10.0, 136.0))) for documents in (100_000.0, 3_771_125.0)]
    [272, 3572]
    """
    inside = seen_by(getattr(settings, "features", "raw"), size)
    small = 20e-6 * max(size.cells, inside.cells)
    large = 700.0 + 4e-6 * ((TRAINING + VALIDATION) * size.cells + TRAINING * inside.cells)
    return large if TRAINING * inside.cells > LARGE_CELLS else small


@dataclass(frozen=True)
class Learner:
    """Everything that others know about a learner.

    Attributes
    ----------
    train : callable
        (training part, validation part, settings as plain values, seed or axes of one) -> Trained.
    settings : type of Settings
        Its settings, and their defaults.
    formula : str
        What it minimises or does, in TeX: X_q and y_q are the features and the labels of query q, s = X_q w.
    with_surrogate : bool
        Whether it minimises a surrogate, which the settings of a model then name.
    control : bool
        Whether it is a control ranker, with which learners are compared, and not a learner.
    weighs : bool
        Whether a query of weight c counts in its training like c copies of the query. Data with weights are refused by
        learners that do not say so (:func:`pipeline_lib.learners.check_weights`).
    requires : str or None
        A package that training needs and other learners do not. Where it cannot be used, a study leaves out the models
        of this learner, and its report says so.
    seconds : callable
        (settings, :class:`pipeline_lib.core.cost.Size` of the whole data set) -> seconds that one training takes on one
        core beyond the start of its job, which include those of importing what it needs. The settings are those of
        :attr:`every_setting`.
    megabytes : callable
        The same arguments -> MB that one training takes beyond the start of its job; :func:`megabytes` fits most.
    """

    train: Train
    settings: type[Settings]
    formula: str
    with_surrogate: bool = False
    control: bool = False
    weighs: bool = False
    requires: str | None = None
    seconds: Callable[[Any, Size], float] = lambda settings, size: 0.02 + 1e-8 * size.cells
    megabytes: Callable[[Any, Size], float] = megabytes

    def estimate(self, settings: Mapping[str, Any], size: Size) -> float:
        """The :attr:`seconds` for settings that are plain values."""
        return self.seconds(self.every_setting.parse(settings), size)

    def memory(self, settings: Mapping[str, Any], size: Size) -> float:
        """The :attr:`megabytes` for settings that are plain values."""
        return self.megabytes(self.every_setting.parse(settings), size)

    @property
    def unusable(self) -> str | None:
        """Why nothing can be trained here: the package that is needed cannot be used; None if all is there."""
        return None if self.requires is None else why_unusable(self.requires)

    @staticmethod
    def chooses(settings: Settings) -> bool:
        """Whether settings leave anything to be chosen on the validation part."""
        return isinstance(settings, Selecting) and settings.chooses()

    @cached_property
    def every_setting(self) -> type[Settings]:
        """All that determines how it is trained: its settings and, if it minimises one, the surrogate."""
        if not self.with_surrogate:
            return self.settings
        kind = self.settings
        return create_model(kind.__name__, __base__=(kind, Minimised), __doc__=kind.__doc__)


class Minimised(Settings):
    """The surrogate that a model's learner minimises."""

    surrogate: Text = Field(description="a surrogate of pipeline_lib.surrogates")
    options: dict[str, Any] = Field({}, description="of the surrogate")


class GaussianFeatures(Settings):
    """Random features of the Gaussian kernel."""

    kernel: Literal["gaussian"] = Field("gaussian", description="the only kernel there is")
    components: Whole = Field(300, description="random features")
    bandwidth: Literal["median"] | Positive = Field("median", description="a number, or that of the median distance")


PlainFeatures = Literal["standardised", "raw"]
Features = PlainFeatures | GaussianFeatures


def seen_by(features: Features, size: Size) -> Size:
    """The size of the data that a learner computes with: random features replace those of the data."""
    return size.with_features(features.components) if isinstance(features, GaussianFeatures) else size


Radius = Positive | None


def _canonical(name: str) -> str:
    # The measures are found by name: what a learner trains that chooses by none of them does not depend on their code.
    canonical: str = submodules.load("pipeline_lib", "metrics").canonical(name)
    return canonical


MeasureName = Annotated[Text, AfterValidator(_canonical)]
"""The name of a measure, in any of its spellings."""
RankingMeasure = Annotated[
    Text,
    Field(pattern="^(map|ndcg(@[1-9][0-9]*)?)$"),
    BeforeValidator(lambda given: _canonical(given) if isinstance(given, str) else given),
]
"""AP of a query has both names: its mean is known as MAP."""
Tolerance = Annotated[Number, Gt(0), Le(0.1)]


def listed(values: Any) -> tuple[Any, ...]:
    """The values of a setting that may be one value or several."""
    return values if isinstance(values, tuple) else (values,)


NotNegative = Annotated[Number, Ge(0)]
Regularisation = Annotated[
    Annotated[tuple[NotNegative, ...], Field(min_length=1)] | NotNegative, AfterValidator(listed)
]
"""One l2, or several to choose from."""
Steps = Annotated[Positives | Positive, AfterValidator(listed)]
"""One step, or several to choose from."""
Sizes = Annotated[Rising | Whole, AfterValidator(listed)]
"""One number, or several to choose from."""


class Selecting(Settings):
    """Settings of a learner that chooses a setting on the validation part.

    ``tuned`` is the setting that leaves a choice if it has several values, or counts several rounds, passes or trees;
    a learner without it always has a choice.
    """

    tuned: ClassVar[str] = ""
    selection: MeasureName = Field(
        "ndcg@10",
        description="measure by which settings are chosen on the validation part; in a study, the headline by default",
    )

    def chooses(self) -> bool:
        """Whether anything is left to be chosen, for which queries must be kept out of training."""
        if not self.tuned:
            return True
        value = getattr(self, self.tuned)
        return bool((len(value) if isinstance(value, tuple) else value) > 1)


class NoSettings(Settings):
    """The settings of a learner without any."""

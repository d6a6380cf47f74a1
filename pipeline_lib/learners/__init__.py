"""How is a ranker trained? Learners are looked up by name and imported when asked for.

Every learner is one function ``train(train, validation, settings, seed) -> Trained``: two
:class:`~pipeline_lib.ranking_data.RankingData`, a mapping of its settings, and a seed or axes of one. What it gives
has a ``model`` that scores documents and a ``record`` of how it came about, ready for JSON.
The modules are attributes of this package: ``learners.erm.fit`` and others are for use by hand.
Their public functions check what they are given. Modules with an empty ``__all__`` (the solvers behind ``erm.fit``) and
functions compiled by numba are internal: they check nothing.

Example
-------
>>> from pipeline_lib import RankingData, learners
>>> data = RankingData.from_arrays([[0.0], [1.0]], [1, 0], [1, 1])
>>> learners.create("ideal")(data, data, {}, 0).model.score(data)
array([1., 0.])
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_lib import submodules
from pipeline_lib.registry import Registry

if TYPE_CHECKING:
    from pipeline_lib.learners.models import Train

_REGISTRY = Registry(Path(__file__).with_name("registry.toml"), "learner")

NAMES: tuple[str, ...] = _REGISTRY.names

WITH_SURROGATE: tuple[str, ...] = ("erm", "ogd", "top-k-feedback")
"""The learners that minimise a surrogate: their settings name it."""


def create(name: str) -> Train:
    """Give the training function of the learner ``name``.

    Raises
    ------
    ConfigurationError
        When there is no such learner; the message gives the nearest one that there is.

    Example
    -------
    >>> create("ermm")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown learner 'ermm'; did you mean 'erm'?
    """
    train: Train = _REGISTRY.load(name)
    return train


def target_of(name: str) -> str:
    """The module and the function of the learner ``name``, without importing them.

    Example
    -------
    >>> target_of("best-feature")
    'pipeline_lib.learners.controls:train_best_feature'
    """
    return _REGISTRY.target_of(name)


def __getattr__(name: str) -> Any:
    return submodules.load(__name__, __path__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())

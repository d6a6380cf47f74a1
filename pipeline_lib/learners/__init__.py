"""How is a ranker trained? Learners are looked up by name and imported when they are needed.

Every learner is one function ``train(train, validation, settings, seed) -> Trained``: two
:class:`~pipeline_lib.ranking_data.RankingData`, a mapping of the settings that differ from their defaults
(:func:`completed` adds the others), and a seed or axes of one. The result has a ``model`` that scores documents and a
``record`` of the training, in plain JSON types. The modules are attributes of this package, so that
``learners.erm.fit`` and others can also be called directly. Their public functions check their arguments. Modules with
an empty ``__all__`` (the solvers behind ``erm.fit``) and functions compiled by numba are internal: they check nothing.

Example
-------
>>> from pipeline_lib import RankingData, learners
>>> data = RankingData.from_arrays([[0.0], [1.0]], [1, 0], [1, 1])
>>> learners.create("ideal")(data, data, {}, 0).model.score(data)
array([1., 0.])
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_lib import submodules
from pipeline_lib.registry import unknown

if TYPE_CHECKING:
    from pipeline_lib.learners.declaration import Learner, Train

NAMES: tuple[str, ...] = tuple(
    sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules([str(Path(__file__).with_name("declared"))]))
)
"""The learners there are: one declaration each, in ``declared/``."""


def get(name: str) -> Learner:
    """The declaration of the learner ``name``.

    Raises
    ------
    ConfigurationError
        When there is no such learner; the message gives the nearest name.

    Example
    -------
    >>> get("perceptron").settings.parse({}).passes
    10
    >>> get("ermm")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown learner 'ermm'; did you mean 'erm'?
    """
    learner: Learner = importlib.import_module(target_of(name).partition(":")[0]).LEARNER
    return learner


def create(name: str) -> Train:
    """Return the training function of the learner ``name``; ConfigurationError if there is none."""
    return get(name).train


def completed(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check the settings of the learner ``name``, and return all of them as plain values, including defaults.

    Learners with a surrogate need the setting ``surrogate``, and may have its ``options``.

    Raises
    ------
    ConfigurationError
        When there is no such learner, or a setting is missing, unknown or has no such value.

    Example
    -------
    >>> completed("rankboost", {"rounds": 20})
    {'selection': 'letor4_mean_ndcg', 'rounds': 20, 'pairs': 'alike'}
    >>> completed("rankboost", {"round": 20})
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: rankboost: unknown key 'round'; did you mean 'rounds'?
    """
    return get(name).every_setting.parse(settings, name).plain()


def target_of(name: str) -> str:
    """The module and the name of the declaration of the learner ``name``, without importing it.

    Example
    -------
    >>> target_of("best-feature")
    'pipeline_lib.learners.declared.best_feature:LEARNER'
    """
    if not isinstance(name, str) or name not in NAMES:
        raise unknown("learner", name, NAMES)
    return f"{__name__}.declared.{name.replace('-', '_')}:LEARNER"


def __getattr__(name: str) -> Any:
    return submodules.load(__name__, __path__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, globals())

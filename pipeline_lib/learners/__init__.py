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

import importlib
import pkgutil
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
    """What is declared of the learner ``name``.

    Raises
    ------
    ConfigurationError
        When there is no such learner; the message gives the nearest one that there is.

    Example
    -------
    >>> get("perceptron").settings.parse({}).passes
    10
    >>> get("ermm")
    Traceback (most recent call last):
    ...
    pipeline_lib.errors.ConfigurationError: unknown learner 'ermm'; did you mean 'erm'?
    """
    found: Learner = importlib.import_module(target_of(name).partition(":")[0]).LEARNER
    return found


def create(name: str) -> Train:
    """Give the training function of the learner ``name``; ConfigurationError where there is none."""
    return get(name).train


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

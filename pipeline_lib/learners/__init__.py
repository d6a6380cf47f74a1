"""How is a ranker trained? A learner is a module of this package, which has its name and says all about it.

All learners are used in the same way: ``create(name, **settings).fit(data)`` returns a ranker, which has ``predict(X)``
and ``save(path)``, and :func:`load` reads it back. ``NAMES`` lists them; a module states the learner's settings, with
the defaults of the workflow, its formula and its cost as ``LEARNER``.

The modules are attributes of this package, which imports one when it is first used. They contain the algorithms
themselves, with all arguments and with the course of every round: ``learners.erm.fit``, ``learners.perceptron.run`` and
others. Their results have ``predict`` and ``save`` as well. Their public functions check their arguments. Modules with
an empty ``__all__`` (the solvers behind ``erm.fit``) and functions compiled by numba are internal: they check nothing.

Example
-------
>>> from pipeline_lib import RankingData, learners
>>> data = RankingData.from_arrays([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1], [1, 1, 2, 2])
>>> ranker = learners.create("erm", surrogate="squared", l2=1e-6).fit(data)
>>> bool(ranker.predict([[1.0]]) > ranker.predict([[0.0]]))
True
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pipeline_lib.core import checks, submodules
from pipeline_lib.core.checks import checked
from pipeline_lib.core.errors import ConfigurationError, UnlearnableError, hint

if TYPE_CHECKING:
    from pipeline_lib.data.ranking_data import RankingData
    from pipeline_lib.learners.configured import ConfiguredLearner
    from pipeline_lib.learners.learner import Learner
    from pipeline_lib.learners.ranker import Trained

NAMES: tuple[str, ...]
"""The learners there are: the modules of this package with a ``LEARNER``."""


@checked
def get(name: str) -> Learner:
    """What the module of the learner ``name`` says about it; no other learner is imported.

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
    pipeline_lib.core.errors.ConfigurationError: unknown learner 'ermm'; did you mean 'erm'?
    """
    module = name.replace("-", "_")
    if "_" not in name and submodules.has(__name__, module):
        learner: Learner | None = getattr(submodules.load(__name__, module), "LEARNER", None)
        if learner is not None:
            return learner
    raise ConfigurationError(f"unknown learner {name!r}; {advice(name)}")


_OTHER_NAMES = {
    **dict.fromkeys(("catboost", "gbdt", "lambdarank", "lightgbm", "lgbm", "mart", "xgboost", "xgb"), "lambdamart"),
    "online-gradient-descent": "ogd",
}
_OTHER_LOSSES = {
    **dict.fromkeys(("ranking-svm", "svmrank", "svm-rank"), "ranksvm"),
    **dict.fromkeys(("linear-regression", "ols", "ridge"), "squared"),
    "svmmap": "svm-map",
}
"""What others call a learner or a surrogate, for hints: spelling alone would mislead."""


@checked
def advice(name: str) -> str:
    """Which learner a name that is none probably means: what others call one, a surrogate, or a slip of the pen.

    Example
    -------
    >>> advice("XGBoost"), advice("emr")
    ("did you mean 'lambdamart'?", "did you mean 'erm'?")
    >>> advice("ranknet")
    "'ranknet' is a surrogate: did you mean the learner 'erm' with `surrogate: ranknet`?"
    """
    from pipeline_lib import surrogates

    plain = name.lower().replace("_", "-").replace(" ", "-")
    if plain in _OTHER_NAMES:
        return f"did you mean {_OTHER_NAMES[plain]!r}?"
    loss = _OTHER_LOSSES.get(plain, plain)
    if loss in surrogates.NAMES:
        return f"{loss!r} is a surrogate: did you mean the learner 'erm' with `surrogate: {loss}`?"
    return hint(name, _names())


@checked
def create(name: str, **settings: Any) -> ConfiguredLearner:
    """The learner ``name`` with some of its settings; the others have their defaults. Its ``fit(data)`` trains it.

    Raises
    ------
    ConfigurationError
        When there is no such learner, or a setting is missing, unknown or has no such value.

    Example
    -------
    >>> create("perceptron", passes=3).settings["step"]
    1.0
    >>> create("erm", surrogate="listnet", raduis=1.0)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: erm: unknown key 'raduis'; did you mean 'radius'?
    """
    from pipeline_lib.learners.configured import ConfiguredLearner

    return ConfiguredLearner(name, completed(name, settings))


def load(path: str | os.PathLike[str]) -> Trained:
    """Read a ranker that ``save`` wrote, or a model that the workflow stored. Nothing in the file is executed.

    Raises
    ------
    DataError
        When there is no such file, it holds no model, or it does not have the checksum that it states.

    Example
    -------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pipeline_lib import RankingData
    >>> path = Path(tempfile.mkdtemp()) / "ranker.json"
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1])
    >>> create("erm", surrogate="listnet", l2=0.1).fit(data).save(path)
    >>> load(path).about["algorithm"], load(path).record["certified"]
    ('erm', True)
    """
    from pipeline_lib.learners import models

    return models.load(path)


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
    {'selection': 'ndcg@10', 'rounds': 20, 'pairs': 'alike'}
    >>> completed("rankboost", {"round": 20})
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.ConfigurationError: rankboost: unknown key 'round'; did you mean 'rounds'?
    """
    return get(name).every_setting.parse(settings, name).plain()


def check_weights(name: str, data: RankingData) -> None:
    """Raise an UnlearnableError where queries have different weights and the learner ``name`` would count all alike.

    Example
    -------
    >>> from pipeline_lib import RankingData
    >>> data = RankingData.from_arrays([[0.0], [1.0]], [1, 1], [7, 8], weight=[2.0, 1.0])
    >>> check_weights("perceptron", data)
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.UnlearnableError: train: perceptron: expected queries without weights, which it cannot \
use, found some; learners that can: adarank, erm, rankboost
    """
    from pipeline_lib.data.ranking_data import RankingData  # by whoever has data, it is imported already

    checks.instance("data", data, RankingData)
    if data.count_alike or get(name).weighs:
        return
    can = [other for other in _names() if get(other).weighs and not get(other).control]
    raise UnlearnableError(
        f"train: {name}: expected queries without weights, which it cannot use, found some; learners that can: "
        f"{', '.join(can)}"
    )


def target_of(name: str) -> str:
    """The module of the learner ``name``: the code that its training runs.

    Example
    -------
    >>> target_of("best-feature")
    'pipeline_lib.learners.best_feature'
    """
    get(name)
    return f"{__name__}.{name.replace('-', '_')}"


@cache
def _names() -> tuple[str, ...]:
    found = (module.__name__ for module in submodules.every(__name__, __path__) if hasattr(module, "LEARNER"))
    return tuple(sorted(name.rpartition(".")[2].replace("_", "-") for name in found))


def __getattr__(name: str) -> Any:
    return _names() if name == "NAMES" else submodules.load(__name__, name)


def __dir__() -> list[str]:
    return submodules.names(__path__, {*globals(), "NAMES"})

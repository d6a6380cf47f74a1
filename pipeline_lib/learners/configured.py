"""How is a learner with its settings trained on a data set, when nobody says which queries are for choosing?

Most learners choose something by queries that they do not train on: the best of several l2, the number of passes. Where
no such queries are given and the settings leave something to be chosen, a fifth of the queries is set apart at random.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline_lib import learners, surrogates
from pipeline_lib.core.checks import Seed, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.learner import Minimised
from pipeline_lib.learners.ranker import Trained, axes_of, trained_with

SET_APART = 0.2
"""The share of the queries by which settings are chosen when no others are given."""


@checked
@dataclass(frozen=True)
class ConfiguredLearner:
    """A learner and all of its settings; :func:`pipeline_lib.learners.create` makes it.

    Attributes
    ----------
    name : str
        One of ``learners.NAMES``.
    settings : dict
        Plain values, defaults included.
    """

    name: str
    settings: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        # Called only for what the class itself lacks.
        advice = (
            ": `fit(data)` returns the ranker, which has it" if name in ("predict", "save", "model", "record") else ""
        )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{advice}")

    def __post_init__(self) -> None:
        chosen = learners.get(self.name).every_setting.parse(self.settings, self.name)
        if isinstance(chosen, Minimised):
            surrogates.create(chosen.surrogate, **chosen.options)

    def fit(self, data: RankingData, validation: RankingData | None = None, *, seed: Seed = 0) -> Trained:
        """Train a ranker.

        Parameters
        ----------
        data : RankingData
            At least one query.
        validation : RankingData, optional
            Queries by which the learner chooses what its settings leave open, such as the best of several l2. When
            not given, a fifth of the queries of ``data`` is set apart for it, at random and not used for training;
            where nothing is open, and where there is only one query, all of ``data`` is used for training.
        seed : int or axes of a seed
            Of everything that is random: the queries set apart, the orders of queries, random features.

        Returns
        -------
        Trained
            With ``predict(X)``, ``save(path)``, and the ``record`` of what was tried and chosen.

        Raises
        ------
        DataError
            When there is no query, the validation part has other features, or the learner cannot learn from the data,
            such as one that cannot use the weights that their queries have.

        Example
        -------
        >>> data = RankingData.from_arrays([[0.0], [1.0], [0.2], [0.9]], [0, 1, 0, 1], [1, 1, 2, 2])
        >>> ranker = learners.create("rankboost", rounds=2).fit(data, seed=3)
        >>> ranker.record["rounds"], ranker.predict([[0.0], [1.0]]).argmax()
        (1, np.int64(1))
        """
        if not data.n_queries:
            raise DataError("data: expected at least one query, found none")
        learner = learners.get(self.name)
        chosen = learner.every_setting.parse(self.settings, self.name)
        train = data
        if validation is None:
            train, validation = parts(data, seed) if learner.chooses(chosen) else (data, data)
        try:
            learners.check_weights(self.name, train)
            trained = learner.train(train, validation, self.settings, seed)
        except DataError as error:  # the same data have another name here
            if not str(error).startswith("train: "):
                raise
            raise type(error)(f"data: {str(error).removeprefix('train: ')}") from error
        return replace(trained, about={"algorithm": self.name, "settings": self.settings} | trained_with(data))


@checked
def parts(data: RankingData, seed: Seed) -> tuple[RankingData, RankingData]:
    """The queries for training and the fifth, at least one, that is set apart; a single query is in both.

    Example
    -------
    >>> data = RankingData.from_arrays(np.zeros((10, 1)), np.zeros(10), np.arange(10))
    >>> [part.n_queries for part in parts(data, 0)], [part.n_queries for part in parts(data.take([0]), 0)]
    ([8, 2], [1, 1])
    """
    if data.n_queries < 2:
        return data, data
    order = generator(*axes_of(seed), "set-apart").permutation(data.n_queries)
    n = max(1, round(SET_APART * data.n_queries))
    return data.take(np.sort(order[n:])), data.take(np.sort(order[:n]))

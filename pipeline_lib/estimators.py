"""How are the learners used from scikit-learn: in pipelines, searches over settings, and cross-validation?

There is one estimator for each learner, made from what is declared of it, so that its arguments are the learner's
settings with the same defaults: ``AdarankRanker``, ``ConeRanker``, ``ErmRanker``, ``OgdRanker``, ``PerceptronRanker``,
``RankboostRanker``, ``TopKFeedbackRanker``, and those of the learners that are added. scikit-learn must be installed
(``pip install 'pipeline_lib[sklearn]'``).

Documents with the same entry of ``qid`` belong to one query, which has the weight of its documents in
``sample_weight``. ``fit``, ``score`` and the scorers take both, and request them by scikit-learn's metadata routing.
With ``verbose=True``, an estimator prints how its training goes, in a notebook as in a terminal. All documents of a
query must be on one side of a split: ``GroupKFold`` with ``groups=qid`` sees to it.

Example
-------
>>> import sklearn
>>> from sklearn.model_selection import GridSearchCV, GroupKFold
>>> from pipeline_lib.estimators import ErmRanker, PerQuery
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(60, 3))
>>> y, qid = (X[:, 0] > 0.5).astype(int), np.repeat(np.arange(12), 5)
>>> with sklearn.config_context(enable_metadata_routing=True):
...     search = GridSearchCV(ErmRanker(), {"l2": [0.01, 100.0]}, cv=GroupKFold(3), scoring=PerQuery("ndcg@10"))
...     _ = search.fit(X, y, groups=qid, qid=qid)
>>> search.best_params_, search.predict(X).shape
({'l2': 0.01}, (60,))
"""

import inspect
import sys
import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline_lib import learners, metrics
from pipeline_lib.core import checks, progress
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners.learner import Learner
from pipeline_lib.learners.models import LinearModel

try:
    from sklearn.base import BaseEstimator
    from sklearn.utils.metadata_routing import UNUSED
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        f"pipeline_lib.estimators needs scikit-learn ({error}): pip install 'pipeline_lib[sklearn]'"
    ) from error

SURROGATE = "listnet"
"""What an estimator minimises when no surrogate is named: to scikit-learn every argument has a default."""
TAKEN: Any = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
"""The matrices that estimators take, for scikit-learn's check of them."""


class Ranker(BaseEstimator):  # type: ignore[misc]
    """What the estimators have in common; the subclasses name the learner and have its settings as arguments.

    Attributes
    ----------
    ranker_ : Trained
        After ``fit``: the model with the record of its training. ``ranker_.save(path)`` stores it.
    n_queries_, n_features_in_ : int
    feature_names_in_ : array of str
        Where the documents of ``fit`` have named columns; the stored model keeps the names too.
    coef_ : float64 array, shape (d,)
        Where the model is linear: the change of a score with each feature, in the units of the features of ``fit``.
    """

    learner: str
    # Metadata routing reads these: a search passes the queries on without being told to.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, "sample_weight": True}

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> "Ranker":
        """Train.

        Parameters
        ----------
        X : shape (N, d)
            Documents, in any order; a sparse matrix of scipy is given its zeros, which take 4 N d bytes. NaN is
            refused by scikit-learn's check: one of its imputers may stand before the ranker.
        y : shape (N,)
            Their labels, whole numbers in 0..255.
        qid : shape (N,), optional
            Numbers or texts: documents with the same one belong to one query. Without it all belong to one query, and
            a warning says so.
        sample_weight : shape (N,), optional
            For every document the weight of its query, a number above 0 that all documents of the query share; a query
            of weight c counts like c copies of it.

        Raises
        ------
        DataError, ConfigurationError
            When an argument or a setting is none, or the learner cannot use weights; both are ``ValueError``.
        """
        type_of_target(y, raise_unknown=True)
        # One document cannot be ranked.
        X, y = validate_data(self, X, y, **TAKEN, ensure_min_samples=2)
        settings = self.get_params(deep=False)
        seed = checks.whole("random_state", settings.pop("random_state"))
        verbose = checks.one_of("verbose", settings.pop("verbose"), (False, True, 0, 1))
        if "options" in settings:
            settings["options"] = settings["options"] or {}
        data, _ = by_query(X, y, qid, sample_weight)
        if qid is None:
            # LGBMRanker raises here; the checks of scikit-learn, which know no queries, call fit(X, y).
            warnings.warn(
                f"fit: found no qid, so that all {len(y)} documents count as those of one query; give the query of "
                "every document, fit(X, y, qid=...)",
                stacklevel=2,
            )
        with progress.printed(sys.stdout) if verbose else nullcontext():
            trained = learners.create(self.learner, **settings).fit(data, seed=seed)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            model: Any = trained.model
            trained = replace(trained, model=replace(model, feature_names=tuple(map(str, names))))
        self.ranker_, self.n_queries_ = trained, data.n_queries
        return self

    def predict(self, X: Any) -> Floats:
        """A score for every document, shape (N,); larger scores come first."""
        check_is_fitted(self)
        return self.ranker_.predict(validate_data(self, X, reset=False, **TAKEN))

    def score(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """The mean over queries of NDCG@10, of equal scores over all orders that they allow; weighted as in ``fit``."""
        return PerQuery("ndcg@10")(self, X, y, qid=qid, sample_weight=sample_weight)

    @property
    def coef_(self) -> Floats:
        """See the attributes of the class.

        Raises
        ------
        AttributeError
            When there is no model yet, or none that is linear in the features.

        Example
        -------
        >>> ranker = ErmRanker(l2=0.1).fit([[0.0, 1.0], [1.0, 1.0]], [0, 1], qid=["a", "a"])
        >>> ranker.coef_.shape, bool(ranker.coef_[0] > 0.0)
        ((2,), True)
        """
        check_is_fitted(self)
        model = self.ranker_.model
        if not isinstance(model, LinearModel):
            raise AttributeError(f"coef_: expected a model that is linear in the features, found one of {model.kind}")
        return np.asarray(model.w / model.scale, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


class PerQuery(BaseEstimator):  # type: ignore[misc]
    """A scorer for ``scoring=`` of scikit-learn's searches: the mean of a measure over the queries of ``qid``.

    Of equal scores it is the mean over all orders of their documents, as in :func:`sklearn.metrics.ndcg_score`.

    Parameters
    ----------
    measure : str
        A measure of ``metrics.per_query``, such as "ndcg@10" or "map".
    y_max : int, optional
        The largest label of the scale, which "err" needs.

    Example
    -------
    >>> ranker = RankboostRanker(rounds=1).fit([[0.0], [1.0], [0.0], [1.0]], [0, 1, 0, 1], qid=["a", "a", "b", "b"])
    >>> PerQuery("map")(ranker, [[0.0], [1.0]], [1, 0], qid=["a", "a"])
    0.5
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True, "estimator": UNUSED}

    def __init__(self, measure: str = "ndcg@10", y_max: int | None = None) -> None:
        self.measure = measure
        self.y_max = y_max

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """See :meth:`score`, which has its name for the sake of metadata routing."""
        return self.score(estimator, X, y, qid=qid, sample_weight=sample_weight)

    def score(self, estimator: Any, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> float:
        """How well ``estimator.predict(X)`` ranks the documents of every query, with weights as in ``fit``.

        Raises
        ------
        DataError
            When the estimator was fitted to several queries, and no ``qid`` says which documents belong together.
        """
        last = estimator[-1] if hasattr(estimator, "steps") else estimator
        if qid is None and getattr(last, "n_queries_", 1) > 1:
            raise DataError(
                "qid: expected the query of every document, as in fit, found None; searches pass it on after "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        scores = checks.floats("scores", estimator.predict(X), ndim=1)
        data, order = by_query(scores[:, None], y, qid, sample_weight)
        judging = data.judging._asdict()
        values = metrics.per_query([self.measure], scores[order], data.y, data.offsets, y_max=self.y_max, **judging)
        return float(np.average(values[self.measure], weights=data.weights))


def by_query(X: Any, y: Any, qid: Any, sample_weight: Any = None) -> tuple[RankingData, NDArray[np.intp]]:
    """The documents sorted by query, and the order that does it; within a query they keep their order.

    Raises
    ------
    DataError
        When arguments have different lengths, labels are not whole numbers in 0..255, a query has no name, or a weight
        is not above 0 or not that of the query's other documents.

    Example
    -------
    >>> data, order = by_query([[0.5], [1.5], [2.5]], [0, 1, 2], ["b", "a", "b"])
    >>> data.y, data.offsets, order
    (array([1, 0, 2], dtype=int32), array([0, 1, 3]), array([1, 0, 2]))
    """
    labels = checks.labels("y", y)
    names = np.zeros(len(labels), np.int64) if qid is None else np.asarray(qid)
    if names.shape != labels.shape:
        raise DataError(f"qid: expected the query of each of {len(labels)} documents, found shape {names.shape}")
    if names.dtype.kind == "f":
        checks.array("qid", names)
    try:
        _, firsts, numbers = np.unique(names, return_index=True, return_inverse=True)
    except TypeError as error:
        raise DataError(f"qid: expected numbers or texts, found values that cannot be compared ({error})") from error
    order = np.argsort(numbers, kind="stable")
    weights = None
    if sample_weight is not None:
        given = checks.floats("sample_weight", sample_weight, shape=labels.shape)
        if len(nothing := np.flatnonzero(given <= 0.0)):
            raise DataError(
                f"sample_weight[{nothing[0]}]: expected a weight above zero, found {given[nothing[0]]:g}; leave "
                "queries out that are not to count"
            )
        if len(other := np.flatnonzero(given != given[firsts][numbers])):
            row = int(other[0])
            raise DataError(
                f"sample_weight[{row}]: expected one weight for all documents of query {names[row]}, found "
                f"{given[row]:g} after {given[firsts[numbers[row]]]:g}; weights are those of queries"
            )
        weights = given[order]
    rows = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    return RankingData.from_arrays(rows[order], labels[order], numbers[order], weight=weights), order


def class_name(learner: str) -> str:
    """What the estimator of a learner is called.

    Example
    -------
    >>> class_name("top-k-feedback")
    'TopKFeedbackRanker'
    """
    return "".join(word.capitalize() for word in learner.split("-")) + "Ranker"


def _estimator(name: str, declared: Learner) -> type[Ranker]:
    """The class whose arguments are the settings of a learner."""
    defaults = declared.settings.parse({}).model_dump()
    if declared.with_surrogate:
        defaults = {"surrogate": SURROGATE, "options": None, **defaults}
    defaults |= {"random_state": 0, "verbose": False}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(key, keyword, default=value) for key, value in defaults.items()]

    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([itself, *parameters])

    def __init__(self: Any, **settings: Any) -> None:
        given = signature.bind(self, **settings).arguments
        for key, default in defaults.items():
            setattr(self, key, given.get(key, default))

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    text = (
        f"The learner {name}: {declared.formula}.\n\n    Its arguments are the settings of the learner, the seed "
        "``random_state``, and ``verbose``, whether training prints how it goes."
    )
    return type(
        class_name(name), (Ranker,), {"__init__": __init__, "learner": name, "__doc__": text, "__module__": __name__}
    )


RANKERS = {name: _estimator(name, learners.get(name)) for name in learners.NAMES if not learners.get(name).control}
"""Every estimator by the name of its learner."""
globals().update({kind.__name__: kind for kind in RANKERS.values()})
__all__ = ["RANKERS", "PerQuery", "Ranker", *sorted(kind.__name__ for kind in RANKERS.values())]

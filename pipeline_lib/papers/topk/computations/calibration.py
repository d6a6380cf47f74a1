"""Which surrogates put the documents in the order of NDCG when their expectation is minimised?

`topk`, Theorem 5.1 and section 1. For every surrogate a linear programme finds the law of labels under which its
minimisers have two documents in the wrong order, with the largest difference of their expected relevances
(:mod:`pipeline_lib.theory.calibration`). The expectation of the surrogate as it is implemented is then minimised under
these laws and under random ones, by certified minimisation over free scores (X = I), and the order of the minimiser is
judged by expected NDCG.
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.arrays import Floats
from pipeline_lib.errors import DataError
from pipeline_lib.learners import erm
from pipeline_lib.papers.topk.computations.label_learners import on_identity
from pipeline_lib.papers.topk.computations.labels import value
from pipeline_lib.seeds import generator
from pipeline_lib.theory import calibration, partial_labels

if TYPE_CHECKING:
    from pipeline_lib.papers.topk.experiments.structure import StructureSettings

NOT_CALIBRATED = ("squared", "ranksvm", "kl", "listnet")
CALIBRATED = "squared-ndcg"
CASES = tuple(itertools.product((2, 3), (2, 3)))
"""Documents and grades."""

Row = dict[str, Any]


def rows(settings: StructureSettings, seed: int) -> list[Row]:
    """The regret in NDCG of minimisers under every surrogate's worst law, and of the calibrated one under many."""
    found = []
    for m, grades in CASES:
        worst = {name: calibration.largest_misordering(name, m, grades) for name in (*NOT_CALIBRATED, CALIBRATED)}
        for name, one in worst.items():
            found.append(_row(name, m, grades, "worst", [one.law], one.gap))
        found.append(_row(CALIBRATED, m, grades, "worst of others", [worst[name].law for name in NOT_CALIBRATED], 0.0))
        rng = generator(seed, "topk-structure", "laws", m, grades)
        drawn = rng.dirichlet(np.ones(grades**m), size=settings.laws)
        found.append(_row(CALIBRATED, m, grades, "random", list(drawn), 0.0))
    return found


def minimiser(surrogate: str, law: Floats, m: int, grades: int) -> Floats:
    """Scores that minimise the expectation of a surrogate under a law of labels, certified.

    Example
    -------
    >>> minimiser("squared", np.array([0.0, 0.5, 0.25, 0.25]), 2, 2).round(6).tolist()
    [0.5, 0.75]
    """
    data = on_identity(m, grades)
    found = erm.fit(data, surrogate, l2=0.0, radius=100.0, weights=np.asarray(law, np.float64))
    if not found.certified:
        raise DataError(f"{surrogate}: the minimiser of its expectation is not certified: {found.reason}")
    return found.w


def _row(name: str, m: int, grades: int, laws: str, among: list[Floats], gap: float) -> Row:
    row = {"surrogate": name, "m": m, "grades": grades, "laws": laws, "gap": gap}
    return {**row, "number": len(among), "largest_regret": max(_regret(name, law, m, grades) for law in among)}


def _regret(name: str, law: Floats, m: int, grades: int) -> float:
    relevance = law @ _values(m, grades)
    scores = minimiser(name, law, m, grades)
    return max(0.0, partial_labels.best_value(relevance) - float(value(scores[None], relevance)[0]))


_values = functools.cache(partial_labels.relevances)

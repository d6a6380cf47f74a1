"""What do queries that a ranker was not trained on certify of its risk?

If a ranker was chosen without looking at some queries, its losses on them are independent numbers in [0, B], and by
Hoeffding's inequality, for their mean Lhat(w) over n of them,

    L(w) <= Lhat(w) + B sqrt( log(1 / delta) / (2n) )        with probability 1 - delta.

Neither the class of rankers nor the number of features enters. If the queries served to choose among K rankers, as the
validation part does, the inequality must hold for all K at once, each with the probability delta / K of failing, and
log(K / delta) takes the place of log(1 / delta): with delta = 0.05, the term becomes 1.28 times as large for K = 7, and
1.6 times for K = 100.

B is the largest loss, less its smallest value, for scores up to ||w||_2 R_X. R_X, the length of the longest list and
the largest label are taken from the data and treated as if they had been known beforehand.
"""

import math

from pipeline_lib.core.checks import Count, Probability, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.surrogates.base import Surrogate
from pipeline_lib.theory.certificates import DELTA, Certificate
from pipeline_lib.theory.constants import constants
from pipeline_lib.theory.ranker_facts import Facts

NAME, PLACE = "held-out", "Hoeffding"


@checked
def certify(known: Facts, surrogate: Surrogate, *, chosen_from: Count = 1, delta: Probability = DELTA) -> Certificate:
    """What the queries of which ``known`` are the facts say of a ranker that was not trained on them.

    Parameters
    ----------
    known : Facts
        Of the ranker on these queries: ``empirical_risk`` is its mean loss there.
    surrogate : Surrogate
    chosen_from : int >= 1
        K, the number of rankers among which the queries served to choose; 1 where they did not.
    delta : float
        The probability with which the inequality may fail.

    Raises
    ------
    DataError
        When an argument is out of range, or no bound on the loss is known.

    Example
    -------
    >>> from pipeline_lib import surrogates
    >>> known, loss = Facts(200, 10, 20, 2, 0.5, 1.0, 1.0, 1.0, 0.3, 0.4), surrogates.create("listnet")
    >>> test, validation = certify(known, loss), certify(known, loss, chosen_from=7)
    >>> round(test.risk, 3), test.informative, test.informative_from
    (0.56, False, 1349)
    >>> round(validation.deviation / test.deviation, 2)
    1.28
    """
    # Constants for lists of two documents and two labels are those of the shortest ones that can be ranked.
    bound = constants(
        surrogate, max(known.m, 2), max(known.y_max, 1), score_bound=known.l2 * known.feature_l2
    ).excess_bound
    if bound is None or not math.isfinite(bound):
        raise DataError(f"surrogate: expected a finite bound on the loss, none is known for {surrogate.name}")
    largest = float(bound)

    def deviation(n: int) -> float:
        return largest * math.sqrt(math.log(chosen_from / delta) / (2.0 * n))

    return Certificate(
        bound=NAME,
        place=PLACE,
        ball="l2",
        radius=known.l2,
        empirical_risk=known.empirical_risk,
        deviation=deviation(known.n),
        largest_loss=largest,
        zero_risk=known.zero_risk,
        at=deviation,
    )

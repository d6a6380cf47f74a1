"""What does the paper print in numbers, and how does it compare with what was measured?

The constants and powers here are those of the paper, with the place where they are printed; none of them is computed.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from pipeline_lib.report.queries import Rows

POWERS = (
    ("lists-m-free", "gap_exponent_in_m", "gap against m, ListNet and SmoothDCG (abstract)", 0.0),
    ("lists-m-free", "chapelle_wu_exponent_in_m", "Chapelle and Wu's term against m (section 3)", 0.5),
    ("lists-ranksvm", "exponent_in_m", "G of RankSVM against m (section 3.3)", 2.0),
    ("lists-lan", "exponent_in_m", "ListNet, one score at a time, against m (section 3.1)", 1.0),
    ("lists-n-rate", "pessimistic_exponent", "largest gap against n (Theorem 9)", -0.5),
    ("lists-n-rate", "optimistic_exponent", "excess risk against n, no error (equation 8)", -1.0),
    ("lists-thm12", "gap_exponent_in_ln_d", "largest gap against log d (Theorem 12)", 0.5),
    ("lists-explicit-m-corrected", "gap_exponent_in_ln_m", "largest gap against log m, every loss (Theorem 9)", 0.5),
)
"""Claim, value of its trials, what it is the power of, and the power that the paper prints."""

CONSTANTS: tuple[tuple[str, str, str, Callable[[Any], float]], ...] = (
    ("listnet", "lipschitz-linf", "ListNet: G, maximum norm (Proposition 1)", lambda row: 2.0),
    ("listnet", "smoothness", "ListNet: H, maximum norm (Proposition 1)", lambda row: 2.0),
    ("listnet", "lipschitz-l2", "ListNet: G, Euclidean norm (section 3.1)", lambda row: 2.0),
    ("smooth-dcg", "lipschitz-linf", "SmoothDCG: G, maximum norm (Proposition 2)", lambda row: _proposition_2(row)),
    ("smooth-dcg", "lipschitz-l2", "SmoothDCG: G, Euclidean norm (section 3.2)", lambda row: _proposition_2(row)),
)
"""Loss, constant, its words with the place where it is printed, and the printed value for labels up to ``y_max``."""


def printed_powers(trials: Callable[[str, str], Rows]) -> Rows:
    """For every power that the paper prints, the trial farthest from it, and the range of all trials' intervals.

    ``trials`` gives the trials of a claim that have a value; powers without a trial are left out.

    Example
    -------
    >>> found = Rows([{"exponent_in_m": 2.01, "exponent_in_m_low": 2.0, "exponent_in_m_high": 2.02}], ("t",))
    >>> [row] = printed_powers(lambda claim, value: found if claim == "lists-ranksvm" else Rows([], ()))
    >>> row.printed, row.measured, row.low, row.high
    (2.0, 2.01, 2.0, 2.02)
    """
    rows: list[dict[str, Any]] = []
    tables: dict[str, None] = {}
    for claim, value, what, printed in POWERS:
        found = trials(claim, value)
        if not len(found):
            continue
        tables |= dict.fromkeys(found.tables)
        _, farthest = max((abs(measured - printed), measured) for measured in found.column(value))
        ends = {"low": found.min(f"{value}_low"), "high": found.max(f"{value}_high")}
        rows.append({"what": what, "printed": printed, "measured": farthest, **ends})
    return Rows(rows, tuple(tables))


def printed_constants(constants: Rows) -> Rows:
    """The constants that the paper prints, with ``exact``, the exact ones, from rows for every loss and constant.

    Example
    -------
    >>> row = {"surrogate": "smooth-dcg", "constant": "lipschitz-l2", "y_max": 1, "sigma": 1.0, "exact": 0.354}
    >>> [vars(one) for one in printed_constants(Rows([row], ("lists-constants",)))]
    [{'what': 'SmoothDCG: G, Euclidean norm (section 3.2)', 'printed': 2.0, 'exact': 0.354}]
    """
    rows = []
    for loss, constant, what, printed in CONSTANTS:
        found: Sequence[SimpleNamespace] = list(constants.where(surrogate=loss, constant=constant))
        rows += [{"what": what, "printed": printed(row), "exact": row.exact} for row in found if row.exact is not None]
    return Rows(rows, constants.tables)


def _proposition_2(row: Any) -> float:
    """2 D(1) G(y_max) / sigma, with D(1) = 1 and G(y) = 2^y - 1."""
    return 2.0 * (2.0**row.y_max - 1.0) / float(row.sigma)


FUNCTIONS = {"printed_constants": printed_constants, "printed_powers": printed_powers}

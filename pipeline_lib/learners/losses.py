"""Which surrogate does a learner minimise, and does it do what its class says?"""

from pipeline_lib import surrogates
from pipeline_lib.surrogates.base import Surrogate

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_checked: set[tuple[type[Surrogate], str]] = set()

_TESTED = frozenset(
    (
        *("kl", "listmle", "listnet", "rankboost", "ranknet", "ranksvm", "slam-map", "slam-ndcg", "slam-ndcg@k"),
        *("smooth-dcg", "squared", "squared-ndcg", "structured-ndcg", "svm-map"),
    )
)
"""Surrogates of the package that its tests check. A check takes 0.3 s to 14 s of a core, with compiling, and each of
the jobs of a study would begin with one."""


def checked_surrogate(surrogate: str | Surrogate) -> Surrogate:
    """The surrogate of this name with its default options, or the object itself.

    A class that the package's tests do not check, in a file of the package or elsewhere, is checked once for each
    choice of its options (:func:`pipeline_lib.surrogates.checking.check`), because certificates follow from gradients:
    those of a wrong gradient would prove any ranker optimal.
    """
    loss = surrogates.create(surrogate) if isinstance(surrogate, str) else surrogate
    kind, options = type(loss), repr(vars(loss))
    tested = kind.__module__.startswith("pipeline_lib.") and kind.name in _TESTED
    if not tested and (kind, options) not in _checked:
        surrogates.check(loss)
        _checked.add((kind, options))
    return loss

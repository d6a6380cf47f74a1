"""Which surrogate does a learner minimise, and does it do what its class says?"""

from pipeline_lib import surrogates
from pipeline_lib.surrogates.base import Surrogate

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_checked: set[tuple[type[Surrogate], str]] = set()


def checked_surrogate(surrogate: str | Surrogate) -> Surrogate:
    """The surrogate of this name with its default options, or the object itself.

    A class from outside the package is checked once for each choice of its options
    (:func:`pipeline_lib.surrogates.checking.check`), because certificates follow from gradients: those of a wrong
    gradient would prove any ranker optimal.
    """
    if isinstance(surrogate, str):
        return surrogates.create(surrogate)
    kind, options = type(surrogate), repr(vars(surrogate))
    if not kind.__module__.startswith("pipeline_lib.") and (kind, options) not in _checked:
        surrogates.check(surrogate)
        _checked.add((kind, options))
    return surrogate

"""What do surrogates share whose values grow exponentially with the scores, beyond what float64 can hold?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.errors import DataError
from pipeline_lib.surrogates.base import Floats, SmoothSurrogate, checked


class ExponentialSurrogate(SmoothSurrogate):
    """A surrogate of which some finite scores have a value above 1.8e308, the largest float64.

    ``value``, ``gradient`` and ``value_and_gradient`` refuse such scores. ``unchecked`` gives the value inf and a
    gradient of NaN for such a query, which a line search takes as "too far".
    """

    def value(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """As in the base class; a DataError also when a value exceeds the range of float64."""
        return self.value_and_gradient(scores, y, offsets)[0]

    def gradient(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> Floats:
        """As in the base class; a DataError also when a value exceeds the range of float64."""
        return self.value_and_gradient(scores, y, offsets)[1]

    def value_and_gradient(self, scores: ArrayLike, y: ArrayLike, offsets: ArrayLike) -> tuple[Floats, Floats]:
        """As in the base class; a DataError also when a value exceeds the range of float64."""
        s, labels, bounds = checked(scores, y, offsets)
        values, gradient = self.unchecked(s, labels, bounds)
        if not np.isfinite(values).all():
            query = int(np.flatnonzero(~np.isfinite(values))[0])
            own = s[bounds[query] : bounds[query + 1]]
            raise DataError(
                f"query {query}: {self.name} exceeds 1.8e308, the range of float64: expected exponents up to about "
                f"709, found scores from {own.min():g} to {own.max():g}; scale the features or bound the weights"
            )
        return values, gradient

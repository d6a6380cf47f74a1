"""How large is D(k), which bounds the Rademacher average of k pairs, and with it the bounds of Theorems 1, 2 and 3?

`twolayer`: for the 0-1 loss D is the bound of Sauer and Massart. For the others it is the average of linear rankers on
k pairs, estimated by Monte Carlo in either layer and contracted.
"""

import math
from functools import cache

import numpy as np

from pipeline_lib.core.seeds import generator
from pipeline_lib.sources.population import Population
from pipeline_lib.theory import pair_losses, two_layer
from pipeline_lib.theory.two_layer_rademacher import contracted, disjoint_pairs

# Pairs behind an estimate of D(k) are drawn in blocks of about this many: 40 MB for 10 features.
PAIRS_PER_BLOCK = 2**18
# Estimates of D(k) are raised by so many standard errors, since D must not lie below the average.
SAFETY = 3.0


class Complexities:
    """D(k) of every loss in either layer, each estimated once."""

    def __init__(self, population: Population, radius: float, delta: float, draws: int, seed: int) -> None:
        self._population, self._seed = population, seed
        self._radius, self._delta, self._draws = radius, delta, draws
        self._linear_average = cache(self._estimated)

    @property
    def vc_dimension(self) -> int:
        """V of linear scores: the number of features."""
        return self._population.settings.features

    def of(self, loss: str, layer: str) -> two_layer.Complexity:
        """D of a loss in the layer of ``queries`` or of ``documents``."""
        if loss == pair_losses.ZERO_ONE:
            return two_layer.sauer_massart(self.vc_dimension)
        bound = self._radius * self._population.feature_norm
        return lambda k: contracted(self._linear_average(layer, k), k, pair_losses.get(loss), bound)

    def _estimated(self, layer: str, k: int) -> float:
        # Pairs of k queries in the layer of queries, k pairs of one query in that of documents; fresh in every draw.
        rng = generator(self._seed, "twolayer-gaps", "complexity", layer, k, role="alone")
        step = max(1, PAIRS_PER_BLOCK // k)
        blocks = []
        for start in range(0, self._draws, step):
            draws = min(step, self._draws - start)
            data = self._population.draw(*((draws * k, rng, 2) if layer == "queries" else (draws, rng, 2 * k)))
            pairs = disjoint_pairs(data.X64, data.y, data.offsets).differences.reshape(draws, k, -1)
            signs = rng.integers(0, 2, (draws, 1, k)) * 2.0 - 1.0
            blocks.append(np.linalg.norm(signs @ pairs, axis=2)[:, 0])
        lengths = np.concatenate(blocks) * (2.0 * self._radius / k)
        return float(lengths.mean() + SAFETY * lengths.std(ddof=1) / math.sqrt(len(lengths)))

    def bound(self, loss: str, n: int, m: int) -> two_layer.Bound:
        """The four terms of Theorem 1 for n queries with m documents each."""
        documents = self.of(loss, "documents")
        return two_layer.bound([m] * n, self.of(loss, "queries"), self.largest(loss), self._delta, documents)

    def largest(self, loss: str) -> float:
        """M, the largest loss of the class."""
        return pair_losses.get(loss).largest(self._radius * self._population.feature_norm)

    def layers(self, loss: str, n: int, m: int) -> tuple[two_layer.Layer, two_layer.Layer]:
        """The bounds of Theorems 2 and 3 on the layers of queries and of documents."""
        rest = (self.largest(loss), self._delta)
        queries = two_layer.query_layer(n, self.of(loss, "queries"), *rest)
        return queries, two_layer.document_layer([m] * n, self.of(loss, "documents"), *rest)

"""What is the two-layer population behind the simulated data sets, and how are samples drawn from it?

Queries are i.i.d.; documents are i.i.d. given their query; features are bounded; graded labels come from a noisy linear
utility whose unit weight vector u is known. Since fresh samples can be drawn without limit, expected risks are known to
any accuracy.

The model, with d features, grades 0..y_max, and U the uniform distribution on [-1, 1]:

A query draws

- its level b ~ U, which determines how relevant its documents are on average;
- its centre c ~ U^d, around which the features of its documents are distributed;
- its taste: a feature f, uniform on 1..d, and a sign g, -1 or +1 with probability 1/2.

Given the query, a document draws a ~ U, xi ~ U^d and e ~ N(0, 1), and has

- the merit            t = rho b + (1 - rho) a                                           in [-1, 1]
- the label            y = |{k : z > theta_k}|,    z = t + tau g xi_f + sigma e
- the true grade       y* = |{k : t > theta_k}|    (the label without noise and taste)
- the utility          h = kappa R (1 - gap y_max / (2 kappa R)) t + gap (y* - y_max / 2)    in [-kappa R, kappa R]
- the features         x = h u + (I - u u^T) v,    v = sqrt((1 - kappa^2) / d) R (rho c + (1 - rho) xi)

with rho = ``query_spread``, tau = ``query_noise``, sigma = ``noise``, kappa = ``signal``, gap = ``margin``, R =
``feature_norm``. It has these properties:

- **Utility.** <u, x> = h, an increasing function of the merit; the rest of x is orthogonal to u and contains no
  information about the merit. With tau = 0 no ranker, linear or not, orders a pair according to its labels with a
  higher probability than u; with tau > 0 a ranker that also uses a feature gains in the queries with that taste and
  loses in those with the opposite one.
- **Bounds.** ||x||_2 <= R, because h^2 <= kappa^2 R^2 and ||(I - u u^T) v||^2 <= ||v||^2 <= (1 - kappa^2) R^2.
- **Margin.** With noise = query_noise = 0, y = y* and <u, x_i - x_j> >= gap (y_i - y_j) whenever y_i > y_j, between any
  two documents of any queries: the population is realisable. The gap is created by shifting every document by a
  function of itself and not by rejecting some, so that documents remain i.i.d. given their query and the shares of the
  labels remain as set.
- **Labels.** The thresholds theta make the shares of the labels equal ``label_shares`` over the whole population: they
  are the quantiles of z. With w = 1 - rho, Phi and phi the normal distribution and density,
  P(z <= s) = E_{b, xi_f} [ S(s - rho b - tau xi_f + w) - S(s - rho b - tau xi_f - w) ] / (2 w),
  S(r) = r Phi(r / sigma) + sigma phi(r / sigma); S(r) = max(r, 0) where sigma = 0. The expectation over the two
  uniform variables is computed by a midpoint rule, accurate to about 1e-5, so that the thresholds involve no sampling.
- **Two layers.** rho shifts whole queries, so that their distributions of labels differ (some have no relevant
  document); tau makes the labels of a query depend on a feature that need not matter for other queries. The error due
  to tau does not average out over more documents of the same query.

All draws are determined by the generator that is passed, and u by ``seed`` alone.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline_lib.core import checks, seeds
from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.checks import Natural, checked
from pipeline_lib.core.errors import DataError
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.sources import length_law
from pipeline_lib.sources.population_settings import ROUNDING, LogNormalLengths
from pipeline_lib.sources.population_settings import PopulationSettings as PopulationSettings

# Documents are drawn in blocks of about this many feature values: 8 MB in double precision, which fit into caches.
NUMBERS_PER_BLOCK = 2**20
QUADRATURE_NODES = 128


@checked
@dataclass(frozen=True, eq=False)
class Queries:
    """The latent parameters of queries drawn from a population; each array's first axis is the query.

    ``level`` b, shape (n,); ``centre`` c, shape (n, d), float32; ``taste`` f, shape (n,), from 0; ``sign`` g,
    shape (n,).
    """

    level: Floats
    centre: NDArray[np.float32]
    taste: NDArray[np.int64]
    sign: Floats

    def __len__(self) -> int:
        return len(self.level)

    def take(self, indices: NDArray[np.int64] | slice) -> "Queries":
        """Some of the queries, by index or slice."""
        if not isinstance(indices, slice):
            indices = checks.query_indices("indices", indices, len(self))
        return Queries(self.level[indices], self.centre[indices], self.taste[indices], self.sign[indices])


@checked
class Population:
    """A two-layer population with known parameters, from which any number of samples can be drawn.

    Example
    -------
    >>> population = Population(PopulationSettings(features=3, documents=4))
    >>> population.draw(2, np.random.default_rng(0))
    RankingData(2 queries, 8 documents, 3 features, labels 0..2)
    """

    def __init__(self, settings: PopulationSettings) -> None:
        self.settings = settings

    def __repr__(self) -> str:
        return f"Population({self.settings})"

    @cached_property
    def utility(self) -> Floats:
        """The true weight vector u, ||u||_2 = 1, shape (d,)."""
        d, active = self.settings.features, self.settings.active or self.settings.features
        rng = seeds.generator("population", "utility", d, active, self.settings.seed)
        weights = np.zeros(d)
        weights[rng.permutation(d)[:active]] = rng.standard_normal(active)
        return weights / np.linalg.norm(weights)

    @property
    def feature_norm(self) -> float:
        """R: ||x||_2 <= R for every document."""
        return self.settings.feature_norm

    @cached_property
    def feature_norm_inf(self) -> float:
        """A bound on max_j |x_j| for every document.

        ::

            |x_j| <= kappa R |u_j| + r (1 - u_j^2 + |u_j| (||u||_1 - |u_j|)),    r = sqrt((1 - kappa^2)/d) R;  and <= R
        """
        u = np.abs(self.utility)
        across = self._across * (1.0 - u**2 + u * (u.sum() - u))
        bound = float(np.max(self.settings.signal * self.feature_norm * u + across))
        # u_j is known only in double precision.
        return min(bound * (1.0 + ROUNDING), self.feature_norm)

    @cached_property
    def thresholds(self) -> Floats:
        """theta_1 < ... < theta_{y_max}: the quantiles of z at the cumulative label shares, shape (y_max,)."""
        from scipy.optimize import brentq

        s = self.settings
        furthest = 1.0 + s.query_noise + 40.0 * s.noise
        shares = np.cumsum(s.label_shares)[:-1]
        roots = [brentq(lambda z, p=p: self._below(z) - p, -furthest, furthest, xtol=1e-14) for p in shares]
        return np.array(roots, np.float64)

    def draw(self, n_queries: Natural, rng: np.random.Generator, documents: ArrayLike | None = None) -> RankingData:
        """Draw fresh queries with their documents.

        Parameters
        ----------
        n_queries : int
            At least 0; their names are 1..n.
        rng : numpy.random.Generator
        documents : int or array-like of shape (n_queries,), optional
            Documents of each query; without it, as the settings say.

        Memory: the sample itself, 4 (d + 1) bytes per document, with the queries' centres, 4 d bytes per query, and a
        block of a few times 8 MB.

        Raises
        ------
        DataError
            When n_queries is negative, a query would have no document, or the stream does not say what the queries are
            for.
        """
        queries = self.draw_queries(n_queries, rng)
        return self.draw_documents(queries, self.draw_lengths(n_queries, rng) if documents is None else documents, rng)

    def draw_queries(self, n_queries: Natural, rng: np.random.Generator) -> Queries:
        """The first layer: latent parameters of ``n_queries`` i.i.d. queries."""
        _role_of(rng)
        d = self.settings.features
        level = rng.uniform(-1.0, 1.0, n_queries)
        centre = 2.0 * rng.random((n_queries, d), dtype=np.float32) - np.float32(1.0)
        return Queries(level, centre, rng.integers(d, size=n_queries), rng.choice([-1.0, 1.0], n_queries))

    def draw_lengths(self, n_queries: Natural, rng: np.random.Generator) -> NDArray[np.int64]:
        """Numbers of documents for ``n_queries`` queries according to the settings, shape (n_queries,)."""
        documents = self.settings.documents
        if isinstance(documents, LogNormalLengths):
            return length_law.draw(documents, n_queries, rng)
        low, high = (documents, documents) if isinstance(documents, int) else documents
        return rng.integers(low, high, size=n_queries, endpoint=True)

    def draw_documents(
        self, queries: Queries, documents: ArrayLike, rng: np.random.Generator, first_qid: int = 1
    ) -> RankingData:
        """The second layer: documents i.i.d. given each of the queries.

        Another call with the same queries draws more of their documents, up to "all documents of the sampled queries".

        Parameters
        ----------
        queries : Queries
            n of them.
        documents : int or array-like of shape (n,)
            Documents of each query, at least 1.
        rng : numpy.random.Generator
        first_qid : int
            Name of the first query; the others follow.

        Example
        -------
        >>> population, rng = Population(PopulationSettings(features=2)), np.random.default_rng(0)
        >>> queries = population.draw_queries(3, rng)
        >>> few, many = (population.draw_documents(queries, m, rng) for m in (2, 1000))
        >>> few.n_documents, many.n_documents
        (6, 3000)
        """
        role, lengths = _role_of(rng), _lengths(documents, len(queries))
        owner = np.repeat(np.arange(len(queries)), lengths)
        X = np.empty((len(owner), self.settings.features), np.float32)
        y = np.empty(len(owner), np.int32)
        step = max(1, NUMBERS_PER_BLOCK // self.settings.features)
        for start in range(0, len(owner), step):
            rows = slice(start, start + step)
            X[rows], y[rows] = self._block(queries, owner[rows], rng)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        names = np.arange(first_qid, first_qid + len(queries), dtype=np.int64)
        return RankingData(X, y, offsets, names, ties="file", role=role)

    @property
    def _across(self) -> float:
        """Largest magnitude of a coordinate of v: sqrt((1 - kappa^2) / d) R."""
        s = self.settings
        return math.sqrt((1.0 - s.signal**2) / s.features) * s.feature_norm

    def _below(self, z: float) -> float:
        """P(z <= s); formula in the module's docstring."""
        from scipy.special import ndtr

        s = self.settings
        uniform = (np.arange(QUADRATURE_NODES) + 0.5) / QUADRATURE_NODES * 2.0 - 1.0
        rest = z - s.query_spread * uniform[:, None] - s.query_noise * uniform

        def integral(r: Floats) -> Floats:
            if s.noise == 0.0:
                return np.maximum(r, 0.0)
            q = np.clip(r / s.noise, -40.0, 40.0)  # beyond, Phi and phi are 0 or 1 to the last digit
            return np.asarray(r * ndtr(q) + s.noise * np.exp(-0.5 * q**2) / math.sqrt(2.0 * math.pi))

        width = 1.0 - s.query_spread
        return float(np.mean(integral(rest + width) - integral(rest - width)) / (2.0 * width))

    def _block(
        self, queries: Queries, owner: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Features and labels of a block of documents, ``owner`` naming the query of each."""
        s, u = self.settings, self.utility
        a = rng.uniform(-1.0, 1.0, len(owner))
        xi = rng.random((len(owner), s.features))
        xi *= 2.0
        xi -= 1.0
        e = rng.standard_normal(len(owner))
        t = s.query_spread * queries.level[owner] + (1.0 - s.query_spread) * a
        taste = queries.sign[owner] * xi[np.arange(len(owner)), queries.taste[owner]]
        y = np.searchsorted(self.thresholds, t + s.query_noise * taste + s.noise * e)
        # From here on xi becomes v, then x, in place.
        xi *= self._across * (1.0 - s.query_spread) * (1.0 - ROUNDING)
        centre = queries.centre[owner]
        centre *= np.float32(self._across * s.query_spread * (1.0 - ROUNDING))
        xi += centre
        xi += np.multiply.outer(self._along(t) - xi @ u, u)
        return xi, y

    def _along(self, t: Floats) -> Floats:
        """The utility h of documents with merit t."""
        s = self.settings
        reach = s.signal * s.feature_norm * (1.0 - ROUNDING)
        gap = s.margin + ROUNDING * s.feature_norm if s.margin > 0.0 else 0.0
        grade = np.searchsorted(self.thresholds, t)
        return (reach - gap * s.y_max / 2.0) * t + gap * (grade - s.y_max / 2.0)


def _role_of(rng: np.random.Generator) -> seeds.Role | None:
    """What queries from this generator are for; of numpy's own generators, which no study uses, nobody knows."""
    return rng.sampled_for if isinstance(rng, seeds.Stream) else None


def _lengths(documents: ArrayLike, n_queries: int) -> NDArray[np.int64]:
    lengths = checks.whole_numbers("documents", documents, 1, checks.MOST, ndim=None)
    if lengths.shape not in ((), (n_queries,)):
        raise DataError(
            f"documents: expected a whole number, or one for each of {n_queries} queries, found shape {lengths.shape}"
        )
    return np.broadcast_to(lengths, (n_queries,)).copy()

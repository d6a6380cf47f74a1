"""How many documents per query does the variance of the gradients say are best, on the two-layer population?"""

import numpy as np

from pipeline_lib.core.arrays import Floats
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.papers.twolayer import risks
from pipeline_lib.sources.population import Population
from pipeline_lib.theory import judging_depth
from pipeline_lib.theory.pair_losses import PairLoss
from pipeline_lib.theory.two_layer_rademacher import Estimate, disjoint_pairs

# Documents of every query behind the variances; more would add little and cost their square.
DOCUMENTS = 8
# The norm constraint counts as active when the ranker comes so close to it.
ACTIVE = 1e-6


def by_variance(
    population: Population, loss: PairLoss, radius: float, w: Floats, queries: int, rng: np.random.Generator
) -> Estimate | None:
    """The best depth for rankers trained with ``loss`` over ||w|| <= radius, of which ``w`` is the expected minimiser.

    ``queries`` are drawn twice: for the curvature and for the variances. Nothing for a loss without curvature (hinge)
    or when ``judging_depth.best_documents`` finds none.
    """
    if loss.curvature is None:
        return None
    data = population.draw(queries, rng, 2)
    pairs = disjoint_pairs(data.X64, data.y, data.offsets).differences
    root = _root_of_metric(pairs, loss, loss.curvature(-(pairs @ w)), radius, w)
    gradients = _gradients(population.draw(queries, rng, DOCUMENTS), loss, w)
    gradients -= gradients.mean(axis=(0, 1))
    return judging_depth.best_documents(judging_depth.moments(gradients @ root, DOCUMENTS))


def _gradients(data: RankingData, loss: PairLoss, w: Floats) -> Floats:
    # d/dw phi(-<w, d>) = -phi'(-<w, d>) d; pairs of equal labels have d = 0.
    d = risks.all_pairs(data)
    return np.asarray(-loss.derivative(-(d @ w))[..., None] * d)


def _root_of_metric(pairs: Floats, loss: PairLoss, curvature: Floats, radius: float, w: Floats) -> Floats:
    """R with R R^T = A, the inverse of the curvature within what the constraint leaves free."""
    hessian = (pairs * curvature[:, None]).T @ pairs / len(pairs)
    free = np.eye(len(w))
    if np.linalg.norm(w) > radius * (1.0 - ACTIVE):
        # Across w; the gradient of the expected risk is -multiplier w.
        slope = -(loss.derivative(-(pairs @ w)) @ pairs) / len(pairs)
        hessian += max(0.0, -float(slope @ w) / radius**2) * np.eye(len(w))
        free = np.linalg.svd(w[None])[2][1:].T
    return np.asarray(free @ np.linalg.inv(np.linalg.cholesky(free.T @ hessian @ free)).T)

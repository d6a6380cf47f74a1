"""In which order do votes rank, next to the linear score: those of Algorithm 2 of `cone`, and other ones?

Among the others are those whose folding in is the printed step without step 1b alone.
Algorithm 2 performs "folding-in to estimate the coefficients without the non-negativity constraints". Folding in is
step 1 of Algorithm 1; its step 1b is the only one that concerns signs. Left are a random start w >= 0 with sum 1,
steps w - mu g along the gradient of ||z - U w||^2 (1a), and the division by ||w||_1 (1c). The sum of these coefficients
is not linear in z, nor does it change its sign with z, because the start does not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline_lib.core.arrays import Floats
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import cone
from pipeline_lib.learners.cone_ranking import FoldIn, direction, same_order, votes

FOLD_STEPS, FOLD_TOL = 10, 1e-3
"""As in training: the largest number of steps, and the movement (sum of sizes) at which they end."""


def printed_votes(
    X: Floats, U: Floats, *, step: float, alpha: float, rho: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The points A_l of a query's documents, shape (m,), for X (m, d) and U (d, K).

    Example
    -------
    The start decides: the coefficients of every pair remain positive, so that the first document of a pair wins.

    >>> rng = np.random.default_rng(0)
    >>> printed_votes(np.array([[0.0], [2.0], [1.0]]), np.array([[1.0]]), step=0.001, alpha=1.0, rho=1.0, rng=rng)
    array([2, 1, 0])
    """
    first, second = np.triu_indices(len(X), 1)
    z = X[first] - X[second]
    z *= (rho / (alpha + np.linalg.norm(z, axis=1)))[:, None]
    G, b = U.T @ U, z @ U
    w = rng.random((len(z), U.shape[1]))
    w /= w.sum(axis=1, keepdims=True)
    moving = np.arange(len(z))
    for _ in range(FOLD_STEPS):
        before = w[moving]
        after = before - 2.0 * step * (before @ G - b[moving])
        after /= np.maximum(np.abs(after).sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        w[moving] = after
        moving = moving[np.abs(after - before).sum(axis=1) > FOLD_TOL]
        if not len(moving):
            break
    wins = w.sum(axis=1) > 0.0
    return np.bincount(np.where(wins, first, second), minlength=len(X))


def queries_in_another_order(
    data: RankingData, U: Floats, fold_in: FoldIn, method: cone.Method, problem: cone.Problem, axes: tuple[Any, ...]
) -> dict[str, int]:
    """The numbers of queries that votes order differently from the linear score, except for ties.

    ``in_another_order`` is the vote with coefficients without constraints, ``printed_in_another_order`` that with the
    steps of Algorithm 1 without step 1b, ``reversed_in_another_order`` that with all differences turned round, and
    ``other_in_another_order`` that with the other way of folding in.
    """
    a = direction(U, fold_in)
    scores = np.einsum("ij,j->i", data.X64, a)
    rho, rng = problem.rho_of(data.n_features), generator(*axes)
    # Exact folding in has no step.
    mu = cone.PUBLISHED_STEPS["sg" if method == "exact" else method]
    other: FoldIn = "gradient" if fold_in == "least-squares" else "least-squares"
    another = dict.fromkeys(("", "printed_", "reversed_", "other_"), 0)
    for begin, end in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        X = data.X64[begin:end]
        scale = float(np.linalg.norm(a)) * float(np.linalg.norm(X, axis=1).max())
        players = {
            "": votes(X, U, fold_in, alpha=problem.alpha, rho=rho),
            "printed_": printed_votes(X, U, step=mu, alpha=problem.alpha, rho=rho, rng=rng),
            "reversed_": votes(-X, U, fold_in, alpha=problem.alpha, rho=rho),
            "other_": votes(X, U, other, alpha=problem.alpha, rho=rho),
        }
        for name, points in players.items():
            another[name] += not same_order(points, scores[begin:end], scale)
    return {f"{name}in_another_order": count for name, count in another.items()}

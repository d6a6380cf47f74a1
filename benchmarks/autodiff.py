"""How do PyTorch and JAX compute the surrogates' values and gradients? By automatic differentiation, in float64.

Flat functions work on one array over documents, or over the list of all pairs; padded ones on rectangles. Every
function here gives calls which return the sum of the values of all queries and the gradient in all scores.
"""

import importlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Result = tuple[float, NDArray[np.float64]]
Call = Callable[[], Result]


@dataclass(frozen=True)
class Problem:
    """Scores, and all that follows from the labels alone: ``query`` and ``place`` of documents, targets, and pairs."""

    scores: NDArray[np.float64]
    y: NDArray[np.int32]
    query: NDArray[np.int64]
    place: NDArray[np.int64]
    shape: tuple[int, int]
    target: NDArray[np.float64]
    higher: NDArray[np.int64]
    lower: NDArray[np.int64]

    @classmethod
    def of(cls, scores: NDArray[np.float64], y: NDArray[np.int32], offsets: NDArray[np.int64]) -> "Problem":
        """From the arrays of all queries."""
        sizes = np.diff(offsets)
        query = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(y)) - np.repeat(offsets[:-1], sizes)
        mass = np.exp(y.astype(np.float64))
        target = mass / np.add.reduceat(mass, offsets[:-1])[query]
        return cls(scores, y, query, place, (len(sizes), int(sizes.max())), target, *pairs(y, offsets))

    def rectangle(self, values: NDArray[Any], dtype: Any, missing: float = 0.0) -> NDArray[Any]:
        """Values of documents as (queries, longest list)."""
        padded = np.full(self.shape, missing, dtype)
        padded[self.query, self.place] = values
        return padded


def pairs(y: NDArray[np.int32], offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the more and of the less relevant document of every pair."""
    higher, lower = [], []
    for begin, end in itertools.pairwise(offsets):
        i, j = np.nonzero(y[begin:end, None] > y[None, begin:end])
        higher.append(begin + i)
        lower.append(begin + j)
    return np.concatenate(higher), np.concatenate(lower)


def by_torch(name: str, problem: Problem) -> dict[str, Call]:
    """PyTorch: flat, flat and compiled, which fails where there is no C++ compiler, and padded."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    flat, padded = _torch_flat(torch, name, problem), _torch_padded(torch, name, problem)
    scores = torch.from_numpy(problem.scores)
    rectangle = torch.from_numpy(problem.rectangle(problem.scores, np.float64))
    query, place = torch.from_numpy(problem.query), torch.from_numpy(problem.place)

    def flat_result(loss: Callable[[Any], Any]) -> Result:
        s = scores.clone().requires_grad_()
        value = loss(s)
        value.backward()
        return value.item(), s.grad.numpy()

    def padded_result() -> Result:
        s = rectangle.clone().requires_grad_()
        value = padded(s)
        value.backward()
        return value.item(), s.grad[query, place].numpy()

    return {
        "torch, flat": partial(flat_result, flat),
        "torch.compile, flat": partial(flat_result, torch.compile(flat)),
        "torch, padded": padded_result,
    }


def _torch_flat(torch: Any, name: str, problem: Problem) -> Callable[[Any], Any]:
    if name == "listnet":
        query, target = torch.from_numpy(problem.query), torch.from_numpy(problem.target)
        n = problem.shape[0]

        def listnet(s: Any) -> Any:
            top = torch.full((n,), -torch.inf, dtype=torch.float64)
            behind = s - top.scatter_reduce(0, query, s.detach(), "amax").index_select(0, query)
            mass = torch.zeros(n, dtype=torch.float64).index_add(0, query, behind.exp())
            return mass.log().sum() - (target * behind).sum()

        return listnet
    i, j = torch.from_numpy(problem.higher), torch.from_numpy(problem.lower)
    loss = _torch_pair_loss(torch, name)
    return lambda s: loss(s.index_select(0, j) - s.index_select(0, i)).sum()


def _torch_padded(torch: Any, name: str, problem: Problem) -> Callable[[Any], Any]:
    mask = torch.from_numpy(problem.rectangle(np.ones(len(problem.y)), bool))
    if name == "listnet":
        target = torch.from_numpy(problem.rectangle(problem.target, np.float64))

        def listnet(s: Any) -> Any:
            logarithms = torch.log_softmax(s.masked_fill(~mask, -torch.inf), dim=1)
            return -(target * logarithms.masked_fill(~mask, 0.0)).sum()

        return listnet
    labels, loss = torch.from_numpy(problem.rectangle(problem.y, np.float64)), _torch_pair_loss(torch, name)
    counted = (labels[:, :, None] > labels[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    return lambda s: loss((s[:, None, :] - s[:, :, None])[counted]).sum()


def _torch_pair_loss(torch: Any, name: str) -> Callable[[Any], Any]:
    return torch.nn.functional.softplus if name == "ranknet" else lambda t: torch.relu(1.0 + t)


def by_jax(name: str, problem: Problem) -> dict[str, Call]:
    """JAX: flat and padded, compiled by ``jit``."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    rectangle = problem.rectangle(problem.scores, np.float64)

    def result(function: Callable[[Any], Any], scores: Any) -> Result:
        value, gradient = function(scores)
        return float(value), np.asarray(gradient)

    def padded_result() -> Result:
        value, gradient = result(padded, rectangle)
        return value, gradient[problem.query, problem.place]

    flat = jax.jit(jax.value_and_grad(_jax_flat(jax, name, problem)))
    padded = jax.jit(jax.value_and_grad(_jax_padded(jax, name, problem)))
    return {"jax.jit, flat": partial(result, flat, problem.scores), "jax.jit, padded": padded_result}


def _jax_flat(jax: Any, name: str, problem: Problem) -> Callable[[Any], Any]:
    jnp = jax.numpy
    if name == "listnet":
        query, target, n = jnp.asarray(problem.query), jnp.asarray(problem.target), problem.shape[0]
        sorted_queries = {"num_segments": n, "indices_are_sorted": True}

        def listnet(s: Any) -> Any:
            top = jax.ops.segment_max(jax.lax.stop_gradient(s), query, **sorted_queries)
            behind = s - top[query]
            mass = jax.ops.segment_sum(jnp.exp(behind), query, **sorted_queries)
            return jnp.log(mass).sum() - (target * behind).sum()

        return listnet
    i, j, loss = jnp.asarray(problem.higher), jnp.asarray(problem.lower), _jax_pair_loss(jax, name)
    return lambda s: loss(s[j] - s[i]).sum()


def _jax_padded(jax: Any, name: str, problem: Problem) -> Callable[[Any], Any]:
    jnp = jax.numpy
    mask = jnp.asarray(problem.rectangle(np.ones(len(problem.y)), bool))
    if name == "listnet":
        target = jnp.asarray(problem.rectangle(problem.target, np.float64))

        def listnet(s: Any) -> Any:
            logarithms = jax.nn.log_softmax(jnp.where(mask, s, -jnp.inf), axis=1)
            return -(target * jnp.where(mask, logarithms, 0.0)).sum()

        return listnet
    labels, loss = jnp.asarray(problem.rectangle(problem.y, np.int32, -1)), _jax_pair_loss(jax, name)

    def all_pairs(s: Any) -> Any:
        # Shapes are fixed when jit compiles: what is not counted is computed and multiplied by 0.
        counted = (labels[:, :, None] > labels[:, None, :]) & mask[:, None, :]
        return (loss(s[:, None, :] - s[:, :, None]) * counted).sum()

    return all_pairs


def _jax_pair_loss(jax: Any, name: str) -> Callable[[Any], Any]:
    return jax.nn.softplus if name == "ranknet" else lambda t: jax.nn.relu(1.0 + t)

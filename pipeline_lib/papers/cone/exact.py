"""Vectors of fractions, for exact counterexamples."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction as F

__all__: list[str] = []

Vector = tuple[F | int, ...]


def dot(a: Sequence[F | int], b: Sequence[F | int]) -> F:
    """The inner product."""
    return sum((F(x) * y for x, y in zip(a, b, strict=True)), F(0))


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return tuple(F(x) - y for x, y in zip(a, b, strict=True))

"""Vectors of fractions, for exact counterexamples."""

from collections.abc import Sequence
from fractions import Fraction as F

__all__: list[str] = []

Vector = tuple[F | int, ...]


def dot(a: Sequence[F | int], b: Sequence[F | int]) -> F:
    """The inner product."""
    return sum((F(x) * y for x, y in zip(a, b, strict=True)), F(0))


def coefficients(basis: tuple[Vector, Vector], z: Vector) -> tuple[F, F]:
    """The least-squares coefficients of z over two linearly independent vectors, by Cramer's rule."""
    (a, b), (_, c) = ([dot(u, v) for v in basis] for u in basis)
    p, q = (dot(u, z) for u in basis)
    return (p * c - b * q) / (a * c - b * b), (a * q - b * p) / (a * c - b * b)


def minus(a: Vector, b: Vector) -> Vector:
    """The difference of two vectors."""
    return tuple(F(x) - y for x, y in zip(a, b, strict=True))

r"""How is a counterexample stated, so that exact arithmetic decides it and a reader can follow by hand?

A witness is a small instance on which a printed statement fails, with the relation that is printed, the one that
holds instead, and both sides of each in rational numbers. An irrational number (a logarithm, a root, a power of e) is
enclosed between two rationals by inequalities between integers; a relation holds, or fails, if it does so for all
numbers between them.

The witnesses of a paper stand in ``pipeline_lib/papers/<paper>/<topic>/witnesses.py``, one function for each. They use
the standard library and this module alone, so that they share no formula with the rest of the project.

Example
-------
>>> @witness("square", place="section 1", errata="A", says="A square is not less than its root.", true_for={"x": 2})
... def of_a_half(x: Fraction = Fraction(1, 2)) -> Instance:
...     printed = Relation("x^2 ≥ x", x * x, "≥", x)
...     return Instance(f"x = {x}", (printed,), (Relation("x^2 ≥ 2 x - 1", x * x, "≥", 2 * x - 1),))
>>> of_a_half.instance().shows, of_a_half.instance(**of_a_half.true_for).shows
(True, False)
>>> print(of_a_half.text())
square (section 1; erratum A)
  statement  A square is not less than its root.
  instance   x = 1/2
  printed    x^2 ≥ x: 1/4 ≥ 1/2, which is false
  holds      x^2 ≥ 2 x - 1: 1/4 ≥ 0
"""

import math
import operator
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

__all__: list[str] = []

WIDTH = 120
Sign = Literal["≤", "≥", "<", ">", "=", "≠"]
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "≤": operator.le,
    "≥": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
    "≠": operator.ne,
}


@dataclass(frozen=True)
class Between:
    """A real number of which it is known that low <= number <= high, and calculation with such numbers.

    Example
    -------
    >>> 2 - log2(3, 12) * Fraction(1, 2)
    Between(low=Fraction(7, 6), high=Fraction(29, 24))
    """

    low: Fraction
    high: Fraction

    def __add__(self, other: "Number") -> "Between":
        low, high = ends(other)
        return Between(self.low + low, self.high + high)

    def __mul__(self, other: "Number") -> "Between":
        products = [a * b for a in (self.low, self.high) for b in ends(other)]
        return Between(min(products), max(products))

    def __truediv__(self, other: "Number") -> "Between":
        low, high = ends(other)
        if low <= 0 <= high:
            raise ZeroDivisionError(f"expected a divisor without 0, found {other}")
        return self * Between(1 / high, 1 / low)

    def __neg__(self) -> "Between":
        return Between(-self.high, -self.low)

    def __sub__(self, other: "Number") -> "Between":
        return self + -other

    def __rsub__(self, other: Fraction | int) -> "Between":
        return -self + other

    def __rtruediv__(self, other: Fraction | int) -> "Between":
        return Between(Fraction(other), Fraction(other)) / self

    __radd__, __rmul__ = __add__, __mul__

    def __str__(self) -> str:
        low, high = _rounded(self.low, math.floor), _rounded(self.high, math.ceil)
        return low if self.low == self.high else f"[{low}, {high}]"


def _rounded(x: Fraction, direction: Callable[[Fraction], int]) -> str:
    """A short fraction as it is, a long one in decimals with four digits, rounded outwards."""
    if x.denominator < 1000:
        return str(x)
    digits = max(0, 3 - math.floor(math.log10(abs(x))))
    return f"{direction(x * 10**digits) / 10**digits:.{digits}f}"


Number = Fraction | int | Between


def _shown(number: Number) -> str:
    if isinstance(number, Fraction) and number.denominator > 10**9:
        return str(Between(number, number + Fraction(1, 10**30)))
    return str(number)


def ends(number: Number) -> tuple[Fraction, Fraction]:
    """The ends of an enclosure; a rational number is both."""
    return (number.low, number.high) if isinstance(number, Between) else (Fraction(number), Fraction(number))


D2 = Between(Fraction(5, 8), Fraction(12, 19))
"""The discount D(2) = 1/log2(3), because 3^5 < 2^8 and 2^19 < 3^12."""

E = Between(Fraction(5, 2), Fraction(3))
"""The number e = 1 + 1 + 1/2 + 1/6 + ..., whose terms after the third add up to less than 1/2."""


def log2(x: Fraction | int, parts: int) -> Between:
    """The logarithm to the base 2, up to 1/parts: j/parts and (j + 1)/parts with 2^j <= x^parts < 2^(j + 1).

    Example
    -------
    >>> print(log2(3, 12), log2(8, 1).low)  # 2^19 <= 3^12 < 2^20
    [19/12, 5/3] 3
    """
    power, j = Fraction(x) ** parts, 0
    while power >= 2 ** (j + 1):
        j += 1
    while power < Fraction(2) ** j:
        j -= 1
    exact = power == Fraction(2) ** j
    return Between(Fraction(j, parts), Fraction(j if exact else j + 1, parts))


def root(x: Fraction | int, parts: int) -> Between:
    """The square root, up to 1/parts.

    Example
    -------
    >>> print(root(2, 10), root(Fraction(9, 4), 2))
    [7/5, 3/2] 3/2
    """
    square = Fraction(x) * parts * parts
    low = math.isqrt(math.floor(square))
    return Between(Fraction(low, parts), Fraction(low if low * low == square else low + 1, parts))


def exp(x: Fraction | int, terms: int) -> Between:
    """e^x for 0 <= x < terms, by the first terms of its series; the rest is at most a geometric series.

    Example
    -------
    >>> print(exp(1, 3), exp(0, 1))
    [5/2, 49/18] 1
    """
    x = Fraction(x)
    low, term = Fraction(0), Fraction(1)
    for k in range(terms):
        low, term = low + term, term * x / (k + 1)
    return Between(low, low + term / (1 - x / (terms + 1)))


@dataclass(frozen=True)
class Relation:
    """What is said of an instance, in words or symbols, with the two sides as numbers."""

    words: str
    left: Number
    sign: Sign
    right: Number

    @property
    def holds(self) -> bool:
        """Whether the relation holds; an error where the enclosures are too wide to tell."""
        outcomes = {SIGNS[self.sign](left, right) for left, right in self._extremes()}
        if len(outcomes) != 1:
            raise ArithmeticError(f"{self.words}: the enclosures in {self.numbers()} decide nothing")
        return outcomes.pop()

    def numbers(self) -> str:
        """The two sides as numbers; instead of very long fractions, decimals that enclose them."""
        return f"{_shown(self.left)} {self.sign} {_shown(self.right)}"

    def __str__(self) -> str:
        return f"{self.words}: {self.numbers()}{'' if self.holds else ', which is false'}"

    def _extremes(self) -> list[tuple[Any, Any]]:
        """Pairs of numbers that decide all others: the ends, and for = and ≠ a common number, if there is one."""
        (a, b), (c, d) = ends(self.left), ends(self.right)
        common = [(max(a, c), max(a, c))] if max(a, c) <= min(b, d) else []
        return [*((left, right) for left in (a, b) for right in (c, d)), *common]


@dataclass(frozen=True)
class Instance:
    """An instance in words, the printed relations on it, those that hold instead, and whether "printed" means "loose".

    A printed bound that is ``valid`` holds, but a smaller one does as well: the corrected relations.
    """

    words: str
    printed: tuple[Relation, ...]
    corrected: tuple[Relation, ...]
    valid: bool = False

    @property
    def shows(self) -> bool:
        """Whether the instance shows what it is meant to: a printed relation fails, and all corrected ones hold."""
        as_expected = all(one.holds for one in self.printed) if self.valid else not all(o.holds for o in self.printed)
        return as_expected and all(one.holds for one in self.corrected)


@dataclass(frozen=True)
class Witness:
    """A printed statement, where it is printed, and a function of an instance on which it fails."""

    name: str
    place: str
    says: str
    compute: Callable[..., Instance]
    errata: str = ""
    why: str = ""
    """What is not obvious in the computation, in words."""
    claims: tuple[str, ...] = ()
    true_for: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for which the printed statement is true: there, the witness must not show anything."""

    def instance(self, **changed: Any) -> Instance:
        """The instance, or another one, with both sides computed."""
        return self.compute(**changed)

    def lines(self) -> list[tuple[str, str]]:
        """What there is to read: the instance, the printed relations and the corrected ones, each with its heading."""
        found = self.instance()
        printed = ("printed, valid" if found.valid else "printed") if self.errata else "supposed"
        corrected = ("stronger" if found.valid else "holds") if self.errata else "in fact"
        return [
            ("statement", self.says),
            ("instance", found.words),
            *((printed, str(one)) for one in found.printed),
            *((corrected, str(one)) for one in found.corrected),
            *([("why", self.why)] if self.why else []),
        ]

    def text(self) -> str:
        """The witness as plain text."""
        letter = f"; erratum {self.errata}" if self.errata else ""
        lines = self.lines()
        width = max(len(heading) for heading, _ in lines) + 4
        return "\n".join(
            [
                f"{self.name} ({self.place}{letter})",
                *(
                    textwrap.fill(f"  {heading:<{width - 2}}{words}", WIDTH, subsequent_indent=" " * width)
                    for heading, words in lines
                ),
            ]
        )


def witness(name: str, **stated: Any) -> Callable[[Callable[..., Instance]], Witness]:
    """Declare a function of an instance as a witness, with what else :class:`Witness` states."""
    return lambda compute: Witness(name, compute=compute, **stated)


def listed(numbers: Sequence[Any]) -> str:
    """A vector as it is printed.

    Example
    -------
    >>> listed((1, Fraction(1, 2)))
    '(1, 1/2)'
    """
    return f"({', '.join(map(str, numbers))})"

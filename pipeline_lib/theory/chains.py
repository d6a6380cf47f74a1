"""Where does a bound lose: by which steps does its proof lead from what is measured to the number that it states?

A chain begins with a measured quantity and ends with the stated number. Each link is what the proof has after one more
step, computed on the same samples, so that the factor from one link to the next is the price of that step. Most steps
replace a quantity by a larger one. Others add a term that does not depend on what stands before it, such as what
McDiarmid's inequality adds for a confidence of 1 - delta. If a step cost nothing, the later ones would multiply and add
as they do now; :meth:`Chain.without` says what the bound would then be.

Where the proof says that a link is at least the one before, the link is ``proved``. Suprema over a ball are searched
for and therefore too small, on both sides of such an inequality.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline_lib.core.errors import DataError
from pipeline_lib.statistics import over_folds

__all__: list[str] = []  # internal: the experiments make chains of what they have checked


@dataclass(frozen=True)
class Link:
    """What a proof has after one of its steps.

    Attributes
    ----------
    name, label : str
        Its name in tables, and in two or three words on a figure.
    says : str
        The step that leads to it, in a sentence.
    value, low, high : float
        The quantity with the ends of a 95 % interval; three equal numbers if it was not estimated.
    proved : bool
        Whether the proof makes it at least the link before; False for the first link, and for steps that the paper
        takes without a proof that covers these sizes.
    added : bool
        Whether the step adds a term to the link before.
    """

    name: str
    label: str
    says: str
    value: float
    low: float
    high: float
    proved: bool = True
    added: bool = False


@dataclass(frozen=True)
class Chain:
    """The links from what is measured to a stated bound.

    ``bound`` names the statement and ``place`` says where it is; ``setting`` says in words to what it is applied, and
    ``trivial`` is what holds without any theorem, such as the largest loss.
    """

    bound: str
    place: str
    setting: str
    trivial: float
    links: tuple[Link, ...]

    def __post_init__(self) -> None:
        names = [link.name for link in self.links]
        if len(names) < 2 or len(set(names)) < len(names):
            raise DataError(f"links: expected two or more with different names, found {names}")

    @property
    def stated(self) -> float:
        """The number at the end."""
        return self.links[-1].value

    def factors(self) -> tuple[float, ...]:
        """What every step multiplies the link before by; infinite above 0, and one for each link but the first."""
        values = [link.value for link in self.links]
        return tuple(b / a if a > 0.0 else math.inf for a, b in itertools.pairwise(values))

    def factor_ends(self, position: int) -> tuple[float, float]:
        """The ends of an interval for the factor of the step to the link at ``position`` >= 1, by those of both links.

        It is wider than necessary, because both are computed on the same samples. Infinite above where the link before
        may be 0.

        Example
        -------
        >>> links = [Link("a", "", "", 2.0, 1.0, 4.0), Link("b", "", "", 6.0, 4.0, 8.0), added("c", "", "", 2.0)]
        >>> chain = of("t", "", "", 1.0, links)
        >>> chain.factor_ends(1), chain.factor_ends(2)
        ((1.0, 8.0), (1.25, 1.5))
        """
        before, link = self.links[position - 1], self.links[position]
        if link.added:  # the term is the same, wherever the link before lies in its interval
            return tuple(1.0 + _ratio(link.value - before.value, end) for end in (before.high, before.low))  # type: ignore[return-value]
        return _ratio(link.low, before.high), _ratio(link.high, before.low)

    def leads(self) -> bool:
        """Whether the costliest step is that in every case: its interval lies above those of all other factors."""
        others = set(range(1, len(self.links))) - {self.costliest()}
        return self.factor_ends(self.costliest())[0] > max((self.factor_ends(k)[1] for k in others), default=0.0)

    def without(self, position: int) -> float:
        """The stated number if the step to the link at ``position`` >= 1 cost nothing, all others being as they are.

        Example
        -------
        >>> chain = of("t", "", "", 1.0, [exact("a", "", "", 2.0), exact("b", "", "", 6.0), added("c", "", "", 1.0)])
        >>> chain.stated, chain.without(1), chain.without(2)
        (7.0, 3.0, 6.0)
        """
        value = self.links[position - 1].value
        for link, factor, before in zip(
            self.links[position + 1 :], self.factors()[position:], self.links[position:], strict=False
        ):
            value = value + (link.value - before.value) if link.added else value * factor
        return value

    def costliest(self) -> int:
        """The position of the link with the largest factor."""
        return 1 + int(np.argmax(self.factors()))

    def rows(self, **axes: Any) -> list[dict[str, Any]]:
        """One row for each link, after the columns ``axes``."""
        factors = (None, *self.factors())
        ends = [(None, None), *(self.factor_ends(position) for position in range(1, len(self.links)))]
        return [
            {
                **axes,
                **{key: value for key, value in vars(self).items() if key != "links"},
                "position": position,
                **{"link" if key == "name" else key: value for key, value in vars(link).items()},
                "previous": before.value if before else None,
                "previous_low": before.low if before else None,
                "previous_high": before.high if before else None,
                "factor": _known(factor),
                "factor_low": _known(ends[position][0]),
                "factor_high": _known(ends[position][1]),
                "without": _known(self.without(position)) if position else None,
                "costliest": position == self.costliest(),
                "leads": position == self.costliest() and self.leads(),
            }
            for position, (before, link, factor) in enumerate(
                zip((None, *self.links[:-1]), self.links, factors, strict=True)
            )
        ]


def estimated(name: str, label: str, says: str, values: ArrayLike, *, proved: bool = True) -> Link:
    """A link that is the mean of ``values``, one for each independent sample, with Student's interval."""
    summary = over_folds(np.asarray(values, np.float64))
    return Link(name, label, says, summary.mean, summary.low, summary.high, proved)


def gap_of_minimiser(values: ArrayLike) -> Link:
    """The first link of a chain from the gap of a trained ranker, less that of the best one, in independent samples."""
    says = "The gap of the empirical minimiser is measured, less that of the best ranker, whose mean is 0."
    return estimated("trained", "gap of minimiser", says, values)


def exact(name: str, label: str, says: str, value: float, *, proved: bool = True) -> Link:
    """A link that is not estimated."""
    return Link(name, label, says, value, value, value, proved)


def added(name: str, label: str, says: str, term: float) -> Link:
    """A term of at least 0, which :func:`of` adds to the link before."""
    return Link(name, label, says, term, term, term, added=True)


def of(bound: str, place: str, setting: str, trivial: float, links: Iterable[Link]) -> Chain:
    """The chain of some links, of which each that is ``added`` was given by its term alone."""
    known: list[Link] = []
    for link in links:
        base = (known[-1].value, known[-1].low, known[-1].high) if link.added else (0.0, 0.0, 0.0)
        value, low, high = (a + b for a, b in zip(base, (link.value, link.low, link.high), strict=True))
        known.append(replace(link, value=value, low=low, high=high, proved=link.proved and bool(known)))
    return Chain(bound, place, setting, trivial, tuple(known))


def _ratio(value: float, before: float) -> float:
    # Of ends of intervals, which may lie at 0 or below.
    return max(value, 0.0) / before if before > 0.0 else math.inf


def _known(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None

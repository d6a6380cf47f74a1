"""When may the title of a figure state a finding?

A title is a plain description of what is drawn, or a finding with the rules that everything drawn under it must keep:

    finding("Packings stay below Proposition 7", below("Proposition 7", "packing", "by volume"),
            otherwise="Packings and Proposition 7")

Where a rule does not hold on the rows of a study, its page has the description ``otherwise``. In the default study
every finding must hold, and of every rule the neighbours, which say the reverse or more than is true, must not:
``tools/check_titles.py`` sees to that.

Rules read a drawing: its curves, the rows and columns of a shaded table, or the series of a figure of rows. A name in a
rule is that of a curve, of a panel, which stands for all its curves, or both, ``"panel: curve"``, and may end in ``*``;
without names a rule is about everything but dashed lines. A rule that names what is not drawn does not hold. Where
intervals are drawn, they decide and not the points: a curve falls only if the interval at its end is below that at its
beginning.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from itertools import pairwise
from typing import Any

from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.claims.words import BY_PROOF

Points = Sequence[tuple[Any, float, float, float]]
"""Places (x, y, low, high), in the order in which they are drawn."""
Curve = tuple[str, str, Points]
"""The panel and the label of a curve, and its points."""
Ends = Sequence[tuple[float, float]]
"""The ends of intervals, place by place."""

SHARPER = 3.0
"""By this factor the limit of a neighbour is sharper."""
LEVEL = 0.05
"""A change by at most this share of the larger number is none."""
EQUAL = 0.005
"""Numbers are equal up to this share."""
HOLDS = (*BY_PROOF.values(), "verified")
"""The statuses of a claim that holds on the rows of a study."""
SAME_POWER = 0.1
"""Powers are the same up to this difference; those of neighbours differ by three times as much."""


@dataclass(frozen=True)
class Drawn:
    """What a figure shows: points by curve and panel, dashed lines likewise, and the files of their rows."""

    curves: Mapping[str, Mapping[str, Points]]
    source: str
    dashed: Mapping[str, Mapping[str, Points]] = field(default_factory=dict)

    def some(self, names: Sequence[str]) -> list[Curve]:
        """The curves that are named, dashed or not, or all that are not dashed; none where a name is not drawn."""
        if not names:
            return _every(self.curves)
        chosen = [
            {one[:2]: one for one in _every(self.curves) + _every(self.dashed) if _is_called(one, name)}
            for name in names
        ]
        return [one for found in chosen for one in found.values()] if all(chosen) else []

    def limits(self, panel: str, label: str) -> Mapping[Any, tuple[float, float]]:
        """The intervals of a curve of a panel, by place."""
        found = {**self.dashed.get(panel, {}), **self.curves[panel]}.get(label, ())
        return {x: (low, high) for x, _, low, high in found}


@dataclass(frozen=True)
class Rule:
    """A condition on a drawing, and its neighbours: wrong ones, which must not hold where it does."""

    words: str
    holds: Callable[[Drawn], bool]
    neighbours: tuple["Rule", ...] = ()


@dataclass(frozen=True)
class Finding:
    """A title that states what came out, its rules, and the description that stands where one of them does not hold."""

    says: str
    rules: tuple[Rule, ...]
    otherwise: str

    def title(self, drawn: Drawn) -> str:
        """What stands over the drawing."""
        return self.says if all(rule.holds(drawn) for rule in self.rules) else self.otherwise

    def problems(self, drawn: Drawn) -> Iterator[str]:
        """The rules that do not hold on a drawing, and the neighbours that do."""
        for rule in self.rules:
            if not rule.holds(drawn):
                yield f"{self.says!r}: expected {rule.words}, which does not hold"
            for neighbour in rule.neighbours:
                if neighbour.holds(drawn):
                    yield f"{self.says!r}: expected {rule.words}, but {neighbour.words} holds as well"


def finding(says: str, *rules: Rule, otherwise: str) -> Finding:
    """Declare a finding.

    Example
    -------
    >>> stated = finding("The gap falls", falls("gap"), otherwise="The gap, by queries")
    >>> stated.title(Drawn({"": {"gap": [(1, 2.0, 1.5, 2.5), (9, 1.0, 0.9, 1.1)]}}, "tables/made.parquet"))
    'The gap falls'
    >>> stated.title(Drawn({"": {"gap": [(1, 2.0, 1.5, 2.5), (9, 1.0, 0.3, 1.7)]}}, "tables/made.parquet"))
    'The gap, by queries'
    """
    return Finding(says, rules, otherwise)


def falls(*names: str) -> Rule:
    """Every curve ends below where it begins, by more than :data:`LEVEL`, and no step of it rises."""
    return _each(names, "falls", _falls, _each(names, "rises", _rises), _each(names, "stays level", _stays))


def rises(*names: str) -> Rule:
    """Every curve ends above where it begins, by more than :data:`LEVEL`, and no step of it falls."""
    return _each(names, "rises", _rises, _each(names, "falls", _falls), _each(names, "stays level", _stays))


def stays(*names: str) -> Rule:
    """No two points of a curve differ by more than :data:`LEVEL`."""
    return _each(names, "stays level", _stays, _each(names, "rises", _rises), _each(names, "falls", _falls))


def levels_off(*names: str) -> Rule:
    """The last step of every curve, and of its interval, changes it by at most :data:`LEVEL`."""
    return _each(names, "levels off", _levels_off, _each(names, "moves to the end", lambda one: not _levels_off(one)))


def least_inside(*names: str) -> Rule:
    """Every curve is lower somewhere between its ends than at both of them."""
    return _each(names, "is least inside", _least_inside, _each(names, "falls", _falls), _each(names, "rises", _rises))


def grows_as(power: float, *names: str) -> Rule:
    """From its first place to its last every curve grows as this power of x, up to :data:`SAME_POWER`."""
    return _as(power, names, _as(power - SHARPER * SAME_POWER, names), _as(power + SHARPER * SAME_POWER, names))


def falls_as(power: float, *names: str) -> Rule:
    """From its first place to its last every curve falls as this power of 1/x, up to :data:`SAME_POWER`."""
    return grows_as(-power, *names)


def grows_at_most_as(power: float, *names: str) -> Rule:
    """From its first place to its last no curve grows as a higher power of x, up to :data:`SAME_POWER`."""

    def rule(power: float, *neighbours: Rule) -> Rule:
        words = f"grows at most as the power {power:.2g}"
        return _each(names, words, lambda one: _powers(one)[1] <= power + SAME_POWER, *neighbours)

    return rule(power, rule(power - SHARPER * SAME_POWER))


def steeper(one: str, other: str) -> Rule:
    """Between its ends a curve grows as a higher power of x than another one, or falls as a higher power of 1/x."""

    def rule(one: str, other: str, *neighbours: Rule) -> Rule:
        def holds(drawn: Drawn) -> bool:
            first, second = ([_powers(points) for *_, points in drawn.some((name,))] for name in (one, other))
            pairs = [(a, b) for a in first for b in second]
            rising = all(a[0] > b[1] and b[0] >= 0.0 for a, b in pairs)
            return bool(pairs) and (rising or all(a[1] < b[0] and b[1] <= 0.0 for a, b in pairs))

        return Rule(f"{one} is steeper than {other}", holds, neighbours)

    return rule(one, other, rule(other, one))


def equals(number: float, *names: str, at: str) -> Rule:
    """Every curve has this number, which is not 0, at a place, up to a share of :data:`EQUAL`."""

    def rule(number: float, *neighbours: Rule) -> Rule:
        def holds(points: Points) -> bool:
            found = [end for x, _, *ends in points if x == at for end in ends]
            return bool(found) and all(abs(end - number) <= EQUAL * abs(number) for end in found)

        return _each(names, f"equals {number:.3g} at {at}", holds, *neighbours)

    return rule(number, rule((1.0 - LEVEL) * number), rule((1.0 + LEVEL) * number))


def below(limit: str, *names: str) -> Rule:
    """At each place of both, every curve is below another curve of its panel."""
    return _beside(names, "is below", limit, _below, _beside(names, "is above", limit, _above))


def above(limit: str, *names: str) -> Rule:
    """At each place of both, every curve is above another curve of its panel."""
    return _beside(names, "is above", limit, _above, _beside(names, "is below", limit, _below))


def comes_below(limit: str, *names: str) -> Rule:
    """Every curve begins above another curve of its panel and ends below it."""
    return _crosses(names, "comes below", limit, lambda a, b: _above(a[:1], b[:1]) and _below(a[-1:], b[-1:]))


def comes_above(limit: str, *names: str) -> Rule:
    """Every curve begins below another curve of its panel and ends above it."""
    return _crosses(names, "comes above", limit, lambda a, b: _below(a[:1], b[:1]) and _above(a[-1:], b[-1:]))


def claim(judged: JudgedClaim, *statuses: str) -> Rule:
    """A claim that says what the title says has one of these statuses, and is judged on the rows that are drawn.

    Its planted errors are the neighbours: each of them must have been caught.
    """
    planted = judged.severity.planted if judged.severity is not None else ()
    missed = [Rule(f"{judged.id} with {one.name} planted", partial(_given, not one.caught)) for one in planted]
    return Rule(
        f"{judged.id} {' or '.join(statuses)}, on the rows that are drawn",
        lambda drawn: judged.status in statuses and {*drawn.source.split(", ")} <= {*judged.tables},
        tuple(missed or [Rule(f"{judged.id} with nothing planted", partial(_given, True))]),
    )


RULES: tuple[Callable[..., Rule], ...] = (
    *(falls, rises, stays, levels_off, least_inside, grows_as, falls_as, grows_at_most_as, steeper, equals),
    *(below, above, comes_below, comes_above),
)
"""The rules that need nothing but the drawing."""


def _given(answer: bool, drawn: Drawn) -> bool:
    """What is known whatever is drawn."""
    return answer


def _every(panels: Mapping[str, Mapping[str, Points]]) -> list[Curve]:
    return [(panel, label, points) for panel, one in panels.items() for label, points in one.items() if points]


def _is_called(curve: Curve, name: str) -> bool:
    panel, label, _ = curve
    return any(fnmatchcase(words, name) for words in (panel, label, f"{panel}: {label}"))


def _each(names: Sequence[str], words: str, holds: Callable[[Points], bool], *neighbours: Rule) -> Rule:
    """The rule that something holds of every curve that is named, of which there is one at least."""

    def on(drawn: Drawn) -> bool:
        chosen = drawn.some(names)
        return bool(chosen) and all(holds(points) for *_, points in chosen)

    return Rule(f"{', '.join(names) or 'everything'} {words}", on, neighbours)


def _as(power: float, names: Sequence[str], *neighbours: Rule) -> Rule:
    def holds(points: Points) -> bool:
        low, high = _powers(points)
        return power - SAME_POWER <= low and high <= power + SAME_POWER

    return _each(names, f"grows as the power {power:.2g}", holds, *neighbours)


def _beside(
    names: Sequence[str], words: str, limit: str, holds: Callable[[Ends, Ends], bool], *neighbours: Rule
) -> Rule:
    """The rule that something holds of every curve that is named and the limit, at the places of both."""

    def on(drawn: Drawn) -> bool:
        pairs = []
        for panel, label, points in drawn.some(names):
            if label != limit:
                limits = drawn.limits(panel, limit)
                pairs.append([((low, high), limits[x]) for x, _, low, high in points if x in limits])
        return bool(pairs) and all(one and holds(*zip(*one, strict=True)) for one in pairs)

    return Rule(f"{', '.join(names) or 'everything'} {words} {limit}", on, neighbours)


def _crosses(names: Sequence[str], words: str, limit: str, holds: Callable[[Ends, Ends], bool]) -> Rule:
    throughout = {"is below": _below, "is above": _above}
    return _beside(names, words, limit, holds, *(_beside(names, side, limit, one) for side, one in throughout.items()))


def _below(these: Ends, those: Ends) -> bool:
    return all(high < least for (_, high), (least, _) in zip(these, those, strict=True))


def _above(these: Ends, those: Ends) -> bool:
    return _below(those, these)


def _falls(points: Points) -> bool:
    (*_, low, _), (*_, high) = points[0], points[-1]
    steps = all(after[2] <= before[3] for before, after in pairwise(points))
    return steps and low - high > LEVEL * max(abs(low), abs(high))


def _rises(points: Points) -> bool:
    return _falls(points[::-1])


def _stays(points: Points) -> bool:
    low, high = min(point[2] for point in points), max(point[3] for point in points)
    return len(points) > 1 and high - low <= LEVEL * max(abs(low), abs(high))


def _levels_off(points: Points) -> bool:
    if len(points) < 2:
        return False
    _, *before = points[-2]
    _, *after = points[-1]
    return all(abs(b - a) <= LEVEL * max(abs(a), abs(b)) for a, b in zip(before, after, strict=True))


def _least_inside(points: Points) -> bool:
    ends = min(points[0][2], points[-1][2])
    return any(high < ends for *_, high in points[1:-1])


def _powers(points: Points) -> tuple[float, float]:
    """The least and the largest power of x that leads from the interval at the first place to that at the last."""
    (x_0, _, *first), (x_1, _, *last) = points[0], points[-1]
    if not 0.0 < x_0 < x_1 or min(*first, *last) <= 0.0:
        return -math.inf, math.inf
    octaves = math.log(x_1 / x_0)
    return math.log(last[0] / first[1]) / octaves, math.log(last[1] / first[0]) / octaves

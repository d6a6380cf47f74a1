"""What do the measured gaps of `lists` say about its bounds?

A cell has one loss, population, m and n; it is measured by several learners, in several repetitions. From the rows of
all rankers come the means of the cells, with their intervals and bounds, and the powers of n and m that are
fitted to the gaps.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from pipeline_lib.core.errors import DataError
from pipeline_lib.data.rows import Interval, Row
from pipeline_lib.papers.lists.grid.settings import CellSummary, GridSettings, Measured, PowerLaw
from pipeline_lib.papers.lists.intervals import NORMAL, of_largest, of_power
from pipeline_lib.statistics import fit_exponent, mean_interval
from pipeline_lib.theory import list_bounds

Key = tuple[str, str, int, int]
"""Loss, population, m and n of a cell."""
UNIFORM = ("erm", "worst")
FEWEST_POINTS = 3
"""Exponents are fitted to no fewer cells."""


class Grid:
    """The rows of all slices by loss, population, m and n, with the bounds there."""

    def __init__(self, settings: GridSettings, rows: Iterable[Measured]) -> None:
        self.settings = settings
        self.cells: dict[Key, dict[str, list[Measured]]] = {}
        for row in rows:
            self.cells.setdefault((row.loss, row.population, row.m, row.n), {}).setdefault(row.learner, []).append(row)
        if not self.cells:
            raise DataError("lists: expected measured gaps, found none")

    def constants(self, bound: str, loss: str, kind: str, m: int) -> dict[str, Any]:
        """What the surrogate supplies to a bound; nothing where the bound's assumptions do not hold for it."""
        population = self.settings.population(kind)
        given: dict[str, Any] = {"m": m, "radius": self.settings.radius, "feature_norm": population.feature_norm}
        try:
            own = list_bounds.of_surrogate(bound, self.settings.loss(loss), y_max=population.settings.y_max, **given)
        except DataError:
            return {}
        return {**given, "delta": self.settings.delta, **own}

    def bound(self, name: str, key: Key, **more: Any) -> float | None:
        """The value of a bound in a cell; ``more`` gives a risk where the bound needs one."""
        loss, kind, m, n = key
        constants = self.constants(name, loss, kind, m)
        return list_bounds.evaluate(name, n=n, **constants, **more) if constants else None

    def optimal_risk(self, key: Key) -> float:
        """The risk of the best known ranker of a cell; at least 0."""
        return max(0.0, min(row.optimal_risk for rows in self.cells[key].values() for row in rows))

    def along(self, *, axis: str, loss: str, population: str, learner: str, fixed: int) -> dict[int, list[Measured]]:
        """The rows of a learner with one n and every m, or with one m and every n."""
        cells: dict[int, list[Measured]] = {}
        for (own_loss, own_population, m, n), learners in self.cells.items():
            moving, still = (m, n) if axis == "m" else (n, m)
            if (own_loss, own_population, still) == (loss, population, fixed) and learner in learners:
                cells[moving] = learners[learner]
        return cells


def joined(settings: GridSettings, rows: Iterable[Measured]) -> Iterator[Row]:
    """Everything that follows from the rows of all slices."""
    grid = Grid(settings, rows)
    yield from cells(grid)
    yield from powers(grid)


def cells(grid: Grid) -> Iterator[CellSummary]:
    """For every cell and learner: means over the repetitions with their intervals, and the bounds."""
    for key, learners in sorted(grid.cells.items()):
        loss, kind, m, n = key
        axes: dict[str, Any] = {"loss": loss, "population": kind, "m": m, "n": n}
        optimal, constants = grid.optimal_risk(key), grid.constants("erm", loss, kind, m)
        given = {"n": n, "loss_bound": constants["loss_bound"], "delta": constants["delta"]}
        bounds: dict[str, Any] = {f"bound_{name}": grid.bound(name, key) for name in ("ogd", "rerm")}
        bounds["chapelle_wu"] = grid.bound("chapelle-wu", key)
        bounds["bound_smooth_ogd"] = grid.bound("smooth-ogd", key, optimal_risk=optimal)
        entropies: dict[str, list_bounds.Entropy] = {"erm": "closed-form", "erm_integral": "integral"}
        for name, entropy in entropies.items():
            value = list_bounds.evaluate("erm", n=n, entropy=entropy, **constants)
            # And the second half of Theorem 9.
            bounds |= {f"bound_{name}": value, f"excess_bound_{name}": list_bounds.excess_of_minimiser(value, **given)}
        for learner, rows in sorted(learners.items()):
            gaps, errors = [row.gap for row in rows], [row.risk_error for row in rows]
            excess, excess_errors = [row.excess for row in rows], [row.excess_error for row in rows]
            certified = [row.certified_gap for row in rows if row.certified_gap is not None]
            empirical = max(0.0, float(np.mean([row.empirical for row in rows])))
            nearest_gap, nearest_optimistic = _nearest(grid, key, rows)
            yield CellSummary(
                **axes,
                learner=learner,
                gap=mean_interval(gaps, shared_error=max(errors)),
                gap_size=mean_interval(np.abs(gaps), shared_error=max(errors)),
                optimal_risk=optimal,
                optimal_risk_error=rows[0].optimal_risk_error,
                risk_error=max(errors),
                # None where the population's risk may be 0.
                relative_risk_error=max((row.risk_error / row.risk for row in rows if row.risk > 0.0), default=None),
                largest_certified_gap=max(certified, default=None),
                bound_optimistic=grid.bound("optimistic", key, empirical_risk=empirical),
                nearest_gap=nearest_gap,
                nearest_optimistic=nearest_optimistic,
                loss_bound=constants["loss_bound"],
                repetitions=len(rows),
                excess=mean_interval(excess, shared_error=max(excess_errors)),
                largest_excess=of_largest(excess, excess_errors),
                largest_gap=of_largest(gaps, errors),
                **bounds,
            )


def _nearest(grid: Grid, key: Key, rows: Iterable[Measured]) -> tuple[Interval | None, float | None]:
    # Every ranker has a bound of its own; the gap with least between it and Theorem 17 at its own empirical risk.
    pairs = [
        (bound, row)
        for row in rows
        if (bound := grid.bound("optimistic", key, empirical_risk=max(0.0, row.empirical))) is not None
    ]
    if not pairs:
        return None, None
    bound, row = min(pairs, key=lambda pair: pair[0] - pair[1].gap)
    return of_largest([row.gap], [row.risk_error]), bound


def powers(grid: Grid) -> Iterator[PowerLaw]:
    """The powers of m, at the largest n that has lists of every length, and those of n, for the shortest lists."""
    settings, sizes = grid.settings, grid.settings.queries_of(grid.settings.lengths[-1])
    losses, n = [entry.name for entry in settings.losses], (sizes or settings.queries[:1])[-1]
    for loss in losses:
        noisy: dict[str, Any] = {"axis": "m", "loss": loss, "population": "noisy", "fixed": n}
        for learner in UNIFORM:
            yield from _power(grid, "gap", learner=learner, **noisy)
        terms = {}
        for m in settings.lengths:
            constants = grid.constants("chapelle-wu", loss, "noisy", m)
            if constants and (loss, "noisy", m, n) in grid.cells:
                chosen = {name: constants[name] for name in ("m", "lipschitz_l2", "radius", "feature_norm")}
                terms[m] = list_bounds.complexity_of_chapelle_wu(n=n, **chosen)
        if len(terms) >= FEWEST_POINTS:
            slope = of_power(list(terms), list(terms.values()))
            yield PowerLaw(**noisy, learner="", statistic="Chapelle-Wu term", points=_listed(terms), slope=slope)
    for loss in losses:
        for learner in UNIFORM:
            m = settings.lengths[0]
            yield from _power(grid, "gap", axis="n", loss=loss, population="noisy", learner=learner, fixed=m)
        # The excess risk where L* = 0.
        for m, learner in product(settings.realisable_lengths, ("smooth-ogd", "ogd")):
            axes = {"axis": "n", "loss": loss, "population": "realisable", "learner": learner}
            yield from _power(grid, "excess risk", **axes, fixed=m)


def _power(grid: Grid, statistic: str, *, fixed: int, **axes: str) -> Iterator[PowerLaw]:
    cells = grid.along(**axes, fixed=fixed)
    if len(cells) >= FEWEST_POINTS:
        slope = _fitted(cells, statistic, one_held_out=axes["axis"] == "n")
        yield PowerLaw(**axes, statistic=statistic, fixed=fixed, points=_listed(cells), slope=slope)


def _listed(points: Iterable[int]) -> str:
    return ", ".join(f"{point:,}" for point in sorted(points))


def _fitted(cells: Mapping[int, Sequence[Measured]], statistic: str, *, one_held_out: bool) -> Interval:
    """The exponent over the cells, from repetitions, with the held-out samples' errors added in quadrature.

    Where L changes by e, the mean of |L - Lhat| changes by e times the mean sign of L - Lhat. Cells along n share one
    held-out sample, so that its error changes them all together; cells along m have a held-out sample each.
    """
    points = sorted(cells)
    columns, moves = [], []
    # Short lists may have more repetitions than long ones; those of the same number share their queries.
    repetitions = min(len(rows) for rows in cells.values())
    for point in points:
        rows = sorted(cells[point], key=lambda row: row.repetition)[:repetitions]
        if statistic == "gap":
            gaps = np.array([row.gap for row in rows])
            columns.append(np.abs(gaps))
            move = float(np.sign(gaps).mean()) * max(row.risk_error for row in rows)
        else:
            columns.append(np.array([row.excess for row in rows]))
            move = max(row.excess_error for row in rows)
        moves.append(move / float(columns[-1].mean()))
    fitted = fit_exponent(points, np.column_stack(columns))
    centred = np.log(points) - np.log(points).mean()
    shifts = centred / (centred @ centred) * np.array(moves)
    held_out = NORMAL * float(abs(shifts.sum()) if one_held_out else np.linalg.norm(shifts))
    half = math.hypot(fitted.high - fitted.slope, held_out)
    return Interval(fitted.slope, fitted.slope - half, fitted.slope + half)

"""What do the measured gaps say about the bounds of `lists`?

The slices of the grid and the measurements on data sets become the table of cells with their means, intervals and
bounds, the same for data sets, the table of the n from which each bound is informative, and the powers of n and m that
are fitted to the gaps.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.papers.lists.computations.cells import (
    Grid,
    Row,
    bound_rows,
    cell_rows,
    data_rows,
    gaps,
)
from pipeline_lib.papers.lists.computations.intervals import NORMAL
from pipeline_lib.statistics import Exponent, fit_exponent
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.grid import GridSettings

UNIFORM = ("erm", "worst")
FEWEST_POINTS = 3
"""Exponents are fitted to no fewer cells."""


@dataclass(frozen=True)
class Results:
    """Rows of the four tables."""

    cells: list[dict[str, Any]]
    on_data: list[dict[str, Any]]
    bounds: list[dict[str, Any]]
    exponents: list[dict[str, Any]]


def run(settings: GridSettings, rows: Iterable[Row], real: Iterable[Row]) -> Results:
    """Everything that follows from the measured rows."""
    grid = Grid(settings, rows)
    exponents = [*_along_lengths(grid), *_along_queries(grid)]
    return Results(cell_rows(grid), data_rows(real), bound_rows(grid), exponents)


def _fitted(cells: Mapping[int, list[Row]], statistic: str, *, one_held_out: bool) -> Exponent:
    """The exponent over the cells, from repetitions, with the held-out samples' errors added in quadrature.

    Where L changes by e, the mean of |L - Lhat| changes by e times the mean sign of L - Lhat. Cells along n share one
    held-out sample, so that its error changes them all together; cells along m have a held-out sample each.
    """
    points = sorted(cells)
    columns, moves = [], []
    # Short lists may have more repetitions than long ones; those of the same number share their queries.
    repetitions = min(len(rows) for rows in cells.values())
    for point in points:
        rows = sorted(cells[point], key=lambda row: row["repetition"])[:repetitions]
        differences = np.array(gaps(rows))
        columns.append(np.abs(differences) if statistic == "gap" else np.array([row["excess"] for row in rows]))
        error = max(row["risk_error" if statistic == "gap" else "excess_error"] for row in rows)
        share = float(np.sign(differences).mean()) if statistic == "gap" else 1.0
        moves.append(share * error / float(columns[-1].mean()))
    fitted = fit_exponent(points, np.column_stack(columns))
    centred = np.log(points) - np.log(points).mean()
    shifts = centred / (centred @ centred) * np.array(moves)
    held_out = NORMAL * float(abs(shifts.sum()) if one_held_out else np.linalg.norm(shifts))
    half = math.hypot(fitted.high - fitted.slope, held_out)
    return dataclasses.replace(fitted, low=fitted.slope - half, high=fitted.slope + half)


def _row(
    axis: str, loss: str, kind: str, learner: str, statistic: str, fixed: int, fitted: Exponent, points: Iterable[int]
) -> dict[str, Any]:
    return {
        "axis": axis,
        "loss": loss,
        "population": kind,
        "learner": learner,
        "statistic": statistic,
        "fixed": fixed,
        "points": ", ".join(f"{point:,}" for point in sorted(points)),
        "slope": fitted.slope,
        "low": fitted.low,
        "high": fitted.high,
    }


def _along(grid: Grid, axis: str, loss: str, kind: str, fixed: int, learner: str) -> dict[int, list[Row]]:
    # Cells with one m and every n, or with one n and every m.
    cells: dict[int, list[Row]] = {}
    for (own_loss, own_kind, m, n), learners in grid.cells.items():
        moving, still = (m, n) if axis == "m" else (n, m)
        if (own_loss, own_kind, still) == (loss, kind, fixed) and learner in learners:
            cells[moving] = learners[learner]
    return cells


def _losses(grid: Grid) -> list[str]:
    return list(dict.fromkeys(entry.name for entry in grid.settings.losses))


def _along_lengths(grid: Grid) -> list[dict[str, Any]]:
    # The powers of m, at the largest n that has lists of every length.
    rows = []
    sizes = grid.settings.queries_of(max(grid.settings.lengths))
    n = sizes[-1] if sizes else grid.settings.queries[0]
    for loss in _losses(grid):
        for learner in UNIFORM:
            cells = _along(grid, "m", loss, "noisy", n, learner)
            if len(cells) >= FEWEST_POINTS:
                fitted = _fitted(cells, "gap", one_held_out=False)
                rows.append(_row("m", loss, "noisy", learner, "gap", n, fitted, cells))
        terms = _chapelle_wu_terms(grid, loss, n)
        if len(terms) >= FEWEST_POINTS:
            fitted = fit_exponent(list(terms), list(terms.values()))
            rows.append(_row("m", loss, "noisy", "", "Chapelle-Wu term", n, fitted, terms))
    return rows


def _chapelle_wu_terms(grid: Grid, loss: str, n: int) -> dict[int, float]:
    terms = {}
    for m in grid.settings.lengths:
        constants = grid.constants("chapelle-wu", loss, "noisy", m)
        if constants is not None and (loss, "noisy", m, n) in grid.cells:
            chosen = {name: constants[name] for name in ("m", "lipschitz_l2", "radius", "feature_norm")}
            terms[m] = list_bounds.complexity_of_chapelle_wu(n=n, **chosen)
    return terms


def _along_queries(grid: Grid) -> list[dict[str, Any]]:
    # The powers of n: of the gap for the shortest lists, and of the excess risk where L* = 0.
    rows, m = [], grid.settings.lengths[0]
    for loss in _losses(grid):
        for learner in UNIFORM:
            cells = _along(grid, "n", loss, "noisy", m, learner)
            if len(cells) >= FEWEST_POINTS:
                fitted = _fitted(cells, "gap", one_held_out=True)
                rows.append(_row("n", loss, "noisy", learner, "gap", m, fitted, cells))
        for length in grid.settings.realisable_lengths:
            for learner in ("smooth-ogd", "ogd"):
                cells = _along(grid, "n", loss, "realisable", length, learner)
                if len(cells) >= FEWEST_POINTS:
                    fitted = _fitted(cells, "excess", one_held_out=True)
                    rows.append(_row("n", loss, "realisable", learner, "excess risk", length, fitted, cells))
    return rows

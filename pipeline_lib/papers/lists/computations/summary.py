"""What do the measured gaps say about the bounds of `lists`?

The slices of the grid and the measurements on data sets become the table of cells with their means, intervals and
bounds, the table of the n from which each bound is informative, the powers of n and m that are fitted to the gaps, and
the evidence for the claims on excess risks and uniform bounds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.claims.evidence import Evidence, Interval, Label, Trial
from pipeline_lib.papers.lists.computations.cells import (
    Grid,
    Key,
    Row,
    bound_rows,
    cell_rows,
    first_below_theorem_9,
    gaps,
    largest_loss,
    optimal_risk,
    with_gaps,
)
from pipeline_lib.papers.lists.computations.intervals import NORMAL, of_largest, of_mean
from pipeline_lib.statistics import Exponent, fit_exponent
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.grid import GridSettings

CELLS = "tables/lists-cells.parquet"

UNIFORM = ("erm", "worst")
FEWEST_POINTS = 3
"""Exponents are fitted to no fewer cells."""


@dataclass(frozen=True)
class Results:
    """Rows of the three tables, and the evidence that is in none."""

    cells: list[dict[str, Any]]
    bounds: list[dict[str, Any]]
    exponents: list[dict[str, Any]]
    evidence: list[Evidence]


def run(settings: GridSettings, rows: Iterable[Row], real: Iterable[Row]) -> Results:
    """Everything that follows from the measured rows."""
    grid, measured_on_data = Grid(settings, rows), list(real)
    evidence = [
        _excess(grid, "lists-thm5", "ogd", measured_on_data),
        _excess(grid, "lists-thm6", "rerm", measured_on_data),
        _theorem_9(grid, measured_on_data),
        _theorem_17(grid),
    ]
    return Results(cell_rows(grid), bound_rows(grid), [*_along_lengths(grid), *_along_queries(grid)], evidence)


def _setting(key: Key) -> dict[str, Any]:
    return dict(zip(("loss", "population", "m", "n"), key, strict=True))


def _on_data(real: Iterable[Row]) -> dict[tuple[str, str, int, int], dict[str, list[Row]]]:
    # The rows of every data set, loss, m and n, by learner.
    cells: dict[tuple[str, str, int, int], dict[str, list[Row]]] = {}
    for row in real:
        key = (row["dataset"], row["loss"], row["m"], row["n"])
        cells.setdefault(key, {}).setdefault(row["learner"], []).append(row)
    return dict(sorted(cells.items()))


def _setting_on_data(key: tuple[str, str, int, int]) -> dict[str, Label]:
    return dict(zip(("dataset", "loss", "m", "n"), key, strict=True))


def _excess(grid: Grid, claim: str, learner: str, real: list[Row]) -> Evidence:
    # The bound on the excess risk of a learner has the learner's name.
    trials = []
    for key, learners in sorted(grid.cells.items()):
        rows = learners.get(learner, [])
        bound = grid.bound(learner, key)
        if rows and bound is not None:
            excess = of_mean([row["excess"] for row in rows], max(row["excess_error"] for row in rows))
            trials.append(Trial(_setting(key), {"excess_risk": excess, "bound": bound}, CELLS))
    for cell, own in _on_data(real).items():
        rows = own.get(learner, [])
        if rows:
            excess = of_mean([row["excess"] for row in rows], max(row["excess_error"] for row in rows))
            values: dict[str, float | Interval] = {"excess_risk": excess, "bound": rows[0]["excess_bound"]}
            trials.append(Trial(_setting_on_data(cell), values, f"tables/lists-real-{cell[0]}.parquet"))
    if not trials:
        return Evidence(claim, not_run="No loss of experiments: lists: grid: losses meets the theorem's assumptions.")
    notes = "Mean excess risk over the repetitions, relative to the best known ranker of the ball."
    if any("dataset" in trial.setting for trial in trials):
        notes += (
            " On a data set that is the minimiser over all its queries. Repetitions share queries, so that their "
            "intervals are those of the subsampling and do not speak of another data set."
        )
    return Evidence(claim, tuple(trials), notes)


def _theorem_9(grid: Grid, real: list[Row]) -> Evidence:
    trials = []
    for key, learners in sorted(grid.cells.items()):
        for entropy in ("closed-form", "integral"):
            bound, constants = grid.bound("erm", key, entropy=entropy), grid.constants("erm", *key[:3])
            assert bound is not None
            assert constants is not None
            given = {"n": key[3], "loss_bound": constants["loss_bound"], "delta": constants["delta"]}
            values: dict[str, float | Interval] = {
                "bound": bound,
                "excess_bound": list_bounds.excess_of_minimiser(bound, **given),
                "excess_risk": of_largest(learners["erm"], "excess", "excess_error"),
            }
            for name, learner in (("gap", "erm"), ("worst_gap_found", "worst")):
                values[name] = of_largest(with_gaps(learners[learner]), "gap", "risk_error")
            trials.append(Trial({**_setting(key), "rademacher": entropy}, values, CELLS))
    for cell, own in _on_data(real).items():
        values = {
            "bound": own["erm"][0]["bound"],
            "excess_bound": own["erm"][0]["excess_bound"],
            "excess_risk": of_largest(own["erm"], "excess", "excess_error"),
            "gap": of_largest(own["erm"], "gap", "risk_error"),
            "worst_gap_found": of_largest(own["worst"], "gap", "risk_error"),
        }
        trials.append(Trial(_setting_on_data(cell), values, f"tables/lists-real-{cell[0]}.parquet"))
    vacuous = sum(_is_vacuous(grid, key) for key in grid.cells)
    notes = (
        "The largest among the repetitions: gaps of the minimiser and of the worst ranker obtained, and excess risks "
        "of the minimiser, whose bound has the deviation of the best ranker's empirical risk added. The bound is "
        f"larger than the largest loss, and so says nothing, in {vacuous} of {len(grid.cells)} cells."
    )
    return Evidence("lists-thm9", tuple(trials), notes)


def _is_vacuous(grid: Grid, key: Key) -> bool:
    bound = grid.bound("erm", key)
    assert bound is not None
    return bound >= largest_loss(grid, key)


def _theorem_17(grid: Grid) -> Evidence:
    trials = []
    for key, learners in sorted(grid.cells.items()):
        rows = [row for learner in UNIFORM for row in with_gaps(learners.get(learner, []))]
        own = [grid.bound("optimistic", key, empirical_risk=max(0.0, row["empirical"])) for row in rows]
        # Every ranker has a bound of its own; the pair with least between them decides.
        pairs = [(bound, row) for bound, row in zip(own, rows, strict=True) if bound is not None]
        if not pairs:
            continue
        bound, nearest = min(pairs, key=lambda pair: pair[0] - pair[1]["gap"])
        values: dict[str, float | Interval] = {"gap": of_largest([nearest], "gap", "risk_error"), "bound": bound}
        first = first_below_theorem_9(grid, key, optimal_risk(learners))
        if first is not None:
            values["beats_theorem_9_from"] = float(first)
        trials.append(Trial(_setting(key), values, CELLS))
    if not trials:
        return Evidence(
            "lists-thm17", not_run="No loss of experiments: lists: grid: losses is smooth and non-negative."
        )
    notes = (
        "Of all minimisers and worst rankers obtained, the gap of the one that comes nearest to the bound at its own "
        "empirical risk. "
        "Theorem 9 is beaten from the n given, at an empirical risk of L*, where that n is below 10^15."
    )
    return Evidence("lists-thm17", tuple(trials), notes)


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
            cells = _along(grid, "n", loss, "realisable", length, "smooth-ogd")
            if len(cells) >= FEWEST_POINTS:
                fitted = _fitted(cells, "excess", one_held_out=True)
                rows.append(_row("n", loss, "realisable", "smooth-ogd", "excess risk", length, fitted, cells))
    return rows

"""What was measured in every cell of the grid of `lists`, and how large are the bounds there?

A cell has one loss, population, m and n; it is measured by several learners, in several repetitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline_lib.errors import DataError
from pipeline_lib.papers.lists.computations.grid import loss_of, population_of
from pipeline_lib.papers.lists.computations.intervals import of_largest, of_mean
from pipeline_lib.theory import list_bounds

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.grid import GridSettings

Row = Mapping[str, Any]
Key = tuple[str, str, int, int]
"""Loss, population, m and n of a cell."""
UNIFORM_BOUNDS = ("bound_erm", "bound_erm_integral")
ON_DATA = ("dataset", "loss", "m", "n", "learner")


class Grid:
    """The rows of all slices by loss, population, m and n, with the bounds there."""

    def __init__(self, settings: GridSettings, rows: Iterable[Row]) -> None:
        self.settings = settings
        self.cells: dict[Key, dict[str, list[Row]]] = {}
        for row in rows:
            key = (row["loss"], row["population"], row["m"], row["n"])
            self.cells.setdefault(key, {}).setdefault(row["learner"], []).append(row)
        if not self.cells:
            raise DataError("lists: expected measured gaps, found none")
        self._constants: dict[tuple[str, str, str, int], Mapping[str, Any] | None] = {}

    def constants(self, bound: str, loss: str, kind: str, m: int) -> Mapping[str, Any] | None:
        """What the surrogate supplies to a bound; None where the bound's assumptions do not hold for it."""
        key = (bound, loss, kind, m)
        if key not in self._constants:
            population = population_of(self.settings, kind)
            y_max = population.settings.y_max
            given = {"radius": self.settings.radius, "feature_norm": population.feature_norm}
            try:
                own = list_bounds.of_surrogate(bound, loss_of(self.settings, loss), m=m, y_max=y_max, **given)
                self._constants[key] = {"m": m, **given, "delta": self.settings.delta, **own}
            except DataError:
                self._constants[key] = None
        return self._constants[key]

    def bound(self, name: str, key: Key, **more: Any) -> float | None:
        """The value of a bound in a cell; ``more`` gives a risk where the bound needs one."""
        loss, kind, m, n = key
        constants = self.constants(name, loss, kind, m)
        return None if constants is None else list_bounds.evaluate(name, n=n, **constants, **more)


def gaps(rows: Iterable[Row]) -> list[float]:
    """L - Lhat, row after row.

    Example
    -------
    >>> gaps([{"risk": 0.75, "empirical": 0.5}])
    [0.25]
    """
    return [row["risk"] - row["empirical"] for row in rows]


def with_gaps(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows, each with its gap L - Lhat."""
    rows = list(rows)
    return [{**row, "gap": gap} for row, gap in zip(rows, gaps(rows), strict=True)]


def optimal_risk(learners: Mapping[str, list[Row]]) -> float:
    """The risk of the best known ranker of a cell, given its rows by learner; at least 0."""
    return max(0.0, min(row["optimal_risk"] for rows in learners.values() for row in rows))


def _relative_error(rows: Iterable[Row]) -> float | None:
    # The largest; none where the population's risk may be 0.
    return max((row["risk_error"] / row["risk"] for row in rows if row["risk"] > 0.0), default=None)


def cell_rows(grid: Grid) -> list[dict[str, Any]]:
    """One row for every cell and learner: means over the repetitions with their intervals, and the bounds."""
    table = []
    for key, learners in sorted(grid.cells.items()):
        loss, kind, m, n = key
        optimal = optimal_risk(learners)
        bounds = {
            "chapelle_wu": grid.bound("chapelle-wu", key),
            "bound_ogd": grid.bound("ogd", key),
            "bound_rerm": grid.bound("rerm", key),
            "bound_erm": grid.bound("erm", key),
            "loss_bound": largest_loss(grid, key),
            "bound_erm_integral": grid.bound("erm", key, entropy="integral"),
            "bound_smooth_ogd": grid.bound("smooth-ogd", key, optimal_risk=optimal),
        }
        excess_bounds = {f"excess_{name}": _of_minimiser(grid, key, bounds[name]) for name in UNIFORM_BOUNDS}
        for learner, rows in sorted(learners.items()):
            error = max(row["risk_error"] for row in rows)
            gap, size = of_mean(gaps(rows), error), of_mean(np.abs(gaps(rows)), error)
            largest = of_largest(with_gaps(rows), "gap", "risk_error")
            excess = of_mean([row["excess"] for row in rows], max(row["excess_error"] for row in rows))
            largest_excess = of_largest(rows, "excess", "excess_error")
            certified = [row["certified_gap"] for row in rows if row["certified_gap"] is not None]
            table.append(
                {
                    "loss": loss,
                    "population": kind,
                    "m": m,
                    "n": n,
                    "learner": learner,
                    "repetitions": len(rows),
                    "gap": gap.value,
                    "gap_low": gap.low,
                    "gap_high": gap.high,
                    "gap_size": size.value,
                    "gap_size_low": size.low,
                    "gap_size_high": size.high,
                    "largest_gap": largest.value,
                    "largest_gap_low": largest.low,
                    "largest_gap_high": largest.high,
                    "excess": excess.value,
                    "excess_low": excess.low,
                    "excess_high": excess.high,
                    "optimal_risk": optimal,
                    "optimal_risk_error": rows[0]["optimal_risk_error"],
                    "risk_error": error,
                    "relative_risk_error": _relative_error(rows),
                    "largest_certified_gap": max(certified) if certified else None,
                    **bounds,
                    "bound_optimistic": grid.bound(
                        "optimistic", key, empirical_risk=max(0.0, float(np.mean([row["empirical"] for row in rows])))
                    ),
                    "largest_excess": largest_excess.value,
                    "largest_excess_low": largest_excess.low,
                    "largest_excess_high": largest_excess.high,
                    **excess_bounds,
                    **_nearest(grid, key, rows),
                }
            )
    return table


def _of_minimiser(grid: Grid, key: Key, bound: float | None) -> float:
    # The second half of Theorem 9.
    constants = grid.constants("erm", *key[:3])
    assert bound is not None
    assert constants is not None
    given = {"n": key[3], "loss_bound": constants["loss_bound"], "delta": constants["delta"]}
    return list_bounds.excess_of_minimiser(bound, **given)


def _nearest(grid: Grid, key: Key, rows: Iterable[Row]) -> dict[str, Any]:
    # Every ranker has a bound of its own; the gap with least between it and Theorem 17 at its own empirical risk.
    names = ("nearest_gap", "nearest_gap_low", "nearest_gap_high", "nearest_optimistic")
    pairs = [
        (bound, row)
        for row in with_gaps(rows)
        if (bound := grid.bound("optimistic", key, empirical_risk=max(0.0, row["empirical"]))) is not None
    ]
    if not pairs:
        return dict.fromkeys(names)
    bound, row = min(pairs, key=lambda pair: pair[0] - pair[1]["gap"])
    gap = of_largest([row], "gap", "risk_error")
    return dict(zip(names, (gap.value, gap.low, gap.high, bound), strict=True))


def data_rows(real: Iterable[Row]) -> list[dict[str, Any]]:
    """One row for every data set, loss, m, n and learner: what its repetitions say together."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in real:
        cells.setdefault(tuple(row[name] for name in ON_DATA), []).append(row)
    return [_data_row(dict(zip(ON_DATA, key, strict=True)), rows) for key, rows in sorted(cells.items())]


def _data_row(axes: dict[str, Any], rows: list[Row]) -> dict[str, Any]:
    measured = {
        "excess": of_mean([row["excess"] for row in rows], max(row["excess_error"] for row in rows)),
        "largest_excess": of_largest(rows, "excess", "excess_error"),
        "largest_gap": of_largest(rows, "gap", "risk_error"),
    }
    ends = {
        f"{name}{end}": number
        for name, value in measured.items()
        for end, number in (("", value.value), ("_low", value.low), ("_high", value.high))
    }
    bounds = {name: rows[0][name] for name in ("excess_bound", "bound", "loss_bound")}
    return {**axes, "repetitions": len(rows), **ends, **bounds}


def bound_rows(grid: Grid) -> list[dict[str, Any]]:
    """One row for every bound, loss, population and m: its value at the largest n; from which n it is below B."""
    table = []
    for loss, kind, m in dict.fromkeys(key[:3] for key in sorted(grid.cells)):
        n = max(key[3] for key in grid.cells if key[:3] == (loss, kind, m))
        optimal = optimal_risk(grid.cells[loss, kind, m, n])
        risks = {"smooth-ogd": {"optimal_risk": optimal}, "optimistic": {"empirical_risk": optimal}}
        for name in list_bounds.PRINTED:
            constants = None if name == "erm-l1" else grid.constants(name, loss, kind, m)
            if constants is None:
                continue
            bound = list_bounds.assess(name, n=n, **constants, **risks.get(name, {}))
            table.append(
                {
                    "loss": loss,
                    "population": kind,
                    "m": m,
                    "n": n,
                    "bound": name,
                    "value": bound.value,
                    "loss_bound": bound.loss_bound,
                    "vacuous": bound.vacuous,
                    "optimal_risk": optimal,
                    "not_vacuous_from": bound.not_vacuous_from,
                    "beats_theorem_9_from": (
                        first_below_theorem_9(grid, (loss, kind, m, n), optimal) if name == "optimistic" else None
                    ),
                }
            )
    return table


def largest_loss(grid: Grid, key: Key) -> float:
    """B, the largest loss of the class in a cell."""
    constants = grid.constants("erm", *key[:3])
    assert constants is not None
    return float(constants["loss_bound"])


def first_below_theorem_9(grid: Grid, key: Key, empirical_risk: float) -> int | None:
    """The n from which Theorem 17 is below Theorem 9 at this empirical risk; None where there is none up to 10^15."""
    loss, kind, m, _ = key
    optimistic, plain = grid.constants("optimistic", loss, kind, m), grid.constants("erm", loss, kind, m)
    assert optimistic is not None
    assert plain is not None
    return list_bounds.first_below(
        lambda n: list_bounds.evaluate("optimistic", n=n, empirical_risk=empirical_risk, **optimistic),
        lambda n: list_bounds.evaluate("erm", n=n, **plain),
    )

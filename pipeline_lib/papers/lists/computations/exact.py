"""The tables of bounds against what is known exactly: gaps, excess risks, packings and short statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline_lib.papers.lists.computations import expectations, lattices, sentences, uniform

if TYPE_CHECKING:
    from pipeline_lib.papers.lists.experiments.exact import ExactSettings


def run(settings: ExactSettings, seed: int) -> list[list[dict[str, Any]]]:
    """The rows of all tables, in the order of their declaration."""
    gaps, growth = uniform.run(settings, seed)
    growth = [*growth, expectations.optimistic_power()]
    parts = [gaps, growth, expectations.run(settings, seed), lattices.run(settings), sentences.run(settings, seed)]
    return [completed(rows) for rows in parts]


def completed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with None for the columns that only others have.

    Example
    -------
    >>> completed([{"a": 1}, {"a": 2, "b": 3}])
    [{'a': 1, 'b': None}, {'a': 2, 'b': 3}]
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]

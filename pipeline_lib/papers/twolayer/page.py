"""Where do the best splits of a budget lie on the curves of the measured errors, and how fast do gaps fall?"""

from collections.abc import Mapping, Sequence

import numpy as np

from pipeline_lib.report.declared_figures import Curves, power
from pipeline_lib.report.figures import Band
from pipeline_lib.report.queries import Rows


def on_curves(curves: Rows, places: Rows, height: str, marked: Mapping[str, str]) -> Curves:
    """Marks on the curves of ``height`` against queries, one curve for every budget.

    ``places`` has one row for every budget; ``marked`` are its columns with numbers of queries, and the words for them.

    Example
    -------
    >>> curve = Rows([{"budget": 20, "queries": n, "error": e} for n, e in ((1, 4.0), (100, 2.0))], ("t",))
    >>> on_curves(curve, Rows([{"budget": 20, "best": 10.0}], ("t",)), "error", {"best": "smallest"}).points
    {'smallest': [(10.0, 3.0, 3.0, 3.0)]}
    """
    marks: dict[str, list[Band]] = {}
    for place in places:
        line = curves.where(budget=place.budget).sorted("queries")
        points = list(zip(line.column("queries"), line.column(height), strict=True))
        for column, words in marked.items():
            if (n := getattr(place, column)) is not None:
                y = between(points, n)
                marks.setdefault(words, []).append((n, y, y, y))
    return Curves(marks, places.source)


def between(points: Sequence[tuple[float, float]], x: float) -> float:
    """The height at x of the line through the points, straight where x is logarithmic and level beyond its ends."""
    places, heights = zip(*points, strict=True)
    return float(np.interp(np.log(x), np.log(places), heights))


def inverse_root(curve: Curves) -> Curves:
    """The line through the first point of a curve that falls as the root of the number of queries grows."""
    return power(curve, -0.5, "order 1/√n")


FUNCTIONS = {"on_curves": on_curves, "inverse_root": inverse_root}

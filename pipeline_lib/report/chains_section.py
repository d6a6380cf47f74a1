"""Which step costs each bound of a study most, and is there a bound that says something without it?"""

from collections.abc import Sequence

from pipeline_lib.core.markup import listed
from pipeline_lib.report import waterfalls
from pipeline_lib.report.certificate_blocks import HELD_OUT
from pipeline_lib.report.queries import Rows, Tables
from pipeline_lib.report.results import Row
from pipeline_lib.report.study import Study

OWN = "contraction"
"""The project's own bound in the table of certificates."""


def chains(study: Study, papers: Sequence[str]) -> list[Rows]:
    """The chain with the largest n of each bound of the papers."""
    tables = Tables(study.results)
    of_papers = [tables.rows(f"{paper}-chain") for paper in papers if tables.has(f"{paper}-chain")]
    return [one for rows in of_papers for one in waterfalls.largest(rows, datasets=len(rows.distinct("dataset")))]


def certified(study: Study) -> Row | None:
    """For how many rankers the bound of our own is informative, and for how many the others; None if for none."""
    # By the bound, whether it is informative for a ranker: in all folds, since it is said of the ranker.
    informative: dict[str, dict[tuple[str, str], bool]] = {}
    places = {}
    for row in study.certificates:
        if row["risk"] is not None and row["bound"] != HELD_OUT and not study.is_control(row["model"]):
            places[row["bound"]] = row["place"]
            rankers = informative.setdefault(row["bound"], {})
            ranker = (row["dataset"], row["model"])
            rankers[ranker] = rankers.get(ranker, True) and row["informative"]
    own = informative.pop(OWN, {})
    if not any(own.values()):
        return None
    by_count: dict[int, list[str]] = {}
    for bound, rankers in informative.items():
        by_count.setdefault(sum(rankers.values()), []).append(places[bound])
    return {
        "bound": OWN,
        "informative": sum(own.values()),
        "rankers": len(own),
        "datasets": sorted({dataset for (dataset, _), told in own.items() if told}),
        "others": [f"for {number or 'none'} of them ({listed(by_count[number])})" for number in sorted(by_count)[::-1]],
    }

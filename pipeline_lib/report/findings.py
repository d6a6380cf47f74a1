"""How does a page show what the doctor found in a data set?"""

from collections.abc import Mapping
from typing import Any

from pipeline_lib.report import markdown
from pipeline_lib.report.blocks import Block
from pipeline_lib.report.declared_figures import row_figure
from pipeline_lib.report.figures import Measured
from pipeline_lib.report.tables import col, table

_SHOWN = {"check": "Check", "text": "Found", "effect": "Effect", "remedy": "Remedy"}


def blocks(found: Mapping[str, Any], of: str = "", source: str = "") -> list[Block]:
    """What was looked at, in sentences, then a figure of the effects and a table, the largest effects first.

    ``found`` is what ``Findings.to_dict`` of :mod:`pipeline_lib.evaluation.examination` gives, ``of`` the data set by
    which figure and table are named where a page has several, and ``source`` the file of the findings.
    """
    said = " ".join(f"{line[:1].upper()}{line[1:]}." for line in found["says"])
    about = markdown.prose(markdown.escaped(said))
    if not found["found"]:
        return [about]
    place, title = (f"-{of}", f" in {of}") if of else ("", "")
    numbered = [{**one, "check": f"{i}. {one['check']}"} for i, one in enumerate(found["found"], start=1)]
    rows = [
        (one["check"], {name: Measured(*3 * (one[key],)) for name, key in _COMPARED.items()})
        for one in numbered
        if one["as_is"] is not None and one["mended"] is not None
    ]
    drawn = [
        row_figure(
            f"effects{place}", f"Effects of the findings{title}" if of else "Effects",
            "What every finding does to NDCG@10, of the rankers that the table names", {"": rows},
            xlabel="NDCG@10", source=source,
        )
    ] if rows else []  # fmt: skip
    listed = [{name: one[name] for name in _SHOWN} | {"where": "; ".join(one["where"])} for one in numbered]
    columns = [*(col(name, title) for name, title in _SHOWN.items()), col("where", "See")]
    caption = f"Findings{title}, the largest effects first"
    return [about, *drawn, table(f"findings{place}", caption, listed, columns, source=source)]


_COMPARED = {"as it is": "as_is", "without it": "mended"}

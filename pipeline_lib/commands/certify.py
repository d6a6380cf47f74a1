"""Certify how good a run is at least, on queries like those on which it was measured.

Queries must be exchangeable with those that the answer is meant for; the documents of a query need not be independent.
Equal scores count as the mean over all orders that they allow, judged queries that a run lacks and queries without
relevant documents count as 0, and ndcg has the gains 2^label - 1 (linear_ndcg has the labels, as trec_eval has).

Limits hold for every law of the values and every number of queries. Of several runs, limits are joint, so that the best
may be chosen by the result; --chosen-from says that there were more.
"""

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pipeline_lib import statistics
from pipeline_lib.core.files import Output
from pipeline_lib.evaluation import certificates, inputs

if TYPE_CHECKING:
    from pipeline_lib.report.blocks import Block


def run(
    runs: Annotated[Sequence[Path], "TREC runs", {"metavar": "RUN"}],
    *,
    qrels: Annotated[Path, "TREC qrels: lines of query, 0, document and label"],
    measure: Annotated[str, "a measure, as in nDCG@10, AP, AP(rel=2), RR@10 or linear_ndcg@10"] = "ndcg@10",
    baseline: Annotated[Path | None, "run from which differences are certified, chosen beforehand"] = None,
    chosen_from: Annotated[int, "from how many runs these were chosen, by these queries"] = 1,
    level: Annotated[float, "confidence of the limits"] = statistics.LEVEL,
    relevant_from: inputs.RelevantFromOption = 1,
    ties: Annotated[inputs.Ties, "of equal scores, as for evaluate-run"] = "mean",
    no_relevant: inputs.NoRelevantOption = "0",
    missing: inputs.MissingOption = "zero",
    y_max: inputs.LargestLabelOption = None,
    seed: Annotated[int, "seed of the orders of bets, not to be chosen by the result"] = 0,
    json: Annotated[bool, "print JSON"] = False,
    html: Annotated[Output | None, "output file for a page with a figure (.html), which loads nothing"] = None,
) -> None:
    """Print the certificate, and write the page if asked to."""
    if html is not None:
        from pipeline_lib.report import alone  # what it needs may not be installed
    paths = [*runs, *([baseline] if baseline is not None and baseline not in runs else [])]
    names = dict(zip(paths, inputs.names(paths), strict=True))
    found = certificates.certify(
        paths,
        qrels,
        measure,
        baseline=None if baseline is None else names[baseline],
        chosen_from=chosen_from,
        level=level,
        ties=ties,
        relevant_from=relevant_from,
        no_relevant=inputs.no_relevant_of(no_relevant),
        missing=missing,
        y_max=y_max,
        seed=seed,
    )
    print(dumps(found.to_dict(), indent=1) if json else found)
    if html is not None:
        alone.write(html, f"{found.values.measure}, at {100 * level:g} % confidence", _blocks(found))


def _blocks(found: certificates.Certificate) -> "list[Block]":
    """What is on the page."""
    from pipeline_lib.report import alone
    from pipeline_lib.report.declared_figures import row_figure
    from pipeline_lib.report.figures import Measured
    from pipeline_lib.report.tables import col, table

    measure, percent = found.values.measure, f"{100 * found.level:g} %"
    what = measure if found.baseline is None else f"{measure} less that of {found.baseline}"
    runs = sorted(found.to_dict()["runs"], key=lambda run: -run["mean"])
    joint = f", joint for {found.chosen_from:,} runs" if found.chosen_from > 1 else ""
    signed = found.baseline is not None
    return [
        alone.prose(list(found.says())),
        row_figure(
            "intervals", "Means", f"Means over {len(found.values.queries):,} queries, with {percent} intervals{joint}",
            {"": [(one["run"], {what: Measured(one["mean"], one["low"], one["high"])}) for one in runs]},
            xlabel=what, source="", line=0.0 if signed else None,
        ),
        table(
            "limits", f"Limits of {percent} confidence{joint}", runs,
            [
                col("run", "Run"), col("mean", "Measured", digits=4, signed=signed),
                col("lower", "At least", digits=4, signed=signed),
                col(("low", "high"), "Interval", digits=4, signed=signed),
                col("worst", "At least, in the worst order of equal scores", digits=4, signed=signed),
                col("hoeffding", "Hoeffding", digits=4, signed=signed),
                col("bootstrap", "Bootstrap", digits=4, signed=signed),
            ],
        ),
        *(alone.prose([note]) for note in found.values.notes),
    ]  # fmt: skip

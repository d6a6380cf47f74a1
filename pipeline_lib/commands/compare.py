"""Compare runs on the same queries: which differ, by how much, how sure that is, and how many queries would show it.

Queries must be exchangeable with those that the answer is meant for; the documents of a query need not be independent.
Equal scores count as the mean over all orders that they allow, judged queries that a run lacks and queries without
relevant documents count as 0, and ndcg has the gains 2^label - 1 (linear_ndcg has the labels, as trec_eval has).

All pairs are compared, as is right for whoever looks for the best run. Against a baseline that was named before the
results were known, there are fewer comparisons, and smaller differences are found.
"""

from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pipeline_lib import statistics
from pipeline_lib.core.files import Output
from pipeline_lib.evaluation import comparison, inputs

if TYPE_CHECKING:
    from pipeline_lib.report.blocks import Block

DRAWN = 40
"""So many pairs are in the figure of a page, and to so few pairs it names single queries."""


def run(
    runs: Annotated[Sequence[Path], "TREC runs, at least two"],
    *,
    qrels: Annotated[Path, "TREC qrels: lines of query, 0, document and label"],
    measure: Annotated[str, "a measure, as in nDCG@10, AP, AP(rel=2), RR@10 or linear_ndcg@10"] = "ndcg@10",
    baseline: Annotated[str | None, "file or name of the run with which each of the others is compared"] = None,
    level: Annotated[float, "confidence of the intervals; 1 - level is the error that is held"] = statistics.LEVEL,
    false_discovery_rate: Annotated[
        bool, "hold the expected share of wrong findings, and not the probability of any (Benjamini-Hochberg)"
    ] = False,
    relevant_from: inputs.RelevantFromOption = 1,
    ties: Annotated[inputs.Ties, "of equal scores, as for evaluate-run"] = "mean",
    no_relevant: inputs.NoRelevantOption = "0",
    missing: inputs.MissingOption = "zero",
    y_max: inputs.LargestLabelOption = None,
    resamples: Annotated[int, "number of random patterns of signs"] = statistics.RESAMPLES,
    seed: Annotated[int, "seed of the patterns"] = 0,
    json: Annotated[bool, "print JSON"] = False,
    html: Annotated[Output | None, "output file for a page with figures (.html), which loads nothing"] = None,
) -> None:
    """Print the comparison, and write the page if asked to."""
    if html is not None:
        from pipeline_lib.report import alone  # what it needs may not be installed
    names = dict(zip(map(str, runs), inputs.names(runs), strict=True))
    found = comparison.compare(
        list(runs),
        qrels,
        measure,
        baseline=None if baseline is None else names.get(baseline, baseline),
        level=level,
        correction="false-discovery" if false_discovery_rate else "family-wise",
        ties=ties,
        relevant_from=relevant_from,
        no_relevant=inputs.no_relevant_of(no_relevant),
        missing=missing,
        y_max=y_max,
        resamples=resamples,
        seed=seed,
    )
    print(dumps(found.to_dict(), indent=1) if json else found)
    if html is not None:
        alone.write(html, f"{found.values.measure} of {len(found.values.runs)} runs", _blocks(found))


def _blocks(found: comparison.Comparison) -> "list[Block]":
    """What is on the page."""
    from pipeline_lib.report import alone
    from pipeline_lib.report.declared_figures import row_figure
    from pipeline_lib.report.figures import Measured
    from pipeline_lib.report.tables import col, table

    measure, interval = found.values.measure, f"{100 * found.level:g} % interval"
    about = found.to_dict()
    runs = sorted(about["runs"], key=lambda run: -run["mean"])
    pairs = [{**about["comparisons"][k], "pair": " - ".join(found.names[k])} for k in found.order.tolist()]
    joint = ", joint for all pairs" if found.correction == "family-wise" else ""
    few = pairs[:DRAWN]
    of_queries = [
        {"pair": " - ".join(found.names[k]), "query": query, "a": a, "b": b, "difference": a - b}
        for k in found.order.tolist()[: DRAWN if len(pairs) <= DRAWN else 0]
        for query, a, b in found.queries(k)
    ]
    rows = {
        "means": [(one["run"], {measure: Measured(one["mean"], one["low"], one["high"])}) for one in runs],
        "differences": [(one["pair"], {measure: Measured(one["difference"], one["low"], one["high"])}) for one in few],
    }
    return [
        alone.prose(list(found.says())),
        row_figure(
            "differences", "Differences", f"The {len(few)} pairs of smallest adjusted p, with {interval}s{joint}",
            {"": rows["differences"]}, xlabel=f"difference of {measure}", source="", line=0.0,
        ),
        row_figure(
            "means", "Means", f"Means over {about['queries']:,} queries, with {interval}s, joint for all runs",
            {"": rows["means"]}, xlabel=measure, source="",
        ),
        table(
            "runs", f"Means, with joint {interval}s", runs,
            [col("run", "Run"), col("mean", "Mean", digits=4), col(("low", "high"), interval, digits=4)],
        ),
        table(
            "comparisons", f"Differences, with {interval}s{joint}", pairs,
            [
                col("pair", "Difference"), col("difference", "Mean", digits=4, signed=True),
                col(("low", "high"), interval, digits=4, signed=True), col("p_value", "p", "p"),
                col("p_adjusted", "Adjusted p", "p"), col("significant", "Significant"),
                col("detectable", "Detectable", digits=4), col("needed", "Queries needed", "whole"),
            ],
            notes=["Detectable: a difference that is significant with probability 0.8. Queries needed: so that the "
                   "observed difference is."],
        ),
        table(
            "queries", "Queries on which runs differ most", of_queries,
            [
                col("query", "Query"), col("a", "First", digits=4), col("b", "Second", digits=4),
                col("difference", "Difference", digits=4, signed=True),
            ],
            group="pair",
        ),
        *(alone.prose([note]) for note in found.values.notes),
    ]  # fmt: skip

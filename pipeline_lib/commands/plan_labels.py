"""Plan from a pilot how many queries, and how many documents of each, are to be judged.

The pilot is judged queries with one or several runs (`plan-labels A.run B.run --qrels QRELS`), or data with labels and
rankers (`plan-labels MODEL --data FILE`). Queries count as exchangeable with those to come, and documents do not; the
plan takes the upper limit of 80 % of what the pilot says of their variance. Equal scores count as the mean over all
orders of their documents, a query without relevant documents and a judged query that a run lacks as 0, and the gains of
ndcg are 2^label - 1 (those of linear_ndcg are the labels).
"""

from collections.abc import Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pipeline_lib import learners
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.files import Output
from pipeline_lib.data.stored_data import Columns
from pipeline_lib.evaluation import inputs
from pipeline_lib.evaluation.pilot import half_width
from pipeline_lib.evaluation.planning import Plan, plan_labels
from pipeline_lib.sources import query_stream, tables

if TYPE_CHECKING:
    from pipeline_lib.report.blocks import Block

Table = dict[str, dict[str, float]]
"""Numbers of documents by query."""


def run(
    runs: Annotated[Sequence[Path], "TREC runs, or trained rankers with --data", {"metavar": "RUN"}],
    *,
    qrels: Annotated[Path | None, "TREC qrels: lines of query, 0, document and label"] = None,
    data: Annotated[Path | None, "documents with labels, in place of qrels: LETOR text, CSV, TSV or Parquet"] = None,
    measure: Annotated[str, "measure, such as ndcg@10, AP or P@5"] = "ndcg@10",
    within: Annotated[float | None, "plan intervals of at most -+ this"] = None,
    difference: Annotated[float | None, "plan to find this difference of two runs"] = None,
    power: Annotated[float, "probability with which it is to be found"] = 0.8,
    judgments: Annotated[int | None, "plan the best use of so many judgements"] = None,
    cost_of_query: Annotated[float, "what opening a query costs, in judgements"] = 0.0,
    baseline: Annotated[str | None, "file or name of the run with which each of the others is compared"] = None,
    level: Annotated[float, "level of intervals and tests, joint for all differences"] = 0.95,
    ties: Annotated[inputs.Ties, "what equal scores mean"] = "mean",
    relevant_from: inputs.RelevantFromOption = 1,
    no_relevant: inputs.NoRelevantOption = "0",
    missing: inputs.MissingOption = "zero",
    y_max: inputs.LargestLabelOption = None,
    seed: Annotated[int, "seed of the resampling"] = 0,
    json: Annotated[bool, "print JSON"] = False,
    html: Annotated[Output | None, "output file for a page with the curves (.html)"] = None,
) -> None:
    """Print the plan; write the page."""
    if html is not None:
        from pipeline_lib.report import alone  # what it needs may not be installed
    if (qrels is None) == (data is None):
        raise ConfigurationError("plan-labels: expected either --qrels, with runs, or --data, with rankers")
    given, judged = (runs, qrels) if data is None else _scored(runs, data)
    names = dict(zip(map(str, runs), inputs.names(runs), strict=True))
    plan = plan_labels(
        given,
        judged,
        measure,
        within=within,
        difference=difference,
        power=power,
        judgments=judgments,
        cost_of_query=cost_of_query,
        baseline=None if baseline is None else names.get(baseline, baseline),
        level=level,
        ties=ties,
        relevant_from=relevant_from,
        no_relevant=inputs.no_relevant_of(no_relevant),
        missing=missing,
        y_max=y_max,
        seed=seed,
    )
    if html is not None:
        alone.write(html, f"Judgements to plan for {plan.measure}", _blocks(plan))
    print(dumps(plan.to_dict(), indent=1) if json else plan)


def _scored(models: Sequence[Path], data: Path) -> tuple[Mapping[str, Table], Table]:
    """The run of every ranker by its name, and the labels."""
    found = {name: _of_ranker(path, data) for name, path in zip(inputs.names(models), models, strict=True)}
    (first, (_, labels)), *others = found.items()
    for name, (_, of_ranker) in others:
        if of_ranker != labels:
            raise DataError(
                f"{data}: expected the same labels for all rankers, found others for {name} than for {first}"
            )
    return {name: run for name, (run, _) in found.items()}, labels


def _of_ranker(path: Path, data: Path) -> tuple[Table, Table]:
    """Scores and labels; document k of query 7 is 7-k, unless the data have its id."""
    ranker = learners.load(path)
    trained = Columns.of(f"{path}: columns", ranker.about.get("columns"))
    weighted = (
        f"{data}: expected queries that count alike, found weights of queries, for which nothing is planned; give a "
        "copy of the data without them"
    )
    # A ranker needs no weights, so that the column of a table is not read.
    if trained is not None and trained.weight is not None and tables.is_table(data):
        names = tables.names(data, tables.Options(separator=trained.separator))
        if trained.weight in names:
            raise DataError(weighted)
    run: Table = {}
    labels: Table = {}
    for batch in query_stream.batches(
        data, n_features=ranker.model.n_inputs(), feature_names=ranker.model.feature_names, trained=trained
    ):
        found = batch.data
        if not found.count_alike:
            raise DataError(weighted)
        try:
            scores = ranker.predict(found)
        except DataError as error:
            raise DataError(f"{data}: {error}") from error
        queries = found.query_names or [str(qid) for qid in found.qids.tolist()]
        for query, begin, end in zip(queries, found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True):
            names = [one or f"{query}-{k}" for k, one in enumerate(batch.documents[begin:end], start=1)]
            run[query] = dict(zip(names, scores[begin:end].tolist(), strict=True))
            labels[query] = dict(zip(names, found.y[begin:end].tolist(), strict=True))
    return run, labels


def _blocks(plan: Plan) -> "list[Block]":
    """What is on the page: the text of the plan, and its curves."""
    from pipeline_lib.report.blocks import Block, Listing
    from pipeline_lib.report.declared_figures import Curves, lines

    def drawn(points: Mapping[str, Sequence[tuple[int, float, float]]]) -> Curves:
        return Curves({name: [(x, y, least, y) for x, y, least in of_name] for name, of_name in points.items()}, "")

    marks = {
        f"{words} of {one.name}": [(n, plan_width, plan_width)]
        for one in plan.quantities
        for words, n in (("plan", one.queries_for_width), ("plan for the difference", one.queries_for_difference))
        if n is not None
        for plan_width in [half_width(one.spread.upper, n, one.level)]
    }
    blocks: list[Block] = [
        Listing(str(plan)),
        lines(
            "widths",
            "Width against queries",
            "Half the width of the interval by the number of judged queries: the line is what the plan promises, the "
            "lower end of the band what the estimated standard deviation of the pilot gives",
            drawn({one.name: plan.widths(one.name) for one in plan.quantities}),
            xlabel="judged queries",
            ylabel="half-width",
            log="xy",
            marks=drawn(dict(list(marks.items())[:3])),
        ),
    ]
    if plan.depths:
        uses = {one.name: [(use.depth, use.half_width, use.half_width) for use in one.curve] for one in plan.depths}
        best = {f"best of {one.name}": [one.best] for one in plan.depths[:3]}
        blocks.append(
            lines(
                "depths",
                "Width against depth, within the budget",
                f"Half the width of the interval of the share of pairs in wrong order, for {plan.judgments:,} "
                "judgements spread over so many documents of a query. It says nothing of measures at a cut-off",
                drawn(uses),
                xlabel="judged documents of a query",
                ylabel="half-width",
                log="xy",
                marks=drawn({name: [(u.depth, u.half_width, u.half_width) for u in of] for name, of in best.items()}),
            )
        )
    return blocks

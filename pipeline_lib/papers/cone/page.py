"""What was found about the paper `cone`? Its page of the report: one part an experiment, Table 1 first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pipeline_lib.reporting.blocks import Block, Paragraph, Section, Subsection
from pipeline_lib.reporting.figures import Figure, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import Cell, Column, Group, Table, number, scientific, simple, text, whole
from pipeline_lib.statistics import over_folds

Part = Callable[[ResultsFolder], tuple[Block, ...]]
Point = tuple[float, float, float, float]

TABLE_1 = "tables/cone-table1.parquet"
ADARANK = "tables/cone-adarank.parquet"
BASES = "tables/cone-bases.parquet"
VOTES = "tables/cone-votes.parquet"
SPECTRUM = "tables/cone-spectrum.parquet"
IDENTITIES = "tables/cone-identities.parquet"
DESCENT = "tables/cone-descent.parquet"
SUMMARY = "tables/cone-descent-summary.parquet"
STABILITY = "tables/cone-stability.parquet"
EXPONENTS = "tables/cone-stability-exponents.parquet"

PUBLISHED = "tables/published.parquet"
MEASURES = {"map": "MAP", "letor4_mean_ndcg": "NDCG"}

METHODS = {
    "sg": "SG, projected",
    "sg-printed": "SG, rescaled as printed",
    "eg": "EG",
    "eg-linear": "EG, linearised",
    "exact": "exact blocks",
}
STOPS = {
    "validation": "best on validation",
    "training": "best on training",
    "no gain": "no gain on training, as in Xu and Li",
    "last": "never",
    "best on test": "best on test",
}
FOLD_INS = {"gradient": "gradient folding-in", "least-squares": "least-squares folding-in"}
PARTS_OF_TABLE = {
    "method": "Coefficients in training",
    "alpha": "alpha (published: 1)",
    "rho": "rho in units of sqrt(d) (published: 1)",
    "c": "c in units of sqrt(d) (published: 2)",
    "weights": "Pairs",
    "form-9": "Form (9), largest sum of coefficients",
}
SMALL = "small sample"
ROUNDING = 1e-9
ENERGY_SHOWN = 10


class Run(NamedTuple):
    """Which training was traced, and on what."""

    dataset: str
    method: str
    updates: str
    fold_steps: int | None


Traces = Mapping[Run, Sequence[Row]]
Summaries = Mapping[Run, Row]


def build(results: ResultsFolder) -> Section | None:
    """Join the parts whose tables are there; no section where none is."""
    blocks = tuple(block for part in PARTS for block in part(results))
    return Section("cone", "ConeRank: ranking as learning generalized inequalities", blocks) if blocks else None


def table_1(results: ResultsFolder) -> tuple[Block, ...]:
    """The seven methods of Table 1, fold 1 and all folds, beside what was published."""
    rows = results.rows(TABLE_1)
    if not rows:
        return ()
    blocks: list[Block] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        chosen = [row for row in rows if row["dataset"] == dataset]
        blocks += [*_table_1(dataset, chosen), *_which_fold(results, chosen), *_adarank(results, dataset, chosen)]
    return (Subsection("cone-table1-part", "Table 1", tuple(blocks)),)


def _table_1(dataset: str, rows: list[Row]) -> list[Block]:
    within = [row for row in rows if row["status"] == "verified"]
    inside = [row for row in rows if row["fold1_low"] <= row["published"] <= row["fold1_high"]]
    words = (
        f"Do the seven methods of Table 1 reach their published numbers on {dataset}? Of the results obtained here, "
        f"{len(within)} of "
        f"{len(rows)} numbers of fold 1 lie within .015 of the published ones. The fold has few queries: the 95 % "
        "interval of a single number over its queries is "
        f"{_range(row['fold1_high'] - row['fold1_low'] for row in rows)} wide, and {len(inside)} of {len(rows)} "
        "published numbers lie inside our intervals."
    )
    columns = [
        Column("method", "Method", "left"),
        Column("measure", "Measure", "left"),
        Column("published", "Published"),
        Column("fold1", "Fold 1"),
        Column("five_fold_mean", "Mean of folds"),
        Column("five_fold_sd", "Deviation of folds"),
        Column("delta", "Fold 1 − published"),
        Column("status", "Status", "left"),
    ]
    cells = [
        [
            text(row["method"]),
            text(row["measure"]),
            number(row["published"], 3),
            number(row["fold1"]),
            number(row["five_fold_mean"]),
            number(row["five_fold_sd"]),
            number(row["delta"], signed=True),
            text(row["status"]),
        ]
        for row in rows
    ]
    notes = [
        "MAP and MeanNDCG as the LETOR 4.0 evaluation defines them. Rounds, passes and constants are chosen on the "
        "validation part; RankSVM has the published C.",
        "Verified: the value of fold 1 is within .015 of the published one.",
    ]
    name = f"cone-table1-{dataset.lower()}"
    return [Paragraph(words), simple(name, f"Table 1 of ConeRank on {dataset}", TABLE_1, columns, cells, notes)]


def _which_fold(results: ResultsFolder, rows: list[Row]) -> list[Block]:
    folds = [row for row in rows if row["five_fold_mean"] is not None]
    if not folds:
        return []
    near = [_nearer_to_fold_1(row) for row in folds]
    hits = [_nearer_to_fold_1(row) for row in folds if row["status"] == "verified"]
    words = (
        "To which fold do the published numbers belong? The paper does not state it, and one would expect the mean of "
        "five "
        f"folds. {sum(near)} of {len(near)} lie closer to our fold 1 than to our mean over folds "
        f"({sum(hits)} of the {len(hits)} that are verified), which differs from it by "
        f"{_mean(row['five_fold_mean'] - row['fold1'] for row in folds):+.3f} on average."
    )
    # The collection's own results are transcribed to four digits for some of the methods.
    own = {
        (row["dataset"], row["model"], MEASURES[row["measure"]]): row["published"]
        for row in results.rows(PUBLISHED)
        if row["measure"] in MEASURES and row["fold"] == 1 and row["source"].startswith("LETOR 4.0 baselines")
    }
    keys = [(row["dataset"], row["model"], row["measure"]) for row in rows]
    pairs = [(own[key], row["published"]) for key, row in zip(keys, rows, strict=True) if key in own]
    if pairs:
        same = sum(round(ours, 3) == theirs for ours, theirs in pairs)
        words += (
            f" The collection publishes its baselines fold by fold: {same} of {len(pairs)} of its numbers of fold 1 "
            f"that are transcribed here ({', '.join(f'{ours:.4f}' for ours, _ in pairs)}) round to the printed ones"
            + (": Table 1 shows fold 1 (errata, letter F)." if same == len(pairs) else ".")
        )
    return [Paragraph(words)]


def _nearer_to_fold_1(row: Row) -> bool:
    return bool(abs(row["published"] - row["fold1"]) < abs(row["published"] - row["five_fold_mean"]))


def _adarank(results: ResultsFolder, dataset: str, published: list[Row]) -> list[Block]:
    rows = [row for row in results.rows(ADARANK) if (row["dataset"], row["fold"]) == (dataset, 1)]
    wanted = [row for row in published if row["method"].startswith("AdaRank")]
    if not rows or not wanted:
        return []
    off = sum(row["status"] != "verified" for row in wanted)
    stalled = [row for row in rows if row["repeats"] is None and row["stop"] == "last"]
    words = (
        f"{off} of {len(wanted)} of AdaRank's numbers deviate. What do they depend on? The round at which boosting "
        f"stops: on fold 1, {_stops(rows, wanted, 'map')}; {_stops(rows, wanted, 'ndcg')}. As printed, in "
        f"{stalled[0]['rounds']} rounds AdaRank chooses {_range((row['features'] for row in stalled), 0)} of all "
        "features. Once the first is chosen again, the ranking, the weights and the choice no longer change. "
        "The rule behind the published numbers is not known."
    )
    columns = [
        Column("boosted", "Boosted", "left"),
        Column("repeats", "A feature is chosen", "left"),
        Column("stop", "Stopped", "left"),
        Column("rounds", "Rounds"),
        Column("features", "Features"),
        Column("map", "MAP"),
        Column("ndcg", "NDCG"),
    ]
    cells = [
        [
            text(row["measure"].upper()),
            text("again and again, as printed" if row["repeats"] is None else "once"),
            text(STOPS[row["stop"]]),
            whole(row["rounds"]),
            whole(row["features"]),
            number(row["map"]),
            number(row["ndcg"]),
        ]
        for row in rows
    ]
    notes = ["The best round on the test part is chosen by MAP. All rules stop the same boosting run."]
    caption = f"AdaRank on fold 1 of {dataset} with five rules for stopping"
    return [Paragraph(words), simple(f"cone-adarank-{dataset.lower()}", caption, ADARANK, columns, cells, notes)]


def _stops(rows: list[Row], wanted: list[Row], measure: str) -> str:
    held = [row for row in rows if row["stop"] == "validation"]
    low, high = min(row[f"{measure}_low"] for row in held), max(row[f"{measure}_high"] for row in held)
    fair = [row[measure] for row in rows if row["stop"] != "best on test"]
    best = max(row[measure] for row in rows if row["stop"] == "best on test")
    printed = [row["published"] for row in wanted if row["measure"] == measure.upper()]
    return (
        f"{measure.upper()} is {_range((row[measure] for row in held), 3)} with the best stop on the validation part, "
        f"{_range((low, high), 3)} when its queries are resampled, {_range(fair, 3)} over the rules that do not know "
        f"the test part, and {best:.3f} with the best stop there; published are {_range(printed, 3)}"
    )


def bases(results: ResultsFolder) -> tuple[Block, ...]:
    """Figure 3, K = 1 beside RankSVM, and the effects of constants and of the folding-in."""
    rows = results.rows(BASES, columns=["dataset", "fold", "part", "map", "ndcg"])
    if not rows:
        return ()
    blocks: list[Block] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        chosen = [row for row in rows if row["dataset"] == dataset]
        blocks += [*_figure_3(dataset, chosen), *_effects(dataset, chosen)]
    blocks += _votes(results)
    return (Subsection("cone-bases-part", "How many basis vectors, and which constants", tuple(blocks)),)


def _figure_3(dataset: str, rows: list[Row]) -> list[Block]:
    grown = [row for row in rows if row["part"] == "basis"]
    if not grown:
        return []
    series: dict[str, dict[str, list[Point]]] = {measure: {} for measure in ("map", "ndcg")}
    for measure, curves in series.items():
        for fold_in, title in FOLD_INS.items():
            found = [row for row in grown if row["fold_in"] == fold_in]
            points = [(float(K), *_over_folds(found, K, measure)) for K in sorted({row["K"] for row in found})]
            curves[title] = points
    best = {
        f"{measure.upper()} with {title}": max(points, key=lambda point: point[1])
        for measure, curves in series.items()
        for title, points in curves.items()
    }
    words = (
        f"How many basis vectors K does {dataset} need? Highest on the test part: "
        + "; ".join(f"{title}, at K = {point[0]:.0f} ({point[1]:.3f})" for title, point in best.items())
        + f". {_halfspace(rows)}"
    )
    averaged = "folds and starts, with the 95 % interval over folds" if _has_folds(grown) else "starts, on one fold"
    figures = [
        Figure(
            name=f"cone-figure3-{measure}-{dataset.lower()}",
            title=f"{measure.upper()} against the number of basis vectors, {dataset}",
            caption=f"Figure 3, {measure.upper()}: mean over {averaged}",
            source=BASES,
            description=words,
            draw=lambda measure=measure, curves=curves: line_plot(  # type: ignore[misc]
                curves, xlabel="basis vectors, K", ylabel=f"{measure.upper()} on the test part"
            ),
        )
        for measure, curves in series.items()
    ]
    return [Paragraph(words), *figures]


def _halfspace(rows: list[Row]) -> str:
    # K = 1 beside RankSVM: the means, and the difference on the same folds.
    svm = {row["fold"]: row["map"] for row in rows if row["part"] == "ranksvm"}
    said = f"RankSVM has MAP {_mean(svm.values()):.3f}"
    one = [row for row in rows if (row["part"], row["K"], row["fold_in"]) == ("basis", 1, "gradient")]
    folds = sorted({row["fold"] for row in one} & svm.keys())
    if not folds:
        return f"{said}."
    means = {fold: _mean(row["map"] for row in one if row["fold"] == fold) for fold in folds}
    said += f", ConeRank with K = 1, a halfspace, {_mean(means.values()):.3f}"
    if len(folds) < 2:
        return f"{said}."
    found = over_folds([means[fold] - svm[fold] for fold in folds])
    decided = "no difference" if found.low <= 0.0 <= found.high else "a difference"
    difference, low, high = (number(value, 3, signed=True).text for value in (found.mean, found.low, found.high))
    return (
        f"{said}. On the same {len(folds)} folds K = 1 differs from RankSVM by {difference}, with a 95 % interval over "
        f"folds from {low} to {high}: {decided} is shown."
    )


def _effects(dataset: str, rows: list[Row]) -> list[Block]:
    groups = []
    for part, title in PARTS_OF_TABLE.items():
        chosen = [row for row in rows if row["part"] == part]
        keys = dict.fromkeys((row["method"], row["level"]) for row in chosen)
        cells = [
            (
                text(METHODS[method] if part == "method" else "not weighted" if level is None else f"{level:g}"),
                *_effect([row for row in chosen if (row["method"], row["level"]) == (method, level)]),
            )
            for method, level in keys
        ]
        if cells:
            groups.append(Group(title, tuple(cells)))
    if not groups:
        return []
    words = f"What do the constants and the prediction step change on {dataset}? {_foldings(rows)}".rstrip()
    columns = [Column("setting", "Setting", "left"), Column("objective", "Training objective")]
    columns += [
        Column(f"{measure}_{fold_in}", f"{measure.upper()}, {fold_in}")
        for measure in ("map", "ndcg")
        for fold_in in FOLD_INS
    ]
    notes = [
        f"Means over {'folds and starts' if _has_folds(rows) else 'starts, on one fold'}. The objective is each "
        "setting's own, after all passes: compare methods alone.",
        "The ranker is the basis after the number of passes that is best on the validation part.",
    ]
    caption = f"ConeRank's constants and updates on {dataset}"
    name = f"cone-effects-{dataset.lower()}"
    return [Paragraph(words), Table(name, caption, BASES, tuple(columns), tuple(groups), tuple(notes))]


def _foldings(rows: list[Row]) -> str:
    # Of all methods of training: both foldings of prediction, and whether the lowest objective ranks best.
    training = [row for row in rows if row["part"] == "method"]
    if not training:
        return ""
    sides = {fold_in: _mean(row["map"] for row in training if row["fold_in"] == fold_in) for fold_in in FOLD_INS}
    by_method = {
        method: [row for row in training if (row["method"], row["fold_in"]) == (method, "gradient")]
        for method in dict.fromkeys(row["method"] for row in training)
    }
    objective = {method: _mean(row["objective"] for row in found) for method, found in by_method.items()}
    measured = {method: _mean(row["map"] for row in found) for method, found in by_method.items()}
    over = "Averaged over the methods of training" if len(by_method) > 1 else f"Trained by {METHODS[min(by_method)]}"
    said = (
        f"{over}, the score with the gradient folding-in has MAP {sides['gradient']:.3f}, that with least squares "
        f"{sides['least-squares']:.3f}."
    )
    if len(by_method) == 1:
        return said
    lowest, best = min(objective, key=lambda m: objective[m]), max(measured, key=lambda m: measured[m])
    return (
        f"{said} Does a lower objective give a better ranking? The lowest is {objective[lowest]:.1f}, "
        f"{METHODS[lowest]}, with MAP "
        f"{measured[lowest]:.3f}; the best MAP, {measured[best]:.3f}, is that of {METHODS[best]}, with "
        f"{objective[best]:.1f}."
    )


def _effect(rows: list[Row]) -> list[Cell]:
    cells = [number(_mean(row["objective"] for row in rows), 3)]
    for measure in ("map", "ndcg"):
        cells += [number(_mean(row[measure] for row in rows if row["fold_in"] == fold_in)) for fold_in in FOLD_INS]
    return cells


def _votes(results: ResultsFolder) -> list[Block]:
    rows = results.rows(VOTES, columns=["queries", "in_another_order"])
    if not rows:
        return []
    queries, another = sum(row["queries"] for row in rows), sum(row["in_another_order"] for row in rows)
    return [
        Paragraph(
            "Does the vote of Algorithm 2 over all pairs of documents give another order than a linear score? "
            f"On {queries:,} rankings of test queries, with both ways of folding in and all methods, the vote as "
            "printed gives another "
            f"order than the score for {another} (equal documents aside). It takes O(m² K) steps, the score O(m d)."
        )
    ]


def spectrum(results: ResultsFolder) -> tuple[Block, ...]:
    """Figure 4: how many directions hold the energy of pair differences."""
    rows = results.rows(SPECTRUM, columns=["dataset", "index", "eigenvalue", "cumulative"])
    if not rows:
        return ()
    series = {
        dataset: [(float(row["index"]), *[row["cumulative"]] * 3) for row in rows if row["dataset"] == dataset]
        for dataset in dict.fromkeys(row["dataset"] for row in rows)
    }
    words = "In how many directions do better documents differ from worse ones? " + " ".join(
        f"On {dataset}, {min(ENERGY_SHOWN, len(points))} of {len(points)} eigenvalues hold "
        f"{100 * points[min(ENERGY_SHOWN, len(points)) - 1][1]:.0f} % of the energy."
        for dataset, points in series.items()
    )
    figure = Figure(
        name="cone-figure4",
        title="Cumulative energy of pair differences",
        caption="Figure 4: share of the uncentred second moment up to each eigenvalue, standardised features",
        source=SPECTRUM,
        description=words,
        draw=lambda: line_plot(series, xlabel="eigenvalues, largest first", ylabel="share of the energy"),
    )
    return (Subsection("cone-spectrum-part", "The spectrum of differences", (Paragraph(words), figure)),)


def descent(results: ResultsFolder) -> tuple[Block, ...]:
    """The objective on its way down, and how far the paper's updates stay from alternating exact blocks."""
    rows = results.rows(DESCENT)
    if not rows:
        return ()
    summaries = {_run(row): row for row in results.rows(SUMMARY)}
    blocks: list[Block] = []
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        traces: dict[Run, list[Row]] = {}
        for row in rows:
            if row["dataset"] == dataset:
                traces.setdefault(_run(row), []).append(row)
        summed = {run: summaries[run] for run in traces}
        blocks += (_whole_way if dataset == SMALL else _first_passes)(traces, summed)
    return (Subsection("cone-descent-part", "The descent of the objective", tuple(blocks)),)


def _run(row: Row) -> Run:
    return Run(row["dataset"], row["method"], row["updates"], row["fold_steps"])


def _first_passes(traces: Traces, summed: Summaries) -> list[Block]:
    rising = [f"{METHODS[run.method]} ({run.updates})" for run, row in summed.items() if row["increases"]]
    dataset, passes = next(iter(traces)).dataset, len(next(iter(traces.values()))) - 1
    words = (
        f"Does every step lower the objective (18), as section 4 states? On {dataset}, in the first {passes} passes: "
        + (f"not with {'; '.join(rising)}." if rising else "in every pass of every method.")
        + " Whole: one basis step per pass, with the objective at the coefficients of the algorithm. Query: one step "
        "per query, as in training, with the objective at the best coefficients. The step sizes are the published "
        "ones. "
        "How far is the last basis from a stationary point? The gap bounds the decrease still possible with its best "
        f"coefficients, and is 0 only at stationary points: {_gap(summed, min)}, {_gap(summed, max)}."
    )
    drawn = {run: trace for run, trace in traces.items() if run.updates == "query" or run.method == "exact"}
    figure = Figure(
        name=f"cone-descent-{dataset.lower()}",
        title=f"The objective (18) pass by pass, {dataset}",
        caption="Objective at the best coefficients; one basis step per query, exact blocks once per pass",
        source=DESCENT,
        description=words,
        draw=lambda: line_plot(
            {METHODS[run.method]: _curve(trace) for run, trace in drawn.items()},
            xlabel="passes",
            ylabel="objective (18)",
        ),
    )
    return [Paragraph(words), _traces_table(dataset.lower(), dataset, summed), figure]


def _whole_way(traces: Traces, summed: Summaries) -> list[Block]:
    passes = len(next(iter(traces.values()))) - 1
    steps = sorted({row["step"] for row in summed.values() if row["step"] is not None})
    groups: dict[str, list[Row]] = {}
    for run, row in summed.items():
        groups.setdefault(_folding(run), []).append(row)
    words = (
        f"Until convergence: a small synthetic sample is followed over {passes:,} passes, with mu = "
        f"{' or '.join(f'{step:g}' for step in steps)}. "
        + " ".join(f"{title}: {_outcome(group)}." for title, group in groups.items())
        + " Increases are relative to the objective. Coefficients start at random in every pass: if folding in leaves "
        "a larger error than the pass gains, the objective can rise."
    )
    drawn = {run: trace for run, trace in traces.items() if run.method in ("sg", "eg", "exact")}
    figure = Figure(
        name="cone-descent-small",
        title="The objective (18) until convergence, small sample",
        caption="Objective at the best coefficients; SG projected; basis steps and most fold steps as named",
        source=DESCENT,
        description=words,
        draw=lambda: line_plot(
            {_label(run): _curve(trace, thinned=True) for run, trace in drawn.items()},
            xlabel="passes",
            ylabel="objective (18)",
            log="x",
        ),
    )
    return [Paragraph(words), _traces_table("small", "the small sample", summed), figure]


def _folding(run: Run) -> str:
    if run.method == "exact":
        return "Exact blocks"
    return f"One basis step per {'query' if run.updates == 'query' else 'pass'}, at most {run.fold_steps:,} fold steps"


def _outcome(rows: Sequence[Row]) -> str:
    # Which methods rise, and how far from a stationary point they end.
    said = [
        f"{METHODS[row['method']]} (by at most {scientific(row['largest_relative_increase']).text})"
        for row in rows
        if row["increases"]
    ]
    gaps = sorted(row["relative_gap"] for row in rows)
    ends = dict.fromkeys(scientific(gap).text for gap in (gaps[0], gaps[-1]))
    return (
        f"passes rise with {', '.join(said)}" if said else "no pass rises"
    ) + f", and the last gap is {' to '.join(ends)} of the objective"


def _label(run: Run) -> str:
    if run.method == "exact":
        return METHODS[run.method]
    return f"{run.method.upper()}, a {'query' if run.updates == 'query' else 'pass'}, {run.fold_steps:,}"


def _curve(trace: Sequence[Row], thinned: bool = False) -> list[Point]:
    shown = range(len(trace))
    if thinned:
        shown = sorted({round(t) for t in np.geomspace(1, len(trace) - 1, 20)})  # type: ignore[assignment]
    return [(float(trace[t]["pass"]), *[trace[t]["objective"]] * 3) for t in shown]


def _traces_table(name: str, title: str, summed: Summaries) -> Table:
    columns = [
        Column("method", "Method", "left"),
        Column("updates", "Basis steps", "left"),
        Column("fold_steps", "Largest number of fold steps"),
        Column("first", "First objective"),
        Column("last", "Last objective"),
        Column("gap", "Gap of the last basis"),
        Column("excess", "Unsolved folding-in"),
        Column("rises", "Passes that rise"),
        Column("largest", "Largest rise"),
    ]
    cells = [
        [
            text(METHODS[row["method"]]),
            text("one a query" if row["updates"] == "query" else "one a pass"),
            whole(row["fold_steps"]),
            number(row["first"], 3),
            number(row["last"], 3),
            scientific(row["gap"]),
            scientific(row["largest_fold_excess"]),
            whole(row["increases"]),
            scientific(row["largest_relative_increase"] if row["increases"] else None),
        ]
        for row in summed.values()
    ]
    notes = [
        "Objectives at the best coefficients. Passes that rise: with one basis step per pass, according to the "
        "objective at the "
        "algorithm's own coefficients; with one per query, at the best ones.",
        "Error of folding in: the largest relative distance of the algorithm's coefficients from the best objective.",
    ]
    caption = f"Traces of the objective on {title}"
    return simple(f"cone-descent-{name}-table", caption, SUMMARY, columns, cells, notes)


def _gap(summed: Summaries, extreme: Callable[..., Run]) -> str:
    run = extreme(summed, key=lambda key: summed[key]["gap"])
    gap = scientific(summed[run]["gap"]).text
    return f"{'smallest' if extreme is min else 'largest'} {gap} with {METHODS[run.method]} ({run.updates})"


def identities(results: ResultsFolder) -> tuple[Block, ...]:
    """The projection (1) on points of the cone and of its negative, and the norms (6)."""
    rows = results.rows(IDENTITIES, columns=["claim", "case", "d", "value"])
    projected = [row for row in rows if row["claim"] == "cone-project"]
    if not projected:
        return ()
    kinds = ("acute", "any")
    names = {
        "largest_difference_inside": "Distance of points of the cone from their projection",
        "largest_norm_on_the_negative": "Norm of the projection of points of the negative cone",
        "largest_difference_to_nnls": "Distance from the projection by non-negative least squares",
    }
    worst = {
        (kind, name): max((row["value"] for row in projected if row["case"] == f"{kind}: {name}"), default=None)
        for kind in kinds
        for name in names
    }
    negative = worst["any", "largest_norm_on_the_negative"]
    words = (
        "Section 3.2 states that a point of the negative cone is projected onto 0. If no two basis vectors "
        "form an angle of more than 90 degrees, it is; "
        + (
            f"in general, no: up to {100 * negative:.0f} % of such a point's norm is left (errata, letter V)."
            if negative is not None and negative > ROUNDING
            else "no other cone among those drawn contradicts it."
        )
    )
    columns = [Column("what", "Largest, relative to the point", "left")]
    columns += [Column("acute", "Acute cones"), Column("any", "Any cones")]
    cells = [[text(title), *(scientific(worst[kind, name]) for kind in kinds)] for name, title in names.items()]
    blocks: list[Block] = [
        Paragraph(words),
        simple("cone-projection", "Projections onto random cones", IDENTITIES, columns, cells),
    ]
    norms = [row for row in rows if row["claim"] == "cone-norm"]
    if norms:
        spoken = ", ".join(f"{row['case']} {row['value']:.2f} of {row['d'] ** 0.5:.2f}" for row in norms)
        blocks.append(Paragraph(f"The norms of normalised differences stay below rho (eq. 6): {spoken}."))
    return (Subsection("cone-identities-part", "The cone and its projection", tuple(blocks)),)


def stability(results: ResultsFolder) -> tuple[Block, ...]:
    """How s_max falls with the number of queries, and what Theorems 1 and 2 are worth."""
    rows, fits = results.rows(STABILITY, columns=["P", "method", "s_max"]), results.rows(EXPONENTS)
    if not rows:
        return ()
    slopes = {row["method"]: row for row in fits if row["statistic"] == "s_max"}
    series = {METHODS[method]: _by_size(rows, method) for method in slopes}
    informed = [METHODS[method] for method, row in slopes.items() if row["high"] < -0.5]
    words = (
        "How much does the basis change when one of P queries is left out? The paper leaves this open. Measured by "
        "retraining without each query, s_max is proportional to P to the power "
        + "; ".join(f"{_power(r)} for {METHODS[m]}" for m, r in slopes.items())
        + ". Theorem 1 is informative for many queries only if the exponent lies below −1/2: "
        + (f"so for {' and '.join(informed)}." if informed else "nowhere here.")
        + (
            " The gradient methods take constant steps, as published: the last visit to a query leaves a mark whose "
            "size does not depend on P."
            if set(slopes) - {"exact"}
            else ""
        )
    )
    figure = Figure(
        name="cone-stability",
        title="Largest change of the basis when one query is left out",
        caption="Means over repetitions, from the smallest to the largest",
        source=STABILITY,
        description=words,
        draw=lambda: line_plot(series, xlabel="training queries, P", ylabel="s_max", log="xy"),
    )
    ratio = max(row["largest_ratio"] for row in rows)
    vacuous = sum(row["bound_by_theorem_2"] > row["largest_possible_risk"] for row in rows)
    broken = sum(row["test_risk"] > row["bound"] for row in rows)
    bounds = (
        f"Are the bounds correct and informative? The measured beta is at most {100 * ratio:.0f} % of what "
        f"Theorem 2 allows. The test risk exceeds Theorem 1's bound in {broken} of {len(rows)} trainings. With the "
        f"beta of Theorem 2 the bound lies above the largest possible risk, and is vacuous, in {vacuous} of them."
    )
    columns = [
        Column("method", "Method", "left"),
        Column("P", "P"),
        Column("s_max", "s_max"),
        Column("beta", "beta, measured"),
        Column("beta_bound", "beta, Theorem 2"),
        Column("empirical_risk", "Training risk"),
        Column("test_risk", "Test risk"),
        Column("bound", "Theorem 1, measured beta"),
        Column("bound_by_theorem_2", "Theorem 1, Theorem 2's beta"),
        Column("largest_possible_risk", "Largest possible"),
    ]
    cells = []
    for method, P in dict.fromkeys((row["method"], row["P"]) for row in rows):
        chosen = [row for row in rows if (row["method"], row["P"]) == (method, P)]
        values = [scientific(_mean(row[column.key] for row in chosen)) for column in columns[2:]]
        cells.append([text(METHODS[method]), whole(P), *values])
    caption = "Stability and the bounds on the risk: means over repetitions"
    table = simple("cone-stability", caption, STABILITY, columns, cells, ["Loss without weights, lambda_u = 1."])
    return (Subsection("cone-stability-part", "Stability", (Paragraph(words), figure, Paragraph(bounds), table)),)


def _power(fit: Row) -> str:
    slope, low, high = (number(fit[name], 2).text for name in ("slope", "low", "high"))
    return f"{slope} ({low} to {high})"


def _by_size(rows: list[Row], method: str) -> list[Point]:
    found = []
    for P in sorted({row["P"] for row in rows}):
        values = [row["s_max"] for row in rows if (row["method"], row["P"]) == (method, P)]
        found.append((float(P), float(np.mean(values)), min(values), max(values)))
    return found


def _has_folds(rows: list[Row]) -> bool:
    return len({row["fold"] for row in rows}) > 1


def _over_folds(rows: list[Row], K: int, measure: str) -> tuple[float, float, float]:
    means = [
        _mean(row[measure] for row in rows if (row["K"], row["fold"]) == (K, fold))
        for fold in sorted({row["fold"] for row in rows})
    ]
    if len(means) < 2:
        return means[0], means[0], means[0]
    summary = over_folds(means)
    return summary.mean, summary.low, summary.high


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _range(values: Iterable[float], digits: int = 2) -> str:
    found = [f"{value:.{digits}f}" for value in sorted(values)]
    return found[0] if found[0] == found[-1] else f"{found[0]} to {found[-1]}"


# A part reads its own tables and gives blocks, none where its tables are absent. Order: that of the page.
PARTS: tuple[Part, ...] = (table_1, bases, spectrum, descent, identities, stability)

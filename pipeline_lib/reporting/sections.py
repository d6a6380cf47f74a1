"""What does the main page say of a study: overview, data sets, results, published numbers, methods, provenance?

Every function takes the results folder and gives one section of building blocks; none of them computes more than a
choice or a count, and each names the table its numbers come from. The claims have a module of their own,
:mod:`pipeline_lib.reporting.claims_section`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline_lib import learners, measures, surrogates
from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting.blocks import (
    Block,
    Bullets,
    Definitions,
    Details,
    Formula,
    Listing,
    Note,
    Paragraph,
    Section,
    Subsection,
)
from pipeline_lib.reporting.figures import Dot, Figure, data_plot, dot_plot, line_plot
from pipeline_lib.reporting.results import ResultsFolder, Row
from pipeline_lib.reporting.tables import (
    Cell,
    Column,
    Group,
    Table,
    number,
    probability,
    scientific,
    simple,
    span,
    text,
    whole,
)
from pipeline_lib.statistics import smallest_p_value

SUMMARY, MEASURES, COMPARISONS = "tables/summary.parquet", "tables/measures.parquet", "tables/comparisons.parquet"
TRAINING, PUBLISHED, VALIDATION = "tables/training.parquet", "tables/published.parquet", "tables/validation.parquet"
HEADLINES = ("ndcg@10", "letor4_mean_ndcg", "map", "err")
"""Measures by which learners are compared first when the configuration does not say."""
SHOWN = 9
"""Measures a results table has room for; ``tables/summary.parquet`` holds all."""
SIGNIFICANT = 0.05
ROUNDING = 1e-9
"""What counts as equal: means of the same values in another order."""
IDEAL = "ideal"
"""The algorithm of the control that sees the labels: an upper limit, not a competitor."""


class Study:
    """The tables of a study, indexed the way the sections ask for them."""

    def __init__(self, results: ResultsFolder) -> None:
        self.results = results
        self.name = results.study
        self.availability = results.availability()
        self.data = results.datasets()
        self.models = {entry["model"]: entry for entry in results.models()}
        self.summary = results.rows(SUMMARY)
        self.measures = results.rows(MEASURES)
        self.comparisons = results.rows(COMPARISONS)
        self.training = results.rows(TRAINING)
        self.published = results.rows(PUBLISHED)
        self.validation = results.rows(VALIDATION)
        self._folds: dict[tuple[str, str, str], list[float]] = {}
        for row in self.measures:
            self._folds.setdefault((row["dataset"], row["model"], row["measure"]), []).append(row["value"])
        self._ranking: dict[tuple[str, str], list[str]] = {}
        for row in sorted(self.summary, key=lambda row: (-row["mean"], row["model"])):
            self._ranking.setdefault((row["dataset"], row["measure"]), []).append(row["model"])
        self._means = {(row["dataset"], row["model"], row["measure"]): row for row in self.summary}
        self._tests = {
            (row["dataset"], row["measure"], frozenset((row["model_a"], row["model_b"]))): row
            for row in self.comparisons
        }

    def of_one_fold(self, dataset: str) -> bool:
        """Whether a single fold of a data set was studied, so that nothing is known of how folds differ."""
        return {row["n_folds"] for row in self.summary if row["dataset"] == dataset} == {1}

    def tested_queries(self, dataset: str) -> int:
        """Test queries of a data set, all folds together."""
        return max((row["n_queries"] for row in self.summary if row["dataset"] == dataset), default=0)

    def can_differ(self, dataset: str, measure: str) -> bool:
        """Whether a difference of this measure can be significant, by the number of queries and of comparisons."""
        tests = sum((row["dataset"], row["measure"]) == (dataset, measure) for row in self.comparisons)
        return tests * smallest_p_value(self.tested_queries(dataset)) < SIGNIFICANT

    def datasets(self) -> list[str]:
        """Data sets with results, in the order of the study."""
        order = [entry["dataset"] for entry in self.data]
        found = dict.fromkeys(row["dataset"] for row in self.summary)
        return sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name))

    def model_title(self, model: str) -> str:
        """A model's title, else its slug."""
        return str(self.models[model]["title"]) if model in self.models else model

    def is_control(self, model: str) -> bool:
        """Whether a model is a control rather than a learner."""
        return bool(self.models.get(model, {}).get("control", False))

    def measured(self, dataset: str) -> list[str]:
        """Measures of a data set, in the order of the table."""
        return list(dict.fromkeys(row["measure"] for row in self.summary if row["dataset"] == dataset))

    def is_ideal(self, model: str) -> bool:
        """Whether a model is the control that sees the labels."""
        return bool(self.models.get(model, {}).get("algorithm", model) == IDEAL)

    def headlines(self, dataset: str) -> list[str]:
        """The one or two measures that speak for a data set: the configuration's, else the first of HEADLINES."""
        measured = self.measured(dataset)
        asked = [self.results.setting("evaluation", "headline")]
        asked += self.results.setting("evaluation", "compared") or []
        found = [name for name in dict.fromkeys([*asked, *HEADLINES]) if name in measured]
        return (found or measured)[:2]

    def unstudied(self) -> list[Row]:
        """Data sets that were asked for and of which there is nothing."""
        known = {entry["dataset"] for entry in self.data} | {row["dataset"] for row in self.summary}
        return [entry for entry in self.availability if entry["dataset"] not in known]

    def interval(self) -> str:
        """How the intervals are called, by their level."""
        level = self.results.setting("statistics", "level")
        return f"{100 * level:g} % interval" if isinstance(level, float) else "interval"

    def mean(self, dataset: str, model: str, measure: str) -> Row | None:
        """The row of the summary, if there is one."""
        return self._means.get((dataset, model, measure))

    def ranked(self, dataset: str, measure: str, *, control: bool) -> list[str]:
        """Learners (or controls) of a data set, best first."""
        return [model for model in self._ranking.get((dataset, measure), []) if self.is_control(model) == control]

    def folds(self, dataset: str, model: str, measure: str) -> tuple[float, ...]:
        """The values of the folds."""
        return tuple(self._folds.get((dataset, model, measure), ()))

    def best_control(self, dataset: str, measure: str) -> str | None:
        """The best control that does not see the labels."""
        controls = [model for model in self.ranked(dataset, measure, control=True) if not self.is_ideal(model)]
        return controls[0] if controls else None

    def test(self, dataset: str, measure: str, model_a: str, model_b: str) -> Row | None:
        """The paired comparison of two models, whichever comes first in the table."""
        return self._tests.get((dataset, measure, frozenset((model_a, model_b))))


def overview(study: Study) -> list[Block]:
    """What was studied, what is missing, and what was not certified."""
    learners = sum(not entry["control"] for entry in study.models.values())
    controls = len(study.models) - learners
    compared = [_count(n, noun) for n, noun in ((learners, "learner"), (controls, "control")) if n]
    names = study.datasets()
    blocks: list[Block] = []
    if names:
        blocks.append(
            Paragraph(
                f"The study `{study.name}` {'measures' if len(study.models) == 1 else 'compares'} {listed(compared)} "
                f"on {_count(len(names), 'data set')}: {listed(names)}."
            )
        )
    else:
        blocks.append(Note(f"The study {study.name} contains no results: {SUMMARY} is absent or empty.", "missing"))
    missing = study.unstudied()
    if missing:
        titles = listed([entry["dataset"] for entry in missing])
        blocks.append(
            Note(
                f"Configured but not available: {titles}. The reasons and how to obtain them are listed under [data "
                "sets](#not-studied).",
                "missing",
            )
        )
    return blocks + _certificates(study)


def best_learners(study: Study) -> list[Block]:
    """The best learner on every data set, with its interval and its lead; nothing where no learner was trained."""
    return [_best_table(study)] if any(not study.is_control(row["model"]) for row in study.summary) else []


def datasets(study: Study) -> Section:
    """The data sets studied, each with its facts, and those that are missing."""
    blocks: list[Block] = []
    if study.data:
        blocks.append(_data_table(study))
        blocks += [_data_subsection(entry) for entry in study.data]
    else:
        blocks.append(Note("The study contains no description of a data set: the folder data/ is absent or empty."))
    missing = study.unstudied()
    if missing:
        rows = [
            [
                text(entry["dataset"]),
                text(entry["reason"]),
                Cell(entry["how_to_get"], raw=entry["how_to_get"], running=True),
            ]
            for entry in missing
        ]
        columns = [Column("dataset", "Data set", "left"), Column("reason", "Reason", "left")]
        columns.append(Column("how_to_get", "How to obtain it", "left"))
        table = simple("not-studied", "Configured data sets that are not available", "availability.json", columns, rows)
        blocks.append(Subsection("not-studied", "Not available", (table,)))
    elif study.availability:
        blocks.append(Paragraph("All data sets named in the configuration were available."))
    return Section("data", "Data sets", tuple(blocks))


def results(study: Study) -> Section:
    """Measures of all models on every data set, with spread, significance and training."""
    parts = [_result_subsection(study, dataset) for dataset in study.datasets()]
    if not parts:
        return Section("results", "Results", (Note(f"No results: {SUMMARY} is absent or empty.", "missing"),))
    return Section("results", "Results", (Paragraph(_how_measured(study)), *parts))


def published(study: Study) -> Section | None:
    """Published numbers compared with ours; no section where the study reproduces none."""
    if not study.published:
        if (study.results.path / PUBLISHED).exists():
            return None
        note = Note(f"No published numbers to compare with in this study: {PUBLISHED} is absent or empty.")
        return Section("published", "Published numbers compared with ours", (note,))
    columns = [Column("dataset", "Data set", "left"), Column("model", "Method", "left"), Column("fold", "Fold")]
    columns += [Column("measure", "Measure", "left"), Column("published", "Published"), Column("measured", "Ours")]
    columns += [Column("delta", "Difference"), Column("source", "Source", "left")]
    rows = [
        [
            text(row["dataset"]),
            text(study.model_title(row["model"])),
            text("all" if row["fold"] is None else row["fold"]),
            text(measure_title(row["measure"])),
            number(row["published"], 3),
            number(row["measured"], 4),
            number(row["delta"], 4, signed=True),
            text(row["source"]),
        ]
        for row in study.published
    ]
    largest = max(study.published, key=lambda row: abs(row["delta"]))
    sentence = (
        f"{_count(len(rows), 'published number')}; the largest difference is "
        f"{number(largest['delta'], 4, signed=True).text} ({quoted(study.model_title(largest['model']))}, "
        f"{measure_title(largest['measure'])} on {largest['dataset']})."
    )
    table = simple(
        "published",
        "Published numbers and ours; the difference is ours minus the published number",
        PUBLISHED,
        columns,
        rows,
    )
    return Section("published", "Published numbers compared with ours", (Paragraph(sentence), table))


def methods(study: Study) -> Section:
    """Conventions, the formulas of the measures, then every model's formula and settings."""
    parts = [
        Subsection(
            f"method-{entry['model']}",
            quoted(entry["title"]) + (" (control)" if entry["control"] else ""),
            tuple(_method(entry)),
        )
        for entry in study.models.values()
    ]
    blocks: list[Block] = [Subsection("conventions", "Conventions", (Bullets(CONVENTIONS),))]
    blocks += [*_measures(study), *parts]
    if not parts:
        blocks.append(Note("The study contains no list of models: models.json is absent or empty."))
    return Section("methods", "Methods", tuple(blocks))


def provenance(study: Study) -> Section:
    """Where the numbers come from: versions, command, seeds and configuration."""
    found = study.results.provenance()
    configuration = study.results.configuration()
    blocks: list[Block] = []
    if found:
        blocks.append(Definitions(tuple(_flattened(found))))
    else:
        blocks.append(Note("The study contains no record of its software: provenance.json is absent."))
    if configuration:
        blocks.append(Details("Configuration, as resolved (configuration.yaml)", (Listing(configuration),)))
    else:
        blocks.append(Note("The study contains no configuration: configuration.yaml is absent."))
    return Section("provenance", "Provenance", tuple(blocks))


CONVENTIONS = (
    r"Formulas speak of one query \(q\) with \(m\) documents, of which \(r\) are relevant: \(s\) are their scores, "
    r"\(y\) their labels, \(X_q\) their features and \(y_{(i)}\) the label at rank \(i\) when they are ranked "
    r"by \(s\).",
    r"The gain is \(G(y) = 2^y - 1\) and the discount \(D(i) = 1 / \log_2(i + 1)\). \(Z_k(y)\) is the largest value of "
    r"\(\sum_{i \le k} G(y_{(i)}) D(i)\) that a ranking of the same documents can reach, and \(Z = Z_m\). In the "
    r"weights \(v_i\) of SLAM, documents are numbered by falling label.",
    r"\(\Delta\) is a margin, 1 unless an option says otherwise. Sums over pairs are as they stand, unless the option "
    "`normalisation` divides them by the number of pairs.",
    "Average precision counts every label of 1 or more as relevant.",
    "A query without a relevant document has the value 0 in every measure, as in LETOR's own evaluation.",
    "Ties in scores are broken by the order of the documents in the data set (a stable sort), so that results are "
    "reproducible.",
    r"“LETOR” marks the evaluation of LETOR 4.0: discount 1 at ranks 1 and 2, then \(1 / \log_2(i)\); NDCG@k of a "
    r"query with fewer than \(k\) documents counts as 0; its mean NDCG of a query runs over \(k = 1\) to \(m\).",
    r"P@k divides by \(k\), also where a query has fewer documents.",
)


def measure_title(measure: str) -> str:
    """A measure's name as it is printed.

    Example
    -------
    >>> measure_title("ndcg@10"), measure_title("map"), measure_title("letor4_mean_ndcg")
    ('NDCG@10', 'MAP', 'LETOR mean NDCG')
    """
    if measure.startswith("letor4_"):
        return f"LETOR {measure_title(measure.removeprefix('letor4_'))}"
    return "mean NDCG" if measure == "mean_ndcg" else measure.upper()


def slug(measure: str) -> str:
    """A measure's name as part of a file name.

    Example
    -------
    >>> slug("letor4_ndcg@10")
    'letor4-ndcg-at-10'
    """
    return measure.replace("@", "-at-").replace("_", "-")


def _how_measured(study: Study) -> str:
    datasets = study.datasets()
    single = [dataset for dataset in datasets if study.of_one_fold(dataset)]
    if single == datasets:
        words = "Each value is the mean over the test queries of the one fold that was studied."
    else:
        words = "Each value is the mean over folds of the mean over a fold's test queries, with the standard deviation "
        words += f"over folds{f'; of {listed(single)} one fold alone was studied' if single else ''}."
    words += " Intervals are bootstrap intervals over all test queries"
    if not study.comparisons:
        return f"{words}."
    return f"{words}; tests are paired over queries, with Holm's correction for the number of comparisons."


def _best_table(study: Study) -> Table:
    found = [(dataset, study.headlines(dataset)[0]) for dataset in study.datasets()]
    ranked = {place: study.ranked(*place, control=False) for place in found if study.ranked(*place, control=False)}
    several = any(len(learners) > 1 for learners in ranked.values())
    controls = {place: study.best_control(*place) for place in ranked}
    columns = [Column("dataset", "Data set", "left"), Column("measure", "Measure", "left")]
    columns.append(Column("model", "Best learner" if several else "Learner", "left"))
    columns += [Column("mean", "Mean"), Column("interval", study.interval())]
    # Columns that nothing could stand in are left out.
    columns += [Column("runner_up", "Next learner", "left")] if several else []
    columns += [Column("control", "Best control", "left")] if any(controls.values()) else []
    kept = [column.key for column in columns]
    rows = []
    for (dataset, measure), best_first in ranked.items():
        row = _best_row(study, dataset, measure, best_first)
        rows.append([row[key] for key in kept])
    notes = []
    if study.comparisons and (several or any(controls.values())):
        first = "best learner" if several else "learner"
        notes.append(f"In brackets: the paired test of the {first} against it, p-value after Holm's correction.")
    ideal = [study.model_title(model) for model in study.models if study.is_ideal(model)]
    if ideal:
        notes.append(f"The control “{ideal[0]}” sees the labels and is therefore left out here.")
    caption = f"The {'best learner' if several else 'learner'} on every data set"
    return simple("best-learners", caption, SUMMARY, columns, rows, notes)


def _best_row(study: Study, dataset: str, measure: str, learners: Sequence[str]) -> dict[str, Cell]:
    best = study.mean(dataset, learners[0], measure)
    assert best is not None
    control = study.best_control(dataset, measure)
    return {
        "dataset": text(dataset),
        "measure": text(measure_title(measure)),
        "model": Cell(study.model_title(learners[0]), raw=learners[0], strong=True),
        "mean": number(best["mean"]),
        "interval": span(best["low"], best["high"]),
        "runner_up": _against(study, dataset, measure, learners[0], learners[1] if len(learners) > 1 else None),
        "control": _against(study, dataset, measure, learners[0], control),
    }


def _against(study: Study, dataset: str, measure: str, best: str, other: str | None) -> Cell:
    if other is None:
        return text(None)
    row = study.mean(dataset, other, measure)
    assert row is not None
    shown = f"{study.model_title(other)} {number(row['mean']).text}"
    test = study.test(dataset, measure, best, other)
    if test is not None and test["p_holm"] is not None:
        p = probability(test["p_holm"]).text
        shown += f" (p {p})" if p.startswith("<") else f" (p = {p})"
        shown = shown.replace("p = ", "p\u00a0=\u00a0").replace("p < ", "p\u00a0<\u00a0")
    return Cell(shown, raw=other)


def _certificates(study: Study) -> list[Block]:
    asked = [row for row in study.training if row["certified"] is not None]
    failed = [row for row in asked if not row["certified"]]
    if not asked:
        return []
    if not failed:
        all_ = f"All {len(asked):,} convex fits reached their" if len(asked) > 1 else "The one convex fit reached its"
        return [Paragraph(f"{all_} certified gap (`{TRAINING}`).")]
    names = listed(sorted({f"{quoted(study.model_title(r['model']))} on {r['dataset']}" for r in failed}))
    sentence = f"{len(failed)} of {_count(len(asked), 'convex fit')} did not reach the certified gap: {names}"
    return [Note(f"{sentence} (`{TRAINING}`).", "warning")]


def _data_table(study: Study) -> Table:
    columns = [Column("dataset", "Data set", "left"), Column("queries", "Queries"), Column("rows", "Documents")]
    columns += [Column("features", "Features"), Column("documents_per_query", "Documents per query")]
    columns += [Column("without", "Queries without a relevant document"), Column("folds", "Folds")]
    columns += [Column("expected", "Catalogue", "left")]
    rows = [
        [
            text(entry["dataset"]),
            whole(entry["queries"]),
            whole(entry["rows"]),
            whole(entry["features"]),
            _lengths(entry["documents_per_query"]),
            whole(entry["queries_without_relevant"]),
            whole(entry["folds"]),
            text(_catalogue_words(entry)),
        ]
        for entry in study.data
    ]
    notes = ("Documents per query: smallest, median and largest number.",)
    return simple("data-sets", "Data sets studied", "data/*.json", columns, rows, notes)


def _lengths(found: Mapping[str, float]) -> Cell:
    parts = [f"{found[key]:,g}" for key in ("min", "median", "max")]
    return Cell(" / ".join(parts), raw=" ".join(repr(found[key]) for key in ("min", "median", "max")))


def _catalogue_words(entry: Row) -> str:
    expected = entry["expected"]
    if not expected:
        return "no figures to compare"
    about = [str(key) for key in expected.get("approximate") or ()]
    wrong = [key for key, value in expected.items() if key not in about and _differs(entry.get(key), value)]
    if wrong:
        return f"differs in {listed(sorted(wrong))}"
    return f"as expected ({listed(sorted(about))} known only roughly)" if about else "as expected"


def _differs(found: Any, expected: Any) -> bool:
    """Whether a figure of the data contradicts the catalogue; what either does not know contradicts nothing."""
    return found is not None and expected is not None and found != expected


def _data_subsection(entry: Row) -> Subsection:
    name = entry["dataset"]
    source = f"data/{name}.json"
    facts = [("Title", str(entry["title"])), ("Licence", str(entry["licence"])), ("Citation", str(entry["citation"]))]
    blocks: list[Block] = [Definitions(tuple(facts))]
    remarks = [*entry.get("removed", []), *entry.get("notes", [])]
    if remarks:
        blocks.append(Bullets(tuple(quoted(str(remark)) for remark in remarks)))
    blocks.append(_data_figure(entry, source))
    if entry["parts"]:
        columns = [Column("part", "Part", "left"), Column("queries", "Queries"), Column("rows", "Documents")]
        columns += [Column("verified", "Digest", "left"), Column("sha256", "SHA-256", "left")]
        rows = [
            [
                text(part["name"]),
                whole(part["queries"]),
                whole(part["rows"]),
                text("as in the catalogue" if part["verified"] else "as first recorded; not in the catalogue"),
                Cell(f"{part['sha256'][:16]}…", raw=part["sha256"]) if part["sha256"] else text(None),
            ]
            for part in entry["parts"]
        ]
        table = simple(f"parts-{name}", f"Files of {name}", source, columns, rows, ("Digests in full: the CSV file.",))
        blocks.append(Details("Files and digests", (table,)))
    return Subsection(f"data-{name}", name, tuple(blocks))


def _data_figure(entry: Row, source: str) -> Figure:
    histogram = entry.get("document_counts_histogram") or {"edges": [], "counts": []}
    labels = {str(label): int(count) for label, count in entry["labels"].items()}
    shares = ", ".join(f"label {label}: {count:,}" for label, count in labels.items())
    lengths = entry["documents_per_query"]
    return Figure(
        name=f"data-{entry['dataset']}",
        title=f"Labels and list lengths of {entry['dataset']}",
        caption=f"{entry['dataset']}: labels of the documents (left) and number of documents per query (right)",
        source=source,
        description=f"Documents by label: {shares}. Documents per query: from {lengths['min']:g} to "
        f"{lengths['max']:g}, median {lengths['median']:g}.",
        draw=lambda: data_plot(labels, histogram["edges"], histogram["counts"]),
    )


def _result_subsection(study: Study, dataset: str) -> Subsection:
    headlines = study.headlines(dataset)
    blocks: list[Block] = [*_too_few(study, dataset, headlines), _measure_table(study, dataset)]
    blocks.append(_dot_figure(study, dataset, headlines))
    for measure in headlines:
        blocks += _comparison_blocks(study, dataset, measure)
    blocks += _validation_blocks(study, dataset)
    blocks += _training_blocks(study, dataset)
    return Subsection(f"results-{dataset}", dataset, tuple(blocks))


def _too_few(study: Study, dataset: str, measures: Sequence[str]) -> list[Block]:
    """A warning where the test queries are too few for any difference to be significant."""
    tests = [row for row in study.comparisons if row["dataset"] == dataset and row["measure"] in measures]
    blind = [measure for measure in measures if not study.can_differ(dataset, measure)]
    if not tests or not blind:
        return []
    queries, most = study.tested_queries(dataset), max(sum(row["measure"] == m for row in tests) for m in blind)
    least = smallest_p_value(queries)
    words = (
        f"{_count(queries, 'test query', 'test queries')} cannot show a difference at p < {SIGNIFICANT}: the smallest "
        f"p-value possible in a paired test of so many is {least:.3g}"
    )
    words += f", after Holm's correction for {most} comparisons {min(1.0, most * least):.3g}" if most > 1 else ""
    return [Note(f"{words}. Intervals from so few queries are also imprecise.", "warning")]


def _measure_table(study: Study, dataset: str) -> Table:
    measured = study.measured(dataset)
    headline = study.headlines(dataset)[0]
    shown = [headline, *(measure for measure in measured if measure != headline)][:SHOWN]
    columns = [Column("model", "Model", "left"), *(Column(name, measure_title(name)) for name in shown)]
    groups = []
    for title, control in (("Learners", False), ("Controls", True)):
        models = study.ranked(dataset, headline, control=control)
        rows = [_measure_row(study, dataset, model, shown) for model in models]
        if rows:
            groups.append(Group(title, tuple(rows)))
    learners = len(study.ranked(dataset, headline, control=False))
    spread = "Mean over test queries" if study.of_one_fold(dataset) else "Mean ± standard deviation over folds"
    notes = [f"{spread}; bold: the best learner." if learners > 1 else f"{spread}."]
    tested = [m for m in shown if any((r["dataset"], r["measure"]) == (dataset, m) for r in study.comparisons)]
    if tested and not any(study.can_differ(dataset, measure) for measure in tested):
        notes.append("No significance marks: there are too few test queries for them.")
    elif tested:
        names = listed([measure_title(measure) for measure in tested])
        notes.append(
            "† significantly below the best learner; ‡ a learner not significantly above the best control "
            f"(p < {SIGNIFICANT} after Holm's correction; tested: {names})."
        )
    else:
        notes.append(f"No significance marks: {COMPARISONS} contains no tests of these measures.")
    caption = f"Test results on {dataset}"
    notes += _ideal_notes(study, dataset, shown)
    still = _at_zero(study, dataset)
    if still:
        notes.append(f"w = 0, which leaves the documents in the order of the file: {listed(still)}.")
    return Table(f"results-{dataset}", caption, SUMMARY, tuple(columns), tuple(groups), tuple(notes))


def _ideal_notes(study: Study, dataset: str, shown: Sequence[str]) -> list[str]:
    """Why the ideal order stays below 1, where it does."""
    ideal = next((model for model in study.models if study.is_ideal(model)), None)
    values = {m: row["mean"] for m in shown if ideal and (row := study.mean(dataset, ideal, m)) is not None}
    notes = []
    below = [measure for measure, value in values.items() if _best_is_one(measure) and value < 1.0]
    if below:
        # In the ideal order such a measure is 1 for every query with a relevant document and 0 for the others.
        rows = [r for r in study.measures if (r["dataset"], r["model"], r["measure"]) == (dataset, ideal, below[0])]
        total = sum(row["n_queries"] for row in rows)
        without = total - sum(round(row["n_queries"] * row["value"]) for row in rows)
        have, count = ("has", "counts") if without == 1 else ("have", "count")
        notes.append(
            f"{study.model_title(str(ideal))} stays below 1: {without:,} of "
            f"{_count(total, 'test query', 'test queries')} {have} no relevant document and {count} as 0 in any order, "
            "as in LETOR's own evaluation."
        )
    reached = values[below[0]] if below else 1.0
    others = [measure for measure, value in values.items() if not _best_is_one(measure) and value < reached - ROUNDING]
    if others:
        notes.append(f"Under {listed([measure_title(m) for m in others])} the best order of a query need not reach 1.")
    return notes


def _best_is_one(measure: str) -> bool:
    """Whether the best order of any query with a relevant document has the value 1."""
    return measure in ("map", "ndcg", "letor4_mean_ndcg") or measure.startswith("ndcg@")


def _measure_row(study: Study, dataset: str, model: str, measures: Sequence[str]) -> tuple[Cell, ...]:
    cells = [Cell(study.model_title(model), raw=model)]
    for measure in measures:
        row = study.mean(dataset, model, measure)
        if row is None:
            cells.append(text(None))
            continue
        learners = study.ranked(dataset, measure, control=False)
        best = learners[:1]
        spread = "" if row["sd"] is None else number(row["sd"]).text
        mark = _mark(study, dataset, measure, model, best[0] if best else None)
        cells.append(
            Cell(
                number(row["mean"]).text,
                raw=row["mean"],
                spread=spread,
                spread_raw=row["sd"],
                mark=mark,
                strong=[model] == best and len(learners) > 1,
            )
        )
    return tuple(cells)


def _mark(study: Study, dataset: str, measure: str, model: str, best: str | None) -> str:
    mark = ""
    if not study.can_differ(dataset, measure):
        return mark
    if (
        best is not None
        and model != best
        and not study.is_ideal(model)
        and _better(study, dataset, measure, best, model)
    ):
        mark += "†"
    control = study.best_control(dataset, measure)
    if control is not None and not study.is_control(model):
        test = study.test(dataset, measure, model, control)
        if test is not None and not _better(study, dataset, measure, model, control):
            mark += "‡"
    return mark


def _better(study: Study, dataset: str, measure: str, model: str, other: str) -> bool:
    """Whether the paired test says that ``model`` is above ``other``."""
    test = study.test(dataset, measure, model, other)
    if test is None or test["p_holm"] is None:
        return False
    sign = 1 if test["model_a"] == model else -1
    return bool(sign * test["difference"] > 0 and test["p_holm"] < SIGNIFICANT)


def _dot_figure(study: Study, dataset: str, measures: Sequence[str]) -> Figure:
    order = [model for control in (False, True) for model in study.ranked(dataset, measures[0], control=control)]
    labels = [study.model_title(model) for model in order]
    panels = {measure_title(measure): [_dot(study, dataset, model, measure) for model in order] for measure in measures}
    first = [dot for dot in panels[measure_title(measures[0])] if dot is not None]
    words = "; ".join(f"{dot.label} {dot.mean:.3f} [{dot.low:.3f}, {dot.high:.3f}]" for dot in first)
    return Figure(
        name=f"results-{dataset}",
        title=f"{listed(list(panels))} of every model on {dataset}",
        caption=f"{dataset}: mean over test queries with its bootstrap interval"
        f"{'' if study.of_one_fold(dataset) else '; the ticks below a dot are the single folds'}. "
        "A control outside the range is shown at the edge",
        source=f"{SUMMARY}, {MEASURES}",
        description=f"{measure_title(measures[0])}: {words}.",
        draw=lambda: dot_plot(labels, panels, interval=study.interval()),
    )


def _dot(study: Study, dataset: str, model: str, measure: str) -> Dot | None:
    row = study.mean(dataset, model, measure)
    if row is None:
        return None
    folds = () if study.of_one_fold(dataset) else study.folds(dataset, model, measure)
    return Dot(study.model_title(model), row["mean"], row["low"], row["high"], folds, study.is_control(model))


def _comparison_blocks(study: Study, dataset: str, measure: str) -> list[Block]:
    found = [row for row in study.comparisons if (row["dataset"], row["measure"]) == (dataset, measure)]
    if not found:
        words = f"No paired tests of {measure_title(measure)} on {dataset}: {COMPARISONS} contains none."
        return [Note(words)]
    columns = [Column("model_a", "Model", "left"), Column("model_b", "Compared with", "left")]
    columns += [Column("difference", "Difference"), Column("interval", study.interval())]
    columns += [Column("p_value", "p"), Column("p_holm", "p, Holm")]
    rows = [
        [
            Cell(study.model_title(row["model_a"]), raw=row["model_a"]),
            Cell(study.model_title(row["model_b"]), raw=row["model_b"]),
            number(row["difference"], signed=True),
            span(row["low"], row["high"], signed=True),
            probability(row["p_value"]),
            probability(row["p_holm"]),
        ]
        for row in found
    ]
    caption = f"Paired tests on {dataset}, {measure_title(measure)}"
    table = simple(f"tests-{dataset}-{slug(measure)}", caption, COMPARISONS, columns, rows)
    return [Details(f"Paired tests, {measure_title(measure)}", (table,))]


def _validation_blocks(study: Study, dataset: str) -> list[Block]:
    # A regularisation of 0 has no place on a logarithmic axis.
    found = [row for row in study.validation if row["dataset"] == dataset and row["l2"]]
    if not found:
        return []
    series = {}
    for model in dict.fromkeys(row["model"] for row in found):
        paths: dict[float, list[float]] = {}
        for row in found:
            if row["model"] == model:
                paths.setdefault(row["l2"], []).append(row["value"])
        means = ((l2, sum(values) / len(values)) for l2, values in sorted(paths.items()))
        series[study.model_title(model)] = [(l2, mean, mean, mean) for l2, mean in means]
    if all(len(points) == 1 for points in series.values()):
        return []
    measure = measure_title(found[0]["measure"])
    mean = "" if study.of_one_fold(dataset) else ", mean over folds"
    best = "; ".join(
        f"{label}: best at λ = {max(points, key=lambda p: p[1])[0]:.3g}" for label, points in series.items()
    )
    return [
        Figure(
            name=f"validation-{dataset}",
            title=f"Validation {measure} against the regularisation on {dataset}",
            caption=f"{dataset}: {measure} on the validation queries against the regularisation λ{mean}",
            source=VALIDATION,
            description=f"{'One fold' if not mean else 'Mean over folds'}. {best}.",
            draw=lambda: line_plot(series, xlabel="regularisation λ", ylabel=f"validation {measure}", log="x"),
        )
    ]


def _at_zero(study: Study, dataset: str) -> list[str]:
    """Learners whose w is 0 on some fold, with how often."""
    folds: dict[str, list[bool]] = {}
    for row in study.training:
        if row["dataset"] == dataset and row.get("norm") is not None:
            folds.setdefault(row["model"], []).append(row["norm"] == 0.0)
    return [
        f"{quoted(study.model_title(m))} ({sum(zero)} of {len(zero)} folds)" for m, zero in folds.items() if any(zero)
    ]


def _training_blocks(study: Study, dataset: str) -> list[Block]:
    told = ("l2", "objective", "certified", "iterations", "validation_value")
    found = [row for row in study.training if row["dataset"] == dataset and any(row[key] is not None for key in told)]
    if not found:
        return [Note(f"No record of training on {dataset}: {TRAINING} contains none.")]
    columns = [Column("model", "Model", "left"), Column("fold", "Fold"), Column("l2", "λ")]
    columns += [Column("objective", "Objective"), Column("relative_gap", "Relative gap")]
    columns += [Column("certified", "Certified", "left"), Column("iterations", "Iterations")]
    columns += [Column("validation_value", "Validation"), Column("selection", "Selected by", "left")]
    rows = [
        [
            Cell(study.model_title(row["model"]), raw=row["model"]),
            text(row["fold"]),
            scientific(row["l2"]),
            scientific(row["objective"]),
            scientific(row["relative_gap"]),
            text(None if row["certified"] is None else "yes" if row["certified"] else "no"),
            whole(row["iterations"]),
            number(row["validation_value"]),
            text(measure_title(row["selection"]) if row["selection"] else None),
        ]
        for row in found
    ]
    certificates = sorted({row["certificate"] for row in found if row["certificate"] and row["certified"] is not None})
    notes = [f"Certified by: {listed(certificates)}."] if certificates else []
    local = listed(sorted({quoted(study.model_title(row["model"])) for row in found if row["certificate"] == "local"}))
    notes += [f"Not convex, the lowest of several local minima, without a gap: {local}."] if local else []
    table = simple(f"training-{dataset}", f"Training on {dataset}", TRAINING, columns, rows, notes)
    return [Details("Training: regularisation, objective and certified gap", (table,))]


def _measures(study: Study) -> list[Block]:
    """What the measures of the study are, each formula once."""
    named: dict[str, list[str]] = {}
    for measure in dict.fromkeys(row["measure"] for row in study.summary):
        named.setdefault(measures.load(measure).formula, []).append(measure_title(measure))
    blocks = [block for tex, titles in named.items() for block in (Paragraph(f"{listed(titles)}:"), Formula(tex))]
    return [Subsection("measures", "Measures", tuple(blocks))] if blocks else []


def _method(entry: Row) -> list[Block]:
    blocks: list[Block] = [Paragraph(entry["description"])] if entry.get("description") else []
    options = entry.get("options") or {}
    blocks.append(Formula(learners.get(entry["algorithm"]).formula))
    if entry["surrogate"]:
        blocks.append(Formula(surrogates.create(entry["surrogate"], **options).formula))
    settings = [(key, _setting(value)) for key, value in {**options, **entry["settings"]}.items()]
    if settings:
        blocks.append(Definitions(tuple(settings)))
    return blocks


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _flattened(found: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    entries: list[tuple[str, str]] = []
    for key, value in found.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            entries += _flattened(value, f"{name} / ")
        else:
            entries.append((name, _setting(value)))
    return entries


def _count(number_: int, noun: str, plural: str = "") -> str:
    return f"{number_:,} {noun if number_ == 1 else plural or f'{noun}s'}"

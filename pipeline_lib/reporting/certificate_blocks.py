"""What does theory certify of the models of a data set: the tightest bound on each one's risk, and what it is worth?"""

from __future__ import annotations

from pipeline_lib.markup import listed, quoted
from pipeline_lib.reporting.blocks import Block, Paragraph
from pipeline_lib.reporting.results import Row
from pipeline_lib.reporting.study import CERTIFICATES, Study, count
from pipeline_lib.reporting.tables import Cell, Column, Table, scientific, simple, text, whole

HELD_OUT = "held-out"
"""The bound, in the table of certificates, that the test part gives."""


def certificates(study: Study, dataset: str) -> list[Block]:
    """The tightest bound of every learner, and what it says in words; nothing where there is no learner."""
    found: dict[str, list[Row]] = {}
    for row in study.certificates:
        if row["dataset"] == dataset and not study.is_control(row["model"]):
            found.setdefault(row["model"], []).append(row)
    if not found:
        return []
    tightest = {model: bound for model, rows in found.items() if (bound := _tightest(rows)) is not None}
    tested = {model: bound for model, rows in found.items() if (bound := _tightest(rows, held_out=True)) is not None}
    blocks: list[Block] = [Paragraph(_in_words(study, tightest, found))]
    return [*blocks, _table(study, dataset, tightest, tested)] if tightest else blocks


def _tightest(rows: list[Row], held_out: bool = False) -> Row | None:
    """The least risk that the bounds certify, or the held-out queries; of several folds, where it is largest."""
    best: dict[int, Row] = {}
    for row in rows:
        if (row["bound"] == HELD_OUT) is not held_out:
            continue
        if row["risk"] is not None and (row["fold"] not in best or row["risk"] < best[row["fold"]]["risk"]):
            best[row["fold"]] = row
    return max(best.values(), key=lambda row: row["risk"], default=None)


def _in_words(study: Study, tightest: dict[str, Row], found: dict[str, list[Row]]) -> str:
    sentences = []
    if tightest:
        informative = sum(row["informative"] for row in tightest.values())
        delta = next(iter(tightest.values()))["delta"]
        sentences.append(
            "The bounds of the paper `lists` hold for linear rankers, however they were trained. With probability "
            f"{1.0 - delta:g} the risk on new queries, which is the mean of the loss less its smallest value, is at "
            "most the training risk plus a term that falls as queries are added. A bound is informative where this sum "
            "is below the largest loss of any ranker whose weights are about as large. The tightest bound is "
            f"informative for {informative} of {count(len(tightest), 'learner')}."
        )
    without: dict[str, list[str]] = {}
    for model, rows in found.items():
        if model not in tightest:
            reason = next((row["reason"] for row in rows if row["reason"]), "unknown")
            without.setdefault(reason, []).append(quoted(study.model_title(model)))
    sentences += [f"No bound holds for {listed(models)}: {reason}." for reason, models in without.items()]
    return " ".join(sentences)


def _table(study: Study, dataset: str, tightest: dict[str, Row], tested: dict[str, Row]) -> Table:
    columns = [Column("model", "Model", "left"), Column("bound", "Tightest bound", "left"), Column("n", "Queries")]
    columns += [Column("empirical_risk", "Training risk"), Column("risk", "Risk at most")]
    columns += [Column("largest_loss", "Largest loss"), Column("informative", "Informative", "left")]
    columns.append(Column("informative_from", "Informative from"))
    columns += (
        [Column("held_out", "By test queries"), Column("held_out_from", "Informative from (test)")] if tested else []
    )
    rows = [
        [
            Cell(study.model_title(model), raw=model),
            Cell(f"{row['bound']} ({row['place']})", raw=row["bound"]),
            whole(row["n"]),
            scientific(row["empirical_risk"]),
            scientific(row["risk"]),
            scientific(row["largest_loss"]),
            text("yes" if row["informative"] else "no"),
            _first(row),
            *(_by_test_queries(tested.get(model)) if tested else ()),
        ]
        for model, row in tightest.items()
    ]
    notes = ["“Informative from”: the number of queries from which it would be, at the same risk on them."]
    if tested:
        notes.append(
            "“By test queries”: the limit of Hoeffding's inequality from the mean loss on the test part, which nothing "
            "was chosen on. It holds by itself with the same probability."
        )
    notes += [] if study.of_one_fold(dataset) else ["Of several folds, the one with the largest value is shown."]
    caption = f"What theory certifies of the models on {dataset}"
    return simple(f"certificates-{dataset}", caption, CERTIFICATES, columns, rows, notes)


def _first(row: Row) -> Cell:
    found = row["informative_from"]
    return Cell("beyond 10¹⁵", raw=None) if found is None else whole(found)


def _by_test_queries(row: Row | None) -> list[Cell]:
    return [text(None), text(None)] if row is None else [scientific(row["risk"]), _first(row)]

"""Do runs and judgements of every form give the values that the measures' definitions give?"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pipeline_lib import RankingData, evaluation, metrics
from pipeline_lib.core.errors import ArgumentError, ConfigurationError, DataError
from pipeline_lib.evaluation import inputs
from pipeline_lib.learners.models import LinearModel

QRELS = {"q1": {"a": 3, "b": 0, "c": 1}, "q2": {"a": 0, "d": 2}, "q3": {"a": 0}, "q4": {"e": 1}}
RUN = {"q2": {"d": 0.5, "a": 0.5, "z": 0.1}, "q1": {"b": 3.0, "a": 2.0}, "q3": {"a": 1.0}, "q9": {"a": 1.0}}
OTHER = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"d": 1.0}, "q4": {"e": 0.0}}


def rows(table: dict[str, dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [(query, document, number) for query, of in table.items() for document, number in of.items()]


def as_file(table: dict[str, dict[str, Any]], path: Path, role: str) -> Path:
    lines = (
        f"{query} Q0 {document} 1 {number} tag\n" if role == "score" else f"{query} 0 {document} {number}\n"
        for query, document, number in rows(table)
    )
    path.write_text("# a comment\n" + "".join(lines))
    return path


def as_frame(kind: Any, spelling: tuple[str, str, str], table: dict[str, dict[str, Any]]) -> Any:
    query, document, number = zip(*rows(table), strict=True)
    return kind(dict(zip(spelling, (query, document, number), strict=True)))


FORMS = {
    "dictionaries": lambda table, path, role: table,
    "files": as_file,
    "pandas": lambda table, path, role: as_frame(pd.DataFrame, ("qid", "docno", role), table),
    "polars": lambda table, path, role: as_frame(pl.DataFrame, ("q_id", "doc_id", role), table),
    "arrow": lambda table, path, role: as_frame(pl.DataFrame, ("query", "document", role), table).to_arrow(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_values(form: str, tmp_path: Path) -> None:
    runs = {name: FORMS[form](run, tmp_path / name, "score") for name, run in (("one", RUN), ("two", OTHER))}
    found = evaluation.values(runs, FORMS[form](QRELS, tmp_path / "qrels", "label"), "nDCG(dcg='log2')@2")
    assert (found.measure, found.runs, found.queries) == ("linear_ndcg@2", ("one", "two"), ("q1", "q2", "q3", "q4"))
    second = 1 / np.log2(3)
    ideal = 3 + second
    expected = [[3 * second / ideal, (1 + second) / 2, 0, 0], [3 / ideal, 1, 0, 1]]
    np.testing.assert_allclose(found.values, expected)
    np.testing.assert_allclose(found.low[0, :2], [3 * second / ideal, second])
    np.testing.assert_allclose(found.high[0, :2], [3 * second / ideal, 1])
    assert found.low[1].tolist() == found.high[1].tolist() == found.values[1].tolist()


def test_files_give_names_and_a_single_run_needs_none(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    one, other = (as_file(RUN, tmp_path / name, "score") for name in ("bm25.run", "x/bm25.run"))
    assert evaluation.values(one, QRELS).runs == ("bm25",)
    assert evaluation.values([one, other], QRELS).runs == (str(one), str(other))
    assert evaluation.values([RUN, OTHER], QRELS).runs == ("run 1", "run 2")
    assert evaluation.values(RUN, QRELS).runs == ("run 1",)
    with pytest.raises(DataError, match="expected different runs, found"):
        evaluation.values([one, one], QRELS)


def test_the_order_of_a_run_says_nothing() -> None:
    backwards = {query: dict(reversed(RUN[query].items())) for query in reversed(RUN)}
    for measure in ("ndcg@1", "map", "rr", "recall@1", "p@1", "err"):
        one, other = (evaluation.values(run, QRELS, measure) for run in (RUN, backwards))
        assert one.values.tolist() == other.values.tolist()
        assert (one.low <= one.values).all()
        assert (one.values <= one.high).all()


def test_ids_decide_between_equal_scores_as_in_trec_eval() -> None:
    assert evaluation.values({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1}}, "rr", ties="trec_eval").values[0, 0] == 1.0
    assert evaluation.values({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, "rr", ties="trec_eval").values[0, 0] == 0.5
    assert evaluation.values({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1}}, "rr", ties="file").values[0, 0] == 1.0


def test_queries_that_lack_something_count_as_asked_for() -> None:
    def found(**options: Any) -> evaluation.Values:
        return evaluation.values({"one": RUN, "two": OTHER}, QRELS, "map", **options)

    assert found().values[0].tolist() == [0.25, 0.75, 0.0, 0.0]
    notes = "\n".join(found().notes)
    assert "one: judged queries that are not in the run count as 0: 1 (q4)." in notes
    assert "two: judged queries that are not in the run count as 0: 1 (q3)." in notes
    assert "one: queries that are not judged do not count: 1 (q9)." in notes
    assert "Queries without relevant documents count as 0: 1 (q3)." in notes
    assert "one: equal scores allow means from 0.1875 to 0.3125; the mean" in notes
    assert found(no_relevant=1.0).values[:, 2].tolist() == [1.0, 1.0]
    assert found(no_relevant="skip").queries == ("q1", "q2", "q4")
    assert found(missing="skip").queries == ("q1", "q2")
    assert "one lacks judged queries, which are left out: 1 (q4)." in found(missing="skip").notes
    assert found(relevant_from=3).values[0].tolist() == [0.5, 0.0, 0.0, 0.0]
    with pytest.raises(DataError, match="at least one query to measure"):
        evaluation.values({"q": {"a": 1.0}}, {"q": {"a": 0}}, no_relevant="skip")


def test_gains_are_named_where_they_matter() -> None:
    assert any("linear_ndcg@10" in note for note in evaluation.values(RUN, QRELS, "nDCG@10").notes)
    assert not any("gains" in note for note in evaluation.values(RUN, QRELS, "AP").notes)
    assert not any("gains" in note for note in evaluation.values({"q": {"a": 1.0}}, {"q": {"a": 1}}).notes)


@pytest.mark.parametrize(
    ("spelling", "name", "least"),
    [
        ("nDCG@10", "ndcg@10", 1),
        ("nDCG", "ndcg", 1),
        ("nDCG(dcg='exp-log2')@10", "ndcg@10", 1),
        ('nDCG(dcg="log2", cutoff=5)', "linear_ndcg@5", 1),
        ("ndcg_cut_10", "linear_ndcg@10", 1),
        ("ndcg_cut.10", "linear_ndcg@10", 1),
        ("AP", "map", 1),
        ("AP(rel=2)", "map", 2),
        ("RR", "rr", 1),
        ("RR(rel=3)@10", "rr@10", 3),
        ("recip_rank", "rr", 1),
        ("P_5", "p@5", 1),
        ("P(rel=2)@5", "p@5", 2),
        ("R@10", "recall@10", 1),
        ("recall_10", "recall@10", 1),
        ("letor4_mean_ndcg", "letor4_mean_ndcg", 1),
    ],
)
def test_measures_are_spelled_as_elsewhere(spelling: str, name: str, least: int) -> None:
    assert inputs.measure_of(spelling) == (name, least)


@pytest.mark.parametrize(
    "spelling", ["AP(2)", "AP(rel=)", "AP(judged_only=True)", "P(dcg='log2')@5", "nDCG(dcg='ln')", "Bpref"]
)
def test_other_measures_and_options_are_refused(spelling: str) -> None:
    with pytest.raises(ConfigurationError, match="measure"):
        inputs.measure_of(spelling)


def test_rankers_are_measured_on_their_data() -> None:
    rng = np.random.default_rng(0)
    data = RankingData.from_arrays(rng.normal(size=(60, 2)).round(1), rng.integers(0, 3, 60), np.repeat(range(12), 5))
    models = {"first": LinearModel.of([1.0, 0.0]), "second": LinearModel.of([0.0, 1.0])}
    found = evaluation.values({name: (model, data) for name, model in models.items()}, measure="AP")
    for model, of_queries in zip(models.values(), found.values, strict=True):
        expected = metrics.average_precision(model.predict(data), data.y, data.offsets, ties="mean")
        assert of_queries.tolist() == expected.tolist()
    assert found.queries == tuple(map(str, range(12)))
    with pytest.raises(DataError, match="the queries and labels of the first run's data"):
        evaluation.values([(models["first"], data), (models["first"], data.take([1, 2]))])
    with pytest.raises(ArgumentError, match="qrels: expected judgements for runs"):
        evaluation.values((models["first"], data), QRELS)


WRONG = {
    "a score that is not finite": ({"q1": {"a": 1.0, "b": float("nan")}}, QRELS, "query q1, document b: .*finite"),
    "a score that is text": ({"q1": {"a": "x"}}, QRELS, "expected a number"),
    "no common query": ({"q9": {"a": 1.0}}, QRELS, r"qrels judges, found \['q9'\]"),
    "a label that is not whole": (RUN, {"q1": {"a": 0.5}}, "query q1, document a: expected a whole number up to 255"),
    "a label that is too large": (RUN, {"q1": {"b": 1, "a": 256}}, "query q1, document a: .*found 256"),
    "no judgements": (RUN, {}, "at least one judged document"),
    "no runs": ([], QRELS, "at least one run"),
    "no run": (7, QRELS, "expected runs"),
    "no documents": ({"x": {"q1": {"a": 1.0}, "q2": 3}}, QRELS, "query q2: expected a dictionary"),
    "no column": (pl.DataFrame({"qid": ["q"], "docid": ["a"], "rank": [1]}), QRELS, "one column of scores"),
    "a document twice": (
        pl.DataFrame({"qid": ["q", "r", "q"], "docid": ["a", "a", "a"], "score": [1, 2, 3]}), QRELS, "twice",
    ),
    "an empty name": (pd.DataFrame({"qid": ["q", ""], "docid": ["a", "b"], "score": [1, 2]}), QRELS, "row 1: .*query"),
    "a label twice": (
        RUN, pl.DataFrame({"qid": ["q1", "q1"], "docid": ["a", "a"], "label": [1, 1]}), "row 1: query q1, document a",
    ),
    "a missing id": (pd.DataFrame({"qid": ["q"], "docid": [None], "score": [1.0]}), QRELS, "row 0: expected an id"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_named(case: str) -> None:
    runs, qrels, said = WRONG[case]
    with pytest.raises(DataError, match=said):
        evaluation.values(runs, qrels)


def test_negative_labels_count_as_0_and_numbers_may_name_documents() -> None:
    assert evaluation.values({7: {1: 2.0, 2: 1.0}}, {"7": {"1": -1, "2": 1}}, "rr").values.tolist() == [[0.5]]


def test_a_query_for_which_a_run_retrieved_nothing_is_missing() -> None:
    found = evaluation.values({"r": {"q1": {}, "q2": {"d": 1.0}}}, QRELS, "rr")
    assert found.values[0].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert "r: judged queries that are not in the run count as 0: 3 (q1, q3, q4)." in found.notes


def test_from_which_label_documents_are_relevant_is_said_where_it_matters() -> None:
    def says(measure: str, least: int) -> bool:
        found = inputs.values(RUN, QRELS, measure, relevant_from=least)
        return any("relevant from the label" in note for note in found.notes)

    assert [says("AP(rel=2)", 1), says("AP", 2)] == [True, True]
    assert [says("AP", 1), says("nDCG", 2)] == [False, False]


def test_data_without_queries_are_refused() -> None:
    nothing = RankingData.from_arrays([[1.0]], [1], [1]).take([])
    with pytest.raises(DataError, match="expected at least one query, found none"):
        evaluation.values((LinearModel.of([1.0]), nothing))


@pytest.mark.parametrize("nameless", [{"q": {None: 1, "a": 2}}, {"q": {None: 300, 7: 1}}, {None: {"a": 1}}])
def test_a_query_or_document_without_a_name_is_refused(nameless: Any) -> None:
    lists = {"q": {"a": 1, "b": 0}}
    with pytest.raises(DataError, match=r"^qrels: expected a name for every query and every document, found None"):
        evaluation.values(lists, nameless)
    with pytest.raises(DataError, match=r"^run 1: expected a name for every"):
        evaluation.values(nameless, lists)


def test_data_are_no_frame(tmp_path: Path) -> None:
    data, lists = RankingData.from_arrays([[1.0], [2.0]], [0, 1], [1, 1]), {"q": {"a": 1, "b": 0}}
    for runs, qrels, named in ((lists, data, "qrels"), ({"a": lists, "b": data}, lists, "b"), (data, lists, "runs")):
        with pytest.raises(ArgumentError, match=rf"^{named}: expected .*found a RankingData"):
            evaluation.values(runs, qrels)

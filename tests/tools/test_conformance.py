"""Does the page about NDCG say what was answered, and are its reference values and explanations right?

The other libraries are not asked here. The reference is compared with values by hand and with a plain implementation.
"""

import math
import re

import pytest

from pipeline_lib import __version__
from tests.metrics.test_metrics import plain_ndcg
from tools.conformance import asking, libraries, page
from tools.conformance.conventions import DEVIATIONS, REFERENCE, Convention, explained, fitted, gives, value
from tools.conformance.libraries import LIBRARIES
from tools.conformance.vectors import TOPICS, VECTORS, Query, query

RECORD = asking.read()
DEFINED = [vector for vector in VECTORS.values() if vector.exact]


def test_there_are_many_vectors_and_each_has_a_name_of_its_own() -> None:
    names = [vector.id for topic in TOPICS.values() for vector in topic]
    assert len(names) == len(set(names)) == len(VECTORS) >= 60
    assert all(len(topic) <= 8 for topic in TOPICS.values())
    assert len({LIBRARIES[name].package for name in RECORD["libraries"]}) >= 11


def test_documents_of_a_vector_have_names_of_their_own() -> None:
    for vector in VECTORS.values():
        for one in vector.queries:
            assert len(one.labels) == len(one.scores) == len(one.names) == len(set(one.names)), vector.id


@pytest.mark.parametrize("vector", DEFINED, ids=lambda vector: vector.id)
def test_the_reference_is_the_value_by_hand_and_that_of_a_plain_implementation(vector) -> None:
    by_hand = eval(vector.exact, {"log2": math.log2, "sum": sum, "range": range})
    found = value(vector)
    assert found is not None
    assert float(found) == pytest.approx(by_hand, abs=1e-14)
    if max(vector.queries[0].labels) < 1024:  # beyond it, 2^y has no float
        values = [plain_ndcg(one.scores, one.labels, vector.k) for one in vector.queries]
        assert float(found) == pytest.approx(math.fsum(values) / len(values), abs=1e-14)


def test_the_reference_is_undefined_for_what_the_page_says() -> None:
    for vector in VECTORS.values():
        odd = vector.k == 0 or not all(
            one.labels and all(y >= 0 for y in one.labels) and not any(map(math.isnan, one.scores))
            for one in vector.queries
        )
        assert (value(vector) is None) == odd == (not vector.exact), vector.id


@pytest.mark.parametrize("id", VECTORS)
def test_the_record_has_what_this_project_computes(id: str) -> None:
    ours = RECORD["libraries"]["pipeline_lib"]
    assert ours["version"] == __version__
    assert libraries.answer(LIBRARIES["pipeline_lib"], VECTORS[id], 1) == ours["answers"][id]


@pytest.mark.parametrize("name", RECORD["libraries"])
def test_every_answer_is_recorded_and_none_is_a_library_that_is_missing(name: str) -> None:
    one = RECORD["libraries"][name]
    assert one["version"] != "not installed"
    assert list(one["answers"]) == list(VECTORS)
    assert not [answer for answer in one["answers"].values() if "ModuleNotFoundError" in answer.get("error", "")]
    assert not [answer for answer in one["answers"].values() if re.search(r"/\w+/\w+", answer.get("error", ""))]


def test_the_page_shows_the_record() -> None:
    assert page.page(RECORD) == page.PAGE.read_text(encoding="utf-8")
    for name, text in page.files(RECORD).items():
        assert (page.ROWS / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", RECORD["libraries"])
def test_every_other_number_has_an_explanation_or_a_question_mark(name: str) -> None:
    one = page.Answers(name, "", RECORD["libraries"][name]["answers"])
    for id in VECTORS:
        cell, reason = one.cell(id), one.reasons.get(id)
        match one.kind(id):
            case "refused":
                assert cell == f"✗ {one.errors[id]}"
                assert one.errors[id]
            case "equal":
                assert gives(REFERENCE, id, one.numbers[id], LIBRARIES[name].tolerance)
            case "unexplained":
                assert reason is None
                assert cell.endswith(f" {page.UNEXPLAINED}")
            case "explained":
                assert cell.endswith(" ".join(each.name for each in reason or ()))
                own = Convention(**{each.field: each.value for each in reason or ()})
                assert own.ties == "random" or gives(own, id, one.numbers[id], LIBRARIES[name].tolerance)


def test_deviations_are_explained_once_and_change_a_field() -> None:
    for one in DEVIATIONS:
        assert getattr(REFERENCE, one.field) != one.value
        assert one.says.endswith(".")
    assert len({(one.field, one.value) for one in DEVIATIONS}) == len(DEVIATIONS)


@pytest.mark.parametrize(
    ("deviations", "id", "expected"),
    [
        ({"gain": "linear"}, "grades-at-1", 1 / 3),
        ({"gain": "binary"}, "grades-at-1", 1.0),
        ({"ties": "averaged"}, "all-tied-at-1", 0.5),
        ({"ties": "reversed"}, "tie-below", 0.5),
        ({"ties": "names fall"}, "three-names", 1 / 2),
        ({"ties": "names rise"}, "three-names", 1.0),
        ({"ties": "best"}, "all-tied", 1.0),
        ({"ties": "worst"}, "all-tied", 1 / math.log2(6)),
        ({"empty": "1"}, "mean-with-none", (1 / math.log2(3) + 1) / 2),
        ({"empty": "left out"}, "mean-with-none", 1 / math.log2(3)),
        ({"empty": "nan"}, "mean-with-none", math.nan),
        ({"ideal": "whole list"}, "hit-at-1", 1 / (1 + 1 / math.log2(3))),
        ({"precision": "double"}, "whole-scores-above-2-to-53", 1 / math.log2(3)),
        ({"short_lists": "0"}, "cut-beyond", 0.0),
        ({"depth": "1000"}, "rank-1023", 0.0),
        ({"negative_labels": "as they are"}, "negative-label", (-0.5 + 1 / math.log2(3)) / (1 - 0.5 / math.log2(3))),
        ({"negative_labels": "left out"}, "negative-label", 1.0),
        ({"nan_scores": "last"}, "nan-first", 1 / math.log2(3)),
        ({"nan_scores": "tied", "ties": "reversed"}, "nan-between", 1 / 2),
        ({"infinite_scores": "unranked"}, "infinite-last", 1 / (1 + 1 / math.log2(3))),
        ({"cut_at_0": "no cut"}, "cut-at-0", 1.0),
        ({"largest_gain": "128"}, "label-255", math.nan),
    ],
)
def test_a_convention_gives_the_value_by_hand(deviations: dict[str, str], id: str, expected: float) -> None:
    found = value(VECTORS[id], Convention(**deviations))
    assert found is not None
    assert float(found) == pytest.approx(expected, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize(
    "own",
    [
        Convention(),
        Convention(gain="linear", ties="averaged"),
        Convention(gain="linear", ties="names fall", nan_scores="tied", negative_labels="0"),
        Convention(ties="worst", empty="1", precision="single", cut_at_0="no cut"),
    ],
)
def test_the_convention_of_a_library_is_found_from_its_numbers(own: Convention) -> None:
    values = {id: value(vector, own) for id, vector in VECTORS.items()}
    answers = {id: float(x) for id, x in values.items() if x is not None}
    assert fitted(answers, 1e-9) == own
    reasons = explained(answers, 1e-9)
    assert None not in reasons.values()
    assert {one.value for reason in reasons.values() for one in reason or ()} <= set(vars(own).values())


def test_a_number_that_no_convention_gives_is_unexplained() -> None:
    assert explained({"second-of-two": 0.7, "first-of-two": 1.0}, 1e-9) == {"second-of-two": None, "first-of-two": ()}
    assert not gives(REFERENCE, "nan-first", 1.0, 1e-9)


@pytest.mark.parametrize("own", [REFERENCE, Convention(empty="nan")])
def test_no_value_for_an_empty_list_is_not_taken_for_a_way_to_treat_ordinary_queries(own: Convention) -> None:
    given = {id: {"value": float(x)} for id in VECTORS if (x := value(VECTORS[id], own)) is not None}
    one = page.Answers("pyltr", "1", given | {"no-document": {"value": math.nan}})
    assert one.reasons["no-document"]
    libraries_of = {name: libraries for name, _, libraries in page.conventions([one])}
    assert libraries_of["nan"] == ("none" if own == REFERENCE else "pyltr")


def test_names_rise_in_the_order_of_the_data() -> None:
    names = query([0] * 100, [0.0] * 100).names
    assert list(names) == sorted(names)
    assert isinstance(VECTORS["one-document"].queries[0], Query)


def test_errors_are_in_words_without_places_of_this_machine() -> None:
    error = ValueError("[12:00:01] /home/one/two.cc:3: too\nlong")
    assert libraries.in_words(error) == "ValueError: too"
    assert libraries.in_words(RuntimeError()) == "RuntimeError"

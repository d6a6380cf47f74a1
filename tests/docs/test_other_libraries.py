"""Do the calls on the page for users of other libraries give the numbers that these libraries gave?"""

import json

import pytest

from pipeline_lib import evaluation, metrics, statistics
from pipeline_lib.core.errors import ConfigurationError
from tests.docs import peers

ANSWERS = json.loads(peers.STORED.read_text(encoding="utf-8"))["answers"]
OURS = {
    "evaluation": evaluation,
    "metrics": metrics,
    "statistics": statistics,
    "values": lambda *args, **options: evaluation.values(*args, **options).values,
}


def test_there_are_answers_to_the_calls_on_the_page_and_to_no_others() -> None:
    assert sorted(ANSWERS) == sorted(row.theirs for row in peers.rows())
    text = (peers.documented.ROOT / peers.PAGE).read_text(encoding="utf-8")
    assert len(peers.rows()) == text.count("\n| `")


@pytest.mark.parametrize("row", peers.rows(), ids=lambda row: row.theirs[:60])
def test_both_calls_of_a_row_give_the_same_number(row: peers.Row) -> None:
    assert eval(row.ours, peers.given() | OURS) == pytest.approx(ANSWERS[row.theirs], rel=0.0, abs=row.difference)


@pytest.mark.parametrize(
    "name", ["hit_rate", "Success@1", "bpref", "RBP", "Rprec", "alpha_nDCG@10", "infAP", "AP(judged_only=True)"]
)
def test_what_is_not_here_is_refused(name: str) -> None:
    data = peers.given()
    with pytest.raises(ConfigurationError):
        evaluation.values(data["run"], data["qrels"], name)

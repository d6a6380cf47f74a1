"""The perceptron's bounds with and without the length of the lists."""

from pathlib import Path

import pytest

from pipeline_lib.data.rows import Row
from pipeline_lib.experiment import Job
from pipeline_lib.papers.slam.lengths import experiment as lengths
from pipeline_lib.theory import perceptron_bounds
from tests.papers.jobs import of, tables
from tests.readings import decided
from tests.small_settings import small

SMALL = small("slam", "lengths")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return list(lengths.measure(Job(SMALL, 5)))


def test_the_bound_without_m_holds_and_is_nearly_attained(rows: list[Row], tmp_path: Path) -> None:
    assert decided("slam-free-of-m", tables(rows), SMALL.plain(), tmp_path) == ("verified", [])
    played = of(lengths.Played, rows)
    orthogonal = {(row.measure, row.m, row.active): row for row in played if row.stream == "orthogonal"}
    for m in (3, 30):
        assert orthogonal["map", m, "misordered"].cumulative_loss == pytest.approx(5 * (1 - 1 / m))
        assert orthogonal["map", m, "misordered"].margin_bound == pytest.approx(5.0)
        assert orthogonal["map", m, "margin"].margin_bound == pytest.approx(5.0 * m)
    worse = [row.model_copy(update={"cumulative_loss": 3 * row.cumulative_loss}) for row in played]
    assert decided("slam-free-of-m", tables(worse), SMALL.plain(), tmp_path)[0] == "refuted"


def test_margins_of_streams_are_those_of_their_lists() -> None:
    for stream in lengths.streams_of(SMALL, 3, 1):
        assert set(stream.data.documents_per_query) == {3}
        found = perceptron_bounds.largest_margin(stream.data)
        assert stream.gamma("ndcg") == pytest.approx(found.gamma, abs=2e-3)


@pytest.mark.parametrize(("active", "step"), lengths.PLAYERS)
def test_the_loss_on_opposed_documents_round_by_round(rows: list[Row], active: str, step: str) -> None:
    """Algorithm 1 written out for three documents and MAP: 0, (1, d), (-1, d), the last two relevant."""
    d, weights = 0.375, (1 / 4, 1 / 6)
    row = next(row for row in of(lengths.Opposed, rows) if (row.m, row.active, row.step) == (3, active, step))
    # v_max is the largest quotient of weights, 3/2.
    C = 4 * 3 * (1 + d * d) * 1.5
    eta = 1 / C if step == "theory" else 1.0
    assert (row.printed_bound, row.eta) == (pytest.approx(C / d**2), pytest.approx(eta))
    assert row.stepless_bound == pytest.approx(4 / d**2)
    x = y = total = 0.0
    last = 0
    for t in range(1, row.T + 1):
        scores = (x + d * y, -x + d * y)
        # The irrelevant document precedes those with scores of at most 0.
        below = sum(score <= 0 for score in scores)
        loss = (0.0, 1 / 6, 1 - (1 / 2 + 2 / 3) / 2)[below]
        if not loss:
            break
        total, last = total + loss, t
        threshold = 1.0 if active == "margin" else 0.0
        # The weights belong to the relevant documents in the order of the list.
        for (sign, score), v in zip(((1.0, scores[0]), (-1.0, scores[1])), weights, strict=True):
            if score < threshold or (active == "misordered" and score <= 0):
                x, y = x + eta * v * sign, y + eta * v * d
    assert (row.last_mistake, row.cumulative_loss) == (last, pytest.approx(total))


def test_small_steps_lose_what_the_bound_allows_and_steps_of_one_do_not(rows: list[Row], tmp_path: Path) -> None:
    found = tables(rows)
    assert decided("slam-small-steps", found, SMALL.plain(), tmp_path) == ("verified", [])
    # The bound is a theorem; no stream known comes near it.
    assert decided("slam-printed-free-of-m", found, SMALL.plain(), tmp_path) == ("inconclusive", [])

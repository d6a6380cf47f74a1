"""The perceptron's bounds with and without the length of the lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.slam.lengths import experiment as lengths
from pipeline_lib.papers.slam.lengths.experiment import ListLengthsSettings
from pipeline_lib.theory import perceptron_bounds
from tests.papers.jobs import tables
from tests.papers.slam.small import judged, parsed

RUN = {"stream": "made", "measure": "map", "repetition": 0, "T": 5, "eta": "theory", "active": "misordered", "gap": 0.0}
ON_OTHER_STREAMS = {
    "slam-perceptron": [{**RUN, "cumulative_loss": 3.0, "bound": 3.5}],
    "slam-players": [{**RUN, "player": "perceptron", "statement": "loss-once", "cumulative_loss": 3.0, "bound": 2.5}],
}


def test_the_bound_without_m_holds_and_is_nearly_attained(tmp_path: Path) -> None:
    rows = list(lengths.measure(Job(parsed("lengths", ListLengthsSettings), 5)))
    judgement = judged("slam-free-of-m", tables(rows) | ON_OTHER_STREAMS, "lengths", tmp_path)
    assert judgement == ("verified", True)
    orthogonal = {(row.measure, row.m, row.active): row for row in rows if row.stream == "orthogonal"}
    for m in (3, 30):
        assert orthogonal["map", m, "misordered"].cumulative_loss == pytest.approx(5 * (1 - 1 / m))
        assert orthogonal["map", m, "misordered"].margin_bound == pytest.approx(5.0)
        assert orthogonal["map", m, "margin"].margin_bound == pytest.approx(5.0 * m)
    worse = [row.model_copy(update={"cumulative_loss": 3 * row.cumulative_loss}) for row in rows]
    assert judged("slam-free-of-m", tables(worse) | ON_OTHER_STREAMS, "lengths", tmp_path)[0] == "refuted"


def test_margins_of_streams_are_those_of_their_lists() -> None:
    for stream in lengths.streams_of(parsed("lengths", ListLengthsSettings), 3, 1):
        assert set(stream.data.documents_per_query) == {3}
        found = perceptron_bounds.largest_margin(stream.data)
        assert stream.gamma("ndcg") == pytest.approx(found.gamma, abs=2e-3)

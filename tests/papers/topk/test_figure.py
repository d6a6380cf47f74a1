"""Are the curves of Figure 1, and their gaps what they are said to be, and the claims judged by them?"""

import numpy as np
import pytest

from pipeline_lib.core.errors import DataError
from pipeline_lib.core.seeds import generator
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.learners import top_k_feedback
from pipeline_lib.papers.topk.figure import experiment as figure
from pipeline_lib.sources.population import Population, PopulationSettings
from tests import readings
from tests.papers.jobs import Given, of, tables
from tests.small_settings import small


def data(n: int = 25) -> RankingData:
    return Population(PopulationSettings(features=4, documents=(4, 12))).draw(n, generator(1, "figure", role="alone"))


@pytest.fixture(scope="module")
def drawn_figure():
    asked = small("topk", "figure", rounds=1000, points=3)
    return asked, list(figure.measure(Given(asked, 3, data={"made": data()})))


def test_curves_of_every_learner_and_panel(drawn_figure):
    rows = of(figure.Curve, drawn_figure[1])
    found = {(row.panel, row.learner) for row in rows}
    assert found == {
        *(("", name) for name in ("listnet", "random")),
        *((panel, name) for panel in ("as-printed", "correct", figure.ALL_LABELS) for name in figure.SHOWN),
    }
    assert len(rows) == 3 * len(found)
    assert all(0.0 <= row.ndcg.low <= row.ndcg.value <= row.ndcg.high <= 1.0 for row in rows)
    final = {row.learner: row.ndcg.value for row in rows if row.panel == "" and row.round == 1000}
    assert final["listnet"] > final["random"] + 0.1


def test_descent_with_all_labels_is_that_of_its_step(drawn_figure):
    asked, rows = drawn_figure[0], of(figure.Curve, drawn_figure[1])
    played = figure.playable(data(), "made")
    for name in figure.CONVEX:
        ends = []
        for number in range(asked.seeds):
            order = generator(3, "topk-figure", "made", number, "rounds").integers(0, played.n_queries, size=1000)
            game = top_k_feedback.with_all_labels(played, name, 1000, 1000**-0.5, asked.radius, order=order)
            ends.append(game.ndcg[-1])
        [row] = [row for row in rows if (row.panel, row.learner, row.round) == ("all-labels", name, 1000)]
        assert row.ndcg.value == pytest.approx(np.mean(ends), rel=1e-12)


def test_short_queries_are_left_out_and_nothing_left_is_an_error():
    short = RankingData.from_arrays([[0.0], [1.0], [2.0]], [1, 0, 1], [1, 2, 2])
    assert figure.playable(short, "made").n_queries == 1
    with pytest.raises(DataError, match="made: expected queries with at least two documents"):
        figure.playable(short.take([0]), "made")
    with pytest.raises(DataError, match="a relevant one"):
        figure.playable(RankingData.from_arrays([[0.0], [1.0]], [0, 0], [1, 1]), "made")


def test_gaps_are_differences_seed_by_seed(drawn_figure):
    found = drawn_figure[1]
    final = {(row.panel, row.learner): row.ndcg.value for row in of(figure.Curve, found) if row.round == 1000}
    for row in of(figure.Gap, found):
        panel, greater, lesser = row.panel, row.greater, row.lesser
        if greater.endswith("from random"):
            name = greater.removesuffix(" from random")
            expected = 2 * final[panel, name] - final["", "random"] - final["", "listnet"]
        else:
            one, other = (final["" if name in figure.WITHOUT_PANEL else panel, name] for name in (greater, lesser))
            expected = one - other
        assert row.gap.value == pytest.approx(expected)


def test_evidence_of_the_figure_is_read_by_data_set(drawn_figure):
    found = tables(drawn_figure[1])
    gap = {(row.panel, row.greater, row.lesser): row.gap.value for row in of(figure.Gap, drawn_figure[1])}
    [order] = readings.trials("topk-fig1-order", found)
    assert order.setting == {"dataset": "made"}
    assert order.values["ranksvm_over_kl"].value == gap["as-printed", "ranksvm", "kl"]
    [bias] = readings.trials("topk-fig1-bias", found)
    assert bias.values["kl_over_squared_correct"].value == gap["correct", "kl", "squared"]
    final = {(row.panel, row.learner): row.ndcg.value for row in of(figure.Curve, drawn_figure[1]) if row.round == 1000}
    unbiased, informed = readings.trials("topk-smoothdcg-sign", found)
    for name, learner in (("ascent_over_random", "smooth-dcg-ascent"), ("descent_over_random", "smooth-dcg")):
        assert unbiased.values[name].value == gap["correct", learner, "random"]
        assert informed.values[name].value == final["all-labels", learner] - final["", "random"]
    assert not readings.trials("topk-fig1", found)


ENDS = {"listnet": 0.75, "ranksvm": 0.74, "kl": 0.73, "squared": 0.7, "random": 0.5, "smooth-dcg": 0.5}


@pytest.mark.parametrize(
    ("ascent", "unbiased", "status"),
    [
        (0.72, (0.2, 0.1, 0.3), "answered"),
        (0.72, (0.2, 0.0, 0.4), "inconclusive"),
        (0.52, (0.02, 0.01, 0.03), "answered"),
        (None, (0.2, 0.0, 0.4), "inconclusive"),
    ],
)
def test_the_biased_learner_does_not_answer_for_smooth_dcg(tmp_path, ascent, unbiased, status):
    """With the printed probabilities ascent is far above random order, which alone decides nothing."""
    columns = ("panel", "greater", "gap", "low", "high")
    rows = [
        {"dataset": "made", "lesser": "random", **dict(zip(columns, cells, strict=True))}
        for cells in (
            ("as-printed", "smooth-dcg-ascent", 0.4, 0.4, 0.4),
            ("as-printed", "smooth-dcg", -0.3, -0.3, -0.3),
            ("correct", "smooth-dcg-ascent", *unbiased),
            ("correct", "smooth-dcg", -0.3, -0.3, -0.3),
        )
    ]
    ends = {} if ascent is None else {"random": 0.5, "smooth-dcg": 0.1, "smooth-dcg-ascent": ascent}
    curves = [
        {"dataset": "made", "panel": panel, "learner": learner, "round": 9, "ndcg": end, "low": end, "high": end}
        for learner, end in ends.items()
        for panel in ("" if learner == "random" else "all-labels",)
    ]
    found = readings.judged("topk-smoothdcg-sign", {"topk-gaps": rows, "topk-curves": curves}, {}, tmp_path)
    assert found.status == status
    assert ("ends far above random order" in found.explanation) == (ascent == 0.72)


@pytest.mark.parametrize(
    ("dataset", "ends", "found"),
    [
        ("Yahoo-set1", {}, ("verified", "not-run")),
        ("Yahoo-set1", {"kl": 0.76}, ("refuted", "not-run")),
        ("Yahoo-set1", {"squared": 0.6}, ("refuted", "not-run")),  # closer to random order than to ListNet
        ("MQ2008", {}, ("not-run", "answered")),
        ("MQ2008", {"kl": 0.745}, ("not-run", "answered")),
        ("MQ2008", {"squared": 0.6}, ("not-run", "answered")),
    ],
)
def test_figure_1_is_judged_on_the_data_sets_of_the_paper_and_asked_on_others(tmp_path, dataset, ends, found):
    ends = {**ENDS, "smooth-dcg-ascent": 0.72, **ends}
    curves = {
        ("" if name in figure.WITHOUT_PANEL else "as-printed", name): [np.array([end]), np.array([end + 1e-6])]
        for name, end in ends.items()
    }
    gaps = tables(figure.gaps(dataset, curves))
    judgements = [readings.judged(claim, gaps, {}, tmp_path) for claim in ("topk-fig1", "topk-fig1-order")]
    assert tuple(one.status for one in judgements) == found
    for one in judgements:
        if one.status in ("verified", "answered"):
            assert not one.severity.missed
    [said] = [one.explanation for one in judgements if one.status != "not-run"]
    assert ("KL ends above RankSVM" in said) == (found[1] == "answered" and ends["kl"] > ends["ranksvm"])
    assert ("closer to random order than" in said) == (found[1] == "answered" and ends["squared"] < 0.62)

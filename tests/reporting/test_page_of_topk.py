"""Does the page of topk show the numbers of its tables, and does its prose follow the evidence?"""

from __future__ import annotations

from pathlib import Path

import pytest
from page_of_paper import Tables, build, figures, prose, shown


def game(regret: float, high: float) -> Tables:
    cell = {"adversary": "p", "quantity": "E[y]", "measured": 0.45, "published": 0.45}
    row = {"linear_limit": 2.0, "low": regret, "high": high}
    return {
        "topk-table1": [{**cell, "document": i} for i in (1, 2, 3)],
        "topk-adversary": [
            {**row, "learner": learner, "T": T, "regret": regret * T / 100.0}
            for learner in ("kl", "constant")
            for T in (100, 1000)
        ],
    }


def test_no_tables_no_page(tmp_path: Path) -> None:
    assert build(tmp_path, "topk", {}) is None


def test_the_largest_bias_is_shown_and_the_words_follow_the_claim(tmp_path: Path) -> None:
    row = {"claim": "topk-estimators", "surrogate": "kl", "k": 1, "gamma": 0.1, "probabilities": "correct"}
    rows = [{**row, "largest_relative_bias": value} for value in (0.0, 0.25)]
    rows.append({**row, "probabilities": "as-printed", "largest_relative_bias": 0.5})
    pages = [
        build(tmp_path, "topk", {"topk-biases": rows}, {"topk-estimators": one}) for one in ("verified", "refuted")
    ]
    assert shown(pages[1], "topk-biases")[0] == ["KL", "1", "2", "0.25", "0.5"]
    assert all("is 0.25" in prose(page, "topk-estimators-part") for page in pages)
    assert prose(pages[0]) != prose(pages[1])


def test_printed_probabilities_are_compared_with_the_sums(tmp_path: Path) -> None:
    row = {"documents": 1, "in_order": True, "exploited": False, "m": 4, "shown": "rank 4", "gamma": 0.5}
    page = build(tmp_path, "topk", {"topk-probabilities": [{**row, "probability": 0.125}]})
    [figure] = [one for one in figures(page) if one.name == "topk-probabilities"]
    assert "up to 0.50" in prose(page)
    assert "0.625 published, 0.125 measured" in figure.description


def test_a_learner_below_the_limit_changes_the_words(tmp_path: Path) -> None:
    ends = ((9.0, 9.5), (1.9, 2.1), (0.1, 0.15))
    assert len({prose(build(tmp_path, "topk", game(*end))) for end in ends}) == len(ends)


def test_slopes_and_ratios_of_the_game_are_those_of_the_table(tmp_path: Path) -> None:
    [[_, ratio, slope], _] = shown(build(tmp_path, "topk", game(9.0, 9.5)), "topk-game")
    assert (ratio, slope) == ("45", "1.00")


REGRET = {"data": "population", "player": "algorithm 1", "surrogate": "kl", "T": 100}
ENDS = {"regret": 5.0, "low": 4.0, "high": 6.0, "exploration": 1.0, "expected_loss": 8.0, "loss_minus_bound": -2.0}
ENDS |= {"loss_minus_bound_low": -3.0, "loss_minus_bound_high": -1.0, "distance_term": 3.0, "noise_term": 5.0}
SLOPE = {"data": "population", "player": "algorithm 1", "surrogate": "kl", "slope": 0.7, "low": 0.6, "high": 0.8}


@pytest.mark.parametrize("status", ["consistent", "refuted"])
def test_the_words_on_regret_follow_the_claim(tmp_path: Path, status: str) -> None:
    tables = {"topk-regret": [{**REGRET, **ENDS}], "topk-exponents": [SLOPE]}
    verified, other = (build(tmp_path, "topk", tables, {"topk-thm41": one}) for one in ("verified", status))
    assert prose(verified) != prose(other)
    assert shown(verified, "topk-exponents")[0][1:6] == ["0.700", "[0.600, 0.800]", "100", "5", "20 %"]
    assert "75 % to 75 % of it" in prose(verified)


def test_other_players_and_two_documents_are_shown_by_themselves(tmp_path: Path) -> None:
    idle, pair = {"player": "idle", "slope": 0.97}, {"data": "two documents", "slope": 0.66}
    tables = {
        "topk-regret": [{**REGRET, **ENDS, **other} for other in ({}, {"player": "idle"}, {"data": "two documents"})],
        "topk-exponents": [{**SLOPE, **other} for other in ({}, idle, pair)],
    }
    page = build(tmp_path, "topk", tables)
    assert [(row[1], row[6]) for row in shown(page, "topk-exponents")] == [("0.700", "−0.020"), ("0.970", "−0.020")]
    assert "the bound is 10" in prose(page)


def test_the_words_on_lemma_3_and_on_the_constant_of_theorem_5_2_follow_their_claims(tmp_path: Path) -> None:
    row = {"scores": "spread", "m": 3, "y_max": 1, "joint": 0.5, "beyond": 0.0}
    parts = [{**row, "surrogate": name, "labels": labels} for name in ("ranksvm", "listnet") for labels in (1, 2, 3)]
    tables = {"topk-decompositions": parts, **game(9.0, 9.5)}
    pages = [
        build(tmp_path, "topk", tables, {claim: "refuted"})
        for claim in ("topk-lemma2", "topk-lemma3", "topk-thm52-constant")
    ]
    assert len({prose(page) for page in pages}) == len(pages)
    assert shown(pages[0], "topk-interactions")[0] == ["RankSVM", "3", "1", "0.5", "0.5", "0.5"]

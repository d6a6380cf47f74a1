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


def both(folder: Path, tables: Tables, claim: str, part: str, other: str = "refuted") -> tuple[str, str]:
    """The words of one part if a claim is verified, and if it is not."""
    first, second = (prose(build(folder, "topk", tables, {claim: one}), part) for one in ("verified", other))
    assert first != second
    return first, second


def test_the_best_estimators_are_shown_with_what_they_miss(tmp_path: Path) -> None:
    parts = [
        {"surrogate": name, "scores": "spread", "m": 2, "y_max": 1, "labels": k, "joint": 0.5, "beyond": 0.0}
        for name in ("ranksvm", "listnet")
        for k in (1, 2)
    ]
    row = {"surrogate": "ranksvm", "exploration": "algorithm 1", "m": 2, "y_max": 1}
    errors = [{**row, "k": 1, "error": 0.25, "beyond": 1.0}, {**row, "k": 2, "error": 1e-15, "beyond": 0.0}]
    tables = {"topk-decompositions": parts, "topk-estimable": errors}
    words = prose(build(tmp_path, "topk", tables), "topk-information-part")
    assert "misses by at least 0.250" in words
    assert "by at most 1e−15" in words


def test_bandits_are_compared_with_algorithm_1(tmp_path: Path) -> None:
    alone = {"surrogate": "kl", "T": 100, "regret": 10.0, "low": 9.0, "high": 11.0, "factor": 1.0}
    alone |= {"slope": 0.75, "slope_low": 0.7, "slope_high": 0.8}
    tables = {"topk-regret": [{**REGRET, **ENDS}], "topk-exponents": [SLOPE], "topk-bandit": [alone]}
    words, _ = both(tmp_path, tables, "topk-bandit", "topk-bandit-part")
    assert "2.0 to 2.0 times the regret" in words


def test_what_a_loss_loses_that_is_not_calibrated(tmp_path: Path) -> None:
    row = {"laws": "worst", "m": 3, "grades": 2, "number": 1, "gap": 0.1}
    losses = [{**row, "surrogate": name, "largest_regret": x} for name, x in (("kl", 0.3), ("squared-ndcg", 0.0))]
    words, _ = both(tmp_path, {"topk-calibration": losses}, "topk-not-calibrated", "topk-calibration-part")
    assert "up to 0.30 of NDCG" in words


def test_the_rates_with_more_labels_are_those_of_the_tables(tmp_path: Path) -> None:
    lists = {"m": 3, "grades": 2}
    laws = [
        {**lists, "k": k, "learnable": k > 1, "largest_gap": 0.4 if k == 1 else 0.0, "exponent": exponent}
        for k, exponent in ((1, 1.0), (2, 2 / 3), (3, 0.5))
    ]
    runs = [("pair", "unbiased", 1, 0.9), ("pair", "unbiased", 2, 0.6), ("near tie", "all labels", 3, 0.47)]
    runs += [("independent labels", "independent", 1, 0.55), ("pair", "independent", 1, 0.97)]
    names = [{**lists, "law": law, "learner": learner, "k": k, "learnable": k > 1} for law, learner, k, _ in runs]
    fits = [{**name, "slope": x, "low": x - 0.1, "high": x + 0.1} for name, (*_, x) in zip(names, runs, strict=True)]
    regrets = [
        {**name, "T": T, "regret": 0.02 * T, "low": 0.01 * T, "high": 0.03 * T, "linear_limit": 0.01 * T}
        for name in names
        for T in (100, 1000)
    ]
    tables = {"topk-label-laws": laws, "topk-label-exponents": fits, "topk-label-regret": regrets}
    words, _ = both(tmp_path, tables, "topk-more-labels", "topk-labels-part")
    for number in (
        "at least 0.4 between",
        "all 3 cells",
        "0.90 to 0.90",
        "at most 0.60",
        "2.00 to 2.00 times",
        "0.47 on",
    ):
        assert number in words
    assert "at most 0.55 where" in words
    assert "at least 0.97 on" in words


@pytest.mark.parametrize(("kl", "count"), [(0.7, "all three are"), (0.4, "not all three are")])
def test_the_published_order_is_looked_for_in_every_panel(tmp_path: Path, kl: float, count: str) -> None:
    ends = {"ranksvm": 0.75, "kl": kl, "squared": 0.65, "smooth-dcg": 0.1, "smooth-dcg-ascent": 0.7}
    row = {"dataset": "made", "seeds": 2}
    cells = [("", "listnet", 0.8), ("", "random", 0.3), ("all-labels-same-step", "kl", 0.79)]
    cells += [(panel, name, x) for panel in ("as-printed", "correct", "repaired") for name, x in ends.items()]
    cells = [(p, name, 0.546 if (p, name) == ("correct", "smooth-dcg-ascent") else x) for p, name, x in cells]
    curve = [
        {**row, "panel": panel, "learner": name, "round": t, "ndcg": x, "low": x, "high": x}
        for panel, name, x in cells
        for t in (10, 100)
    ]
    gaps = [
        {"dataset": "made", "panel": panel, "greater": "kl", "lesser": "squared", "gap": gap, "low": gap, "high": gap}
        for panel, gap in (("as-printed", 0.05), ("correct", -0.05))
    ]
    page = build(tmp_path, "topk", {"topk-curves": curve, "topk-gaps": gaps})
    words = prose(page, "topk-figure-part")
    assert f"in {3 if kl > 0.65 else 'none'} of the three panels" in words
    assert count in words
    assert "probabilities change which of KL" in words
    assert "is +0.050." in words
    assert [row[2:] for row in shown(page, "topk-gaps-made")] == [["+0.050", "−0.050"]]
    assert "at 0.546 (0.546 to 0.546) if it ascends" in prose(page, "topk-explanations-part")


def test_the_explanations_of_figure_1_follow_their_claims(tmp_path: Path) -> None:
    row = {"probabilities": "correct", "low": 1.4, "high": 2.1}
    pairs = [
        {**row, "m": 5, "above": "ranksvm, k = 2", "below": "kl, k = 1", "same_loss": False, "quotient": 1.75},
        {**row, "m": 5, "above": "kl, k = 2", "below": "kl, k = 1", "same_loss": True, "quotient": 0.5},
    ]
    joint = [{"surrogate": name, "statistic": "joint", "value": x} for name, x in (("kl", 0.0), ("listnet", 0.25))]
    tables: Tables = {"topk-variance-quotients": pairs, "topk-sums": joint}
    words, _ = both(tmp_path, tables, "topk-variance", "topk-explanations-part")
    assert "1.75 to 1.75 times" in words
    assert "0.50 to 0.50 on average" in words
    assert "reach 0.25" in words
    both(tmp_path, tables, "topk-kl-listwise", "topk-explanations-part")

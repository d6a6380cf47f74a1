"""Does the page of slam show the numbers of its tables, and does its prose follow the evidence?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_of_paper import Tables, build, figures, prose, shown, wording

RUN: dict[str, Any] = {"stream": "noisy", "measure": "ndcg", "repetition": 0, "T": 100, "cumulative_loss": 5.0}
RUN |= {"mistakes": 9, "largest_ratio": 0.5, "comparator_loss": 8.0, "constant": 1.0, "bound": 17.0, "gap": 0.0}
RUN |= {"certified": True, "gamma": None, "margin_bound": None, "largest_loss": 50.0}
VARIANTS = (("theory", "margin"), ("1", "margin"), ("theory", "misordered"))
STEP: dict[str, Any] = {"stream": "noisy", "measure": "ndcg", "repetition": 0, "eta": "0.1", "step": 0.1, "rounds": 100}
STEP |= {"mistakes": 9, "mistakes_at_eta_one": 9, "cumulative_loss": 5.0}
RISK: dict[str, Any] = {"surrogate": "listnet", "radius": 1.0, "l2": 0.1, "norm": 0.5, "certified": True}
LEAD: dict[str, Any] = {"dataset": "d", "model": "a", "title": "A", "value": 0.6, "other": "b", "other_title": "B"}
LEAD |= {"other_value": 0.5, "difference": 0.1, "low": 0.05, "high": 0.2, "n_queries": 9, "question": "practice"}


def runs(**changes: Any) -> list[dict[str, Any]]:
    return [{**RUN, "eta": eta, "active": active, **changes} for eta, active in VARIANTS]


def page(folder: Path, tables: Tables, **statuses: str) -> str:
    """The prose; ``thm5="refuted"`` is the status of the claim "slam-thm5"."""
    return prose(
        build(folder, "slam", tables, {f"slam-{name.replace('_', '-')}": one for name, one in statuses.items()})
    )


def test_no_tables_no_page(tmp_path: Path) -> None:
    assert build(tmp_path, "slam", {}) is None


def test_a_broken_upper_bound_changes_the_words(tmp_path: Path) -> None:
    row = {"claim": "slam-thm2", "kind": "map", "m": 5, "y_max": 1, "d": None, "statistic": "smallest_slack"}
    held = build(tmp_path, "slam", {"slam-losses": [{**row, "value": 0.25}]})
    broken = build(tmp_path, "slam", {"slam-losses": [{**row, "value": -0.25}]}, {"slam-thm2": "refuted"})
    assert "over 1 settings the smallest slack is 0.25" in prose(held)
    assert "a smallest slack of −0.25 over 1 settings" in prose(broken)
    assert wording(held) != wording(broken)
    assert shown(broken, "slam-slacks") == [["MAP", "1", "−0.25", "–"]]


def test_runs_that_break_theorem_5_are_counted(tmp_path: Path) -> None:
    broken = {"slam-perceptron": runs(cumulative_loss=18.0)}
    assert "exceed it in 1 of 1 runs" in page(tmp_path, broken, thm5="refuted")
    assert "exceed it" not in page(tmp_path, {"slam-perceptron": runs()})
    assert "1 of 1 right sides are not certified" in page(tmp_path, {"slam-perceptron": runs(certified=False)})


def test_shares_are_of_bounds_that_say_something(tmp_path: Path) -> None:
    # A bound of 17 says something where reversed orders lose 20, and nothing where they lose 16.
    for largest, drawn in ((20.0, True), (16.0, False)):
        section = build(tmp_path, "slam", {"slam-perceptron": runs(largest_loss=largest)})
        assert ("and reach 29 % of it" in prose(section)) is drawn
        assert any(figure.name == "slam-shares" for figure in figures(section)) is drawn


def test_a_verified_bound_of_rounding_is_not_called_broken(tmp_path: Path) -> None:
    # Right sides are certified to about 1e-8, so that a sum above one by less contradicts nothing.
    text = page(tmp_path, {"slam-perceptron": runs(cumulative_loss=17.0 + 1e-8)})
    assert "in all 1 runs" in text
    assert "exceed it" not in text


def test_the_share_of_the_second_half_is_computed(tmp_path: Path) -> None:
    separable = {"stream": "separable", "gamma": 0.5, "margin_bound": 40.0}
    rows = runs(**separable, T=50, cumulative_loss=4.0) + runs(**separable, cumulative_loss=5.0)
    rows += runs(**separable, measure="map", cumulative_loss=10.0)
    text = prose(build(tmp_path, "slam", {"slam-perceptron": rows}), "slam-separable-part")
    assert "at most 20.0 % of the loss: it levels off" in text
    assert "the loss is 25.0 % of the constant for MAP, 12.5 % of the constant for NDCG." in text


def test_runs_whose_comparator_is_0_are_counted(tmp_path: Path) -> None:
    rows = runs(T=50, constant=0.0) + runs(constant=2.0)
    rows += [row for T in (50, 100) for row in runs(stream="adversary", T=T, constant=0.0)]
    assert "in 3 of 4 cases the best comparator is practically 0" in page(tmp_path, {"slam-perceptron": rows})


def test_rounds_that_differ_are_counted(tmp_path: Path) -> None:
    def rows(moved: int) -> list[dict[str, Any]]:
        return [
            {**STEP, "active": "margin", "rounds_that_differ": 7},
            {**STEP, "active": "misordered", "rounds_that_differ": moved},
        ]

    for moved, status, said in (
        (0, "verified", "no round differs in 1 runs"),
        (3, "refuted", "3 rounds differ in 1 runs"),
    ):
        assert said in page(tmp_path, {"slam-eta": rows(moved)}, eta_free_corrected=status)
    assert "7 % of all rounds" in page(tmp_path, {"slam-eta": rows(0)}, eta_free="refuted")
    assert shown(build(tmp_path, "slam", {"slam-eta": rows(3)}), "slam-steps")[0][2:4] == ["7.0", "3.0"]


def risks(excess: float, low: float = -0.1, **changes: Any) -> Tables:
    rows = [
        {
            **RISK,
            "regularisation": kind,
            "n": n,
            "excess_risk": excess,
            "low": 0.0,
            "high": 9.0,
            "bound": 1.0,
            **changes,
        }
        for kind in ("theorem", "none")
        for n in (10, 1000)
    ]
    axes = {"surrogate": "listnet", "radius": 1.0}
    rates = [{**axes, "regularisation": "theorem", "exponent": low, "low": low, "high": 0.0}]
    rates.append({**axes, "regularisation": "none", "exponent": -0.5, "low": -0.6, "high": -0.4})
    return {"slam-risk": rows, "slam-rates": rates}


def test_cells_above_theorem_8_are_counted(tmp_path: Path) -> None:
    assert "in 2 of 2 cells, and at most 50.00 % of it" in page(tmp_path, risks(0.5))
    assert "in 0 of 2 cells" in page(tmp_path, risks(2.0), thm8="refuted")
    assert "4 of 4 cells" in page(tmp_path, risks(0.5, certified=False))


def test_bias_is_blamed_only_where_the_intervals_part(tmp_path: Path) -> None:
    assert page(tmp_path, risks(0.5, low=-0.1)).count("bias") == 1
    assert page(tmp_path, risks(0.5, low=-0.45)).count("bias") == 0


def test_rounding_crosses_no_bound(tmp_path: Path) -> None:
    row = {"m": 100, "half_m": 50.0, "v_max_ndcg": 9.0, "v_max_ndcg_limit": 9.5, "v_max_ndcg_at_k": 2.0}
    for value, crossed in ((49.0, False), (50.00000000001, False), (50.1, True)):
        text = page(tmp_path, {"slam-vmax": [{**row, "v_max_map": value}]}, vmax="refuted" if crossed else "verified")
        assert ("exceed a bound at" in text) is crossed


def test_a_lead_is_called_one_only_beyond_chance(tmp_path: Path) -> None:
    leads = {(0.05, 0.2): "", (-0.1, 0.2): "not distinguishable from chance"}
    for (low, high), words in leads.items():
        text = page(tmp_path, {"slam-practice": [{**LEAD, "low": low, "high": high, "p_holm": 0.01}]})
        assert "is 0.100 above the best of the others" in text
        assert ("chance" in text) is bool(words)
        assert words in text
    assert "chance remains possible (p = 0.20)" in page(tmp_path, {"slam-practice": [{**LEAD, "p_holm": 0.2}]})
    behind = {**LEAD, "difference": -0.1, "low": -0.2, "high": -0.05, "p_holm": 0.01}
    assert "is 0.100 below the best of the others" in page(tmp_path, {"slam-practice": [behind]})


@pytest.mark.parametrize(("norms", "counted"), [((0.0, 0.0), "2 of 2"), ((0.0, 3.0), "1 of 2"), ((2.0, 3.0), "")])
def test_minimisers_at_zero_are_counted(tmp_path: Path, norms: tuple[float, ...], counted: str) -> None:
    record = {"dataset": "d", "model": "slam-ndcg", "algorithm": "erm", "surrogate": "slam-ndcg"}
    others = [{**record, "model": "x", "surrogate": "listnet", "norm": 0.0}, {**record, "model": "y", "norm": None}]
    training = [*({**record, "norm": norm} for norm in norms), *others]
    text = page(tmp_path, {"slam-practice": [{**LEAD, "p_holm": 0.01}], "training": training})
    assert text.count("of 2 folds") == bool(counted)
    assert f"{counted} folds" in text or not counted


def test_players_that_break_a_bound_are_counted(tmp_path: Path) -> None:
    row = {"stream": "pairs", "measure": "map", "repetition": 0, "active": "margin", "statement": "as-printed", "T": 9}
    row |= {
        "loss_at_half": 1.0,
        "largest_loss": 8.0,
        "mistakes": 3,
        "comparator_loss": 1.0,
        "constant": 1.0,
        "gap": 0.0,
    }
    players = (("perceptron", 2.0), ("never", 4.5))
    rows = [{**row, "player": one, "cumulative_loss": lost, "bound": 4.0, "margin_bound": 5.0} for one, lost in players]
    tables = {"slam-perceptron": runs(), "slam-players": rows}
    cells = shown(build(tmp_path, "slam", tables), "slam-players")
    assert [line[1:5] for line in cells] == [["1", "0", "1", "0"], ["1", "1", "1", "0"]]


def test_a_step_of_1_that_breaks_theorem_5_is_said_where_the_claim_is_refuted(tmp_path: Path) -> None:
    steps = [{**STEP, "active": active, "rounds_that_differ": 0} for active in ("margin", "misordered")]
    broken = [
        {**row, "cumulative_loss": 40.0 if row["eta"] == "1" else 5.0} for row in runs(stream="stalled", measure="map")
    ]
    tables = {"slam-perceptron": broken, "slam-eta": steps}
    assert "grows to 40.0" in page(tmp_path, tables, thm5_eta1="refuted")
    assert "grows to" not in page(tmp_path, tables)


def test_cells_below_the_risk_of_zero_are_counted(tmp_path: Path) -> None:
    row = {
        "population": "two points",
        "surrogate": "listnet",
        "radius": 0.5,
        "signal": 1.5,
        "relative": True,
        "low": 0.1,
    }
    row |= {"high": 0.1, "excess_risk": 0.1, "zero_excess": 0.3, "reversed_excess": 0.6, "fixed_excess": 0.2}
    row |= {"lipschitz": 1.0}
    rows = [{**row, "n": n, "bound": bound} for n, bound in ((100, 0.4), (1000, 0.2))]
    text = page(tmp_path, {**risks(0.5), "slam-finite-risk": rows})
    assert "1 of 2 cells, from n = 1,000 on. The excess is within the bound in all cells" in text
    above = [{**row, "excess_risk": 0.3} for row in rows]
    text = page(tmp_path, {**risks(0.5), "slam-finite-risk": above}, thm8="refuted")
    assert "The excess is above the bound in 1 cells" in text


PHASE: dict[str, Any] = {
    "source": "d",
    "kind": "ndcg",
    "lead": 1.0,
    "spread": 2.0,
    "ratio": 0.5,
    "l2": 0.1,
    "margin": 1.0,
}


def test_minimisers_that_contradict_the_criterion_are_counted(tmp_path: Path) -> None:
    right = [{**PHASE, "norm": 0.0, "certified": True}, {**PHASE, "ratio": 2.0, "norm": 1.0, "certified": True}]
    wrong = [right[0], {**right[1], "norm": 0.0}]
    assert "In all 2 trials" in page(tmp_path, {"slam-phases": right})
    assert "In 1 of 2 trials" in page(tmp_path, {"slam-phases": wrong}, zero_minimiser="refuted")


def test_what_short_lists_and_tight_weights_change_is_said_by_their_intervals(tmp_path: Path) -> None:
    row = {"dataset": "d", "weights": "tight", "lists": "short", "n_queries": 9, "ndcg": 0.5, "largest_norm": 1.0}
    row |= {"over_printed": 0.02, "over_whole": 0.1, "file_order": 0.4}

    def said(low: float, high: float) -> str:
        return page(tmp_path, {"slam-short-lists": [{**row, "over_printed_low": low, "over_printed_high": high}]})

    assert "gain 0.0200 in NDCG@10" in said(0.01, 0.03)
    assert "lose" in said(-0.03, -0.01)
    assert "not measurably different" in said(-0.01, 0.03)


def test_differences_between_thresholds_of_relevance_are_said_by_their_intervals(tmp_path: Path) -> None:
    row = {"dataset": "d", "learner": "minimiser", "relevant_from": 2, "measure": "map", "counted_from": 2}
    row |= {"value": 0.5, "over_first": 0.1, "over_first_high": 0.2, "file_order": 0.3}

    def said(low: float) -> str:
        return " ".join(page(tmp_path, {"slam-relevance": [{**row, "over_first_low": low}]}).split())

    assert "minimiser on d by MAP from label 2 on (better by 0.100)." in said(0.05)
    assert "No interval leaves out 0." in said(-0.01)
    assert "slam-relevance-part" not in page(tmp_path, {"slam-relevance": [{**row, "relevant_from": 1}]})


def test_a_loss_above_the_bound_without_m_is_counted(tmp_path: Path) -> None:
    row = {"stream": "orthogonal", "measure": "map", "m": 5, "T": 9, "largest_loss": 9.0, "gap": 0.0, "bound": 3.0}
    rows = [
        {**row, "active": active, "margin_bound": bound, "cumulative_loss": 2.0, "share_of_printed": 3.0 / bound}
        for active, bound in (("margin", 30.0), ("misordered", 3.0))
    ]
    above = [rows[0], {**rows[1], "cumulative_loss": 3.5}]
    assert "within both bounds in all 1 runs" in page(tmp_path, {"slam-lengths": rows})
    assert "exceeds a bound in 1 of 1 runs" in page(tmp_path, {"slam-lengths": above})


SENTENCES = [
    {"claim": claim, "kind": "ndcg", "m": 3, "n": 10, "statistic": statistic, "value": value}
    for claim, statistic, value in (
        ("slam-mistakes", "smallest_lead", 0.0),
        ("slam-prediction", "as_printed", 29.0),
        ("slam-prediction", "with_own_documents", 0.0),
        ("slam-thm3-exchanges", "excess_over_exchanges", 0.33),
        ("slam-thm3-exchanges", "excess_over_weights", 0.0),
    )
]
DIMENSIONS = [
    {"claim": "slam-thm10", "kind": None, "m": 3, "y_max": None, "d": 2, "statistic": statistic, "value": value}
    for statistic, value in (("dimension", 4.0), ("dimension_to_a_number", 2.0), ("features", 2.0))
]
WEIGHTS = {"m": 3, "relevant": 2, "printed_sum": 0.5, "sum_below": 0.4, "least_sum": 0.4, "largest_excess": 0.08}
TIGHT = {"labels": "2 1 0", "m": 3, "printed_sum": 0.6, "tight_sum": 0.5, "least_sum": 0.5, "smallest_slack": 0.0}
CONSTANTS = {
    "slam-constants": [
        {"surrogate": "ranksvm", "m": m, "y_max": 1, "exact": m**2 / 2, "searched": m**2 / 2, "published": "O(m)"}
        for m in (10, 100)
    ],
    "slam-growth": [{"surrogate": "ranksvm", "exponent": 2.0, "searched_exponent": 2.0}],
    "slam-losses": [
        {"claim": "slam-normalisation", "kind": "ndcg", "m": 3, "y_max": 1, "statistic": statistic, "value": value}
        for statistic, value in (("smallest_slack", 0.0), ("slack_of_divided_loss", -0.8), ("largest_norm", 1.0))
    ],
}
CUTOFFS = [{"k": k, "v_max": v, "v_max_limit": v, "added_by_doubling": 3.0} for k, v in ((3, 6.0), (7, 9.0))]


@pytest.mark.parametrize(
    ("tables", "refuted", "said"),
    [
        ({"slam-sentences": SENTENCES}, "mistakes", "Equal scores are enough"),
        ({"slam-sentences": SENTENCES}, "prediction", "differs in up to 29 rounds"),
        ({"slam-sentences": SENTENCES}, "thm3-exchanges", "exceed this by up to 0.33"),
        ({"slam-losses": DIMENSIONS}, "thm10-scores", "contradicts it in 1 of 1 cases"),
        ({"slam-valid-weights": [{**WEIGHTS, "kind": "map"}]}, "eq8", "by up to 0.080"),
        ({"slam-cutoffs": CUTOFFS}, "variance-k", "by 3 for labels up to 2"),
        (CONSTANTS, "ranksvm", "grows with the exponent 2.00, and is 5,000"),
    ],
)
def test_a_refuted_sentence_is_called_one_with_its_number(
    tmp_path: Path, tables: Tables, refuted: str, said: str
) -> None:
    assert said in page(tmp_path, tables, **{refuted: "refuted"}).replace("</math> ", "</math>")
    assert said not in page(tmp_path, tables)


def test_what_dividing_by_the_order_of_m_does_is_computed(tmp_path: Path) -> None:
    def said(divided: float) -> str:
        losses = [
            {**row, "value": divided} if row["statistic"] == "slack_of_divided_loss" else row
            for row in CONSTANTS["slam-losses"]
        ]
        return wording(build(tmp_path, "slam", {**CONSTANTS, "slam-losses": losses}))

    assert "−0.80 if the whole loss is divided" in page(tmp_path, CONSTANTS)
    assert said(-0.8) != said(0.1)


@pytest.mark.parametrize(
    ("tables", "verified"),
    [
        ({"slam-valid-weights": [{**WEIGHTS, "kind": kind} for kind in ("map", "ndcg")]}, "thm2-tight"),
        ({"slam-cutoffs": CUTOFFS}, "variance-k-corrected"),
        ({"slam-losses": DIMENSIONS}, "thm10-scores-corrected"),
        (CONSTANTS, "cor9-table"),
    ],
)
def test_what_holds_is_said_only_where_it_is_verified(tmp_path: Path, tables: Tables, verified: str) -> None:
    others = {"variance-k": "refuted"} if "variance" in verified else {}
    words = [
        wording(build(tmp_path, "slam", tables, {f"slam-{name}": one for name, one in statuses.items()}))
        for statuses in (others, {**others, verified: "consistent"})
    ]
    assert words[0] != words[1]

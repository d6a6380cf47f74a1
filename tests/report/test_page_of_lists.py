"""Does the page of lists show the numbers of its tables?"""

from pathlib import Path
from typing import Any

import pytest
from page_of_paper import Build, builder, figures, raw

from pipeline_lib.papers.lists.grid import summary
from pipeline_lib.papers.lists.lengths import experiment as lengths
from tests.papers.jobs import tables as tables_of
from tests.papers.lists.samples import made_row
from tests.small_settings import small

LISTNET = [{"name": "listnet", "surrogate": "listnet", "options": {}}]
SETTINGS = small("lists", "grid", documents_at_most=480, realisable_lengths=[3, 6], losses=LISTNET)


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return builder(tmp_path, "lists")


def study(growth: float, certified: float | None = None) -> dict[str, list[dict[str, Any]]]:
    """Tables of a grid on which gaps are m^growth / sqrt(n)."""
    rows = [
        made_row(
            "listnet",
            m,
            n,
            repetition,
            learner,
            growth,
            population=kind,
            risk_error=0.005 if learner == "worst" else 0.001,
            excess_error=0.0001,
            optimal_risk_error=0.00001,
            optimal_risk=0.1 if kind == "noisy" else 0.0,
            certified_gap=certified,
        )
        for kind, lengths in (("noisy", SETTINGS.lengths), ("realisable", SETTINGS.realisable_lengths))
        for m in lengths
        for n in SETTINGS.queries
        for repetition in range(3)
        for learner in ("erm", "worst", "rerm", "ogd", "smooth-ogd")
    ]
    return tables_of(summary.joined(SETTINGS, rows))


def test_the_powers_of_the_gaps_are_those_of_the_table(build: Build) -> None:
    [of_m, of_n] = raw(build(study(0.5)), "lists-exponents")
    assert of_m[1] == pytest.approx(0.5)
    assert of_n[1] == pytest.approx(-0.5)


def test_printed_constants_are_compared_with_the_exact_ones(build: Build) -> None:
    row = {"part": "all", "m": 5, "y_max": 1, "sigma": 1.0, "stated": 2.0, "searched": 0.5, "exact": 0.5}
    rows = [
        {**row, "surrogate": loss, "constant": constant}
        for loss, constants in (("listnet", ("smoothness", "lipschitz-l2")), ("smooth-dcg", ("lipschitz-linf",)))
        for constant in constants
    ]
    [figure] = figures(build({"lists-constants": rows}))
    assert figure.name == "lists-printed-constants"
    assert len(figure.draw().axes[0].get_yticklabels()) == 3


def test_standard_errors_are_shares_of_the_risk(build: Build) -> None:
    for name, m, risk, best, trained, worst in raw(build(study(-0.2, certified=5e-5)), "lists-accuracy"):
        smallest = 0.5 + m**-0.2 * max(SETTINGS.queries) ** -0.5
        assert (name, risk, best) == ("listnet", 0.1, pytest.approx(1e-4))
        assert (trained, worst) == (pytest.approx(0.001 / smallest), pytest.approx(0.005 / smallest))


def test_closed_forms_are_compared_with_their_integrals(build: Build) -> None:
    compared = {"corollary": 8, "radius": 1.0, "n": 100, "m": 5, "loss_bound": 7.0, "integral": 25.0, "alpha": 1.0}
    compared |= {"cut_integral": 23.0}
    above = build({"lists-closed-forms": [{**compared, "closed_form": 26.0}]})
    assert raw(above, "lists-closed-forms") == [[1.0, "1.04 1.04"]]


def test_the_largest_of_the_repetitions_with_many_features_are_shown(build: Build) -> None:
    rows = [
        {"d": d, "n": 50, "m": 8, "repetition": repetition, "learner": learner, "empirical": 0.1, "risk": 0.1 + gap}
        | {"risk_error": 0.01, "gap": gap * (1 + repetition), "excess": 0.01 * (repetition - (d > 10)), "bound": 60.0}
        | {"excess_error": 0.001, "certified_gap": 1e-4, "best_certified_gap": 1e-7, "excess_bound": 61.0}
        | {"loss_bound": 7.0}
        for d in (10, 100)
        for repetition in (0, 1)
        for learner, gap in (("erm", 0.1), ("worst", 0.3))
    ]
    section = build({"lists-sparse": rows})
    assert raw(section, "lists-sparse") == [[10, 0.2, 0.6, 60.0, 0.01, 61.0], [100, 0.2, 0.6, 60.0, 0.0, 61.0]]
    [figure] = figures(section)
    figure.draw()


def test_constants_by_search_stand_beside_the_stated_ones(build: Build) -> None:
    row = {"part": "all", "surrogate": "listnet", "m": 5, "y_max": 1, "constant": "lipschitz-linf", "stated": 2.0}
    exceeded = build({"lists-constants": [{**row, "searched": 2.5}]})
    assert raw(exceeded, "lists-constants") == [["stated", 2.0], ["by search", 2.5]]


def test_the_part_on_lengths_has_the_numbers_of_its_tables(build: Build) -> None:
    settings = small("lists", "lengths", scores=[1.0], queries=[1000])
    nearest = {"case": "ranksvm", "radius": 0.5, "m": 2, "d": 1, "n": 100, "gap": 0.1}
    slack = [{**nearest, "statement": f"theorem {k}", "printed": 4.0 * k, "largest_gap": 50.0} for k in (12, 9)]
    measured = [*lengths.bounds(settings), *lengths.gaps(settings), *lengths.highest_document(settings)]
    section = build({**tables_of(measured), "lists-slack": slack})
    assert [row[-1] for row in raw(section, "lists-slack")] == pytest.approx([360.0, 480.0])
    assert [figure.name for figure in figures(section)] == ["lists-lengths", "lists-free"]

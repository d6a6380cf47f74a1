"""Are converged cones, leaving out queries, and failures of Theorem 1 measured as they are defined?"""

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.claims import kinds
from pipeline_lib.data.rows import Row
from pipeline_lib.learners import cone
from pipeline_lib.papers.cone.kinds import worst_change
from pipeline_lib.papers.cone.leave_out import experiment as leave_out
from pipeline_lib.papers.cone.leave_out import failures, tradeoff
from pipeline_lib.papers.cone.leave_out.failures import TWINS
from pipeline_lib.theory import stability
from tests import readings
from tests.papers.jobs import tables
from tests.small_settings import small


def test_converged_cones_fall_as_one_over_p_and_theorem_2_is_nearly_sharp_on_the_line() -> None:
    settings = small("cone", "leave_out", queries=[100, 300, 1000])
    rows = list(leave_out.left_out(settings, 3))
    for row in rows:
        assert row.beta <= row.beta_worst <= row.beta_bound * (1 + 1e-12)
        assert row.risk <= row.gamma
    ratios = {row.population: row.beta_worst / row.beta_bound for row in rows if row.method == "exact"}
    assert ratios["line"] > 0.97 > ratios["random"]
    slopes = {(row.population, row.method): row.slope.value for row in leave_out.exponents(rows)}
    assert slopes["line", "exact"] == pytest.approx(-1.0, abs=0.02)
    assert slopes["random", "exact"] == pytest.approx(-1.0, abs=0.2)
    assert slopes["random", "constant-step"] > slopes["random", "exact"] + 0.2
    found: list[Row] = [*rows, *leave_out.exponents(rows), *leave_out.tails(settings), *map(leave_out.twins, TWINS[:4])]
    read = tables(found)
    # Two populations, three P and two repetitions; one cell of tails, four kinds of twins, and the largest gap.
    counts = [len(readings.trials(claim, read)) for claim in ("cone-thm1", "cone-thm2", "cone-smax")]
    assert counts == [12 + 1 + 4 + 1, 12, 2]


def test_the_worst_change_of_one_basis_vector_has_a_closed_form() -> None:
    # | ||u||^2 - ||v||^2 | + 2 rho ||u - v||, at z = -+ rho (u - v) / ||u - v||.
    u, v = np.array([[0.6], [0.2]]), np.array([[0.5], [0.4]])
    change = abs(0.40 - 0.41) + 2 * 0.8 * np.sqrt(0.01 + 0.04)
    assert worst_change(u, v, 0.8, (1,)) == pytest.approx(change)


def _without_beta(empirical_risk: float, beta: float, gamma: float, P: int, epsilon: float) -> float:
    return empirical_risk + gamma * math.sqrt(-math.log(epsilon) / (2.0 * P))


def _mean_change(data: RankingData, whole: Any, others: Any, problem: cone.Problem) -> float:
    pairs = zip(whole, others, strict=True)
    found = [np.abs(cone.pair_losses(data, a, problem) - cone.pair_losses(data, b, problem)).mean() for a, b in pairs]
    return float(np.mean(found))


@pytest.mark.parametrize(
    ("modules", "name", "error"),
    [
        ([stability], "risk_bound", _without_beta),
        ([leave_out, failures], "largest_change", _mean_change),
        ([], "", None),
    ],
)
def test_theorem_1_is_refuted_without_beta_and_with_its_mean(
    modules: list[Any], name: str, error: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in modules:
        monkeypatch.setattr(module, name, error)
    settings = small("cone", "leave_out", queries=[30, 100, 300])
    found = [*leave_out.left_out(settings, 3), *leave_out.tails(settings), *map(leave_out.twins, TWINS[3:5])]
    read = tables(found)
    [claim] = [one for one in readings.ledger_of_claims() if one.id == "cone-thm1"]
    verdict = kinds.judge(claim.checks, readings.trials("cone-thm1", read))
    assert verdict.status == ("verified" if error is None else "refuted")
    if error is None:
        judgement = readings.judged("cone-thm1", read, settings.plain(), tmp_path)
        assert judgement.severity is not None
        caught = {plant.name for plant in judgement.severity.planted if plant.caught}
        assert caught >= {"no-beta", "no-twice-beta", "mean-beta"}


def test_samples_count_as_often_as_they_are_drawn() -> None:
    high = Fraction(3, 2)
    samples = [one for one in itertools.product((1, 2), repeat=6) if 2 <= one.count(1) <= 4]
    empirical = expected = Fraction(0)
    for sample in samples:
        u = tradeoff.best(sample.count(1), sample.count(2), high)
        empirical += sum(tradeoff.loss(z, u, high) for z in sample) / 6
        expected += sum(tradeoff.loss(z, u, high) for z in (1, 2)) / 2
    found = tradeoff.of_all_samples(6, high)
    assert found["mean_empirical_risk"] == empirical / len(samples)
    assert found["mean_risk"] == expected / len(samples)

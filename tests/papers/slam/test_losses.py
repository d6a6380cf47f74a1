"""SLAM's claims on small settings, and the pieces they are made of."""

import math

import numpy as np
import pytest

from pipeline_lib import surrogates
from pipeline_lib.claims.trials import Trial
from pipeline_lib.data.ranking_data import RankingData
from pipeline_lib.data.rows import Row
from pipeline_lib.papers.slam import wrong_weights
from pipeline_lib.papers.slam.losses import experiment as losses
from pipeline_lib.papers.slam.ranking_losses import largest_losses
from tests import readings
from tests.papers.jobs import Given, of, tables
from tests.samples import unrelated
from tests.small_settings import small

CLAIMS = [
    *("slam-thm2", "slam-thm2-tight", "slam-thm3", "slam-cor7-weights", "slam-eq30", "slam-weight-sums"),
    *("slam-grad-l1", "slam-cor9-table", "slam-thm10", "slam-thm10-scores", "slam-eq8", "slam-ndcg-not-optimal"),
    *("slam-ranksvm", "slam-ranksvm-corrected", "slam-normalisation"),
]


def found_on(data: dict[str, RankingData]) -> list[Row]:
    return list(losses.measure(Given(small("slam", "losses", lists=100, descent_rounds=5), 1, data=data)))


def trials(rows: list[Row], claim: str) -> list[Trial]:
    return readings.trials(claim, tables(rows))


def values(rows: list[Row], claim: str, name: str) -> list[float]:
    return [trial.values[name] for trial in trials(rows, claim) if name in trial.values]  # type: ignore[misc]


def test_every_claim_gets_evidence() -> None:
    found = found_on({"toy": unrelated(3, 10)})
    assert all(trials(found, claim) for claim in CLAIMS)
    assert found == found_on({"toy": unrelated(3, 10)})
    for claim in ("slam-thm2", "slam-thm3", "slam-cor7-weights"):
        assert min(values(found, claim, "smallest_slack")) >= -1e-12
    assert values(found, "slam-thm10-scores", "dimension") == [2 * d for d in (1, 2, 3)] * 3
    assert values(found, "slam-thm10", "dimension_to_a_number") == [1, 2, 3] * 3
    assert max(values(found, "slam-cor9-table", "searched_over_exact")) <= 1.0 + 1e-12
    assert values(found, "slam-ranksvm", "growth") == [pytest.approx(2.0)]
    # On two documents in the wrong order the gradient of the divided map is (-1, 1) 2 / m^2; ||.||_1 <= 1 for all m.
    norms = values(found, "slam-normalisation-corrected", "largest_norm")
    assert norms[0] == pytest.approx(1.0)
    assert all(0.5 < norm <= 1.0 + 1e-12 for norm in norms)
    settings = [trial.setting for trial in trials(found, "slam-grad-l1")]
    assert {setting["inputs"] for setting in settings} == {"random and adversarial", "toy"}
    searched = [row.searched for row in of(losses.Constant, found) if row.surrogate == "ranksvm"]
    [growth] = [row for row in of(losses.Growth, found) if row.surrogate == "ranksvm"]
    assert growth.searched_exponent == pytest.approx(np.polyfit(np.log([4, 8, 16]), np.log(searched), 1)[0])


def test_a_broken_bound_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "_loss", lambda kind: surrogates.create(f"slam-{kind}", margin=0.9))
    found = found_on({})
    assert min(values(found, "slam-thm3", "smallest_slack")) < -0.01


def test_ties_go_to_the_less_relevant_document() -> None:
    scores, y = np.zeros((1, 3)), np.array([[2, 1, 0]], np.int32)
    ideal = 3 + 1 / math.log2(3)
    assert largest_losses("ndcg", scores, y)[0] == pytest.approx(1 - (1 / math.log2(3) + 3 / 2) / ideal)
    assert largest_losses("map", scores, y)[0] == pytest.approx(1 - (1 / 2 + 2 / 3) / 2)


def test_the_sum_over_documents_is_not_bounded() -> None:
    # Two relevant documents, k = 1: the second on top costs nothing at rank 1, but the sum over documents loses.
    scores, y = np.array([[3.0, 5.0, 0.0]]), np.array([[1, 1, 0]], np.int32)
    assert largest_losses("ndcg@1", scores, y)[0] == 0.0
    assert losses.loss_as_printed("ndcg@1", scores, y)[0] == pytest.approx(1 - 1 / math.log2(3))
    assert surrogates.create("slam-ndcg@1").value(scores[0], y[0], [0, 3])[0] == 0.0


def test_staircases_are_tight_in_the_limit() -> None:
    gaps = [losses.largest_staircase_gap(6, hair)["largest_gap_in_the_limit"] for hair in (1e-2, 1e-4, 1e-6)]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == pytest.approx(gaps[0] * 1e-4, rel=1e-3)


@pytest.mark.parametrize("kind", ["ndcg", "map", "ndcg@2"])
def test_errors_of_weights_are_those_named(kind: str) -> None:
    y = np.array([[2, 1, 1, 0]], np.int32)
    D, G = [1 / math.log2(i + 1) for i in range(1, 6)], [3, 1, 1, 0]
    Z = sum(g * d for g, d in zip(G[:2] if "@" in kind else G, D, strict=False))
    plain = {
        "map": [1 / 3 - i / (3 * (1 + i)) for i in (2, 3, 4)] + [0],
        "ndcg": [g * (D[i + 1] - D[3]) / Z for i, g in enumerate(G)],
        "ndcg@2": [3 * D[1] / Z, D[2] / Z, 0, 0],
    }[kind]
    found = wrong_weights.wrong(y, kind)
    assert found["one_rank_off"][0] == pytest.approx(plain)
    if kind != "map":
        sharp = sum(g / i for i, g in enumerate(G[:2] if "@" in kind else G, 1))
        assert found["other_normaliser"][0] == pytest.approx(wrong_weights.right(y, kind)[0] * Z / sharp)


def test_one_rank_off_in_a_list_as_long_as_the_cutoff() -> None:
    # All are counted, so that the last document gets the discount of rank 3, which the list does not have.
    [found] = wrong_weights.wrong(np.array([[2, 1]], np.int32), "ndcg@2")["one_rank_off"]
    Z = 3 + 1 / math.log2(3)
    assert found == pytest.approx([3 / math.log2(3) / Z, 1 / 2 / Z])


def test_hinges_by_hand() -> None:
    scores, y = np.array([[0.0, 1.0, 3.0, -9.0]]), np.array([[2, 1, 0, 0]], np.int32)
    assert wrong_weights.hinges(scores, y).tolist() == [[4.0, 3.0, 0.0, 0.0]]

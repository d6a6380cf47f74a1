"""Sentences and steps of proofs of slam, in numbers."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.slam.sentences import experiment as sentences
from tests.papers.jobs import tables
from tests.readings import decided
from tests.small_settings import small

SMALL = small("slam", "sentences")


@pytest.fixture(scope="module")
def said() -> dict[str, list[dict[str, Any]]]:
    return tables(sentences.measure(Job(SMALL, 6)))


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        ("slam-largest-weight", "verified"),
        ("slam-mistakes-corrected", "verified"),
        ("slam-prediction-corrected", "verified"),
        ("slam-thm3-exchanges", "refuted"),
        ("slam-thm3-exchanges-corrected", "verified"),
        ("slam-norm-1-2", "verified"),
        ("slam-chapelle-wu", "verified"),
        ("slam-eq26", "inconclusive"),
    ],
)
def test_sentences_are_judged(said: dict[str, list[dict[str, Any]]], claim: str, status: str, tmp_path: Path) -> None:
    assert decided(claim, said, SMALL.plain(), tmp_path) == (status, [])


def test_the_excess_of_a_quadratic_is_that_of_simulated_samples() -> None:
    n, l2, mean = 50, 0.5, 0.5
    signs = np.where(np.random.default_rng(0).random((20_000, n)) < (1 + mean) / 2, 1.0, -1.0)
    w, best = signs.mean(axis=1) / l2, mean / l2
    excess = l2 / 2 * (w**2 - best**2) - mean * (w - best)
    assert sentences.strongly_convex(n)["excess"] == pytest.approx(excess.mean(), rel=0.05)


def test_the_witness_of_the_exchanges_is_among_the_lists() -> None:
    D = [1 / math.log2(i + 1) for i in (1, 2, 3)]
    excess = (D[0] - D[2] - (D[1] - D[2])) / (D[0] + D[1])  # labels (1, 1, 0), ranking 3, 1, 2
    assert sentences.exchanges(3, 1)["excess_over_exchanges"] == pytest.approx(excess)

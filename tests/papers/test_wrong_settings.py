"""Are settings refused with which an experiment would measure nothing, or not what it is meant to?"""

from typing import Any

import pytest

from pipeline_lib.core.errors import ConfigurationError
from tests.small_settings import small

LISTNET = {"name": "listnet", "surrogate": "listnet"}


@pytest.mark.parametrize(
    ("experiment", "wrong", "said"),
    [
        ("cone.bases", {"methods": ["newton"]}, "methods"),
        ("cone.bases", {"components": []}, "components"),
        ("cone.cones", {"passes": 1}, "passes"),
        ("cone.cones", {"small_fold_steps": 200}, "small_fold_steps"),
        ("cone.geometry", {"differences": 2}, "differences"),
        ("cone.leave_out", {"queries": [10, 20]}, "queries"),
        ("cone.leave_out", {"tail_epsilons": [1.0]}, "tail_epsilons"),
        ("lists.exact", {"lengths": [2, 3, 10]}, "lengths"),
        ("lists.exact", {"queries": [100, 1000]}, "queries"),
        ("lists.exact", {"delta": 0.5}, "delta"),
        ("lists.exact", {"features": [1, 10, 100]}, "features"),
        ("lists.grid", {"tol": 0.2}, "tol"),
        ("lists.grid", {"populations": {"noise": {}}}, r"populations: unknown key 'noise'; .*'noisy'"),
        ("lists.grid", {"realisable_losses": ["lisnet"]}, r"realisable_losses: .*'lisnet'; .*'listnet'"),
        ("lists.grid", {"best_ranker_documents": 599}, "best_ranker_documents"),
        ("lists.grid", {"losses": [LISTNET, LISTNET]}, "losses"),
        ("lists.grid", {"losses": [{**LISTNET, "surrogate": "lisnet"}]}, r"losses\[0\]\.surrogate: .*'listnet'"),
        ("lists.grid", {"losses": [{"surrogate": "listnet"}]}, r"losses\[0\]: .*'name'"),
        ("lists.sparse", {"features": [2, 5, 50]}, "features"),
        ("lists.sparse", {"held_out_queries": 80}, "held_out_queries"),
        ("slam.perceptron", {"measures": ["map", "ndcg@3"]}, "expected ndcg among them"),
        ("slam.perceptron", {"measures": ["map", "ndcg"]}, "expected ndcg@K among them"),
        ("twolayer.extremes", {"deltas": [0.01, 0.3]}, "falling"),
        ("twolayer.extremes", {"share": 0.5}, "share"),
        ("twolayer.extremes", {"sizes": [2, 20]}, "sizes"),
        ("twolayer.gaps", {"more_queries": [8, 16]}, "more_queries: expected numbers above 8"),
        ("twolayer.gaps", {"losses": ["hing"]}, "losses.0.: expected 'hinge'"),
        ("twolayer.gaps", {"queries": [4], "more_queries": [16]}, "expected three numbers together with queries"),
        ("twolayer.gaps", {"documents": [2], "more_documents": [8]}, "expected three numbers together with"),
        ("twolayer.rates", {"delta": 0.001}, "repetitions: expected at least 3688 for delta = 0.001, found 100"),
        ("lists.exact", {"delta": 0.005}, "draws: expected at least 736 for delta = 0.005, found 400"),
        ("lists.exact", {"delta": 0.02, "sparse_draws": 100}, "sparse_draws: expected at least 183"),
        ("twolayer.rates", {"budgets": [20], "tried": [2, 16]}, "tried: expected at most half the budget 20, found 16"),
        ("twolayer.rates", {"budgets": [20], "planned_documents": [2, 16]}, "planned_documents: .*half the budget 20"),
        ("twolayer.tradeoff", {"budgets": [13]}, "expected 2, 6 and a divisor between them for the budget 13"),
        ("twolayer.tradeoff", {"documents": [2, 6]}, "a divisor between"),
        ("twolayer.tradeoff", {"documents": [3, 4, 6]}, "expected 2, 6"),
    ],
)
def test_settings_that_measure_nothing_are_refused(experiment: str, wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        small(*experiment.split("."), **wrong)

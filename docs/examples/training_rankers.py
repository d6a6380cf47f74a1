"""Which loss trains the best ranker?

Rankers that minimise different surrogates are trained on the same 100 queries, and compared on 300 others. Intervals of
the means overlap, but the comparison goes query by query, and finds smaller differences.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import RankingData, evaluation, learners

rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 10))
y = np.digitize(X @ np.linspace(1, 0, 10) + 2 * rng.normal(size=4000), [1.0, 3.0])
data = RankingData.from_arrays(X, y, np.repeat(np.arange(400), 10))
train, test = data.take(range(100)), data.take(range(100, 400))
settings = {name: {"surrogate": name, "l2": 0.01} for name in ("listnet", "ranksvm", "squared")}
rankers = {name: learners.create("erm", **given).fit(train) for name, given in settings.items()}
found = evaluation.compare({name: (ranker, test) for name, ranker in rankers.items()})
plt.errorbar(found.mean, list(rankers), xerr=[found.mean - found.mean_low, found.mean_high - found.mean], fmt="o")
plt.xlabel(f"NDCG@10, joint 95 % intervals; {found.significant.sum()} of 3 pairs differ")

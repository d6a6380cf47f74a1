"""What do equal scores hide?

A run whose scores are rounded leaves the order of many documents open. A program that puts them in some order
may report anything between the ends of the bars, beside which the mean over all orders moves little.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import metrics

rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 2000)
scores, offsets = labels + rng.normal(size=2000), np.arange(0, 2001, 20)
steps = [0.01, 0.1, 0.2, 0.5, 1.0, 2.0]
mean, worst, best = (
    np.array([metrics.ndcg(np.round(scores / s), labels, offsets, 10, ties=ties).mean() for s in steps])
    for ties in ("mean", "worst", "best")
)
plt.errorbar([str(s) for s in steps], mean, yerr=[mean - worst, best - mean], fmt="o", capsize=4)
plt.xlabel("scores are rounded to multiples of")
plt.ylabel("NDCG@10")

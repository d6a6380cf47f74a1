"""How many queries must be judged?

A pilot of 60 queries says how many it takes until the difference of two runs is known to a given width. The line is
what a plan promises; the dashes are what it would be if the pilot's standard deviation were the true one.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import evaluation

rng = np.random.default_rng(0)
qrels = {f"q{q}": {f"d{j}": int(rng.integers(0, 3)) for j in range(20)} for q in range(60)}
runs = {
    name: {query: {d: y + rng.normal() for d, y in labels.items()} for query, labels in qrels.items()}
    for name in ("old", "new")
}
plan = evaluation.plan_labels(runs, qrels, within=0.01)
queries, promised, estimated = zip(*plan.widths("old - new"), strict=True)
plt.loglog(queries, promised, label="promised")
plt.loglog(queries, estimated, "--", label="with the pilot's standard deviation")
plt.axhline(0.01, color="0.4")
plt.xlabel("judged queries")
plt.ylabel("half-width of the 95 % interval")
plt.legend()

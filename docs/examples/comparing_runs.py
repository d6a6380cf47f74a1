"""Which run is better?

Four runs are compared on the same 100 queries. Intervals of the six differences hold jointly, and those that do not
reach 0 are significant. C and D are equally noisy and differ by chance alone.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import evaluation

rng = np.random.default_rng(1)
qrels = {f"q{q}": {f"d{j}": int(rng.integers(0, 3)) for j in range(20)} for q in range(100)}
runs = {
    name: {query: {d: y + noise * rng.normal() for d, y in labels.items()} for query, labels in qrels.items()}
    for name, noise in {"A": 1.0, "B": 1.4, "C": 2.0, "D": 2.0}.items()
}
found = evaluation.compare(runs, qrels)
pairs = [f"{a} - {b}" for a, b in found.names]
plt.errorbar(found.difference, pairs, xerr=[found.difference - found.low, found.high - found.difference], fmt="o")
plt.axvline(0.0, color="0.4")
plt.xlabel("difference of NDCG@10, with joint 95 % intervals")

"""How good is a run at least?

The more queries were judged, the closer is the certified limit to the measured value. Hoeffding's limit, which holds as
certainly, takes no account of how little the values vary.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import evaluation

rng = np.random.default_rng(0)
qrels = {f"q{q}": {f"d{j}": int(rng.integers(0, 3)) for j in range(20)} for q in range(1000)}
run = {query: {d: y + rng.normal() for d, y in labels.items()} for query, labels in qrels.items()}
sizes = [20, 50, 100, 200, 500, 1000]
found = [evaluation.certify(run, dict(list(qrels.items())[:n])) for n in sizes]
plt.semilogx(sizes, [one.mean[0] for one in found], "o-", label="measured")
plt.semilogx(sizes, [one.lower[0] for one in found], "s-", label="certified")
plt.semilogx(sizes, [one.hoeffding[0] for one in found], "^-", label="Hoeffding's limit")
plt.xlabel("judged queries")
plt.ylabel("NDCG@10, at least")
plt.legend()

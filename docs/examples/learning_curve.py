"""How fast does a ranker learn?

On few training queries, NDCG@10 is far above that on new queries, which the ranker does not know; with 100 and more,
the two are nearly the same. It is one draw of the data.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import RankingData, learners, metrics

rng = np.random.default_rng(0)
X = rng.normal(size=(10_000, 20))
y = np.digitize(X @ np.linspace(1, 0, 20) + 2 * rng.normal(size=10_000), [1.0, 3.0])
data = RankingData.from_arrays(X, y, np.repeat(np.arange(1000), 10))
sizes = [5, 10, 20, 50, 100, 200, 500]
rankers = [learners.create("erm", surrogate="listnet", l2=1e-3).fit(data.take(range(n))) for n in sizes]
for name, part in {"training": range(5), "new": range(500, 1000)}.items():
    parts = [data.take(part if name == "new" else range(n)) for n in sizes]
    values = [
        metrics.ndcg(ranker.predict(p), p.y, p.offsets, 10).mean() for ranker, p in zip(rankers, parts, strict=True)
    ]
    plt.semilogx(sizes, values, "o-", label=f"{name} queries")
plt.xlabel("training queries")
plt.ylabel("NDCG@10")
plt.legend()

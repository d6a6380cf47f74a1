"""What makes a result worthless?

A feature that was computed from clicks after the labels were known orders every list without an error. The doctor names
it, beside defects with smaller effects, and says how much NDCG@10 each is worth.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import RankingData, evaluation

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 4))
y = np.digitize(X[:, 0] + rng.normal(size=3000), [0.5, 1.5])
X[:, 1], X[:, 2] = y + 0.1 * rng.random(3000), 7.0
data = RankingData.from_arrays(X, y, np.repeat(np.arange(300), 10))
found = evaluation.doctor(data)
print(found)
for one in reversed(found.found):
    plt.plot([one.as_is, one.mended], [one.check] * 2, "o-")
plt.axvline(found.equal, color="0.4", linestyle=":", label="equal scores")
plt.xlabel("NDCG@10 with the defect, and without it")
plt.legend()

"""Many queries, or many documents for each?

A budget of 2,000 judgements can be spent on many queries with few documents or the reverse. The mean of a loss of
pairs is most precise in between, at a depth that depends on three variances: between queries, documents and pairs.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib.theory import two_layer_rates

depths = np.arange(2, 101)
for queries, documents in ((0.02, 0.01), (0.002, 0.01), (0.02, 0.08)):
    variances = two_layer_rates.Variances(queries, documents, 0.2)
    error = np.sqrt(variances.of_average(depths) / (2000 / depths))
    best = two_layer_rates.best_depth(variances)
    plt.loglog(depths, error, label=f"queries {queries}, documents {documents}: best at {best:.1f}")
plt.xlabel("judged documents of each query")
plt.ylabel("standard error")
plt.ylim(top=0.1)
plt.legend(title="variances between", loc="upper left")

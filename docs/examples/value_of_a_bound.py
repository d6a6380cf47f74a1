"""When does a bound say something?

The generalization bound of the paper `lists` for ListNet, by the number of training queries: as long as it is above the
largest loss, it says nothing.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import surrogates
from pipeline_lib.theory import list_bounds

given = {"m": 20, "radius": 1.0, "feature_norm": 1.0}
given |= list_bounds.of_surrogate("erm", surrogates.create("listnet"), y_max=2, **given)
sizes = np.geomspace(100, 1e7, 26).astype(int)
found = [list_bounds.assess("erm", n=int(n), delta=0.05, **given) for n in sizes]
plt.loglog(sizes, [one.value for one in found], label="bound")
plt.axhline(found[0].loss_bound, color="0.4", label="largest loss")
plt.axvline(found[0].not_vacuous_from, color="0.4", linestyle=":", label="not vacuous from here on")
plt.xlabel("training queries")
plt.ylabel("bound on the risk")
plt.legend()

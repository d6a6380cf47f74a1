"""What do surrogates look like?

The loss of two documents, of which the first is relevant, by the difference of their scores. All fall where the right
order becomes clear; those that are not convex do not rise without limit where it is wrong.
"""

import numpy as np
from matplotlib import pyplot as plt

from pipeline_lib import surrogates

differences = np.linspace(-4, 4, 81)
for name in ("ranksvm", "ranknet", "rankboost", "listnet", "smooth-dcg"):
    loss = surrogates.create(name)
    values = [loss.value([s, 0.0], [1, 0], [0, 2])[0] for s in differences]
    plt.plot(differences, values, label=name)
plt.ylim(-1.2, 6)
plt.xlabel("score of the relevant document less that of the other")
plt.ylabel("loss")
plt.legend()

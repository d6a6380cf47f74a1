"""What do surrogates look like?

The loss of two documents, of which the first is relevant, by the difference of their scores. Convex losses rise
without limit where the order is wrong, and SmoothDCG does not. ListNet's rises beyond a difference of 1 as well: it
asks for differences of scores like those of the labels, and not for their order alone.
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

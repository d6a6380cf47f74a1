"""Which types of arrays do functions take and return?"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Numbers of any shape."""

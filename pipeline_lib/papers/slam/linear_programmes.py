"""What is the least value of a linear programme over numbers that are not negative?"""

from scipy.optimize import linprog

from pipeline_lib.core.arrays import Floats


def least(costs: Floats, rows: Floats, sides: Floats, above: Floats | None = None) -> float:
    """The least <costs, v> with rows v >= sides and v >= 0, and v <= above where that is given.

    Raises
    ------
    RuntimeError
        When the solver finds no optimum.

    Example
    -------
    >>> import numpy as np
    >>> least(np.ones(2), np.eye(2), np.array([0.5, -1.0]))
    0.5
    """
    limits = [(0.0, None if above is None else above[i]) for i in range(len(costs))]
    solution = linprog(costs, A_ub=-rows, b_ub=-sides, bounds=limits)
    if solution.status != 0 or solution.fun is None:
        raise RuntimeError(f"linprog: expected an optimum of a bounded programme, found {solution.message}")
    return float(solution.fun)

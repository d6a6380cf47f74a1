"""Which random numbers belong to each part of a study?

A generator is seeded by a stable hash of the experiment's axes (the study's seed, the data set, the fold, the
repetition, ...), never by the order in which jobs run. The same configuration therefore gives the same numbers on
any number of cores, and two different places never share a stream.
"""

from __future__ import annotations

import hashlib
import json

import numpy as np

Axis = str | int | float | bool | None


def seed(*axes: Axis) -> int:
    """Hash the axes to an integer in [0, 2^128), the same in every process, on every machine, in every version.

    The axes are written as compact JSON, so that ``1`` and ``"1"`` differ, and hashed with SHA-256.

    Raises
    ------
    TypeError
        When an axis is not a plain string, number, boolean or None: nothing else has a stable form as text.

    Example
    -------
    >>> seed(20261, "letor-sim", 1) == seed(20261, "letor-sim", 1) != seed(20261, "letor-sim", "1")
    True
    """
    for axis in axes:
        if not (axis is None or isinstance(axis, str | int | float)):
            raise TypeError(f"an axis of a seed is a plain string, number, boolean or None, not {axis!r}")
    text = json.dumps(axes, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:16], "big")


def generator(*axes: Axis) -> np.random.Generator:
    """Make the ``numpy.random.Generator`` that belongs to the axes (PCG64, seeded by :func:`seed`).

    Example
    -------
    >>> bool(generator(1, "a").random() == generator(1, "a").random())
    True
    """
    return np.random.Generator(np.random.PCG64(seed(*axes)))

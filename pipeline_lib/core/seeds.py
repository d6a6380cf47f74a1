"""Which random numbers belong to each part of a study?

A generator is seeded by a stable hash of the experiment's axes (the study's seed, the data set, the fold, the
repetition, ...), never by the order in which jobs run. The same configuration therefore gives the same numbers on
any number of cores, and two different places never share a stream.

A generator also knows what is drawn from it (:data:`Role`), and samples carry this role
(:attr:`pipeline_lib.data.ranking_data.RankingData.role`). Computations that compare a true risk with a training risk
require the role that is right for each, so that none is called true that was measured on training queries. Within a
process, no seed is given to two roles, and populations draw no queries for a role that is not named
(:attr:`Stream.sampled_for`).
"""

import hashlib
import json
from typing import Literal

import numpy as np

from pipeline_lib.core.errors import DataError

Axis = str | int | float | bool | None
Role = Literal["train", "validation", "test", "reference", "truth", "middle", "alone"]
"""What queries are for: training; choosing among rankers; measuring them on a sample of limited size; standing in for
the population in a search, or in a fit of its best ranker; measuring the expected risk; measuring it given the queries
of a training sample, on fresh documents of these; or a study of their own, as of a stream of rounds or of constants on
lists, in which no risk is compared with that on other queries."""

_ROLES: dict[int, Role] = {}
"""The role of every seed that was asked for in one."""


class Stream(np.random.Generator):
    """A generator that knows what is drawn from it; ``role`` is None for what is no sample: orders, starts, signs."""

    role: Role | None = None

    @property
    def sampled_for(self) -> Role:
        """The role of queries that are drawn from this stream.

        Raises
        ------
        DataError
            When nobody said what they are for.

        Example
        -------
        >>> generator(1, "signs").sampled_for  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        pipeline_lib.core.errors.DataError: queries: expected a stream with a role such as "train", or "alone" if ...
        """
        if self.role is None:
            raise DataError(
                'queries: expected a stream with a role such as "train", or "alone" if no risk on them is compared '
                "with that on others; found none"
            )
        return self.role

    def continued(self, role: Role) -> "Stream":
        """The rest of the stream, in another role: numbers are never drawn twice.

        Example
        -------
        >>> first = generator(1, "sample", role="train"); _ = first.random()
        >>> first.continued("middle").role, generator(1, "sample", role="train").random() == first.random()
        ('middle', False)
        """
        return _stream(self.bit_generator, role)


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


def generator(*axes: Axis, role: Role | None = None) -> Stream:
    """Make the generator that belongs to the axes (PCG64, seeded by :func:`seed`), whose samples are for ``role``.

    Raises
    ------
    DataError
        When this process asked for the same axes in another role.

    Example
    -------
    >>> bool(generator(1, "a").random() == generator(1, "a").random())
    True
    >>> generator(1, "held out", role="test").role
    'test'
    >>> generator(1, "held out", role="train")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: stream (1, 'held out'): expected to draw it for test only, found train
    """
    number = seed(*axes)
    if role is not None and _ROLES.setdefault(number, role) != role:
        raise DataError(f"stream {axes}: expected to draw it for {_ROLES[number]} only, found {role}")
    return _stream(np.random.PCG64(number), role)


def required(what: str, found: Role | None, *roles: Role) -> None:
    """Refuse ``what`` unless it was drawn for one of the ``roles``.

    Example
    -------
    >>> required("queries", "train", "test", "truth")
    Traceback (most recent call last):
    ...
    pipeline_lib.core.errors.DataError: queries: expected to be drawn for test or truth, found train
    """
    if found not in roles:
        raise DataError(f"{what}: expected to be drawn for {' or '.join(roles)}, found {found}")


def _stream(bits: np.random.BitGenerator, role: Role | None) -> Stream:
    stream = Stream(bits)
    stream.role = role
    return stream

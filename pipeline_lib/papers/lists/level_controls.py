"""How finely do the levels of queries enter the estimate of a risk, as control variates?

The losses of held-out queries are regressed on Legendre polynomials of the query's level
(:mod:`pipeline_lib.papers.lists.computations.held_out`). Settings ask how many queries that takes.
"""

from __future__ import annotations

POLYNOMIALS = 8
"""Degree up to which a loss is regressed on the level."""
LEAST_QUERIES = 10 * (POLYNOMIALS + 1)
"""So many queries must a sample with levels have: ten for each control."""

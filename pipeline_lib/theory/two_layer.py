"""What are the values of the bounds of `twolayer`, and how is a labelling budget best divided according to them?

This module provides the public names of :mod:`pipeline_lib.theory.two_layer_bounds` and
:mod:`pipeline_lib.theory.labelling_budget`.
"""

from pipeline_lib.theory.labelling_budget import (
    ROUNDING,
    TWO_DOCUMENTS,
    Budget,
    allocation_by_search,
    budget,
    budget_by_search,
    even_bound,
    whole_budget,
)
from pipeline_lib.theory.two_layer_bounds import (
    Bound,
    Complexity,
    Layer,
    bound,
    document_layer,
    informative_from,
    massart,
    pooled_document_layer,
    query_layer,
    sauer_massart,
    vc,
)

__all__ = [
    "ROUNDING",
    "TWO_DOCUMENTS",
    "Bound",
    "Budget",
    "Complexity",
    "Layer",
    "allocation_by_search",
    "bound",
    "budget",
    "budget_by_search",
    "document_layer",
    "even_bound",
    "informative_from",
    "massart",
    "pooled_document_layer",
    "query_layer",
    "sauer_massart",
    "vc",
    "whole_budget",
]

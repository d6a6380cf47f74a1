"""Which papers have a page of their own in the report?

A paper's page is the module ``pipeline_lib/reporting/pages/<paper>.py`` with a function
``build(results: ResultsFolder) -> Section | None``: a section made of building blocks, or ``None`` when the study holds
nothing for it. A page is found by its name; a paper without one is simply not there.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline_lib.reporting.blocks import Section
    from pipeline_lib.reporting.results import ResultsFolder


def build(paper: str, results: ResultsFolder) -> Section | None:
    """Build the page of ``paper``, if it has one and the study holds something for it.

    Example
    -------
    >>> import tempfile
    >>> from pipeline_lib.reporting.results import ResultsFolder
    >>> build("no_such_paper", ResultsFolder.at(tempfile.mkdtemp())) is None
    True
    """
    name = f"{__name__}.{paper}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None
    section: Section | None = module.build(results)
    return section

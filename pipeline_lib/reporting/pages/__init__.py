"""Which papers have a page of their own in the report?

A paper's page is the module ``pipeline_lib/reporting/pages/<paper>.py`` with a function
``build(results: ResultsFolder) -> Section | None``: a section made of building blocks, or ``None`` when the study holds
nothing for it. A page is found by its name; a paper without one is simply not there.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline_lib.reporting.blocks import Section
    from pipeline_lib.reporting.results import ResultsFolder


def modules() -> list[str]:
    """Name the modules of all pages there are, for a rule that must know which files a report depends on.

    Example
    -------
    >>> all(name.startswith("pipeline_lib.reporting.pages.") for name in modules())
    True
    """
    return [f"{__name__}.{found.name}" for found in sorted(pkgutil.iter_modules(__path__))]


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
    if name not in modules():
        return None
    section: Section | None = importlib.import_module(name).build(results)
    return section

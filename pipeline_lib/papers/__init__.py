"""Which papers are there, and which experiments does each have?

A paper is a folder of this package, found by its file ``paper.toml``:

    paper.toml      title, authors, year, and its place in the order of the report
    claims.yaml     what it claims, and the rule by which each claim is judged
    sections.yaml   its statements section by section, with their claims (pipeline_lib/claims/coverage.py)
    experiments/    one module for each experiment, which declares it as EXPERIMENT (pipeline_lib/experiment.py)
    computations/   the mathematics of the larger experiments, imported by their steps
    page.md         its page of the report, a template (pipeline_lib/reporting/page.py)
    findings.md     what the front page of the report says of it, a template as well
    page.py         functions that the templates use, FUNCTIONS = {name: function}; seldom needed
    witnesses.py    exact counterexamples to what it prints (pipeline_lib/witnesses.py), if there are any

Nothing is imported before it is needed, so that a job depends on the modules of its own experiment only.

Example
-------
>>> [paper.name for paper in every()][:1]
['slam']
>>> "gaps" in experiments("twolayer")
True
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_lib.errors import ConfigurationError, hint
from pipeline_lib.experiment import Experiment, Step
from pipeline_lib.witnesses import Witness

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    """What ``paper.toml`` says of a paper; ``order`` is its place in the report."""

    name: str
    title: str
    authors: str
    published: str
    order: int

    @property
    def folder(self) -> Path:
        """Where its claims, experiments and page are."""
        return FOLDER / self.name


@cache
def every() -> tuple[Paper, ...]:
    """All papers there are, in the order of the report.

    Raises
    ------
    ConfigurationError
        When a ``paper.toml`` cannot be read or has other keys than ``title``, ``authors``, ``published`` and ``order``.
    """
    return tuple(sorted(map(_read, sorted(FOLDER.glob("*/paper.toml"))), key=lambda paper: (paper.order, paper.name)))


def names() -> tuple[str, ...]:
    """The short names of all papers, in the order of the report."""
    return tuple(paper.name for paper in every())


def get(name: str) -> Paper:
    """The paper of that short name; ConfigurationError where there is none."""
    for paper in every():
        if paper.name == name:
            return paper
    raise ConfigurationError(f"unknown paper {name!r}; {hint(name, names())}")


def experiments(paper: str) -> dict[str, Experiment]:
    """The declared experiments of a paper by name, sorted.

    Raises
    ------
    ConfigurationError
        When a module of the paper's ``experiments`` folder declares none.
    """
    folder = get(paper).folder / "experiments"
    return {found.name: experiment(paper, found.name) for found in sorted(pkgutil.iter_modules([str(folder)]))}


def experiment(paper: str, name: str) -> Experiment:
    """One experiment of a paper."""
    declared = getattr(importlib.import_module(module_of(paper, name)), "EXPERIMENT", None)
    if not isinstance(declared, Experiment):
        raise ConfigurationError(f"{module_of(paper, name)}: expected EXPERIMENT = Experiment(...), found {declared!r}")
    return declared


def module_of(paper: str, name: str) -> str:
    """The dotted name of the module that declares an experiment.

    Example
    -------
    >>> module_of("twolayer", "gaps")
    'pipeline_lib.papers.twolayer.experiments.gaps'
    """
    return f"{__name__}.{paper}.experiments.{name}"


def page_files(paper: str) -> list[Path]:
    """What the report shows of a paper: the templates of its page and its findings, and the list of its sections."""
    folder = get(paper).folder
    files = (
        *(folder / name for name in ("page.md", "findings.md", "sections.yaml")),
        *sorted(folder.glob("page/*.md")),
    )
    return [path for path in files if path.is_file()]


def page_of(paper: str) -> str | None:
    """The dotted name of the module with the functions of a paper's page, or None where the page needs none."""
    return f"{__name__}.{paper}.page" if (get(paper).folder / "page.py").is_file() else None


def page_functions(paper: str) -> dict[str, Callable[..., Any]]:
    """What the module of a paper's page hands to its template."""
    name = page_of(paper)
    return dict(getattr(importlib.import_module(name), "FUNCTIONS", {})) if name else {}


def witnesses_of(paper: str) -> str | None:
    """The dotted name of the module with a paper's exact counterexamples, or None where there is none."""
    return f"{__name__}.{paper}.witnesses" if (get(paper).folder / "witnesses.py").is_file() else None


def witnesses(paper: str) -> tuple[Witness, ...]:
    """The exact counterexamples of a paper, in the order in which they are defined.

    Example
    -------
    >>> [one.name for one in witnesses("slam")][:2]
    ['step-size', 'unit-step']
    """
    name = witnesses_of(paper)
    found = vars(importlib.import_module(name)).values() if name else ()
    return tuple(one for one in found if isinstance(one, Witness))


def steps(chosen: Iterable[str]) -> Iterator[tuple[str, str, Step]]:
    """Paper, experiment and step of all steps of the chosen papers.

    Raises
    ------
    ConfigurationError
        When two steps of one paper have the same name, or two hand in evidence for one claim.
    """
    seen: dict[str, str] = {}
    for paper in chosen:
        for name, declared in experiments(paper).items():
            for step in declared.steps:
                for key in (f"step {paper} {step.name}", *(f"claim {claim}" for claim in step.claims)):
                    if key in seen:
                        raise ConfigurationError(
                            f"{key}: expected one declaration, found {seen[key]} and {paper}/{name}"
                        )
                    seen[key] = f"{paper}/{name}"
                yield paper, name, step


def _read(path: Path) -> Paper:
    try:
        return Paper(name=path.parent.name, **tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise ConfigurationError(f"{path}: expected title, authors, published and order as TOML; {error}") from None

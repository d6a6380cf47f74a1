"""Which papers are there, and which experiments does each have?

A paper is a folder of this package, found by its file ``paper.toml``:

    paper.toml      title, authors, year, address, its place in the order of the report, the order of its topics, and
                    which figures and pages of the documentation the article has
    sections.yaml   its statements section by section, with their claims (pipeline_lib/claims/coverage.py)
    page.md         its page of the report, a template (pipeline_lib/report/page.py)
    errata.yaml     what in it is wrong or loose, and what holds (pipeline_lib/claims/errata.py)
    findings.md     what the front page of the report says of it, a template as well
    page.py         functions that the templates use, FUNCTIONS = {name: function}; seldom needed

Every other folder in it is a topic, and what several topics share is a module beside them:

    experiment.py   the experiment, declared as EXPERIMENT (pipeline_lib/experiment.py): settings, rows, steps
    claims.yaml     what the paper claims there, and the rule by which each claim is judged
    witnesses.py    exact counterexamples to what it prints (pipeline_lib/papers/witnesses.py), if there are any
    page.md         its part of the page, if it has one

Nothing is imported before it is needed, so that a job depends on the modules of its own experiment only.

Example
-------
>>> [paper.name for paper in every()][:1]
['slam']
>>> "gaps" in experiments("twolayer")
True
"""

import importlib
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import ConfigurationError, hint
from pipeline_lib.experiment import Experiment, Step
from pipeline_lib.papers.witnesses import Witness

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    """What ``paper.toml`` says of a paper; ``url`` is where it can be read, ``order`` its place in the report.

    ``ordered`` are its topics in order, ``proofs`` the pages of the documentation with this project's own theorems, and
    ``figures`` those that the article shows. ``ours`` says that it is no paper: its claims are what this software
    promises of its own commands, and are judged like those of papers.
    """

    name: str
    title: str
    authors: str
    published: str
    url: str
    order: int
    ordered: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    ours: bool = False

    @property
    def folder(self) -> Path:
        """Where its topics and its page are."""
        return FOLDER / self.name

    @property
    def topics(self) -> list[str]:
        """The folders of its topics: those that ``paper.toml`` puts in order, then the others that there are."""
        found = {path.parent.name for path in self.folder.glob("*/*") if path.name in ("experiment.py", "claims.yaml")}
        return [*self.ordered, *sorted(found.difference(self.ordered))]

    def with_file(self, name: str) -> list[str]:
        """The topics that have a file of this name, in their order."""
        return [topic for topic in self.topics if (self.folder / topic / name).is_file()]

    def added(self, name: str) -> list[str]:
        """The files of this name in topics that ``paper.toml`` does not put in order."""
        return [f"{topic}/{name}" for topic in self.with_file(name) if topic not in self.ordered]

    @property
    def ledger(self) -> list[Path]:
        """Its files of claims, in the order of its topics."""
        return [self.folder / topic / "claims.yaml" for topic in self.with_file("claims.yaml")]


@cache
def every() -> tuple[Paper, ...]:
    """All papers there are, in the order of the report.

    Raises
    ------
    ConfigurationError
        When a ``paper.toml`` cannot be read or has other keys than those of :class:`Paper`.
    """
    return tuple(sorted(map(_read, sorted(FOLDER.glob("*/paper.toml"))), key=lambda paper: (paper.order, paper.name)))


def names() -> tuple[str, ...]:
    """The short names of all papers, in the order of the report, and of what is ours."""
    return tuple(paper.name for paper in every())


def ours() -> frozenset[str]:
    """The short names of what is no paper, but states what this software promises of its own commands.

    Example
    -------
    >>> sorted(ours())
    ['promises']
    """
    return frozenset(paper.name for paper in every() if paper.ours)


def get(name: str) -> Paper:
    """The paper of that short name; ConfigurationError where there is none."""
    for paper in every():
        if paper.name == name:
            return paper
    raise ConfigurationError(f"unknown paper {name!r}; {hint(name, names())}")


@cache
def experiments(paper: str) -> dict[str, Experiment]:
    """The declared experiments of a paper by name, sorted.

    Raises
    ------
    ConfigurationError
        When the module of a topic declares none.
    """
    return {name: experiment(paper, name) for name in sorted(get(paper).with_file("experiment.py"))}


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
    'pipeline_lib.papers.twolayer.gaps.experiment'
    """
    return f"{__name__}.{paper}.{name}.experiment"


def page_files(paper: str) -> list[Path]:
    """What the report shows of a paper: the templates of its page and its findings, and the list of its sections."""
    folder = get(paper).folder
    files = (
        *(folder / name for name in ("page.md", "findings.md", "sections.yaml")),
        *(path for topic in get(paper).topics for path in sorted((folder / topic).glob("*.md"))),
    )
    return [path for path in files if path.is_file()]


def page_of(paper: str) -> str | None:
    """The dotted name of the module with the functions of a paper's page, or None where the page needs none."""
    return f"{__name__}.{paper}.page" if (get(paper).folder / "page.py").is_file() else None


def page_functions(paper: str) -> dict[str, Callable[..., Any]]:
    """What the module of a paper's page hands to its template."""
    name = page_of(paper)
    return dict(getattr(importlib.import_module(name), "FUNCTIONS", {})) if name else {}


def witness_modules(paper: str) -> list[str]:
    """The dotted names of the modules with a paper's exact counterexamples, in the order of its topics."""
    return [f"{__name__}.{paper}.{topic}.witnesses" for topic in get(paper).with_file("witnesses.py")]


def witnesses(paper: str) -> tuple[Witness, ...]:
    """The exact counterexamples of a paper, in the order of its topics.

    Example
    -------
    >>> [one.name for one in witnesses("slam")][:2]
    ['linear-maps', 'ranksvm-norm']
    """
    found = (vars(importlib.import_module(name)).values() for name in witness_modules(paper))
    return tuple(one for values in found for one in values if isinstance(one, Witness))


def steps(chosen: Iterable[str]) -> Iterator[tuple[str, str, Step]]:
    """Paper, experiment and step of all steps of the chosen papers.

    Raises
    ------
    ConfigurationError
        When two steps of one paper have the same name.
    """
    for paper in chosen:
        seen: dict[str, str] = {}
        for name, declared in experiments(paper).items():
            for step in declared.steps:
                if (other := seen.setdefault(step.name, name)) != name:
                    raise ConfigurationError(
                        f"step {paper} {step.name}: expected one declaration, found it in {other} and {name}"
                    )
                yield paper, name, step


def _read(path: Path) -> Paper:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        ordered, proofs, figures = (tuple(content.pop(key, ())) for key in ("topics", "proofs", "figures"))
        return Paper(name=path.parent.name, ordered=ordered, proofs=proofs, figures=figures, **content)
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise ConfigurationError(
            f"{path}: expected title, authors, published, url, order, topics and proofs as TOML; {error}"
        ) from None

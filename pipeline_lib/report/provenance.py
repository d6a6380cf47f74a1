"""Where do the numbers come from: software, seeds and configuration, and which experiment made which table?

Every caption of the report links to the part that answers this for its tables.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, ClassVar

import yaml

from pipeline_lib import papers
from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.core.markup import listed
from pipeline_lib.experiment import pattern_of
from pipeline_lib.report.blocks import Block, walk
from pipeline_lib.report.citation import bibtex
from pipeline_lib.report.claims_section import ClaimList
from pipeline_lib.report.figures import Figure
from pipeline_lib.report.rerun import Rerun
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.report.study import TABLES, as_text, flat
from pipeline_lib.report.tables import Table

Shown = Table | Figure | JudgedClaim
PART = "made-by"
"""What the addresses of these parts of the report begin with."""


@dataclass(frozen=True)
class Origin:
    """What makes tables of the study: its address in the report, its name, its files as patterns, its settings."""

    id: str
    title: str
    files: tuple[str, ...]
    says: str
    settings: Mapping[str, Any]

    @property
    def written(self) -> str:
        """The settings as they stand in a configuration."""
        return yaml.safe_dump(
            dict(self.settings), sort_keys=False, width=88, default_flow_style=None, allow_unicode=True
        )


@dataclass(frozen=True)
class Uses:
    """The files of one origin, and the tables, figures and claims that are read from each; ``place`` is its address."""

    place: str
    files: Mapping[str, Sequence[Shown]]
    block: ClassVar[str] = "uses"


def given(results: ResultsFolder, chosen: Sequence[str], shown: Iterable[Block]) -> dict[str, Any]:
    """What the template shows: the command, versions, seeds, settings that were changed, configuration, origins.

    Origins are the learners, the data sets, the claims, and each experiment of the papers ``chosen``, as far as
    something that is shown is read from them.
    """
    changes = [
        {
            **one,
            "default": _words(one["default"]),
            "value": _words(one["value"]),
            "description": one["description"].split(". ")[0],
        }
        for one in results.listed("changes")
    ]
    return {
        "rerun": Rerun(results, chosen).whole,
        "bibtex": bibtex(results.study, results.provenance()),
        "recorded": list(flat(results.provenance(), " / ").items()),
        "changes": changes,
        "configuration": results.configuration(),
        "origins": _origins(results, chosen, shown),
    }


def _words(value: Any) -> str:
    """A setting as it is printed; names without quotation marks."""
    names = isinstance(value, list) and all(isinstance(one, str) for one in value)
    return ", ".join(value) if names else as_text(value)


def _origins(results: ResultsFolder, chosen: Sequence[str], shown: Iterable[Block]) -> list[tuple[Origin, Uses]]:
    """Every origin of something that is shown, with what is read from it."""
    known = [*_of_all(results), *_of_experiments(results, chosen)]
    of_origin: dict[str, dict[str, list[Shown]]] = {}
    for one, file in _read(walk(shown)):
        origin = next((one for one in known if any(re.search(pattern, file) for pattern in one.files)), None)
        if origin is not None:
            of_origin.setdefault(origin.id, {}).setdefault(file, []).append(one)
    found = [origin for origin in known if origin.id in of_origin]
    return [(origin, Uses(origin.id, dict(sorted(of_origin[origin.id].items())))) for origin in found]


def _read(blocks: Iterable[Block]) -> Iterator[tuple[Shown, str]]:
    """Tables, figures and claims, each with every file that it is read from."""
    for block in blocks:
        if isinstance(block, Table | Figure):
            yield from ((block, file) for file in block.source.split(", "))
        elif isinstance(block, ClaimList):
            yield from ((claim, file) for claim in block.claims for file in claim.tables)


def _of_all(results: ResultsFolder) -> Iterator[Origin]:
    """What every study has: learners, data sets and claims."""
    yield Origin(
        f"{PART}-learners",
        "Learners",
        tuple(f"^{re.escape(file)}$" for file in TABLES),
        "What was trained, evaluated and compared on the data sets, with the settings of the study.",
        {name: value for name, value in results.configured.items() if name != "experiments"},
    )
    words = "are described in `data/catalog.yaml` or in the configuration; the study obtains and converts them."
    yield Origin(f"{PART}-data", "Data sets", (r"^data/",), f"Data sets {words}", {})
    words = (
        "Every claim is judged by the rule in `pipeline_lib/papers/PAPER/claims.yaml` on the tables that it names, and "
        "`sections.yaml` lists its place in the paper; [the table of claims](#claims) says what the statuses mean."
    )
    yield Origin(f"{PART}-claims", "Claims", (r"^claims\.json$", r"/(claims|sections)\.yaml$"), words, {})


def _of_experiments(results: ResultsFolder, chosen: Sequence[str]) -> Iterator[Origin]:
    configured = results.configured.get("experiments", {})
    for paper in chosen:
        for name, declared in papers.experiments(paper).items():
            module = PurePosixPath(papers.module_of(paper, name).replace(".", "/"))
            yield Origin(
                f"{PART}-{paper}-{name.replace('_', '-')}",
                f"Experiment `{name}` of `{paper}`",
                tuple(pattern_of(table) for table in declared.tables),
                f"Declared in `{module}.py`, with the steps {listed([f'`{step.name}`' for step in declared.steps])}.",
                {"seed": results.configured.get("seed"), **configured.get(paper, {}).get(name, {})},
            )

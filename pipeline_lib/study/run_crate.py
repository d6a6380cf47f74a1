"""How is a results folder described for archives and other programs?

The file ``ro-crate-metadata.json`` makes the folder of a study a Workflow Run Crate (version 0.5 of the profiles for
workflow runs): it names the workflow, the software, the configuration and the data sets, every file with its digest,
and for every job which inputs it turned into which outputs by which command, when. The specifications are at
https://www.researchobject.org/workflow-run-crate/.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pipeline_lib import __version__
from pipeline_lib.core.files import replacing, write_text
from pipeline_lib.sources.catalog import DataSet
from pipeline_lib.sources.digests import digest
from pipeline_lib.study import provenance
from pipeline_lib.study.snakemake_internals import FinishedJob

if TYPE_CHECKING:
    from rocrate.model.entity import Entity

METADATA = "ro-crate-metadata.json"
README = "README.md"
CODE = "code"
"""Folder of the results with copies of the files that define the workflow."""
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    WORKFLOW_CRATE: "Workflow RO-Crate",
}
WORKFLOW = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
"""What the main file of the workflow is."""
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
COMPLETED = "http://schema.org/CompletedActionStatus"
MEDIA_TYPES = {
    ".json": "application/json",
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".yaml": "application/yaml",
    ".tsv": "text/tab-separated-values",
}
"""Media types of the files in a results folder; all others hold plain text."""


def write(
    folder: str | os.PathLike[str],
    title: str,
    jobs: Sequence[FinishedJob],
    data_sets: Iterable[DataSet],
    workflow: Sequence[tuple[str | os.PathLike[str], str]],
) -> None:
    """Describe a results folder in its ``ro-crate-metadata.json``.

    Parameters
    ----------
    folder : path
        The results folder of a study.
    title : str
        What the study is called.
    jobs : sequence of FinishedJob
        The jobs that made the files, with paths relative to the working directory.
    data_sets : iterable of DataSet
        The data sets of the study.
    workflow : sequence of (path, name)
        The files that define the workflow, the main one first; the folder ``code`` gets copies called ``name``.
    """
    root = Path(folder)
    for source, name in workflow:
        target = root / CODE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as partial:
            shutil.copyfile(source, partial)
    write_text(root / README, f"# {title}\n\n{_about(root)}\n`{METADATA}` lists every file and the job that made it.\n")
    crate = _Crate(root)
    main_file = root / CODE / workflow[0][1]
    for path in sorted(path for path in root.rglob("*") if path.is_file() and path != root / METADATA):
        crate.add_file(path, WORKFLOW if path == main_file else "File")
    main = crate.file(main_file)
    crate.file(root / README)["about"] = crate.graph.root_dataset
    _describe_root(crate, title, main, max((job.ended for job in jobs), default=0.0))
    _describe_workflow(crate, main, jobs)
    inputs = [_add_data_set(crate, one) for one in data_sets]
    configuration = root / "configuration.yaml"
    _describe_runs(crate, main, jobs, [*inputs, *([crate.file(configuration)] if configuration.is_file() else [])])
    text = json.dumps(crate.described(), indent=1, sort_keys=True, ensure_ascii=False)
    write_text(root / METADATA, text + "\n")


class _Crate:
    """The description of a folder while it is made: all entities that it has so far."""

    def __init__(self, root: Path) -> None:
        from rocrate.rocrate import ROCrate

        self.root, self.graph = root, ROCrate(version="1.1")
        self._files: dict[str, Entity] = {}

    def add(self, name: str, kind: str | list[str], title: str, **about: Any) -> Entity:
        """Add what is no file of the folder; properties without a value are left out."""
        from rocrate.model.contextentity import ContextEntity

        properties: dict[str, Any] = {"@type": kind, "name": title}
        for key, value in about.items():
            if value:  # the recommended form has no list around a single value
                properties[key] = value[0] if isinstance(value, list) and len(value) == 1 else value
        return self.graph.add(ContextEntity(self.graph, name, properties=properties))

    def add_file(self, path: Path, kind: str | list[str]) -> None:
        """Add a file of the folder."""
        about = {"@type": kind, "name": path.name, "contentSize": str(path.stat().st_size), "sha256": digest(path)}
        about["encodingFormat"] = MEDIA_TYPES.get(path.suffix, "text/plain")
        place = path.relative_to(self.root).as_posix()
        self._files[os.path.abspath(path)] = self.graph.add_file(dest_path=place, properties=about)

    def file(self, path: str | Path) -> Entity:
        """The entity of a file that a job reads or writes, also of one outside of the folder."""
        place = os.path.abspath(path)
        if place not in self._files:
            self._files[place] = self.add(
                f"#{quote(str(path))}",
                "CreativeWork",
                str(path),
                description="A file outside of the results folder.",
                sha256=digest(place) if os.path.isfile(place) else None,
            )
        return self._files[place]

    def action(
        self, name: str, title: str, instrument: Entity, times: tuple[float, float], inputs: list[Entity], **about: Any
    ) -> Entity:
        """Add the run of a program that began and ended at some times."""
        started, ended = map(_moment, times)
        about |= {"startTime": started, "endTime": ended, "instrument": instrument, "object": inputs}
        return self.add(name, "CreateAction", title, actionStatus=COMPLETED, **about)

    def described(self) -> dict[str, Any]:
        """All entities as JSON."""
        metadata = self.graph.metadata
        metadata.extra_contexts.append(TERMS)
        metadata.append_to("conformsTo", {"@id": WORKFLOW_CRATE})
        return metadata.generate()


def _add_data_set(crate: _Crate, entry: DataSet) -> Entity:
    about = {"license": entry.terms_page or entry.terms, "citation": entry.citation}
    return crate.add(f"#data-set-{quote(entry.name)}", "Dataset", entry.title, identifier=entry.name, **about)


def _describe_root(crate: _Crate, title: str, main: Entity, ended: float) -> None:
    graph = crate.graph
    graph.name = title
    graph.description = _about(crate.root)
    graph.license = crate.add(LICENCE, "CreativeWork", "BSD 3-Clause License", url=LICENCE)
    graph.datePublished = _moment(ended)
    graph.mainEntity = main
    for address, name in PROFILES.items():
        profile = crate.add(address, ["CreativeWork", "Profile"], name, version=address.rsplit("/", 1)[1])
        graph.root_dataset.append_to("conformsTo", profile)


def _about(root: Path) -> str:
    return f"Results of the study {root.name}: trained models, evaluations, and the tables behind every judged claim."


def _describe_workflow(crate: _Crate, main: Entity, jobs: Sequence[FinishedJob]) -> None:
    """The workflow with its language, the program of every rule, and the libraries that they were run with."""
    about = {"identifier": "https://doi.org/10.1093/bioinformatics/bts480", "url": "https://snakemake.github.io"}
    language = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
    main["programmingLanguage"] = crate.add(language, "ComputerLanguage", "Snakemake", **about)
    main["version"] = __version__
    for rule in dict.fromkeys(job.rule for job in jobs):
        main.append_to("hasPart", crate.add(_tool(rule), "SoftwareApplication", rule, softwareVersion=__version__))
    found = provenance.collect()
    main["description"] = f"Run on {found['machine']} with {found['cores']} cores; the code is at {found['code']}."
    for name, version in {**found["libraries"], "python": found["python"]}.items():
        library = crate.add(f"#library-{name}", "SoftwareApplication", name, softwareVersion=version)
        main.append_to("softwareRequirements", library)


def _describe_runs(crate: _Crate, main: Entity, jobs: Sequence[FinishedJob], inputs: list[Entity]) -> None:
    """The run as a whole, with its inputs, and the run of every job."""
    made = sorted({path for job in jobs for path in job.outputs})
    times = min((job.started for job in jobs), default=0.0), max((job.ended for job in jobs), default=0.0)
    about = {"description": f"The runs of {len(jobs)} jobs, in one or several calls of Snakemake."}
    whole = crate.action("#run", "Run of the workflow", main, times, inputs, **about, result=[*map(crate.file, made)])
    actions = [
        crate.action(
            f"#job-{number}",
            job.rule,
            crate.graph.dereference(_tool(job.rule)),
            (job.started, job.ended),
            [*map(crate.file, job.inputs)],
            description=job.command,
            result=[*map(crate.file, job.outputs)],
            subjectOf=crate.file(job.log) if job.log else None,
        )
        for number, job in enumerate(jobs, 1)
    ]
    crate.graph.root_dataset["mentions"] = [whole, *actions]


def _tool(rule: str) -> str:
    return f"#tool-{quote(rule)}"


def _moment(seconds: float) -> str:
    """A time as ISO 8601 writes it.

    Example
    -------
    >>> _moment(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))

"""How is a results folder described for archives and other programs?

The file ``ro-crate-metadata.json`` makes the folder of a study a Provenance Run Crate (version 0.5 of the profiles for
workflow runs): it names the workflow, the software, the configuration and the data sets, every file with its digest,
and for every job which inputs it turned into which outputs by which command, when. The specifications are at
https://www.researchobject.org/workflow-run-crate/.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
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
    from rocrate.rocrate import ROCrate

METADATA = "ro-crate-metadata.json"
CODE = "code"
"""Folder of the results with copies of the files that define the workflow."""
WORKFLOW_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    WORKFLOW_CRATE: "Workflow RO-Crate",
}
WORKFLOW = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
"""What the main file of the workflow is."""
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
LICENCE = "https://spdx.org/licenses/BSD-3-Clause"
MEDIA_TYPES = {
    ".json": "application/json",
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
    from rocrate.rocrate import ROCrate

    root = Path(folder)
    for source, name in workflow:
        target = root / CODE / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as partial:
            shutil.copyfile(source, partial)
    crate = ROCrate(version="1.1")
    main_file = root / CODE / workflow[0][1]
    paths = sorted(path for path in root.rglob("*") if path.is_file() and path != root / METADATA)
    files = {path: _add_file(crate, root, path, WORKFLOW if path == main_file else "File") for path in paths}
    main = files[main_file]
    _describe_root(crate, root, title, main, max((job.ended for job in jobs), default=0.0))
    _describe_workflow(crate, main, jobs)
    sets = [_add_data_set(crate, one) for one in data_sets]
    _describe_runs(crate, main, jobs, _Entities(crate, files), [*sets, files.get(root / "configuration.yaml")])
    crate.metadata.extra_contexts.append(TERMS)
    crate.metadata.append_to("conformsTo", {"@id": WORKFLOW_CRATE})
    write_text(
        root / METADATA, json.dumps(crate.metadata.generate(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    )


class _Entities:
    """The entities of the files that jobs read and write, also of those outside of the crate."""

    def __init__(self, crate: ROCrate, files: Mapping[Path, Entity]) -> None:
        self._crate, self._known = crate, {os.path.abspath(path): entity for path, entity in files.items()}

    def __call__(self, path: str) -> Entity:
        place = os.path.abspath(path)
        if place not in self._known:
            about = {"@type": "CreativeWork", "name": path, "description": "A file outside of the results folder."}
            if os.path.isfile(place):
                about["sha256"] = digest(place)
            self._known[place] = _add(self._crate, f"#{quote(path)}", about)
        return self._known[place]


def _add_file(crate: ROCrate, root: Path, path: Path, kind: str | list[str]) -> Entity:
    about = {"@type": kind, "name": path.name, "contentSize": str(path.stat().st_size), "sha256": digest(path)}
    about["encodingFormat"] = MEDIA_TYPES.get(path.suffix, "text/plain")
    return crate.add_file(dest_path=path.relative_to(root).as_posix(), properties=about)


def _add(crate: ROCrate, name: str, about: Mapping[str, Any]) -> Entity:
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, name, properties=dict(about)))


def _add_data_set(crate: ROCrate, entry: DataSet) -> Entity:
    about = {
        "@type": "Dataset",
        "name": entry.title,
        "identifier": entry.name,
        "license": entry.terms_page or entry.terms,
        "citation": entry.citation,
    }
    return _add(crate, f"#data-set-{quote(entry.name)}", {key: value for key, value in about.items() if value})


def _describe_root(crate: ROCrate, root: Path, title: str, main: Entity, ended: float) -> None:
    crate.name = title
    kinds = "trained models, evaluations, and the tables behind every judged claim"
    crate.description = f"Results of the study {root.name}: {kinds}."
    crate.license = _add(crate, LICENCE, {"@type": "CreativeWork", "name": "BSD 3-Clause License", "url": LICENCE})
    crate.datePublished = _moment(ended)
    crate.mainEntity = main
    for address, name in PROFILES.items():
        about = {"@type": ["CreativeWork", "Profile"], "name": name, "version": address.rsplit("/", 1)[1]}
        crate.root_dataset.append_to("conformsTo", _add(crate, address, about))


def _describe_workflow(crate: ROCrate, main: Entity, jobs: Sequence[FinishedJob]) -> None:
    """The workflow with its language, the state of the code, and a step with its program for every rule."""
    engine = _add(
        crate,
        "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        {
            "@type": "ComputerLanguage",
            "name": "Snakemake",
            "identifier": "https://doi.org/10.1093/bioinformatics/bts480",
            "url": "https://snakemake.github.io",
        },
    )
    main["programmingLanguage"] = engine
    main["version"] = __version__
    for position, rule in enumerate(dict.fromkeys(job.rule for job in jobs), 1):
        tool = _add(crate, _tool(rule), {"@type": "SoftwareApplication", "name": rule, "softwareVersion": __version__})
        step = {"@type": "HowToStep", "name": rule, "position": str(position)}
        main.append_to("hasPart", tool)
        main.append_to("step", _add(crate, _step(rule), step | {"workExample": tool}))


def _describe_runs(
    crate: ROCrate, main: Entity, jobs: Sequence[FinishedJob], file: _Entities, inputs: Sequence[Entity | None]
) -> None:
    """The run as a whole, with its inputs, and the run of every job."""
    made = {path for job in jobs for path in job.outputs}
    started, ended = min((job.started for job in jobs), default=0.0), max((job.ended for job in jobs), default=0.0)
    whole = _action(crate, "#run", "Run of the workflow", main, (started, ended))
    whole["description"] = f"The runs of {len(jobs)} jobs, in one or several calls of Snakemake."
    _link(whole, "object", [one for one in inputs if one is not None])
    _link(whole, "result", [file(path) for path in sorted(made)])
    about = {"@type": "OrganizeAction", "name": "Run of Snakemake", "instrument": _engine(crate), "result": whole}
    organised = _add(crate, "#organised", about)
    actions = []
    for number, job in enumerate(jobs, 1):
        action = _action(
            crate, f"#job-{number}", job.rule, crate.dereference(_tool(job.rule)), (job.started, job.ended)
        )
        action["description"] = job.command
        _link(action, "object", [file(path) for path in job.inputs])
        _link(action, "result", [file(path) for path in job.outputs])
        if job.log:
            action["subjectOf"] = file(job.log)
        about = {"@type": "ControlAction", "name": f"Start of job {number}", "object": action}
        about["instrument"] = crate.dereference(_step(job.rule))
        organised.append_to("object", _add(crate, f"#control-{number}", about))
        actions.append(action)
    crate.root_dataset["mentions"] = [whole, *actions]


def _engine(crate: ROCrate) -> Entity:
    """Snakemake as a program, with the libraries, the interpreter, the machine and the state of the code."""
    found = provenance.collect()
    libraries = [
        _add(crate, f"#library-{name}", {"@type": "SoftwareApplication", "name": name, "softwareVersion": version})
        for name, version in {**found["libraries"], "python": found["python"]}.items()
    ]
    about = {
        "@type": "SoftwareApplication",
        "name": "Snakemake",
        "softwareVersion": found["libraries"]["snakemake"],
        "description": f"On {found['machine']} with {found['cores']} cores; the code is at {found['code']}.",
        "softwareRequirements": libraries,
    }
    return _add(crate, "#snakemake", about)


def _action(crate: ROCrate, name: str, title: str, instrument: Entity, times: tuple[float, float]) -> Entity:
    about = {"@type": "CreateAction", "name": title, "actionStatus": "http://schema.org/CompletedActionStatus"}
    moments = {"startTime": _moment(times[0]), "endTime": _moment(times[1])}
    return _add(crate, name, {**about, **moments, "instrument": instrument})


def _link(entity: Entity, name: str, others: Sequence[Entity]) -> None:
    """Let a property refer to other entities; the recommended form has no list around a single one."""
    if others:
        entity[name] = others[0] if len(others) == 1 else list(others)


def _tool(rule: str) -> str:
    return f"#tool-{quote(rule)}"


def _step(rule: str) -> str:
    return f"#step-{quote(rule)}"


def _moment(seconds: float) -> str:
    """A time as ISO 8601 writes it.

    Example
    -------
    >>> _moment(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(seconds))

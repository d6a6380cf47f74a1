"""What was planned of a run that its jobs must find unchanged?

The configuration, as it was when the run was planned, is kept beside the copy of the project from which the run works
(:mod:`pipeline_lib.study.frozen`). Where another workflow imports this one, jobs are given the configuration of that
workflow, and this one takes its own part from the file beside it.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib.core import files
from pipeline_lib.core.origins import VARIABLE
from pipeline_lib.study.frozen import CONFIGURATION, RUNS

__all__: list[str] = []  # internal: called by the workflow alone (see pipeline_lib.core.checks)

OWN = "own.yaml"
"""The configuration of this workflow alone, in the folder of a run."""
STATE = "code.txt"
"""The state of the code when the run began, there."""


def write(copy: Path, whole: Mapping[str, Any], own: Mapping[str, Any], code_state: str) -> Path:
    """Keep what was planned beside a copy of the project; the file that jobs are given as their configuration.

    That is the configuration of the whole workflow, that of this one, and the state of the code in words.
    """
    texts = {CONFIGURATION: _yaml(whole), OWN: _yaml(own)}
    folder = copy / RUNS / hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()[:16]
    for name, text in {**texts, STATE: code_state}.items():
        files.write_text(folder / name, text)
    os.environ[VARIABLE] = str(folder)
    return folder / CONFIGURATION


def code_state() -> str | None:
    """The state of the code when the run of this job began; None where no run started this process."""
    path = Path(os.environ.get(VARIABLE, ""), STATE)
    return path.read_text(encoding="utf-8") if VARIABLE in os.environ and path.is_file() else None


def configuration(given: Path | None) -> dict[str, Any] | None:
    """The configuration of this workflow, where a job was given what :func:`write` wrote; else None."""
    if given is None or given.name != CONFIGURATION or not given.with_name(OWN).is_file():
        return None
    os.environ[VARIABLE] = str(given.parent)
    found: dict[str, Any] = yaml.safe_load(given.with_name(OWN).read_text(encoding="utf-8"))
    return found


def _yaml(config: Any) -> str:
    return yaml.safe_dump(_plain(config), allow_unicode=True, sort_keys=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value

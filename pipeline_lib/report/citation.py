"""How is the software cited, with the study that a page shows?"""

from collections.abc import Mapping
from typing import Any

from pipeline_lib import __version__

AUTHORS = "the pipeline_lib developers"
"""Who made it, as ``CITATION.cff`` has it in the source, together with the papers to cite."""
TITLE = "pipeline_lib: papers on the theory of learning to rank, reproduced by one command"


def made(study: str, provenance: Mapping[str, Any]) -> str:
    """Who made a study, with which version and commit, and on which day, as far as ``provenance.json`` says.

    Example
    -------
    >>> made("default", {"pipeline_lib": "0.1.0", "code": "37ea042f21ed", "time": "2026-11-29T21:23:23Z"})
    'Study default by the pipeline_lib developers, version 0.1.0, commit 37ea042f21ed, 2026-11-29'
    """
    version, code, time = (provenance.get(key) for key in ("pipeline_lib", "code", "time"))
    said = [f"Study {study} by {AUTHORS}", f"version {version or __version__}"]
    said += [f"commit {code}"] if code else []
    return ", ".join([*said, *([time.partition("T")[0]] if time else [])])


def bibtex(study: str, provenance: Mapping[str, Any]) -> str:
    """The entry for a bibliography.

    Example
    -------
    >>> print(bibtex("mine", {"pipeline_lib": "0.1.0", "code": "37ea042f21ed", "time": "2026-11-29T21:23:23Z"}))
    @software{pipeline_lib,
      author  = {{the pipeline_lib developers}},
      title   = {{pipeline_lib: papers on the theory of learning to rank, reproduced by one command}},
      version = {0.1.0},
      year    = {2026},
      note    = {commit 37ea042f21ed, study mine}
    }
    """
    version, code, time = (provenance.get(key) for key in ("pipeline_lib", "code", "time"))
    fields = {
        "author": f"{{{AUTHORS}}}",
        "title": f"{{{TITLE}}}",
        "version": version or __version__,
        "year": time[:4] if time else "",
        "note": f"{f'commit {code}, ' if code else ''}study {study}",
    }
    lines = [f"  {key:<7} = {{{value}}}" for key, value in fields.items() if value]
    return "\n".join(["@software{pipeline_lib,", ",\n".join(lines), "}"])

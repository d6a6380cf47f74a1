"""Pack a release: dist/pipeline_lib-VERSION.tar.gz, and its SHA-256 digest beside it.

    python -m tools.release

`make release` runs it after the default study and the site of the documentation. The archive has the source of the
commit tagged vVERSION, the results and the report of the default study, the site, codemeta.json, a list of all software
that the lock installs (CycloneDX), and the digests of all files. The same inputs give the same bytes.
"""

import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import yaml

STUDY = "default"
FOLDERS = {"results": f"results/{STUDY}", "report": f"reports/{STUDY}", "documentation": "build/docs"}
"""The folders of the archive, beside the source, and those of the project that they are copies of."""


def pack(root: Path) -> Path:
    """Write the archive of the project in a folder; returns it.

    Raises
    ------
    ValueError
        When the tag, the study or the site is missing.
    """
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    name = f"pipeline_lib-{citation['version']}"
    tag = f"v{citation['version']}"
    source, programs, time = _source(root, tag)
    files = {f"source/{path}": content for path, content in source.items()}
    for target, folder in FOLDERS.items():
        found = sorted(path for path in (root / folder).rglob("*") if path.is_file())
        if not found:
            raise ValueError(f"{folder}: expected files to pack, found none; `make release` makes them first")
        files |= {f"{target}/{path.relative_to(root / folder).as_posix()}": path.read_bytes() for path in found}
    files["codemeta.json"] = source["codemeta.json"]
    bill = sbom(name, citation["version"], source["requirements.lock"].decode())
    files["sbom.cdx.json"] = (json.dumps(bill, indent=1) + "\n").encode()
    digests = [f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items())]
    files["SHA256SUMS"] = "".join(digests).encode()
    archive = root / "dist" / f"{name}.tar.gz"
    archive.parent.mkdir(exist_ok=True)
    archive.write_bytes(_packed(name, files, {f"source/{path}" for path in programs}, time))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    archive.with_name(f"{archive.name}.sha256").write_text(f"{digest}  {archive.name}\n", encoding="utf-8")
    return archive


def sbom(name: str, version: str, lock: str) -> dict[str, Any]:
    """The bill of materials in CycloneDX of a program whose requirements are locked.

    Example
    -------
    >>> sbom("mine", "1", "numpy==2.4.6 \\\\\\n    --hash=sha256:0280")["components"][0]["purl"]
    'pkg:pypi/numpy@2.4.6'
    """
    # A package can be locked in two versions, for different versions of Python.
    locked = re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\\n]+)", lock, re.MULTILINE)
    components = [
        {"type": "library", "bom-ref": purl, "name": package, "version": number, "purl": purl}
        for package, number in locked
        for purl in [f"pkg:pypi/{package.lower().replace('_', '-')}@{number}"]
    ]
    main = {"type": "application", "bom-ref": name, "name": name, "version": version}
    needs = [{"ref": name, "dependsOn": [one["bom-ref"] for one in components]}]
    about = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": main}}
    return about | {"components": components, "dependencies": needs}


def _source(root: Path, tag: str) -> tuple[dict[str, bytes], list[str], int]:
    """The files of a tagged commit, those of them that are programs, and its time."""
    git = ["git", "-C", str(root)]
    if subprocess.run([*git, "rev-parse", "--quiet", "--verify", f"refs/tags/{tag}"], capture_output=True).returncode:
        raise ValueError(f"expected the tag {tag}, found none; tag the commit that is released")
    files, programs = {}, []
    with tarfile.open(fileobj=io.BytesIO(subprocess.check_output([*git, "archive", "--format=tar", tag]))) as archive:
        for member in archive:
            if content := archive.extractfile(member):  # of a folder there is none
                files[member.name] = content.read()
                programs += [member.name] if member.mode & 0o100 else []
    return files, programs, int(subprocess.check_output([*git, "log", "-1", "--format=%ct", tag], text=True))


def _packed(name: str, files: dict[str, bytes], programs: set[str], time: int) -> bytes:
    """A compressed archive of files in the order of their names, all of one time and of no owner."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", filename="", mtime=time) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{name}/{path}")
            member.size, member.mtime, member.mode = len(content), time, 0o755 if path in programs else 0o644
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


if __name__ == "__main__":
    try:
        print(pack(Path.cwd()))
    except ValueError as error:
        sys.exit(f"error: {error}")

"""Does a release contain what it should, and is it the same each time? Tried on a small project."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest

from tools import release

ROOT = Path(__file__).parents[2]


def git(folder: Path, *words: str) -> None:
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-02T03:04:05Z")
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, env=os.environ | who | dates)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a study, a report, a site, a program, and a commit that is tagged."""
    files = {
        "CITATION.cff": "version: 1.2.0\n",
        "codemeta.json": "{}\n",
        "requirements.lock": "numpy==2.4.6 \\\n    --hash=sha256:0280\nold==1.0 ; sys_platform == 'win32' \\\n",
        "program": "#!/bin/sh\n",
    }
    made = {"results/default/tables/a.parquet": "a", "reports/default/index.html": "b", "build/docs/c.html": "c"}
    for name, text in {**files, **made}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "program").chmod(0o755)
    git(tmp_path, "init")
    git(tmp_path, "add", *files)
    git(tmp_path, "commit", "-m", "All")
    git(tmp_path, "tag", "v1.2.0")
    return tmp_path


def test_a_release_has_all_parts_and_their_digests(project: Path) -> None:
    (project / "CITATION.cff").write_text("version: 1.2.0\nedited: since the tag\n")
    archive = release.pack(project)
    assert archive == project / "dist/pipeline_lib-1.2.0.tar.gz"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert archive.with_name(f"{archive.name}.sha256").read_text() == f"{digest}  {archive.name}\n"
    with tarfile.open(archive) as packed:
        packed.extractall(project / "unpacked", filter="data")
    root = project / "unpacked/pipeline_lib-1.2.0"
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert found == {
        *(f"source/{name}" for name in ("CITATION.cff", "codemeta.json", "requirements.lock", "program")),
        *("results/tables/a.parquet", "report/index.html", "documentation/c.html"),
        *("codemeta.json", "sbom.cdx.json", "SHA256SUMS"),
    }
    assert (root / "source/CITATION.cff").read_text() == "version: 1.2.0\n"
    assert os.access(root / "source/program", os.X_OK)
    sums = dict(line.split("  ")[::-1] for line in (root / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == found - {"SHA256SUMS"}
    for name, expected in sums.items():
        assert hashlib.sha256((root / name).read_bytes()).hexdigest() == expected


def test_the_same_inputs_give_the_same_bytes(project: Path) -> None:
    first = release.pack(project).read_bytes()
    for path in (project / "build").rglob("*"):
        os.utime(path, (1, 1))
    assert release.pack(project).read_bytes() == first


@pytest.mark.parametrize("missing", ["tag", "study"])
def test_what_is_missing_is_said(project: Path, missing: str) -> None:
    if missing == "tag":
        git(project, "tag", "-d", "v1.2.0")
    else:
        (project / "results/default/tables/a.parquet").unlink()
    with pytest.raises(ValueError, match=r"tag v1\.2\.0" if missing == "tag" else "results/default"):
        release.pack(project)


def test_the_bill_of_materials_keeps_the_rules_of_cyclonedx() -> None:
    """In our words, because the package with the schema brings more than the bill is worth."""
    lock = (ROOT / "requirements.lock").read_text()
    bill = json.loads(json.dumps(release.sbom("mine", "1", lock)))
    assert bill.keys() == {"bomFormat", "specVersion", "version", "metadata", "components", "dependencies"}
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    components = bill["components"]
    assert len(components) == len(re.findall(r"==\S+ ", lock))
    assert all(one.keys() == {"type", "bom-ref", "name", "version", "purl"} for one in components)
    references = [one["bom-ref"] for one in components]
    assert len(references) == len(set(references))
    (dependency,) = bill["dependencies"]
    assert dependency == {"ref": bill["metadata"]["component"]["bom-ref"], "dependsOn": references}
    assert all(re.fullmatch(r"pkg:pypi/[a-z0-9.-]+@[\w.+!-]+", one["purl"]) for one in components)

"""Raw text that was touched or changed, and stored files that were damaged, in a finished small study."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.sources import small_sets

from .conftest import RECORDS_OF_RUNS, Project, announced

pytestmark = pytest.mark.workflow

TEXT = "data/raw/letor-sim/S1.txt"


def changed_digit(path: Path) -> None:
    """Change one digit of one value; the size stays."""
    text = bytearray(path.read_bytes())
    place = text.index(b" 1:") + len(" 1:0.")
    text[place] = ord("1") if text[place] != ord("1") else ord("2")
    path.write_bytes(text)


def flipped_bit(path: Path) -> None:
    """Flip the lowest bit of the byte in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_touched_text_is_checked_once_and_nothing_else_runs(finished_copy: Project) -> None:
    before = finished_copy.tables()
    os.utime(finished_copy.folder / TEXT, (1e9, 1e9))  # as a clock that was set back would have it
    assert announced(finished_copy.snakemake()) == {"check_raw": 1}
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before


def test_changed_text_is_an_error_until_it_is_restored(finished_copy: Project) -> None:
    path = finished_copy.folder / TEXT
    text, before = path.read_bytes(), finished_copy.tables()
    changed_digit(path)
    digests = [hashlib.sha256(content).hexdigest() for content in (text, path.read_bytes())]
    for _ in range(2):
        output = finished_copy.snakemake(check=False)
        assert announced(output) == {"check_raw": 1}
        assert all(word in output for word in (f"error: {TEXT}", *digests))
    path.write_bytes(text)
    finished_copy.snakemake()
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before


def with_catalogue(project: Project) -> Path:
    """Add an entry to the catalogue, with its archive; return the path of its unpacked text."""
    path = project.folder / "data/catalog.yaml"
    catalogue = yaml.safe_load(path.read_text())
    catalogue["data_sets"]["Small"] = small_sets.ENTRY
    path.write_text(yaml.safe_dump(catalogue, sort_keys=False))
    small_sets.zip_of(project.folder / "data/raw/Small.zip")
    return project.folder / "data/raw/Small/S2.txt"


def test_an_edit_of_unpacked_text_is_noticed_and_refused(new_project: Callable[..., Project]) -> None:
    project = new_project(datasets=["Small"], models=[{"name": "best", "algorithm": "best-feature"}], folds=[1])
    path = with_catalogue(project)
    wanted = [f"data/parquet/Small/{name}" for name in ("folds.parquet", "raw-files.json")]
    wanted += ["results/small/data/Small.json"]
    project.snakemake(*wanted, cores=1)
    assert project.planned(*wanted) == {}
    text = path.read_text()
    os.utime(path, (1e9, 1e9))
    assert project.planned(*wanted) == {"check_raw": 1}
    path.write_text(text.replace("1:0.5", "1:0.7", 1))
    assert project.planned(*wanted) == {"check_raw": 1}
    output = project.snakemake(*wanted, cores=1, check=False)
    assert "S2.txt: changed since it was obtained" in output
    path.unlink()
    project.snakemake(*wanted, cores=1)
    assert path.read_text() == text
    assert project.planned(*wanted) == {}


def test_a_conversion_compares_the_text_it_reads(finished_copy: Project) -> None:
    path = finished_copy.folder / TEXT
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    changed_digit(path)
    os.utime(path, ns=times)  # nothing shows from outside
    assert finished_copy.planned() == {}
    output = finished_copy.snakemake("-R", "convert_data", check=False)
    assert f"error: {TEXT}" in output
    assert not (finished_copy.folder / "data/parquet/letor-sim/documents.parquet").exists()
    # As the message advises for text that is made here.
    (finished_copy.folder / "data/raw/letor-sim/manifest.json").unlink()
    finished_copy.snakemake("data/parquet/letor-sim/folds.parquet")
    assert hashlib.sha256(path.read_bytes()).hexdigest() in output


def flipped_quietly(path: Path) -> None:
    """Flip a bit and keep the time, as a disk that fails does: nothing shows from outside."""
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    flipped_bit(path)
    os.utime(path, ns=times)


def verify(project: Project) -> tuple[int, str]:
    """Check all files of a project; the status of the command, and what it printed."""
    command = [sys.executable, "-m", "pipeline_lib", "verify"]
    done = subprocess.run(command, cwd=project.folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


KINDS = {
    "data/raw/letor-sim/manifest.json",
    "data/raw/letor-sim/S1.txt",
    "data/parquet/letor-sim/documents.parquet",
    "data/parquet/letor-sim/folds.parquet",
    "data/parquet/letor-sim/raw-files.json",
    "data/parquet/letor-sim/summary.json",
    "results/small/availability.json",
    "results/small/changes.json",
    "results/small/configuration.yaml",
    "results/small/data/letor-sim.json",
    "results/small/evaluation/letor-sim/listnet.held-out.json",
    "results/small/evaluation/letor-sim/listnet.parquet",
    "results/small/models.json",
    "results/small/models/letor-sim/ranksvm/fold-2.json",
    "results/small/provenance.json",
    "results/small/tables/comparisons.parquet",
    "results/small/tables/summary.parquet",
    "reports/small/claims.json",
    "reports/small/files.json",
    "reports/small/index.html",
    "reports/small/report.html",
}
FOLDERS = {"reports/small/pages": "*.html", "reports/small/tables": "*.csv", "reports/small/figures": "*.svg"}


def everything(project: Project) -> dict[str, bytes]:
    """All files of the study and its data but those that say when and how it ran, as its pages do."""
    return {
        str(path.relative_to(project.folder)): path.read_bytes()
        for top in ("data", "results", "reports")
        for path in sorted((project.folder / top).rglob("*"))
        if path.suffix in (".parquet", ".json", ".yaml", ".csv", ".tex", ".svg", ".txt")
        and path.name not in (*RECORDS_OF_RUNS, "raw-files.json")
    }


@pytest.mark.slow
def test_every_damaged_file_is_named_at_once_and_one_run_makes_all_anew(finished_copy: Project) -> None:
    before = everything(finished_copy)
    assert verify(finished_copy)[0] == 0
    # Where files.json and raw-files.json are damaged, what they list cannot be compared with anything.
    listed = {
        f"{folder}/{next(path.name for path in sorted((finished_copy.folder / folder).glob(pattern)))}"
        for folder, pattern in FOLDERS.items()
    }
    lists = {"reports/small/files.json", "data/parquet/letor-sim/raw-files.json"}
    for chosen in ((KINDS | listed) - lists, lists):
        for name in chosen:
            flipped_quietly(finished_copy.folder / name)
        status, printed = verify(finished_copy)
        assert status == 1
        assert set(re.findall(r"^  - (\S+): ", printed, re.MULTILINE)) == chosen, printed
        finished_copy.snakemake()
        assert finished_copy.planned() == {}
        assert verify(finished_copy)[0] == 0
        assert everything(finished_copy) == before


def test_a_damaged_file_of_the_report_is_named_and_the_report_made_anew(finished_copy: Project) -> None:
    before = everything(finished_copy)
    names = ("reports/small/index.html", "reports/small/claims.json")
    for name in names:
        flipped_quietly(finished_copy.folder / name)
    (finished_copy.folder / "reports/small/report.html").unlink()
    status, printed = verify(finished_copy)
    assert status == 1
    assert set(re.findall(r"^  - (\S+): ", printed, re.MULTILINE)) == {*names, "reports/small/report.html"}
    assert announced(finished_copy.snakemake()) == {"judge_claims": 1, "render_report": 1}
    assert everything(finished_copy) == before
    assert verify(finished_copy)[0] == 0


def test_a_damaged_manifest_does_not_block(finished_copy: Project) -> None:
    manifest = finished_copy.folder / "data/raw/letor-sim/manifest.json"
    text = manifest.read_bytes()
    flipped_bit(manifest)
    wanted = ("data/raw/letor-sim/manifest.json", "data/parquet/letor-sim/folds.parquet")
    assert f"error: {wanted[0]}: damaged" in finished_copy.snakemake(*wanted, check=False)
    finished_copy.snakemake(*wanted)
    assert manifest.read_bytes() == text


def test_damaged_models_are_named_and_made_again(finished_copy: Project) -> None:
    before = finished_copy.tables()
    models = [f"results/small/models/letor-sim/{name}.json" for name in ("random/fold-1", "listnet/fold-2")]
    flipped_bit(finished_copy.folder / models[0])
    os.truncate(finished_copy.folder / models[1], 100)
    output = finished_copy.snakemake("-R", "evaluate_model", check=False)
    for model in models:
        assert f"error: {model}: damaged" in output
        assert (finished_copy.folder / f"{model}.damaged").exists()
    assert announced(finished_copy.snakemake())["train_model"] == 2
    assert finished_copy.planned() == {}
    assert finished_copy.tables() == before


def test_a_damaged_archive_is_named_and_nothing_is_downloaded(new_project: Callable[..., Project]) -> None:
    project = new_project(datasets=["MQ2008"], papers=[])
    archive = project.folder / "data/raw/MQ2008.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(b"PK\x03\x04 half of an archive")
    output = project.snakemake(check=False)
    assert "data/raw/MQ2008.zip" in output
    [tried] = re.findall("MQ2008 is not available. Tried: (.*?) Where the network", output)
    assert tried.startswith("data/raw/MQ2008.zip: the archive is damaged")
    assert "http" not in tried

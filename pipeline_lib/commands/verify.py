"""Compare every stored file with its checksum, name all that are damaged, and set them aside for the next run.

Studies, reports and data sets in this folder are checked. A damaged file is renamed to NAME.damaged, and one run makes
all of them again, with what follows from them. Logs, measured times and ro-crate-metadata.json have no checksum.
"""

from collections.abc import Iterator
from pathlib import Path

from pipeline_lib.core import storage
from pipeline_lib.core.errors import DamagedFileError, PipelineError
from pipeline_lib.core.storage import DIGESTS
from pipeline_lib.sources import catalog, manifest, raw_files
from pipeline_lib.study import run_lock
from pipeline_lib.study.run_crate import METADATA


def run() -> None:
    """Check all files while no run is at work; PipelineError with a line for every damaged one."""
    if not Path("results").is_dir():
        raise PipelineError(
            "results: expected a folder with studies, found none here; start in the folder of the project"
        )
    run_lock.hold(Path("results/run.lock"), "all")
    stored = [path for path in _stored() if path.is_file()]
    damaged = [error for path in stored for error in _damaged(path)]
    if not damaged:
        print(f"{len(stored):,} stored files, and what they list, are as they were written")
        return
    lines = [f"{len(damaged)} stored files are damaged; start the run again, which makes anew what runs make:"]
    raise PipelineError("\n".join([*lines, *(f"  - {error}{_repaired(error.path)}" for error in damaged)]))


def _stored() -> Iterator[Path]:
    """All files that contain a checksum of their own, and may list those of others."""
    yield from sorted(Path("data/raw").glob(f"*/{manifest.FILE}"))
    for top, pattern in (("data/parquet", "*/*"), ("results", "*/**/*")):
        for path in sorted(Path(top).glob(pattern)):
            if path.suffix in (".json", ".parquet") and path.name != METADATA:
                yield path
    yield from sorted(Path("reports").glob(f"*/{DIGESTS}"))


def _damaged(path: Path) -> Iterator[DamagedFileError]:
    """The file itself, or those that it lists."""
    try:
        storage.verify(path)
        if path.name == DIGESTS:
            # What is newer than the report was not shown by it.
            written = path.stat().st_mtime_ns
            for error in storage.damaged_of(path):
                shown = error.path.name not in ("claims.json", "configuration.yaml")
                if shown or not error.path.exists() or error.path.stat().st_mtime_ns <= written:
                    yield error
        elif path.name == raw_files.record_path("").name:
            yield from raw_files.damaged(path)
    except DamagedFileError as error:
        yield error
    except OSError as error:  # of the disk
        yield DamagedFileError(path, f"it cannot be read ({error.strerror})")


def _repaired(path: Path) -> str:
    """Set a damaged file aside, with what lets Snakemake repeat the job that made it; what became of it, in words."""
    if path.is_relative_to("reports"):
        Path(*path.parts[:2], DIGESTS).unlink(missing_ok=True)
    moved = storage.set_aside(path) if path.exists() else None
    if moved is not None:
        return f"; it was moved to {moved}"
    if path.is_relative_to("reports"):
        return ""
    entry = catalog.load().get(path.parent.name) if path.is_relative_to("data/raw") else None
    if entry is None:
        return "; it was left in place: put back a whole copy"
    if entry.source == "generated":
        (path.parent / manifest.FILE).unlink(missing_ok=True)
        return ""
    return f"; {raw_files.how_to_restore(entry, Path('data/raw'), path)}"

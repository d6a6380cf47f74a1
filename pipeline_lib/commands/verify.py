"""Compare every stored file with its checksum, name all that are damaged, and set them aside for the next run.

Studies, reports and data sets in this folder are checked by their content, whatever their times. A damaged file is
renamed to NAME.damaged, and one run makes all of them again, with what follows from them. At the end, the command says
how many files it has compared, and which it has not, because nothing states what they should contain.
"""

from collections import Counter
from pathlib import Path

from pipeline_lib.core import origins, storage
from pipeline_lib.core.errors import DamagedFileError, DataError, OldFileError, PipelineError
from pipeline_lib.core.storage import DIGESTS, TEXTS
from pipeline_lib.sources import catalog, manifest, raw_files
from pipeline_lib.sources.digests import digest
from pipeline_lib.study import run_lock
from pipeline_lib.study.run_crate import CODE, METADATA, README

FOLDERS = ("data/raw", "data/parquet", "results", "reports")
OLD = "an older version wrote them, without a checksum"
CHANGED = "their owner has changed them since they were read; the next run reads them"
AFTER_REPORT = "they are newer than the report, which the next run makes anew"
WITHOUT = "they have no checksum"


def run() -> None:
    """Check all files while no run is at work; PipelineError with a line for every damaged one."""
    if not Path("results").is_dir():
        raise PipelineError(
            "results: expected a folder with studies, found none here; start in the folder of the project"
        )
    run_lock.hold(Path("results/run.lock"), "all")
    found = _Found()
    for name in sorted({path.parent.name for path in _paths("data/parquet", raw_files.record_path("").name)}):
        found.compare_raw(name)
    for path in _paths("reports", DIGESTS):
        found.compare_report(path)
    for top in FOLDERS:
        for path in _paths(top, "*"):
            found.compare(path)
    if not found.damaged:
        print(found.summary())
        return
    lines = [f"{len(found.damaged)} stored files are damaged; start the run again, which makes anew what runs make:"]
    lines += [f"  - {error}{_repaired(error.path)}" for error in found.damaged.values()]
    raise PipelineError("\n".join([*lines, found.summary()]))


def _paths(top: str, pattern: str) -> list[Path]:
    return sorted(path for path in Path(top).rglob(pattern) if path.is_file())


class _Found:
    """What has been compared, what is damaged, and why the rest was not compared."""

    def __init__(self) -> None:
        self.compared: set[Path] = set()
        self.damaged: dict[Path, DamagedFileError] = {}
        self.not_compared: dict[Path, str] = {}

    def compare_raw(self, name: str) -> None:
        """Compare the text of a data set with its record, or with its manifest."""
        try:
            for path, expected, known in raw_files.listed(name):
                try:
                    found = digest(path)
                except DataError as error:
                    self.damaged[path] = DamagedFileError(path, f"it cannot be read ({error})")
                    continue
                if found != expected and raw_files.is_own_change(path, known):
                    self.not_compared[path] = CHANGED
                    continue
                self.compared.add(path)
                if found != expected:
                    self.damaged[path] = DamagedFileError(path, f"expected the SHA-256 {expected}, found {found}")
        except DataError:
            return  # both lists are damaged, and named as such

    def compare_report(self, path: Path) -> None:
        """Compare the files of a report with the list of them."""
        try:
            listed = storage.digests(path)
            wrong = {error.path: error for error in storage.damaged_of(path)}
        except DamagedFileError:
            return  # both lists are damaged
        for file in map(Path, listed):
            if file.name in TEXTS and origins.beside(file).exists():
                continue  # compared with the checksum beside it: it may be newer than the report
            if file in wrong and file.exists() and file.name in TEXTS and file.stat().st_mtime > path.stat().st_mtime:
                self.not_compared[file] = AFTER_REPORT
                continue
            self.compared.add(file)
            if file in wrong:
                self.damaged[file] = wrong[file]

    def compare(self, path: Path) -> None:
        """Compare a file with the checksum that it states, or that is beside it."""
        if path in self.compared or path in self.not_compared:
            return
        if reason := _not_comparable(path):
            self.not_compared[path] = reason
            return
        self.compared.add(path)
        try:
            storage.read_json(path) if path.suffix == origins.SUFFIX else storage.verify(path)
        except OldFileError:
            self.compared.remove(path)
            self.not_compared[path] = OLD
        except DamagedFileError as error:
            self.damaged[path] = error
        except OSError as error:  # of the disk
            self.damaged[path] = DamagedFileError(path, f"it cannot be read ({error.strerror})")

    def summary(self) -> str:
        """How many files were compared, and which were not, for which reasons."""
        lines = [f"{len(self.compared):,} stored files compared, {len(self.not_compared):,} not compared"]
        counts = Counter((reason, _group(path)) for path, reason in self.not_compared.items())
        for reason in dict.fromkeys(reason for reason, _ in counts):
            groups = [f"{count:,} {group}" for (why, group), count in sorted(counts.items()) if why == reason]
            lines.append(f"  {', '.join(groups)}: {reason}")
        return "\n".join(lines)


def _not_comparable(path: Path) -> str:
    """Why nothing states what a file should contain, or nothing if something does."""
    if path.name in TEXTS:
        return "" if origins.beside(path).exists() else OLD
    if path.suffix == origins.SUFFIX or (path.is_relative_to("data/raw") and path.name == manifest.FILE):
        return ""
    stored = path.suffix in (".json", ".parquet") and path.name != METADATA
    if stored and (path.is_relative_to("data/parquet") or path.is_relative_to("results") or path.name == DIGESTS):
        return ""
    return WITHOUT


def _group(path: Path) -> str:
    """What a file belongs to, by which files that are not compared are counted."""
    if path.parts[0] == "results" and len(path.parts) > 2:
        inner = path.parts[2]
        return f"in {inner}/" if inner in ("logs", "benchmarks", CODE) else _kind(path)
    return _kind(path)


def _kind(path: Path) -> str:
    return path.name if path.name in (README, METADATA, *TEXTS) else f"other files in {path.parts[0]}/"


def _repaired(path: Path) -> str:
    """Set a damaged file aside, with what lets Snakemake repeat the job that made it; what became of it, in words."""
    if path.is_relative_to("reports"):
        Path(*path.parts[:2], DIGESTS).unlink(missing_ok=True)
    if path.suffix == origins.SUFFIX:
        path.unlink(missing_ok=True)
        about = origins.about(path)
        storage.set_aside(about)
        return f"; {about} was set aside with it" if not about.exists() else ""
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

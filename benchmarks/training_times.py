"""How near are the estimates of a plan to the processor seconds that trainings take?

``python -m benchmarks.training_times FOLDER`` trains the models of the default study, and one model for every other
surrogate and learner, on the first fold of MQ2008, OHSUMED and simulated data with 300 features, to which the estimates
are fitted, and of simulated data of another shape, which only check them. Each training is a job of its own, as in the
workflow. LambdaMART needs LightGBM. The folder keeps the converted data for the next call; the variable LTR_MIRROR
names the folder with the archives of the public data sets. What is measured is written to ``training_times.csv`` beside
this module, and the section of the benchmarks is made from it.

When a learner or a surrogate has become faster or slower, measure it again with ``--model NAME``, and change
``seconds`` in the learner's module, or ``effort`` and ``repeats`` in the surrogate's class, until the ratios are near
1. ``--show`` prints them without measuring.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import page, processes, recorded
from pipeline_lib import learners, surrogates
from pipeline_lib.core.cost import Size
from pipeline_lib.core.files import write_text
from pipeline_lib.study import configuration, planning

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_name("training_times.csv")
TITLE = "## Estimates of training"
OWN_START = 0.3
"""Seconds that a process which starts by itself, as the measured ones do, takes more than a fork, besides imports."""
CHECK = "letor-sim, check"
"""The data set by which the estimates are checked: nothing is fitted to its rows."""
DATA_SETS: Mapping[str, Mapping[str, Any]] = {
    "MQ2008": {"datasets": ["MQ2008"]},
    "OHSUMED": {"datasets": ["OHSUMED"]},
    "letor-sim": {"letor_sim": {"queries": 200, "population": {"features": 300, "documents": 30}}},
    CHECK: {"letor_sim": {"queries": 400, "population": {"features": 120, "documents": 12}}},
}
"""The data sets, each with the study that converts it."""
LONGEST = 180
"""Processor seconds after which a training is stopped; it is then left out of the table."""


@dataclass(frozen=True)
class Training:
    """One measured training: its model, the size of the whole data set, and the seconds of its job."""

    data_set: str
    documents: int
    queries: int
    features: int
    model: str
    algorithm: str
    settings: str
    seconds: float

    @property
    def estimated(self) -> float:
        """The seconds that a plan would state for the job, were it no fork of a process that has started already."""
        size = Size(self.documents, self.queries, self.features)
        extra = learners.get(self.algorithm).estimate(json.loads(self.settings), size)
        return planning.Estimate.of(planning.cost("train_model"), size.cells, extra).seconds + OWN_START

    @property
    def ratio(self) -> float:
        """Measured divided by estimated seconds."""
        return self.seconds / self.estimated


def models() -> dict[str, tuple[str, dict[str, Any]]]:
    """The learner and the settings of every model: those of the default study, the other surrogates and learners."""
    study = configuration.check({}, {"letor-sim": 5})
    found = {m.name: (m.algorithm, study.settings(m.name, "letor-sim", 1)) for m in study.models}
    minimised = {settings.get("surrogate") for algorithm, settings in found.values() if algorithm == "erm"}
    for name in (name.replace("@k", "@10") for name in surrogates.NAMES):
        if name not in minimised:
            found[f"erm-{name}"] = "erm", learners.completed("erm", {"surrogate": name})
    for name in sorted(set(learners.NAMES) - {algorithm for algorithm, _ in found.values()}):
        loss = {"surrogate": "squared"} if learners.get(name).with_surrogate else {}
        found[name] = name, learners.completed(name, loss)
    return found


def read() -> list[Training]:
    """The trainings measured so far, in the order of the table."""
    return recorded.read(TABLE, Training)


def section(trainings: list[Training]) -> str:
    """The section that the files of rows are made from."""
    lines = [
        TITLE,
        "",
        "Processor seconds of training jobs on the first fold, start included, divided by the estimate of the plan.",
        f"The estimates are fitted to all rows but those of `{CHECK}`, which check them. This section is made by",
        "`python -m benchmarks.training_times`, which also says how to correct the estimates. A model that is missing",
        f"for a data set took more than {LONGEST} s or was not measured there.",
        "",
        "| data set | documents | queries | features | model | seconds | estimate | ratio |",
        "|---|---:|---:|---:|---|---:|---:|---:|",
    ]
    lines += [
        f"| {t.data_set} | {t.documents:,} | {t.queries:,} | {t.features} | {t.model} | {t.seconds:.1f} | "
        f"{t.estimated:.1f} | {t.ratio:.2f} |"
        for t in trainings
    ]
    return "\n".join(lines) + "\n"


def converted(data_set: str, folder: Path) -> Path:
    """The folder of a converted data set, which is made if it does not exist."""
    work = folder / data_set
    study = work / "study.json"
    study.parent.mkdir(parents=True, exist_ok=True)
    write_text(study, json.dumps(DATA_SETS[data_set]))
    data = Path("data/parquet") / _name_in_study(data_set)
    wanted = [str(data / name) for name in ("documents.parquet", "folds.parquet", "summary.json")]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "workflow/Snakefile"), "--cores", "1"]
    subprocess.run([*command, "--configfile", study.name, "--", *wanted], cwd=work, check=True)
    return work / data


def _name_in_study(data_set: str) -> str:
    [name] = DATA_SETS[data_set].get("datasets", ["letor-sim"])
    return str(name)


def measured(data: Path, data_set: str, model: str, algorithm: str, settings: Mapping[str, Any]) -> float | None:
    """Processor seconds, in user mode, of one training job; None if it was stopped after :data:`LONGEST`."""
    options = {
        "dataset": _name_in_study(data_set),
        "model": model,
        "algorithm": algorithm,
        "settings": json.dumps(settings),
        "fold": "1",
        "seed": "2026",
        "documents": str(data / "documents.parquet"),
        "folds": str(data / "folds.parquet"),
        "output": str(data / "model.json"),
    }
    command = [sys.executable, "-m", "pipeline_lib", "train-model"]
    command += [word for name, value in options.items() for word in (f"--{name}", value)]
    taken = processes.run(command, limit=LONGEST, quiet=True)
    return taken.user if taken.status == 0 else None


def measure(folder: Path, chosen: list[str], data_sets: list[str]) -> Iterator[Training]:
    """Train the chosen models on the data sets, and give what each training took."""
    known = models()
    for data_set in data_sets:
        data = converted(data_set, folder)
        summary = json.loads((data / "summary.json").read_text(encoding="utf-8"))
        size = (summary["rows"], summary["queries"], summary["features"])
        for model in chosen:
            algorithm, settings = known[model]
            # The first job may compile; what counts is the second, as in all later runs.
            seconds = [measured(data, data_set, model, algorithm, settings) for _ in range(2)][-1]
            if seconds is not None:
                yield Training(data_set, *size, model, algorithm, json.dumps(settings), round(seconds, 2))
            else:
                print(f"{data_set} {model}: failed, or more than {LONGEST} s", file=sys.stderr)


def main() -> None:
    """Measure, write the table and the section, and print the ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training_times", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where converted data are kept")
    parser.add_argument("--model", action="append", choices=list(models()), help="only this model; may be repeated")
    parser.add_argument("--data-set", action="append", choices=list(DATA_SETS), help="only this one; may be repeated")
    parser.add_argument("--show", action="store_true", help="measure nothing, and print the ratios of the table")
    arguments = parser.parse_args()
    if not arguments.show and arguments.folder is None:
        parser.error("a folder is needed for the converted data, unless --show is given")
    table = {(t.data_set, t.model): t for t in read()}
    if not arguments.show:
        for t in measure(arguments.folder, arguments.model or list(models()), arguments.data_set or list(DATA_SETS)):
            table[t.data_set, t.model] = t
            recorded.write(TABLE, Training, table.values())
    for t in table.values():
        print(f"{t.data_set:10} {t.model:28} {t.seconds:8.2f} s, estimated {t.estimated:8.2f} s, ratio {t.ratio:.2f}")
    page.store("training_times", section(list(table.values())))


if __name__ == "__main__":
    main()

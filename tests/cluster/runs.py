"""Runs of a study on a cluster, as docs/clusters.md says, while a test watches and disturbs them."""

import contextlib
import functools
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from ..workflow import forked
from ..workflow.conftest import Project
from .slurm import FOLDER, Slurm

CODE = Path(__file__).with_name("accidents.py")


@dataclass
class Run:
    """A run of a study on a cluster."""

    project: Project
    cluster: Slurm
    accidents: Path
    status: int | None = None
    output: str = ""
    drained: tuple[str, set[str]] = ("", set())
    """The node that was drained, and the nodes of the jobs that started in the meantime."""

    def send(self, *arguments: str, profile: str = "slurm") -> None:
        """Run the small study to its end."""
        environment = {"TEST_ACCIDENTS": str(self.accidents), "PYTHONPATH": str(self.accidents / CODE.stem)}
        self.status, self.output = forked.snakemake(
            [*arguments, "--workflow-profile", f"profiles/{profile}", "--configfile", "small.yaml"],
            self.project.folder,
            prepare=functools.partial(forked.query_every, 1.0),
            **self.cluster.environment,
            **environment,
        )

    @contextlib.contextmanager
    def sent(self, *arguments: str, profile: str = "slurm") -> Iterator[None]:
        """Run the small study while the context disturbs it, and wait for its end."""
        thread = threading.Thread(target=self.send, args=arguments, kwargs={"profile": profile})
        thread.start()
        try:
            yield
        except BaseException:
            if self.status is None:
                self.control_process().kill()  # nobody will answer it
            raise
        finally:
            thread.join()

    def control_process(self) -> psutil.Process:
        """The process of Snakemake that controls the run: jobs work in the same folder, and it is none of them."""
        here = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.cwd() == str(self.project.folder) and FOLDER not in process.environ():
                    here.append(process)
        [found] = [process for process in here if process.parent() not in here]
        return found

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 150.0) -> None:
        """Wait until a condition holds, while the study runs."""
        end = time.monotonic() + seconds
        while not condition():
            if self.status is not None or time.monotonic() > end:
                raise TimeoutError(f"not seen: {what}\n{self.summary()}\n{self.output[-6000:]}")
            time.sleep(0.3)

    def summary(self) -> str:
        """One line for every submission."""
        shown = ("JobId", "JobState", "NodeList", "Restarts", "RunTime", "TimeLimit", "TRES", "Comment")
        return "\n".join(" ".join(job.get(name, "") for name in shown) for job in self.cluster.jobs())

    def happened(self, model: str) -> bool:
        """Whether the accident of a model has happened."""
        return (self.accidents / f"{model}.happened").exists()

    def attempts(self, model: str) -> list[dict[str, str]]:
        """The submissions of a model whose accident has happened, in order."""
        jobs = self.cluster.jobs()
        number = (self.accidents / f"{model}.happened").read_text()
        [first] = [job for job in jobs if job["JobId"] == number]
        return [job for job in jobs if Path(job["StdOut"]).parent == Path(first["StdOut"]).parent]

    def started(self, known: int) -> list[dict[str, str]]:
        """The jobs that have started, without the first ones."""
        return [job for job in self.cluster.jobs()[known:] if job["JobState"] != "PENDING"]

    def states(self, model: str) -> list[str]:
        """How the submissions of a model ended."""
        return [job["JobState"] for job in self.attempts(model)]


def megabytes(job: dict[str, str]) -> int:
    """The memory that a submission asked for."""
    return int(job["MinMemoryNode"].removesuffix("M"))


def set_constants(project: Project, module: str, **values: float) -> None:
    """Give constants of a module of the project's copy other values."""
    path = project.folder / f"pipeline_lib/{module}.py"
    text = path.read_text()
    for name, value in values.items():
        text, found = re.subn(rf"(?m)^({name}) = .*", rf"\1 = {value}", text)
        assert found == 1
    path.write_text(text)


def plan(folder: Path, accidents: dict[str, str]) -> Path:
    """Write down which models will have an accident, and which one."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / CODE.stem).mkdir(parents=True)
    shutil.copy2(CODE, folder / CODE.stem / "sitecustomize.py")
    for model, accident in accidents.items():
        (folder / model).write_text(accident)
    return folder

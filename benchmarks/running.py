"""How is one benchmark run? In a process of its own, which stays on one core.

Every module of this folder whose name starts with ``bench_`` is one benchmark. Its docstring is the text of its
section; it offers one or more of ``measure() -> list[Timing]``, ``scaling() -> list[Scaling]`` (how time grows with
size) and ``tables() -> list[Table]``.
"""

import importlib
import multiprocessing
import os
import pkgutil
from concurrent.futures import ProcessPoolExecutor

import benchmarks
from benchmarks.page import Measured
from pipeline_lib.core import processor

PARTS = {"timings": "measure", "scalings": "scaling", "tables": "tables"}
"""The parts of a section, and the functions of a benchmark that measure them."""


def names() -> list[str]:
    """The benchmarks of this folder, sorted."""
    return sorted(
        module.name[6:] for module in pkgutil.iter_modules(benchmarks.__path__) if module.name[:6] == "bench_"
    )


def in_its_own_process(name: str) -> Measured:
    """Run one benchmark in a new process."""
    os.environ.update(processor.THREADS)  # libraries read it when they are imported, in the process that is started
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, initializer=on_one_core) as pool:
        return pool.submit(measured, name).result()


def on_one_core() -> None:
    """Keep this process, and every thread that libraries start in it, on one core."""
    if hasattr(os, "sched_setaffinity"):  # Linux
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measured(name: str) -> Measured:
    """Import one benchmark and run it."""
    module = importlib.import_module(f"benchmarks.bench_{name}")
    parts = {part: getattr(module, function)() for part, function in PARTS.items() if hasattr(module, function)}
    spent = os.times()
    seconds = spent.user + spent.system + spent.children_user + spent.children_system
    return Measured(name, module.__doc__ or name, **parts, seconds=seconds)

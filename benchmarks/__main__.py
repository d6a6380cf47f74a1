"""Run every benchmark beside its peers and write the table: ``python -m benchmarks [NAME ...]``.

Every other module of this folder whose name starts with ``bench_`` is one benchmark; it offers
``measure() -> list[Timing]``, and ``scaling() -> list[Scaling]`` if it also says how time grows with size.
"""

from __future__ import annotations

import os

for _variable in (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
):
    os.environ[_variable] = "1"  # before numpy: one core for everybody

import argparse
import datetime
import importlib
import importlib.metadata
import math
import pkgutil
import platform
from pathlib import Path

import benchmarks
from benchmarks.timing import Scaling, Timing
from pipeline_lib.files import write_text

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
PEERS = ("numpy", "scipy", "numba", "polars", "scikit-learn", "ranx", "pytrec-eval-terrier", "torch", "xgboost-cpu")


def names() -> list[str]:
    """The benchmarks of this folder, sorted."""
    return sorted(
        module.name[6:] for module in pkgutil.iter_modules(benchmarks.__path__) if module.name[:6] == "bench_"
    )


def rows(timings: list[Timing]) -> list[str]:
    """Markdown rows, one an implementation; the ratio is to the first implementation of the same work."""
    first: dict[str, Timing] = {}
    lines = []
    for timing in timings:
        ours = first.setdefault(timing.work, timing)
        if math.isnan(timing.median):  # a peer that was left out; its note says why
            lines.append(f"| {timing.work} | {timing.implementation} | – | – | – | – | {timing.note} |")
            continue
        spread = f"{min(timing.seconds) * 1e3:.3g}–{max(timing.seconds) * 1e3:.3g}"
        cells = [
            timing.work,
            timing.implementation,
            f"{timing.median * 1e3:.3g}",
            spread,
            f"{timing.rate:,.0f} {timing.unit}/s",
            f"{timing.median / ours.median:.2f}",
            timing.note,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def scaling_table(scalings: list[Scaling]) -> list[str]:
    """A Markdown table: nanoseconds a document for every size, and the exponent of the seconds of a whole query."""
    if not scalings:
        return []
    sizes, fitted_from = scalings[0].sizes, scalings[0].fitted_from
    heads = [f"m = {m:,}" for m in sizes]
    lines = [
        f"| nanoseconds a document | {' | '.join(heads)} | exponent from {fitted_from:,} | from {sizes[-2]:,} |",
        "|---|" + "---:|" * (len(sizes) + 2),
    ]
    for scaling in scalings:
        cells = [f"{seconds / m * 1e9:.3g}" for m, seconds in zip(sizes, scaling.seconds, strict=True)]
        exponents = f"{scaling.exponent:.2f} | {scaling.last_exponent:.2f}"
        lines.append(f"| {scaling.implementation} | {' | '.join(cells)} | {exponents} |")
    return lines


def machine() -> str:
    """One sentence about the machine and the versions compared."""
    versions = []
    for name in PEERS:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"{name} not installed")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"Measured on {datetime.date.today().isoformat()}: {os.cpu_count()} cores, {memory:.0f} GiB of memory, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}; every implementation on one "
        f"core. Versions: {', '.join(versions)}."
    )


def page(sections: list[tuple[str, str, list[Timing], list[Scaling]]]) -> str:
    """The whole page in Markdown: a section a benchmark, with its first docstring line as the title."""
    lines = ["# Benchmarks", "", "Made by `make bench`; do not edit by hand.", "", machine(), ""]
    lines += [
        "Times are medians of interleaved calls in one run; the ratio says how many times as long as the first",
        "",
    ]
    lines[-2] += " row of the same work (ours) the implementation takes. A ratio above 1 means that ours is faster."
    for _, text, timings, scalings in sections:
        title, _, rest = text.strip().partition("\n")
        lines += [f"## {title}", ""] + ([rest.strip(), ""] if rest.strip() else [])
        lines += [
            "| work | implementation | median ms | range ms | rate | ratio | note |",
            "|---|---|---:|---:|---:|---:|---|",
        ]
        lines += [*rows(timings), ""]
        lines += [*scaling_table(scalings), ""] if scalings else []
    return "\n".join(lines)


def main() -> None:
    """Run the benchmarks named (all by default) and print their tables; a whole run also writes the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names(), []], metavar="NAME", help=f"one of {', '.join(names())}")
    chosen = parser.parse_args().names or names()
    sections = []
    for name in chosen:
        module = importlib.import_module(f"benchmarks.bench_{name}")
        timings = module.measure()
        scalings = module.scaling() if hasattr(module, "scaling") else []
        print(f"\n{name}", *rows(timings), *scaling_table(scalings), sep="\n", flush=True)
        sections.append((name, module.__doc__ or name, timings, scalings))
    if chosen == names():
        write_text(PAGE, page(sections))
        print(f"\nwritten to {PAGE}")


if __name__ == "__main__":
    main()

"""Run the benchmarks: ``python -m benchmarks [NAME ...]``.

A run of all of them writes docs/benchmarks.md and its rows; a run of some prints their sections.
"""

import argparse
import time

from benchmarks import page, rows, running
from pipeline_lib.core.files import write_text


def main() -> None:
    """Run the benchmarks named, all by default, and print their sections; a run of all of them writes the page."""
    known = running.names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*known, []], metavar="NAME", help=f"one of {', '.join(known)}")
    chosen = parser.parse_args().names or known
    sections, start = [], time.perf_counter()
    for name in chosen:
        sections.append(running.in_its_own_process(name))
        print(*page.section(sections[-1]), sep="\n", flush=True)
        print(f"{name}: {sections[-1].seconds:.0f} processor seconds; {time.perf_counter() - start:.0f} s so far\n")
    if chosen == known:
        for one in sections:
            rows.write(one.name, "\n".join(page.section(one)))
        write_text(page.PAGE, page.page(page.about_run(sections)))
        print(f"written to {page.PAGE}")


if __name__ == "__main__":
    main()

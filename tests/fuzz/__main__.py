"""Make inputs, compare readers, and print what is wrong, a line of JSON for each finding."""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from . import configurations, letor_text, own_files

Target = Callable[[random.Random, Path], tuple[bytes, bool, str | None]]
"""Makes one input in a folder, and reads it; gives its bytes, whether it is valid, and the difference, if any."""

TARGETS: dict[str, tuple[int, Target]] = {
    "letor": (50, letor_text.strict),
    "own text": (25, own_files.text),
    "own tables": (15, own_files.table),
    "configuration": (10, configurations.fuzz),
}
"""Every target with its share of the inputs, in percent."""

MEMORY = 4 << 30
"""Bytes; an input that asks for more is a finding."""


def findings(inputs: int, seed: int, first: int = 0, only: str = "") -> Iterator[dict[str, object]]:
    """Compare the readers on so many inputs; give the differences, and the counts at the end."""
    names = [name for name, (share, _) in TARGETS.items() if only in name for _ in range(share)]
    counts: Counter[str] = Counter()
    memory = Path("/dev/shm")
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        for number in range(first, first + inputs):
            rng = random.Random(f"{seed}/{number}")
            name = rng.choice(names)
            content, accepted, found = TARGETS[name][1](rng, Path(folder))
            counts[f"{name}, {'valid' if accepted else 'refused'}"] += 1
            if found is not None:
                shown = repr(content[:2000])
                yield {"input": number, "target": name, "found": found.replace(folder, "")[:2000], "content": shown}
    yield {"counts": dict(sorted(counts.items()))}


def main() -> int:
    """Print the findings; the exit status says whether there were any."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input, to repeat one")
    parser.add_argument("--only", default="", help="only targets whose name contains this")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    begun, wrong = time.process_time(), 0
    for finding in findings(chosen.inputs, chosen.seed, chosen.first, chosen.only):
        wrong += "found" in finding
        print(json.dumps(finding), flush=True)
    print(f"{chosen.inputs} inputs, {wrong} findings, {time.process_time() - begun:.1f} s of CPU time", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())

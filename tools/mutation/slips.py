"""Are the slips of competent scientists noticed, and by what? A kept list of them, each put into a copy of the project.

    python -m tools.mutation.slips [--parts cone report] [--sample 10 --seed 1]
    python -m tools.mutation.slips --find [--seconds 60]
    python -m tools.mutation.slips --judge 5 [--seed 1]

Random errors (:mod:`tools.mutation`) change one token. Those of ``slips.csv`` were thought of: a mean for a maximum, n
for m, a variance for a deviation, the wrong part of the data. A slip replaces ``before``, which stands in its module
once, by ``after``. The first command runs the test that is named beside each: it must fail with the slip and pass
without, and what is stale or no longer noticed is printed and makes the command fail. ``--find`` runs the nearest tests
under slips that have none, and writes down the first that fails. ``--judge`` draws so many slips of each part, and
writes down whether a claim gets another status or a job stops in a small study that runs with each, of ``claims`` and
``report`` in the finished default study, where numbers that the record of evidence keeps count as well, and those that
are recomputed.
"""

import argparse
import csv
import importlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_lib.core import processor
from pipeline_lib.study.evidence import SHARE
from tests.workflow.job_server import LIBRARIES
from tools import affected
from tools.mutation.__main__ import STOPPED, Trial, Verdicts, put_into

SLIPS = Path(__file__).parent / "slips.csv"
PARTS = ("cone", "learners", "metrics", "sources", "kernels", "claims", "report")
REJUDGED = ("claims", "report")
"""Parts that compute nothing of which a study consists: the finished default study is judged again with these slips."""
MOST = 3
"""So many of the places at which a slip is noticed are written down."""
KINDS = ("verdict", "invariant", "test", "nothing")
"""What notices a slip, the strongest first: the status of a claim; an invariant of a table, the record of evidence, or
the recomputation; a test; nothing."""


class Slip(NamedTuple):
    """One error: ``before`` in a module becomes ``after``; and what notices it."""

    part: str
    module: str
    what: str
    """What is computed in place of what is meant, in a sentence."""
    before: str
    after: str
    noticed_by: str
    """The strongest of :data:`KINDS` that notices it."""
    by: str
    """The claim, the invariant or the test that ``noticed_by`` speaks of."""
    test: str
    """A test that fails with it, also where a verdict or an invariant notices it."""
    judged: str
    """Whether verdicts and invariants were tried, in a study or in the step of one that it changes ("yes" or "")."""

    def applied(self, source: str) -> str:
        """The source with the error; ValueError unless ``before`` stands in it once."""
        found = source.count(self.before)
        if found != 1:
            raise ValueError(f"{self.module}: expected {self.before!r} once, found it {found} times ({self.what})")
        return source.replace(self.before, self.after)


def load() -> list[Slip]:
    """The kept list."""
    with SLIPS.open(encoding="utf-8", newline="") as file:
        return [Slip(**row) for row in csv.DictReader(file)]


def save(slips: Iterable[Slip]) -> None:
    """Write the list, in the order of parts and modules."""
    with SLIPS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Slip._fields)
        writer.writerows(sorted(slips, key=lambda one: (PARTS.index(one.part), one.module, one.what)))


def stale(slips: Iterable[Slip]) -> list[str]:
    """What is wrong with slips whose ``before`` does not stand in the module once, or that change nothing."""
    found = []
    for slip in slips:
        try:
            source = (affected.ROOT / slip.module).read_text(encoding="utf-8")
            if slip.applied(source) == source:
                found.append(f"{slip.module}: nothing changes ({slip.what})")
        except (OSError, ValueError) as error:
            found.append(str(error))
    return found


def counts(slips: Iterable[Slip]) -> dict[str, Counter[str]]:
    """Part -> how many of its slips each of :data:`KINDS` notices; "all" for the whole list."""
    found: dict[str, Counter[str]] = {part: Counter() for part in (*PARTS, "all")}
    for slip in slips:
        for part in (slip.part, "all"):
            found[part][slip.noticed_by] += 1
    return {part: counted for part, counted in found.items() if counted}


def in_words(slips: Sequence[Slip]) -> str:
    """The counts as the documentation has them.

    Example
    -------
    >>> in_words([Slip("cone", "m.py", "A sum.", "a", "b", "test", "t", "t", "")])
    'Of 1 slips, 1 are noticed: 0 by a verdict and 0 by an invariant, which were tried on 0 of them, and 1 by a test.'
    """
    found = counts(slips)["all"]
    tried = sum(bool(one.judged) for one in slips)
    by = (
        f"{found['verdict']} by a verdict and {found['invariant']} by an invariant, which were tried on {tried} of them"
    )
    noticed = len(slips) - found["nothing"]
    return f"Of {len(slips)} slips, {noticed} are noticed: {by}, and {found['test']} by a test."


def table(slips: Iterable[Slip]) -> str:
    """The counts as text, a line for each part."""
    lines = [f"{'':10}" + "".join(f"{kind:>11}" for kind in KINDS)]
    lines += [f"{part:10}" + "".join(f"{own[kind]:>11}" for kind in KINDS) for part, own in counts(slips).items()]
    return "\n".join(lines)


def main() -> int:
    """Replay the list, or look for what notices those of which it is not known; 1 where something is not as listed."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation.slips", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="of these parts of the package")
    parser.add_argument("--sample", type=int, help="replay so many, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="which are drawn")
    parser.add_argument("--find", action="store_true", help="look for a test that notices those without one")
    parser.add_argument("--judge", type=int, default=0, help="judge a small study with so many of each part")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="for how long tests start, for each that is looked for"
    )
    parser.add_argument("--folder", type=Path, default=affected.ROOT / "build/slips", help="where the copy lies")
    parser.add_argument(
        "--finished", type=Path, default=affected.ROOT / "results/default", help="the default study, judged again"
    )
    options = parser.parse_args()
    slips = load()
    if wrong := stale(slips):
        print("\n".join(wrong))
        return 1
    chosen = [one for one in slips if one.part in options.parts]
    os.environ.update(processor.variables(), NUMBA_CACHE_DIR=str(options.folder.resolve() / "compiled"))
    for library in LIBRARIES:
        importlib.import_module(library)
    if options.judge:
        judge(sampled(chosen, options.judge, options.seed), options.folder.resolve(), options.finished)
        missed = []
    elif options.find:
        trial = Trial(options.folder.resolve(), options.seconds)
        missed = find([one for one in chosen if not one.test], trial)
    else:
        if options.sample is not None:
            chosen = random.Random(options.seed).sample(chosen, options.sample)
        missed = replay(chosen, Trial(options.folder.resolve(), options.seconds))
    print(table([one for one in load() if one.part in options.parts]))
    print(*(f"not noticed: {one.module}: {one.what}" for one in missed), sep="\n")
    return bool(missed)


def find(slips: Sequence[Slip], trial: Trial) -> list[Slip]:
    """Look for the test that notices each slip, write it down at once, and return those that no test notices."""
    missed = []
    for number, slip in enumerate(slips, 1):
        outcome, by = trial.of(slip)
        if outcome == "survived":
            missed.append(slip)
        noticed = {"test": by if outcome != "survived" else ""}
        if not slip.judged or slip.noticed_by not in ("verdict", "invariant"):
            noticed |= {"noticed_by": "test" if noticed["test"] else "nothing", "by": noticed["test"]}
        _replace(slip, **noticed)
        print(f"{number}/{len(slips)}", slip.module, slip.what, outcome, by, sep="  ", flush=True)
    return missed


def replay(slips: Sequence[Slip], trial: Trial) -> list[Slip]:
    """Those of the slips with a test whose test passes with the slip, or fails without it."""
    missed = []
    for number, slip in enumerate(slips, 1):
        noticed = not slip.test or trial.notices(slip.test, slip)
        missed += [] if noticed else [slip]
        print(f"{number}/{len(slips)}", slip.module, slip.what, noticed, slip.test, sep="  ", flush=True)
    return missed


def sampled(slips: Sequence[Slip], count: int, seed: int) -> list[Slip]:
    """So many of each part."""
    rng = random.Random(seed)
    parts = [[one for one in slips if one.part == part] for part in PARTS]
    return [one for own in parts if own for one in rng.sample(own, min(count, len(own)))]


def judge(slips: Sequence[Slip], folder: Path, finished: Path) -> None:
    """Let a study be judged with each slip, and write down what notices it besides tests."""
    Trial(folder, 0.0)  # makes the copy
    verdicts, again = Verdicts(folder), Rejudged(folder / "tree", finished.resolve())
    for number, slip in enumerate(slips, 1):
        if slip.judged:
            continue
        outcome, by = again.of(slip) if slip.part in REJUDGED else verdicts.of(slip)
        noticed = {"noticed_by": outcome, "by": by} if outcome in ("verdict", "invariant") else {}
        _replace(slip, judged="yes", **noticed)
        print(f"{number}/{len(slips)}", slip.module, slip.what, outcome, by, sep="  ", flush=True)


class Rejudged:
    """A finished study, whose claims are judged again by a copy of the project with a slip in it."""

    def __init__(self, tree: Path, finished: Path) -> None:
        self.tree, self.finished = tree, finished
        self.before: dict[str, Any] = {}

    def of(self, slip: Slip) -> tuple[str, str]:
        """What differs: the status of a claim, what the record of evidence keeps of it, or its recomputed card."""
        if not self.before:
            self.before = self._found()
            if STOPPED in self.before:
                raise RuntimeError(
                    f"{self.finished}: expected a study whose claims can be judged, found that they cannot"
                )
        with put_into(self.tree, slip):
            found = self._found()
        return differing(self.before, found)

    def _found(self) -> dict[str, Any]:
        command = [sys.executable, "-m", "tools.mutation.rejudged", str(self.finished)]
        ended = subprocess.run(command, cwd=self.tree, check=False, capture_output=True, text=True)
        return {STOPPED: "stopped"} if ended.returncode else json.loads(ended.stdout)


def differing(before: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, str]:
    """What notices a slip, and where, by what :mod:`tools.mutation.rejudged` found without it and with it.

    The record of evidence refuses what makes the test of a claim weaker (:mod:`pipeline_lib.study.evidence`).

    Example
    -------
    >>> one = {"statuses": {"a-b": "verified"}, "record": {"a-b": {"trials": 3, "margin": 1.5}}, "recomputed": []}
    >>> differing(one, {**one, "statuses": {"a-b": "refuted"}})
    ('verdict', 'a-b: verified -> refuted')
    >>> differing(one, {**one, "record": {"a-b": {"trials": 3, "margin": 2.5}}})
    ('invariant', 'record of evidence: a-b: margin 1.5 -> 2.5')
    """
    if STOPPED in found:
        return "verdict", f"{STOPPED}: None -> stopped"
    if moved := [
        f"{claim}: {one} -> {found['statuses'].get(claim)}"
        for claim, one in before["statuses"].items()
        if found["statuses"].get(claim) != one
    ]:
        return "verdict", _some(moved)
    if wrong := [name for name in found["recomputed"] if name not in before["recomputed"]]:
        return "invariant", f"recomputation: {_some(wrong)}"
    kept = [
        f"{claim}: {what} {numbers[what]} -> {found['record'][claim][what]}"
        for claim, numbers in before["record"].items()
        for what in numbers
        if _weaker(what, numbers[what], found["record"][claim][what])
    ]
    return ("invariant", f"record of evidence: {_some(kept)}") if kept else ("survived", "")


def _weaker(what: str, before: float | None, now: float | None) -> bool:
    """Whether a number says that a claim is tested less severely, so that the record of evidence refuses it."""
    if what == "margin":
        return before is not None and (now or 0.0) > before * (1 + SHARE)
    assert before is not None
    assert now is not None
    return now < before * (1 - SHARE if what == "could have failed" else 1)


def _some(found: Sequence[str]) -> str:
    return "; ".join(found[:MOST]) + (f"; and {len(found) - MOST} more" if len(found) > MOST else "")


def _replace(slip: Slip, **values: str) -> None:
    # Read anew, so that what was added meanwhile is kept.
    place = (slip.module, slip.before, slip.after)
    save(one._replace(**values) if (one.module, one.before, one.after) == place else one for one in load())


if __name__ == "__main__":
    sys.exit(main())

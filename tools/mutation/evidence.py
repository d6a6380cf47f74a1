"""Would a slip in the evidence of a claim, or in its rule, change what is said of it? Mutants of readings and rows.

    python -m tools.mutation.evidence [results/default] [--claims ID ...] [--output FILE]

makes one slip at a time in every claim that a finished study judges, and judges it again on the stored tables: trials
are left out (one value of an axis, or half of all), two values or columns are exchanged, or another value or column of
bounds takes the place of one; values are those of other seeds, within their intervals; a tolerance is ten times as
large, `trivial`, a check or a reading is left out; a condition is left out, asks for another value, or is narrowed to
one value of a column; a mean takes the place of a maximum or the reverse. Printed are the claims that are verified
although no mutant gives them another status, and the mutants that neither a status nor the record of what claims are
tested on (:mod:`pipeline_lib.study.evidence`) would show.
``--output`` takes one line for each mutant, and goes on with the claims that it lacks.
"""

import argparse
import csv
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars import selectors

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.claims.judged import JudgedClaim
from pipeline_lib.claims.ledger import Claim, Context
from pipeline_lib.claims.reading import Reading
from pipeline_lib.claims.trials import Trial
from pipeline_lib.core import storage
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.core.seeds import seed
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.statistics import Interval
from pipeline_lib.study.evidence import Evidence, weaker

MOST = 8
"""So many values of an axis, other limits, or conditions are tried at most, evenly among all."""
WRITTEN = ("values exchanged", "another value")
"""Kinds of mutants whose expressions are others than those of the claim, although only its trials are changed here."""
CHANCE = "another seed"
"""The kind of mutants that must not change a status, and that change numbers without a test being weaker."""
ERROR = "error"
"""What stands for the status of a claim that cannot be judged, which stops a study."""
SUMMARIES = {"MAX": "AVG", "MIN": "AVG", "AVG": "MAX"}
EQUAL = re.compile(r"(?:\"(\w+)\"|\b(\w+)) = '([^']*)'")
JOINT = " ; "
WORD = re.compile(r"\w+")
LARGEST = re.compile(r"\blargest_(\w+)|\b(\w+)_largest\b")
"""Columns that have the largest of several values, beside a column of the rest of the name that has their mean."""


@dataclass(frozen=True)
class Stored(Context):
    """What a study has, where every reading of a table is made once."""

    _known: dict[tuple[str, str], Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def read(
        self, reading: Reading, name: str, rows: pl.DataFrame, settings: Mapping[str, Any]
    ) -> tuple[list[Trial], str]:
        key = reading.model_dump_json(), name
        if key not in self._known:
            self._known[key] = super().read(reading, name, rows, settings)
        return self._known[key]  # type: ignore[no-any-return]

    @classmethod
    def at(cls, folder: ResultsFolder) -> "Stored":
        """What a finished study left."""
        tables = sorted((folder.path / "tables").glob("*.parquet"))
        found = storage.read_json(folder.path / "availability.json")["datasets"]
        # The configuration leaves out experiments that have no settings.
        settings = {
            paper: {name: {} for name in papers.experiments(paper)} | given
            for paper, given in folder.configured["experiments"].items()
        }
        return cls.of(folder.study, found, tables=tables, settings=settings)


class Mutant(NamedTuple):
    """One slip: what it is, and the claim and the trials with it."""

    kind: str
    what: str
    claim: Claim
    trials: Sequence[Trial]


class Outcome(NamedTuple):
    """What a mutant changes: the status, the number of trials or of those that decide, and the numbers of the rule;
    and whether the record would show it."""

    claim: str
    kind: str
    what: str
    before: str
    after: str
    counts: bool
    numbers: bool
    recorded: bool

    @property
    def moved(self) -> bool:
        """Whether the status is another one, or the judgement stops with an error."""
        return self.after != self.before


def tried(claim: Claim, context: Context) -> list[Outcome]:
    """What becomes of a claim with each of its mutants; nothing for a claim that the study does not judge."""
    [judged] = ledger.judge([claim], context)
    if not judged.trials:
        return []
    trials = ledger.trials_of(claim, claim.readings, context)[0]
    before = Evidence.of(claim, judged)
    return [_outcome(one, judged, before, context) for one in mutants(claim, trials, judged.covered, context)]


def mutants(
    claim: Claim, trials: Sequence[Trial], covered: Mapping[str, Sequence[str]], context: Context
) -> Iterator[Mutant]:
    """All mutants of a claim that differ from it; those that cannot be read are left out."""
    yield from (Mutant(kind, what, claim, kept) for kind, what, kept in _of_trials(claim, trials))
    yield from (
        Mutant(kind, what, claim.model_copy(update={"checks": checks}), trials)
        for kind, what, checks in _of_rule(claim)
    )
    for kind, what, readings in _of_readings(claim, covered, context):
        changed = claim.model_copy(update={"readings": tuple(readings)})
        try:
            found = ledger.trials_of(changed, changed.readings, context)[0]
        except (DataError, ConfigurationError):
            continue
        if found:
            yield Mutant(kind, what, changed, found)


def _outcome(mutant: Mutant, judged: JudgedClaim, before: Evidence, context: Context) -> Outcome:
    about = judged.id, mutant.kind, mutant.what, judged.status
    try:
        found = ledger.judge_trials(mutant.claim, mutant.trials, context)
    except DataError:
        # A claim whose values are missing is an error, and stops the study.
        return Outcome(*about, ERROR, True, True, True)
    after = Evidence.of(mutant.claim, replace(found, covered=judged.covered))
    if mutant.kind in WRITTEN:
        after = after.model_copy(update={"reads": ()})
    counts = (after.trials, after.decided) != (before.trials, before.decided)
    return Outcome(*about, found.status, counts, after.ranges != before.ranges, any(weaker(before, after)))


# --- Trials -----------------------------------------------------------------------------------------------------------


def _of_trials(claim: Claim, trials: Sequence[Trial]) -> Iterator[tuple[str, str, list[Trial]]]:
    labels: dict[str, list[Any]] = {}
    for trial in trials:
        for axis, label in trial.setting.items():
            labels.setdefault(axis, []).append(label)
    for axis, found in labels.items():
        for label in _some(list(dict.fromkeys(found))):
            left = [trial for trial in trials if trial.setting.get(axis) != label]
            if left:
                yield "trials left out", f"{axis} = {label}", left
    if (half := len(trials) // 2) > 0:
        yield "half of the trials", "the first", list(trials[:half])
        yield "half of the trials", "the second", list(trials[half:])
    names = claim.names
    for one, other in _some(list(combinations(names, 2))):
        yield from _with_values("values exchanged", f"{one} and {other}", trials, {one: other, other: one})
    shown = sorted({name for trial in trials for name in trial.values} - {*names})
    for name in names:
        for other in _some(shown):
            yield from _with_values("another value", f"{other} for {name}", trials, {name: other})
    for number in range(2):
        rng = random.Random(seed("mutants of evidence", claim.id, number))
        drawn = [
            replace(one, values={name: _again(value, rng) for name, value in one.values.items()}) for one in trials
        ]
        if drawn != list(trials):
            yield CHANCE, f"within intervals, {number}", drawn


def _with_values(
    kind: str, what: str, trials: Sequence[Trial], taken: Mapping[str, str]
) -> Iterator[tuple[str, str, list[Trial]]]:
    """Trials in which values are those of other names, wherever all are present."""
    changed = [
        replace(one, values={**one.values, **{name: one.values[other] for name, other in taken.items()}})
        if {*taken, *taken.values()} <= {*one.values}
        else one
        for one in trials
    ]
    if changed != list(trials):
        yield kind, what, changed


def _again(value: float | Interval, rng: random.Random) -> float | Interval:
    """What another sample could have given: an interval about a value that is drawn from this one."""
    if not isinstance(value, Interval):
        return value
    away = rng.gauss(0.0, 0.5)
    shift = away * (value.high - value.value if away > 0 else value.value - value.low)
    return Interval(value.value + shift, value.low + shift, value.high + shift, value.freedom)


# --- The rule ---------------------------------------------------------------------------------------------------------


def _of_rule(claim: Claim) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    for place, check in enumerate(claim.checks):
        others = claim.checks[:place], claim.checks[place + 1 :]
        if len(claim.checks) > 1:
            yield "check left out", check.words(), (*others[0], *others[1])
        given = getattr(check, "tolerance", None)
        if given is not None and not check.guards:
            # Of nothing, and of what is there for rounding, ten times as much would be nothing again.
            larger = 10 * given if given > 1e-5 else 1.0
            yield (
                "larger tolerance",
                f"{larger:g}",
                (*others[0], check.model_copy(update={"tolerance": larger}), *others[1]),
            )
        if getattr(check, "trivial", None) is not None:
            yield (
                "trivial left out",
                check.words(),
                (*others[0], check.model_copy(update={"trivial": None}), *others[1]),
            )


# --- Readings ---------------------------------------------------------------------------------------------------------


def _of_readings(
    claim: Claim, covered: Mapping[str, Sequence[str]], context: Context
) -> Iterator[tuple[str, str, list[Reading]]]:
    for place, reading in enumerate(claim.readings):
        others = claim.readings[:place], claim.readings[place + 1 :]
        if others[0] or others[1]:
            yield "reading left out", reading.table, [*others[0], *others[1]]
        for _, rows, _ in context.parts(claim, reading)[:1]:
            changed = chain(_conditions(reading, rows), _narrowed(reading, covered, rows), _expressions(reading, rows))
            changed = chain(changed, _exchanged(claim, reading, rows))
            for kind, what, one in changed:
                yield kind, what, [*others[0], one, *others[1]]


def _conditions(reading: Reading, rows: pl.DataFrame) -> Iterator[tuple[str, str, Reading]]:
    """A part of a condition is left out, or asks for another value of its column."""
    for text, condition in _changed(reading.where, rows):
        yield "another condition", text, reading.model_copy(update={"where": condition})
    for name, value in reading.values.items():
        for text, condition in _changed(value.where, rows):
            yield "another condition", f"{name}: {text}", _with_value(reading, name, where=condition)


def _changed(where: str | None, rows: pl.DataFrame) -> Iterator[tuple[str, str | None]]:
    parts = where.split(" AND ") if where else []
    for i, part in enumerate(parts):
        yield f"without {part}", " AND ".join(parts[:i] + parts[i + 1 :]) or None
    where = where or ""
    for found in EQUAL.finditer(where):
        column, value = found[1] or found[2], found[3]
        if column in rows.columns and rows[column].dtype == pl.String:
            for other in _some([one for one in rows[column].drop_nulls().unique().sort() if one != value]):
                asked = f'"{column}" = {_quoted(other)}'
                yield f"{asked} for {_quoted(value)}", f"{where[: found.start()]}{asked}{where[found.end() :]}"


def _narrowed(
    reading: Reading, covered: Mapping[str, Sequence[str]], rows: pl.DataFrame
) -> Iterator[tuple[str, str, Reading]]:
    """Only rows with one value of a column of text count, over which values are summaries."""
    axes = {text.strip('"') for text in reading.axes.values()}
    for name in (name for name in covered if name in rows.columns and name not in axes and len(covered[name]) > 1):
        for label in _some(covered[name]):
            condition = f'"{name}" = {_quoted(label)}'
            narrowed = f"({reading.where}) AND {condition}" if reading.where else condition
            yield "condition narrowed", condition, reading.model_copy(update={"where": narrowed})


def _exchanged(claim: Claim, reading: Reading, rows: pl.DataFrame) -> Iterator[tuple[str, str, Reading]]:
    """Two columns of numbers take each other's place in all values that the rule names."""
    judged = {name: value for name, value in reading.values.items() if name in claim.names}
    text = JOINT.join(one for value in judged.values() for one in value.value)
    used = [name for name in rows.select(selectors.numeric()).columns if re.search(rf"\b{name}\b", text)]
    for one, other in _some(list(combinations(used, 2))):
        values = {
            name: value.model_copy(update={"value": tuple(_swapped(part, one, other) for part in value.value)})
            for name, value in judged.items()
        }
        yield "columns exchanged", f"{one} and {other}", reading.model_copy(update={"values": reading.values | values})


def _swapped(text: str, one: str, other: str) -> str:
    names = {one: other, other: one}
    return WORD.sub(lambda word: names.get(word[0], word[0]), text)


def _expressions(reading: Reading, rows: pl.DataFrame) -> Iterator[tuple[str, str, Reading]]:
    """A value, or a column, is another summary of its rows, or a limit another column of the table."""
    limits = [name for name in rows.columns if "bound" in name]
    for name, value in reading.values.items():
        for what, changed in _summaries(JOINT.join(value.value), rows.columns):
            yield "another summary", f"{name}: {what}", _with_value(reading, name, value=tuple(changed.split(JOINT)))
        if len(value.value) == 1 and value.value[0] in limits:
            for other in _some([one for one in limits if one != value.value[0]]):
                yield "another limit", f"{name}: {other}", _with_value(reading, name, value=(other,))
    for name, text in reading.columns.items():
        for what, changed in _summaries(text, rows.columns):
            columns = {**reading.columns, name: changed}
            yield "another summary", f"{name}: {what}", reading.model_copy(update={"columns": columns})


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _with_value(reading: Reading, name: str, **changes: Any) -> Reading:
    values = {**reading.values, name: reading.values[name].model_copy(update=changes)}
    return reading.model_copy(update={"values": values})


def _summaries(text: str, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Expressions with another summary of several rows, by function or by column."""
    for old, new in SUMMARIES.items():
        if re.search(rf"\b{old}\(", text):
            yield f"{new} for {old}", re.sub(rf"\b{old}\(", f"{new}(", text)
    found = {match[0]: match[1] or match[2] for match in LARGEST.finditer(text)}
    if found and all(rest in columns for rest in found.values()):
        yield f"means for {', '.join(found)}", LARGEST.sub(lambda match: found[match[0]], text)


def _some(values: Sequence[Any]) -> list[Any]:
    """All values, or :data:`MOST` of them, evenly among all."""
    step = max(1.0, len(values) / MOST)
    return [values[int(i * step)] for i in range(min(len(values), MOST))]


# --- The campaign -----------------------------------------------------------------------------------------------------


def unmoved(outcomes: Sequence[Outcome]) -> list[str]:
    """The claims that are verified whatever the slip; chance is none, and an error is no verdict."""
    verified = dict.fromkeys(one.claim for one in outcomes if one.before == "verified")
    moved = {one.claim for one in outcomes if one.after not in (one.before, ERROR) and one.kind != CHANCE}
    return [name for name in verified if name not in moved]


def unseen(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The mutants that change trials or numbers, and neither the status nor what the record compares."""
    slips = [one for one in outcomes if one.kind != CHANCE and (one.counts or one.numbers)]
    return [one for one in slips if not one.moved and not one.recorded]


def report(outcomes: Sequence[Outcome]) -> str:
    """How many mutants of every kind were seen, and what was not."""
    lines = ["| kind | mutants | another status | the record shows | unseen |", "|---|---|---|---|---|"]
    for kind in dict.fromkeys(one.kind for one in outcomes):
        own = [one for one in outcomes if one.kind == kind]
        counts = len(own), sum(one.moved for one in own), sum(one.recorded for one in own), len(unseen(own))
        lines.append(f"| {kind} | {' | '.join(map(str, counts))} |")
    lines += ["", f"Verified, whatever the mutant: {', '.join(unmoved(outcomes)) or 'none'}"]
    return "\n".join(lines)


def main() -> None:
    """Try all mutants of the claims, and print what was not seen."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation.evidence", description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", default="results/default", help="results folder of a finished study")
    parser.add_argument("--claims", nargs="*", help="the claims to try; all if left out")
    parser.add_argument("--output", type=Path, help="file with a line for each mutant")
    options = parser.parse_args()
    context, outcomes = Stored.at(ResultsFolder.at(options.results)), _earlier(options.output)
    done = {one.claim for one in outcomes}
    for claim in ledger.load():
        if claim.readings and claim.id not in done and (not options.claims or claim.id in options.claims):
            found = tried(claim, context)
            outcomes += found
            if options.output:
                options.output.parent.mkdir(parents=True, exist_ok=True)
                with options.output.open("a", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows(found)
    print(report(outcomes))


def _earlier(path: Path | None) -> list[Outcome]:
    if path is None or not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Outcome(*row[:5], *(cell == "True" for cell in row[5:])) for row in csv.reader(file)]  # type: ignore[arg-type]


if __name__ == "__main__":
    main()

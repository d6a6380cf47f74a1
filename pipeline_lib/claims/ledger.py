"""Which claims do the papers make, and what does the evidence say of each?

The ledger, ``pipeline_lib/papers/<paper>/claims.yaml``, holds every claim with its rule. Its evidence is read from the
tables that the claim names (:mod:`pipeline_lib.claims.reading`), or handed in by an experiment
(:mod:`pipeline_lib.claims.evidence`); :func:`judge` puts the two together. No status is ever written by hand.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_lib import schemas, storage
from pipeline_lib.claims import judged, rules
from pipeline_lib.claims.evidence import Evidence, Trial, read_evidence
from pipeline_lib.claims.planted import Planted
from pipeline_lib.claims.reading import Reading
from pipeline_lib.claims.rules import Check
from pipeline_lib.claims.severity import Plant, Severity, final
from pipeline_lib.claims.verdicts import Verdict
from pipeline_lib.claims.words import Status
from pipeline_lib.errors import ConfigurationError, DataError, hint
from pipeline_lib.experiment import pattern_of
from pipeline_lib.papers import Paper, every, experiments

if TYPE_CHECKING:
    import polars as pl

SCHEMA = Path(__file__).with_name("schema.yaml")
NOTHING = "The tables of the study hold no row that bears on it."
"""Why a claim is not judged whose tables are empty, where its ledger does not say it better."""


@dataclass(frozen=True)
class Claim:
    """A stated result, what must be shown for it, and the checks that judge it.

    ``data`` names data sets without which it cannot be judged, ``displayed`` values that are shown and decide nothing,
    ``reasons`` why the checks' limits are what they are. ``readings`` say where tables hold its evidence, and
    ``otherwise`` why it is not judged where they hold none; without readings an experiment hands the evidence in.
    ``planted`` are the statements that the checks must tell from the claim's own, and ``consistent`` says why nothing
    could contradict the claim, and from where on it could.
    """

    id: str
    paper: Paper
    kind: str
    where: str
    says: str
    shows: str
    checks: tuple[Check, ...]
    data: tuple[str, ...] = ()
    displayed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    otherwise: str = ""
    planted: tuple[Planted, ...] = ()
    consistent: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The values that its evidence may hold: those that the rule reads, and those that are shown only."""
        return tuple(dict.fromkeys([*(name for check in self.checks for name in check.names), *self.displayed]))

    def rule_in_words(self) -> str:
        """The whole rule as text: every check, then the reasons for its limits."""
        text = "; and ".join(check.words() for check in self.checks)
        text = text[0].upper() + text[1:] + "."
        return " ".join([text, *self.reasons])


@dataclass(frozen=True)
class Context:
    """What a study has: tables, their settings, and the reasons why data sets are missing.

    ``missing`` maps a data set's name to the sentence that says why it is missing and how to get it, ``settings`` the
    papers of the study to their experiments and these to their settings; ``tables`` are the files
    ``results/<study>/tables/...`` that claims may be read from.
    """

    study: str
    missing: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[Path] = ()
    settings: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    _read: dict[Path, pl.DataFrame] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, study: str, availability: Sequence[Mapping[str, Any]], **results: Any) -> Context:
        """Take the missing data sets from ``availability.json``.

        Example
        -------
        >>> entry = {"dataset": "MQ2007", "status": "missing", "reason": "not in data/raw",
        ...          "how_to_get": "place MQ2007.rar in data/raw"}
        >>> Context.of("default", [entry]).missing["MQ2007"]
        'not in data/raw; to get it: place MQ2007.rar in data/raw'
        """
        missing = {
            entry["dataset"]: f"{entry['reason'].rstrip('.')}; to get it: {entry['how_to_get'].rstrip('.')}"
            for entry in availability
            if entry["status"] == "missing"
        }
        return cls(study, missing, **results)

    def rows(self, path: Path) -> pl.DataFrame:
        """The rows of a table, which is read and checked once for all claims and all that is planted into them."""
        if path not in self._read:
            self._read[path] = storage.read_table(path)
        return self._read[path]

    def parts(self, claim: Claim, reading: Reading) -> list[tuple[str, Path, Mapping[str, Any]]]:
        """The files of a table: the path below the results folder, the file, and the experiment's settings."""
        paper = claim.paper.name
        declared = {table: name for name, found in experiments(paper).items() for table in found.tables}
        if reading.table not in declared:
            wrong = f"expected a table of {paper}, found {reading.table}; {hint(reading.table, declared)}"
            raise DataError(f"claim {claim.id}: {wrong}")
        settings = self.settings[paper][declared[reading.table]]
        matched = ((re.search(pattern_of(reading.table), path.as_posix()), path) for path in self.tables)
        return [(found[0].lstrip("/"), path, settings) for found, path in matched if found]


@dataclass(frozen=True)
class Judgement:
    """A claim's status, the sentence that says why, and the evidence trial by trial."""

    claim: Claim
    status: Status
    explanation: str
    evidence: Evidence | None = None
    per_trial: tuple[Status, ...] = ()
    severity: Severity | None = None

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables behind the numbers."""
        return self.evidence.tables if self.evidence else ()


def load(papers: Iterable[Paper] | None = None) -> list[Claim]:
    """Read and validate the claims of some papers, by default of all, in the order of the report.

    Raises
    ------
    ConfigurationError
        When a file is missing or wrong; the message names file, claim and key. Also when an id occurs twice.
    """
    claims: list[Claim] = []
    for paper in every() if papers is None else papers:
        path = paper.folder / "claims.yaml"
        document = schemas.load(path, f"the claims of {paper.name}")
        wrong = next(schemas.violations(document, SCHEMA), None)
        if wrong is not None:
            raise ConfigurationError(f"{path}: {_explained(wrong, document)}")
        claims += [_claim(entry, paper) for entry in document["claims"]]
    _check_unique(claims)
    return claims


def judge(claims: Sequence[Claim], evidence: Iterable[str | os.PathLike[str]], context: Context) -> list[Judgement]:
    """Judge every claim on its evidence, in the ledger's order.

    ``evidence`` are files ``results/<study>/evidence/<claim-id>.json``, for the claims that are not read from tables. A
    claim without evidence is ``not-run`` with the reason; tables are looked for below ``results/<study>``.

    Raises
    ------
    DataError
        When evidence is missing or malformed, speaks of an unknown claim or names a table that is not there, and when
        a table does not hold what the claim reads from it.
    """
    known = {claim.id for claim in claims}
    handed_in: dict[str, Path] = {}
    for path in map(Path, evidence):
        if path.stem not in known:
            raise DataError(f"{path}: expected a claim of the ledger, found {path.stem}; {hint(path.stem, known)}")
        if path.stem in handed_in:
            raise DataError(f"{path}: expected one file a claim, found {handed_in[path.stem]} as well")
        handed_in[path.stem] = path
    return [_judge(claim, *_evidence(claim, handed_in.get(claim.id), context), context) for claim in claims]


def write(path: str | os.PathLike[str], judgements: Sequence[Judgement], context: Context) -> None:
    """Write ``claims.json`` (:mod:`pipeline_lib.claims.judged`): everything that the report shows of the claims."""
    about = {paper.name: judged.JudgedPaper(paper.title, paper.authors) for paper in every()}
    judged.write(path, judged.JudgedStudy(context.study, tuple(map(_judged, judgements)), about))


def _claim(entry: Mapping[str, Any], paper: Paper) -> Claim:
    claim = Claim(
        id=entry["id"],
        paper=paper,
        kind=entry["kind"],
        where=entry["where"],
        says=entry["says"],
        shows=entry["shows"],
        checks=tuple(rules.create(check) for check in entry["rule"]),
        data=tuple(entry.get("data", ())),
        displayed=tuple(entry.get("displayed", ())),
        reasons=tuple(dict.fromkeys(check["why"] for check in entry["rule"] if "why" in check)),
        readings=_readings(entry),
        otherwise=entry.get("otherwise", ""),
        planted=_planted(entry),
        consistent=entry.get("consistent", ""),
    )
    if claim.readings:
        read = {name for reading in claim.readings for name in reading.values}
        # Which names a column gives is known when it is read.
        complete = not any(reading.named_by for reading in claim.readings)
        if differ := sorted(read ^ set(claim.names) if complete else read - set(claim.names)):
            raise ConfigurationError(
                f"claim {claim.id}: evidence: expected the values that the rule and `displayed` name, "
                f"{', '.join(claim.names)}, found others or too few: {', '.join(differ)}"
            )
    return claim


def _planted(entry: Mapping[str, Any]) -> tuple[Planted, ...]:
    try:
        return tuple(Planted.of(one, entry.get("evidence")) for one in entry.get("planted", ()))
    except ConfigurationError as error:
        raise ConfigurationError(f"claim {entry['id']}: {error}") from error


def _readings(entry: Mapping[str, Any]) -> tuple[Reading, ...]:
    found = entry.get("evidence", [])
    try:
        return tuple(Reading.of(one) for one in (found if isinstance(found, list) else [found]))
    except ConfigurationError as error:
        raise ConfigurationError(f"claim {entry['id']}: evidence: {error}") from error


def _evidence(claim: Claim, path: Path | None, context: Context) -> tuple[Evidence | None, str]:
    """The evidence of a claim, if there is any, and where it is from."""
    if path is not None and claim.readings:
        raise DataError(f"{path}: expected no evidence for {claim.id}, which is read from tables; remove the file")
    if path is not None:
        evidence = read_evidence(path)
        for table in evidence.tables:
            results = path.parent.parent
            if not (results / table).is_file():
                raise DataError(f"{path}: expected the table {table} below {results}, found none")
        return evidence, str(path)
    return (_read(claim, context) if claim.readings and claim.paper.name in context.settings else None), claim.id


def _read(claim: Claim, context: Context) -> Evidence:
    trials, notes, unread = _trials(claim, claim.readings, context)
    if trials:
        return Evidence(claim.id, tuple(trials), notes)
    if unread and not claim.otherwise:
        raise DataError(
            f"claim {claim.id}: expected trials, found {unread}; say under `otherwise` when a study may have none"
        )
    return Evidence(claim.id, not_run=_missing_data(claim, context) or claim.otherwise or NOTHING)


def _trials(claim: Claim, readings: Sequence[Reading], context: Context) -> tuple[list[Trial], str, str]:
    """The trials that some readings find, the notes on them, and which rows they did not count, if any."""
    trials: list[Trial] = []
    notes: dict[str, None] = {}
    unread = ""
    for reading in readings:
        for name, path, settings in context.parts(claim, reading):
            rows = context.rows(path)
            try:
                found, noted = reading.trials(name, rows, settings)
            except DataError as error:
                raise DataError(f"claim {claim.id}: {error}") from error
            trials += found
            notes |= dict.fromkeys([noted] if noted else [])
            unread = unread or (
                "" if rows.is_empty() else f"none of {rows.height} rows of {name} where {reading.where}"
            )
    return trials, " ".join(notes), unread


def _judge(claim: Claim, evidence: Evidence | None, source: str, context: Context) -> Judgement:
    if evidence is None:
        return Judgement(claim, "not-run", _why_not_run(claim, context))
    if evidence.not_run:
        return Judgement(claim, "not-run", evidence.not_run, evidence)
    try:
        verdict = rules.judge(claim.checks, evidence.trials, claim.displayed)
        planted = tuple(_plant(claim, one, evidence, verdict, context) for one in claim.planted)
        severity = Severity.of(verdict, planted)
        status, why = final(verdict, severity)
        reasons = [verdict.sentence, why, _why_consistent(claim, context) if status == "consistent" else ""]
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    return Judgement(claim, status, " ".join(filter(None, reasons)), evidence, verdict.per_trial, severity)


def _plant(claim: Claim, planted: Planted, evidence: Evidence, verdict: Verdict, context: Context) -> Plant:
    try:
        if planted.reading is None:
            trials = planted.written_into(evidence.trials)
        elif not (trials := _trials(claim, [planted.reading], context)[0]):
            raise DataError(f"planted: {planted.name}: expected rows of the study, found none that count")
        caught, problem = planted.caught(verdict, rules.judge(claim.checks, trials, claim.displayed)), ""
    except DataError as error:
        # What cannot be tried on this evidence says nothing of its claim, and nothing of the others.
        caught, problem = False, str(error)
    return Plant(planted.name, planted.statement, caught, planted.holds, problem)


def _why_consistent(claim: Claim, context: Context) -> str:
    """Why nothing could contradict the claim, with the numbers of the first table that has rows for it."""
    for reading in claim.readings[:1] if claim.consistent else ():
        for name, path, settings in context.parts(claim, reading):
            if text := reading.written(name, context.rows(path), settings, claim.consistent):
                return text
    return claim.consistent


def _why_not_run(claim: Claim, context: Context) -> str:
    return _missing_data(claim, context) or f"The experiment that bears on it is not part of the study {context.study}."


def _missing_data(claim: Claim, context: Context) -> str:
    missing = [name for name in claim.data if name in context.missing]
    return " ".join(f"Data set {name} is missing: {context.missing[name]}." for name in missing)


def _judged(judgement: Judgement) -> judged.JudgedClaim:
    claim = judgement.claim
    trials = judgement.evidence.trials if judgement.evidence else ()
    return judged.JudgedClaim(
        id=claim.id,
        paper=claim.paper.name,
        kind=claim.kind,
        where=claim.where,
        says=claim.says,
        shows=claim.shows,
        rule=claim.rule_in_words(),
        status=judgement.status,
        explanation=judgement.explanation,
        severity=judgement.severity,
        tables=judgement.tables,
        notes=judgement.evidence.notes if judgement.evidence else "",
        trials=tuple(
            judged.JudgedTrial(trial.setting, trial.values, trial.table, status)
            for trial, status in zip(trials, judgement.per_trial, strict=True)
        ),
    )


def _check_unique(claims: Sequence[Claim]) -> None:
    seen: dict[str, Claim] = {}
    for claim in claims:
        if claim.id in seen:
            other = seen[claim.id]
            raise ConfigurationError(
                f"claim {claim.id}: expected every id once, found it among the claims of {other.paper.name} "
                f"and of {claim.paper.name}"
            )
        seen[claim.id] = claim


def _explained(error: Any, document: Any) -> str:
    """Say which claim and which key a schema error is about."""
    parts = list(error.absolute_path)
    place = ""
    if len(parts) >= 2 and parts[0] == "claims":
        entry = document["claims"][parts[1]]
        name = entry.get("id") if isinstance(entry, dict) else None
        place = f"claim {name or f'number {parts[1] + 1}'}: "
        parts = parts[2:]
    key = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in parts)
    place += f"{key}: " if key else ""
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(allowed))
        return f"{place}unknown key {unknown[0]!r}; {hint(unknown[0], allowed)}"
    return f"{place}{error.message}"

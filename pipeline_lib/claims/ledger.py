"""Which claims do the papers make, and what does the evidence say of each?

The ledger, the files ``pipeline_lib/papers/<paper>/<topic>/claims.yaml``, holds every claim with its rule and with the
tables that its trials are read from (:mod:`pipeline_lib.claims.reading`); :func:`judge` applies the rule to the trials.
No status is ever written by hand.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import polars as pl
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pipeline_lib.claims import curves, judged, kinds
from pipeline_lib.claims.judged import JudgedClaim, JudgedProof, JudgedTrial
from pipeline_lib.claims.kinds import AnyCheck, Comparison
from pipeline_lib.claims.planted import Planted
from pipeline_lib.claims.reading import Reading, listed
from pipeline_lib.claims.severity import Plant, Severity, final
from pipeline_lib.claims.trials import Trial
from pipeline_lib.claims.verdicts import Prose, Titled, Verdict
from pipeline_lib.claims.words import BY_PROOF, FAILED, Status
from pipeline_lib.core import schemas, storage
from pipeline_lib.core.errors import ConfigurationError, DataError, hint
from pipeline_lib.core.markup import quoted
from pipeline_lib.core.settings import different
from pipeline_lib.data.rows import Row, check
from pipeline_lib.experiment import pattern_of
from pipeline_lib.papers import Paper, every, experiments
from pipeline_lib.proofs import FOLDER, SHARED, checker

NOTHING = "The tables of the study hold no row that bears on it."
"""Why a claim is not judged whose tables are empty, where its ledger does not say it better."""


NOT_CHECKED = "A certificate decides it, which is not checked here: the study does not judge the claims of this paper."
"""Why a claim without evidence is not judged."""
ACCEPTED = "The checker accepts its certificate."
"""Why a claim of which nothing was measured is proved, or argued."""


Kind = Literal["identity", "bound", "rate", "value", "order", "finding"]
"""identity: exact, to rounding; bound: holds in every trial; rate: a fitted exponent; value: a published number;
order: a published ordering; finding: left open by the paper, or ours."""
KINDS: Mapping[str, Kind] = {
    "bound": "bound",
    "equals": "identity",
    "exponent": "rate",
    "order": "order",
    "cells": "value",
    "question": "finding",
}
"""Check -> the kind of the claims that it mostly decides."""


class Claim(Titled):
    """A stated result, what must be shown for it, and the checks that judge it: an entry of the ledger."""

    TITLE = ("id", "says")

    id: Annotated[Prose, Field(pattern="^[a-z][a-z0-9]*(-[a-z0-9]+)+$", description="begins with the paper's name")]
    stated_kind: Kind | None = Field(None, alias="kind", description="by default that of its first check")
    where: Prose = Field(description="where the paper states it")
    says: Prose = Field(description="what the paper says, in plain words")
    words: Prose | None = Field(
        None,
        description="the paper's own words, ... where some are left out, mathematics in TeX between \\( and \\); none "
        "for a statement of this project",
    )
    shows: Prose | None = Field(None, description="what must be shown for it, unless a certificate proves all of it")
    data: Annotated[tuple[Prose, ...], AfterValidator(different)] = Field(
        (), description="data sets without any of which it cannot be judged"
    )
    readings: Annotated[tuple[Reading, ...], BeforeValidator(listed)] = Field(
        (), alias="evidence", description="where tables hold its evidence; none if a certificate proves all of it"
    )
    otherwise: Prose | None = Field(None, description="why it is not judged where the tables hold no such rows")
    planted: tuple[Planted, ...] = Field((), description="what the checks must catch for the claim to be decided")
    sizes: Prose | None = Field(
        None, description="the sizes for which a certificate proves it, in the certificate's words, if not all of it"
    )
    coq: Annotated[tuple[Annotated[str, Field(pattern=r"^\w+\.\w+$")], ...], AfterValidator(different)] = Field(
        (), description="theorems that state all of it for the proof assistant Coq, as FILE.THEOREM of `proofs/`"
    )
    inconclusive: Prose | None = Field(
        None,
        description="why nothing in the evidence could contradict the claim, and from where on it could; expressions "
        "in braces as in notes",
    )
    checks: Annotated[tuple[AnyCheck, ...], BeforeValidator(listed)] = Field(
        (), alias="rule", description="all checks must hold; the worst decides"
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        measured = {"shows": self.shows, "evidence": self.readings, "rule": self.checks, "planted": self.planted}
        if any(measured.values()) and (missing := [key for key, value in measured.items() if not value]):
            raise ValueError(f"{missing[0]}: expected it beside {', '.join(key for key in measured if measured[key])}")
        if not self.checks and self.stated_kind is None:
            raise ValueError("kind: expected the kind of a claim that has no rule")
        for planted in self.planted:
            if planted.evidence:
                self.reading_of(planted)
        measured_by = {name for check in self.checks for name in check.names[:1]}
        sharper = [check.sharper for check in self.checks if isinstance(check, Comparison) and check.sharper]
        if missing := [name for name in sharper if name not in measured_by]:
            raise ValueError(f"rule: sharper: expected the statistic of another check, found {missing[0]}")
        # Which names a column gives is known when it is read.
        complete = not any(reading.named_by for reading in self.readings)
        read = {name for reading in self.readings for name in reading.values}
        if complete and (missing := [name for name in self.names if name not in read]):
            raise ValueError(f"evidence: expected the values that the rule names, found none for {', '.join(missing)}")
        return self

    def reading_of(self, planted: Planted) -> Reading:
        """How trials are read where a planted statement replaces keys of the claim's first reading."""
        own = self.readings[0].model_dump(exclude_unset=True)
        return Reading.parse(own | dict(planted.evidence), f"planted: {planted.name}")

    @property
    def paper(self) -> str:
        """The name of its paper."""
        return self.id.partition("-")[0]

    @property
    def kind(self) -> Kind:
        """What is claimed."""
        return self.stated_kind or KINDS[self.checks[0].check]

    @property
    def names(self) -> tuple[str, ...]:
        """The values that the rule reads; all others in the evidence are shown and decide nothing."""
        return tuple(dict.fromkeys(name for check in self.checks for name in check.names))

    def rule_in_words(self) -> str:
        """The whole rule as text: every check, then the reasons for its limits; nothing without a rule."""
        if not self.checks:
            return ""
        text = "; and ".join(check.words() for check in self.checks)
        text = text[0].upper() + text[1:] + "."
        return " ".join(dict.fromkeys([text, *(check.why for check in self.checks if check.why)]))


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
    def of(cls, study: str, availability: Sequence[Mapping[str, Any]], **results: Any) -> "Context":
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

    def read(
        self, reading: Reading, name: str, rows: pl.DataFrame, settings: Mapping[str, Any]
    ) -> tuple[list[Trial], str]:
        """The trials that a reading finds in one table, and the notes on them."""
        return reading.trials(name, rows, settings)

    def parts(self, claim: Claim, reading: Reading) -> list[tuple[str, pl.DataFrame, Mapping[str, Any]]]:
        """The files of a table: the path below the results folder, its rows, and the experiment's settings.

        Raises
        ------
        DataError
            When no experiment declares the table, or something does not hold of it that always holds of its rows.
        """
        table = f"tables/{reading.table}"
        declared = {table: name for name, found in experiments(claim.paper).items() for table in found.tables}
        if table not in declared:
            wrong = f"expected a table of {claim.paper}, found {table}; {hint(table, declared)}"
            raise DataError(f"claim {claim.id}: {wrong}")
        settings = self.settings[claim.paper][declared[table]]
        row = experiments(claim.paper)[declared[table]].tables[table]
        matched = ((re.search(pattern_of(table), path.as_posix()), path) for path in self.tables)
        named = [(found[0].lstrip("/"), path) for found, path in matched if found]
        return [(name, self._rows(f"claim {claim.id}: {name}", path, row), settings) for name, path in named]

    def _rows(self, place: str, path: Path, row: type[Row]) -> pl.DataFrame:
        """The rows of a table, which is read and checked once for all claims and all that is planted into them."""
        if path not in self._read:
            found = storage.read_table(path)
            check(place, found, row)
            self._read[path] = found
        return self._read[path]


def load(papers: Iterable[Paper] | None = None) -> list[Claim]:
    """Read and validate the claims of some papers, by default of all, in the order of the report.

    Raises
    ------
    ConfigurationError
        When a file is missing or wrong; the message names file, claim and key. Also when an id occurs twice.
    """
    claims: list[Claim] = []
    for paper in every() if papers is None else papers:
        for path in paper.ledger:
            entries = schemas.load_list(path, "claims", f"claims of {paper.name}")
            claims += [_claim(number, entry, paper, path) for number, entry in enumerate(entries, 1)]
    ids = [claim.id for claim in claims]
    if twice := [name for name in ids if ids.count(name) > 1]:
        raise ConfigurationError(f"claim {twice[0]}: expected every id once, found it {ids.count(twice[0])} times")
    return claims


def judge(claims: Iterable[Claim], context: Context) -> list[JudgedClaim]:
    """Judge every claim on the tables of a study, in the ledger's order.

    A claim whose experiment is not part of the study, or whose tables hold no row for it, is ``not-run`` with the
    reason.

    Raises
    ------
    DataError
        When a table does not hold what the claim reads from it.
    """
    return [_judge(claim, context) for claim in claims]


def certified(path: Path, claims: Mapping[str, Claim]) -> checker.Proof:
    """What a certificate proves of some claims, by their ids, for the sizes that the ledger states.

    Raises
    ------
    Refused
        When it proves nothing, names another claim, or is not for the sizes that the ledger states.
    """
    proof = checker.check(path.read_text(encoding="utf-8"))
    for name in proof.claims:
        if name not in claims:
            raise checker.Refused(f"the ledger has no claim {name}")
        stated = claims[name].sizes
        if proof.covers != "part" and stated != (proof.sizes if proof.covers == "sizes" else None):
            words = f"the sizes {proof.sizes!r}" if proof.covers == "sizes" else "all of it"
            raise checker.Refused(f"it proves {words}, where the ledger states {stated!r} as sizes of {name}")
    return proof


def with_proofs(judgements: Iterable[JudgedClaim], papers: Iterable[str]) -> list[JudgedClaim]:
    """Check the certificates of some papers, and give them to the judgements of the claims that they prove.

    Unless its tables contradict it, a claim is what the strongest of them makes of it: ``proved``, ``proved-for-sizes``
    or ``argued``. A certificate of a part changes no status. What theorems in Coq state is ``proved``.

    Raises
    ------
    DataError
        When a certificate is refused, or does not agree with the ledger; the message names its file.
    """
    found = defaultdict(list)
    claims, studied = {claim.id: claim for claim in load()}, tuple(papers)
    for path in sorted(path for folder in (*studied, SHARED) for path in (FOLDER / folder).glob("*.toml")):
        try:
            proof = certified(path, claims)
        except checker.Refused as reason:
            raise DataError(
                f"{path}: expected a certificate that proves its statement, found that {reason}"
            ) from reason
        name = path.relative_to(FOLDER).as_posix()
        # What two papers share may be of a paper that is not studied.
        for claim in (name for name in proof.claims if claims[name].paper in studied):
            about = proof.kind, proof.covers, proof.sizes, proof.cases, proof.neighbours, proof.digest
            found[claim].append(JudgedProof(name, *about))
    judged_again = []
    for one in judgements:
        covered = {proof.covers for proof in found[one.id]} | ({"all"} if one.coq and one.paper in studied else set())
        status = next((status for covers, status in BY_PROOF.items() if covers in covered), None)
        if status is not None and one.status not in FAILED:
            one = replace(one, status=status, explanation=one.explanation if one.trials else ACCEPTED)
        judged_again.append(replace(one, proofs=tuple(found[one.id])))
    return judged_again


def judge_trials(claim: Claim, trials: Sequence[Trial], context: Context, notes: str = "") -> JudgedClaim:
    """Judge one claim on trials, and the same checks on everything that the claim plants into them.

    Raises
    ------
    DataError
        When the trials lack a value that the rule reads; the message names the claim.
    """
    try:
        verdict = kinds.judge(claim.checks, trials)
        planted = tuple(_plant(claim, one, trials, verdict, context) for one in claim.planted)
        passed = verdict.status in ("verified", "answered")
        noticed = curves.of_claim(claim.id, claim.checks, trials) if passed else ()
        severity = Severity.of(verdict, planted, noticed)
        status, why = final(verdict, severity)
        why_not = _why_inconclusive(claim, context) if status == "inconclusive" else ""
        reasons = [verdict.sentence, why, why_not, _of_one_data_set(trials)]
    except DataError as error:
        raise DataError(f"claim {claim.id}: {error}") from error
    each = tuple(JudgedTrial(**vars(trial), status=one) for trial, one in zip(trials, verdict.per_trial, strict=True))
    tables = tuple(sorted({trial.table for trial in trials}))
    explanation = " ".join(filter(None, reasons))
    return _judged(claim, status, explanation, severity=severity, tables=tables, notes=notes, trials=each)


def write(path: str | os.PathLike[str], found: Sequence[JudgedClaim], context: Context) -> None:
    """Write ``claims.json`` (:mod:`pipeline_lib.claims.judged`): everything that the report shows of the claims."""
    about = {paper.name: judged.JudgedPaper(paper.title, paper.authors) for paper in every()}
    judged.write(path, judged.JudgedStudy(context.study, tuple(found), about))


def _claim(number: int, entry: Any, paper: Paper, path: Path) -> Claim:
    name = str(entry.get("id", next(iter(entry), ""))) if isinstance(entry, dict) else ""
    place = f"{path}: {name if '-' in name else f'claim number {number}'}"
    claim = Claim.parse(entry, place)
    if claim.paper != paper.name:
        raise ConfigurationError(f"{place}: expected an id that begins with {paper.name}")
    return claim


def _judge(claim: Claim, context: Context) -> JudgedClaim:
    if not claim.readings:
        return _judged(claim, "not-run", NOT_CHECKED)
    if claim.paper not in context.settings:
        why = f"The experiment that bears on it is not part of the study {context.study}."
        return _judged(claim, "not-run", _missing_data(claim, context) or why)
    trials, notes, unread = trials_of(claim, claim.readings, context)
    if trials:
        return replace(judge_trials(claim, trials, context, notes), covered=_covered(claim, context))
    if unread and not claim.otherwise:
        raise DataError(
            f"claim {claim.id}: expected trials, found {unread}; say under `otherwise` when a study may have none"
        )
    return _judged(claim, "not-run", _missing_data(claim, context) or claim.otherwise or NOTHING)


def trials_of(claim: Claim, readings: Sequence[Reading], context: Context) -> tuple[list[Trial], str, str]:
    """The trials that some readings find, the notes on them, and which rows they did not count, if any."""
    trials: list[Trial] = []
    notes, unread = [], []
    for reading in readings:
        for name, rows, settings in context.parts(claim, reading):
            try:
                found, noted = context.read(reading, name, rows, settings)
            except DataError as error:
                raise DataError(f"claim {claim.id}: {error}") from error
            trials += found
            notes.append(noted)
            if rows.height:
                unread.append(f"none of {rows.height} rows of {name} where {reading.where}")
    return trials, " ".join(filter(None, dict.fromkeys(notes))), unread[0] if unread else ""


def _covered(claim: Claim, context: Context) -> dict[str, tuple[str, ...]]:
    """The values of columns of text in the rows that count, of all readings together."""
    found: dict[str, set[str]] = defaultdict(set)
    for reading in claim.readings:
        for name, rows, settings in context.parts(claim, reading):
            for column, values in reading.covered(name, rows, settings).items():
                found[column].update(values)
    return {column: tuple(sorted(values)) for column, values in sorted(found.items()) if values}


def _plant(claim: Claim, planted: Planted, trials: Sequence[Trial], verdict: Verdict, context: Context) -> Plant:
    try:
        if planted.values:
            found = planted.written_into(trials)
        elif found := trials_of(claim, [claim.reading_of(planted)], context)[0]:
            found += trials_of(claim, claim.readings[1:], context)[0]
        else:
            raise DataError(f"planted: {planted.name}: expected rows of the study, found none that count")
        caught, problem = planted.caught(verdict, kinds.judge(claim.checks, found)), ""
    except DataError as error:
        # What cannot be tried on this evidence says nothing of its claim, and nothing of the others.
        caught, problem = False, str(error)
    return Plant(planted.name, planted.statement, caught, planted.holds, problem)


def _why_inconclusive(claim: Claim, context: Context) -> str:
    """Why nothing could contradict the claim, with the numbers of the first table that has rows for it."""
    if claim.inconclusive is None:
        return ""
    for reading in claim.readings[:1]:
        for name, rows, settings in context.parts(claim, reading):
            if text := reading.written(name, rows, settings, claim.inconclusive):
                return text
    return claim.inconclusive


def _of_one_data_set(trials: Sequence[Trial]) -> str:
    """What limits a statement that was tried on data sets, if there was one only."""
    [*names] = {trial.setting.get("dataset") for trial in trials}
    return f"It was tried on one data set, {quoted(str(names[0]))}." if len(names) == 1 and names[0] is not None else ""


def _missing_data(claim: Claim, context: Context) -> str:
    missing = [name for name in claim.data if name in context.missing]
    return " ".join(f"Data set {name} is missing: {context.missing[name]}." for name in missing)


def _judged(claim: Claim, status: Status, explanation: str, **evidence: Any) -> JudgedClaim:
    about = claim.id, claim.paper, claim.kind, claim.where, claim.says, claim.words or "", claim.shows or ""
    return JudgedClaim(*about, claim.rule_in_words(), status, explanation, coq=claim.coq, **evidence)

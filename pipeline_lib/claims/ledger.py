"""Which claims do the papers make, and what does the evidence say of each?

The ledger, ``pipeline_lib/papers/<paper>/claims.yaml``, holds every claim with its rule; an experiment hands in
evidence (:mod:`pipeline_lib.claims.evidence`); :func:`judge` puts the two together. No status is ever written by hand.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline_lib import schemas
from pipeline_lib.claims import judged, rules
from pipeline_lib.claims.evidence import Evidence, read_evidence
from pipeline_lib.claims.rules import Check
from pipeline_lib.claims.words import Status
from pipeline_lib.errors import ConfigurationError, DataError, hint
from pipeline_lib.papers import Paper, every

SCHEMA = Path(__file__).with_name("schema.yaml")


@dataclass(frozen=True)
class Claim:
    """A stated result, what must be shown for it, and the checks that judge it.

    ``data`` names data sets without which it cannot be judged, ``beside`` values that are shown and decide nothing,
    ``reasons`` why the checks' limits are what they are.
    """

    id: str
    paper: Paper
    kind: str
    where: str
    says: str
    shows: str
    checks: tuple[Check, ...]
    data: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def rule_in_words(self) -> str:
        """The whole rule as text: every check, then the reasons for its limits."""
        text = "; and ".join(check.words() for check in self.checks)
        text = text[0].upper() + text[1:] + "."
        return " ".join([text, *self.reasons])


@dataclass(frozen=True)
class Context:
    """What a study has, as far as it explains why a claim was not judged.

    ``missing`` maps a data set's name to the sentence that says why it is missing and how to get it.
    """

    study: str
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: str, availability: Sequence[Mapping[str, Any]]) -> Context:
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
        return cls(study, missing)


@dataclass(frozen=True)
class Judgement:
    """A claim's status, the sentence that says why, and the evidence trial by trial."""

    claim: Claim
    status: Status
    explanation: str
    evidence: Evidence | None = None
    per_trial: tuple[Status, ...] = ()

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
    import yaml

    claims: list[Claim] = []
    for paper in every() if papers is None else papers:
        path = paper.folder / "claims.yaml"
        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError) as error:
            raise ConfigurationError(f"{path}: expected the claims of {paper.name} as YAML, found {error}") from error
        wrong = next(schemas.violations(document, SCHEMA), None)
        if wrong is not None:
            raise ConfigurationError(f"{path}: {_explained(wrong, document)}")
        claims += [_claim(entry, paper) for entry in document["claims"]]
    _check_unique(claims)
    return claims


def judge(claims: Sequence[Claim], evidence: Iterable[str | os.PathLike[str]], context: Context) -> list[Judgement]:
    """Judge every claim on its evidence, in the ledger's order.

    ``evidence`` are files ``results/<study>/evidence/<claim-id>.json``. A claim without one is ``not-run`` with the
    reason; tables are looked for below ``results/<study>``.

    Raises
    ------
    DataError
        When evidence is missing or malformed, speaks of an unknown claim or names a table that is not there.
    """
    known = {claim.id for claim in claims}
    handed_in: dict[str, Path] = {}
    for path in map(Path, evidence):
        if path.stem not in known:
            raise DataError(f"{path}: expected a claim of the ledger, found {path.stem}; {hint(path.stem, known)}")
        if path.stem in handed_in:
            raise DataError(f"{path}: expected one file a claim, found {handed_in[path.stem]} as well")
        handed_in[path.stem] = path
    return [_judge(claim, handed_in.get(claim.id), context) for claim in claims]


def write(path: str | os.PathLike[str], judgements: Sequence[Judgement], context: Context) -> None:
    """Write ``claims.json`` (:mod:`pipeline_lib.claims.judged`): everything that the report shows of the claims."""
    about = {paper.name: judged.JudgedPaper(paper.title, paper.authors) for paper in every()}
    judged.write(path, judged.JudgedStudy(context.study, tuple(map(_judged, judgements)), about))


def _claim(entry: Mapping[str, Any], paper: Paper) -> Claim:
    return Claim(
        id=entry["id"],
        paper=paper,
        kind=entry["kind"],
        where=entry["where"],
        says=entry["says"],
        shows=entry["shows"],
        checks=tuple(rules.create(check) for check in entry["rule"]),
        data=tuple(entry.get("data", ())),
        beside=tuple(entry.get("beside", ())),
        reasons=tuple(dict.fromkeys(check["why"] for check in entry["rule"] if "why" in check)),
    )


def _judge(claim: Claim, path: Path | None, context: Context) -> Judgement:
    if path is None:
        return Judgement(claim, "not-run", _why_not_run(claim, context))
    evidence = read_evidence(path)
    if evidence.not_run:
        return Judgement(claim, "not-run", evidence.not_run, evidence)
    for table in evidence.tables:
        results = path.parent.parent
        if not (results / table).is_file():
            raise DataError(f"{path}: expected the table {table} below {results}, found none")
    try:
        verdict = rules.judge(claim.checks, evidence.trials, claim.beside)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    return Judgement(claim, verdict.status, verdict.sentence, evidence, verdict.per_trial)


def _why_not_run(claim: Claim, context: Context) -> str:
    missing = [name for name in claim.data if name in context.missing]
    if missing:
        return " ".join(f"Data set {name} is missing: {context.missing[name]}." for name in missing)
    return f"The experiment that bears on it is not part of the study {context.study}."


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

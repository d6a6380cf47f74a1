"""What was each claim tested on, and is its test weaker now?

A status does not show when its test becomes weaker: a claim on three losses stays verified if it is judged for one of
them, a bound if its tolerance is made larger, and its negative controls are judged by the same rule.
``workflow/recorded/<study>-evidence.yaml`` therefore keeps, for every claim that is judged, its rule, its negative
controls, and what its trials in the recorded study cover. Whatever becomes weaker must be named in the unreleased part
of CHANGELOG.md before the record is written again (`make evidence`).
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from pipeline_lib.claims.judged import JudgedClaim, JudgedStudy
from pipeline_lib.claims.ledger import Claim, load
from pipeline_lib.claims.reading import Reading
from pipeline_lib.claims.words import plain
from pipeline_lib.core import schemas
from pipeline_lib.core.settings import Settings
from pipeline_lib.statistics import Interval
from pipeline_lib.study import recorded

CHANGES = Path(__file__).parents[2] / "CHANGELOG.md"
HEAD = "# Written by `make evidence`: what every claim is tested on (pipeline_lib/study/evidence.py). Do not edit.\n"
MOST = 12
"""Of an axis with more values than this, their number is kept, and of numbers the smallest and the largest."""
SHARE = 0.1
"""By which share the margin may grow, or the number of trials that decide may fall, as it may on other machines."""
NAMES: Mapping[str, tuple[str, str]] = {
    "ListNet": (r"\bListNet\b", r"listnet"),
    "RankSVM": (r"\bRankSVM\b", r"ranksvm|hinge"),
    "SmoothDCG": (r"\bSmoothDCG", r"smooth.?dcg"),
    "KL": (r"\bKL\b", r"\bkl\b"),
    "squared": (r"\bsquared (loss\b|and\b)", r"squared"),
    "hinge": (r"\bhinge loss\b", r"hinge|ranksvm"),
    "logistic": (r"\blogistic\b", r"logistic|ranknet"),
    "exponential": (r"\bexponential loss\b", r"exponential|rankboost"),
    "RankNet": (r"\bRankNet\b", r"ranknet|logistic"),
    "RankBoost": (r"\bRankBoost\b", r"rankboost|exponential"),
    "SLAM": (r"\bSLAM\b", r"slam"),
    "ConeRank": (r"\bConeRank\b", r"cone"),
    "NDCG": (r"\bNDCG\b", r"ndcg"),
    "MAP or AP": (r"\b(MAP|AP)\b", r"\bap\b|map"),
    "ERR": (r"\bERR\b", r"\berr\b"),
}
"""Losses, learners and measures: how a statement names each, and how its trials do."""
PLACES = r"\b(Theorem|Corollar|Proposition|Lemma)(?:s|y|ies)? ((?:\d+(?:\.\d+)?(?:, and |, | and )?)+)"
"""One result or several, by number, such as "Theorems 6 and 18"."""


class Evidence(Settings):
    """What one claim is tested on; what is measured is absent for a claim that the recorded study did not judge."""

    rule: tuple[dict[str, Any], ...] = Field(description="every check of the rule, without its reasons")
    controls: dict[str, str] = Field(description="by the name of a control, the digest of what it plants")
    rows: tuple[str, ...] = Field(description="for every reading, the digest of its table and conditions")
    reads: tuple[str, ...] = Field(description="for every reading, the digest of its other expressions")
    trials: int = Field(0, description="number of trials")
    decided: int = Field(0, description="number of trials that could have contradicted the claim")
    margin: float | None = Field(None, description="the factor by which its limits could be tighter")
    covers: dict[str, Any] = Field({}, description="by axis, or column of text, the values that occur")
    ranges: dict[str, tuple[float, float]] = Field({}, description="by value of the rule, the smallest and largest")
    named: dict[str, bool] = Field({}, description="by what the statement names, whether its trials name it too")

    @classmethod
    def of(cls, claim: Claim, judged: JudgedClaim | None, before: "Evidence | None" = None) -> "Evidence":
        """What a claim is tested on in a study; without one, what was measured ``before`` is kept where it applies."""
        stated = {
            "rule": tuple(
                check.model_dump(mode="json", exclude_defaults=True, exclude={"why"}) for check in claim.checks
            ),
            "controls": {
                one.name: _digest(one.model_dump(include={"values", "evidence", "holds"})) for one in claim.planted
            },
            "rows": tuple(_digest(_conditions(reading)) for reading in claim.readings),
            "reads": tuple(_digest(_expressions(reading)) for reading in claim.readings),
        }
        if judged is None:
            kept = before.model_dump(exclude={*stated}) if before else {}
            same = before is not None and (before.rows, before.reads) == (stated["rows"], stated["reads"])
            return cls.model_validate({**stated, **kept, **({} if same else {"ranges": {}})})
        severity = judged.severity
        return cls.model_validate(
            {
                **stated,
                "trials": len(judged.trials),
                "decided": severity.informative if severity else 0,
                "margin": _rounded(severity.slack_factor) if severity and severity.slack_factor is not None else None,
                "covers": _covers(judged),
                "ranges": dict(_ranges(judged, claim.names)),
                "named": _named(claim, judged),
            }
        )


def weaker(before: Evidence, now: Evidence) -> Iterator[str]:
    """What of a test has become weaker, one clause each.

    Example
    -------
    >>> before = Evidence(rule=[{"check": "bound", "statistic": "gap", "relation": "<=", "limit": "bound"}],
    ...                   controls={}, rows=[], reads=[], trials=3, covers={"loss": ["hinge", "logistic"]})
    >>> changed = {"rule": [{**before.rule[0], "tolerance": 1.0}], "covers": {"loss": ["hinge"]}}
    >>> list(weaker(before, before.model_copy(update=changed)))
    ['the tolerance of gap <= bound was 0 and is 1.0', 'loss: logistic is gone']
    """
    yield from _weaker_rule(before.rule, now.rule)
    for name, digest in before.controls.items():
        if now.controls.get(name) != digest:
            yield f"the control {name} is {'another one' if name in now.controls else 'gone'}"
    if {*before.rows} - {*now.rows}:
        yield "other rows count (`table` and `where` of a reading or a value)"
    if {*before.reads} - {*now.reads} and before.ranges:
        moved = [name for name, found in before.ranges.items() if now.ranges.get(name) != found]
        if moved:
            yield f"other expressions give other numbers of {', '.join(moved)}, or numbers that no study was judged for"
    if now.trials < before.trials:
        yield f"{before.trials} trials tested it, and {now.trials} do"
    elif now.decided < before.decided * (1 - SHARE):
        yield f"{before.decided} trials could have contradicted it, and {now.decided} can"
    if before.margin is not None and (now.margin or 0.0) > before.margin * (1 + SHARE):
        yield f"its limits could be {plain(now.margin or 0.0)} times tighter, and were {plain(before.margin)}"
    for axis, values in before.covers.items():
        if lost := _lost(values, now.covers.get(axis)):
            yield f"{axis}: {lost}"
    for name, tried in before.named.items():
        if tried and now.named.get(name) is False:
            yield f"the statement names {name}, and no trial does any more"


def problems(
    record: Mapping[str, Evidence], found: Mapping[str, Evidence], changes: str, *, measured: bool
) -> list[str]:
    """What is weaker than in a record and not named in the ``changes``, one sentence each with what to do.

    Of tests of which no study was judged, not ``measured``, only rules, controls and readings are compared.
    """
    announced = set(re.findall(r"`([a-z][a-z0-9-]+)`", unreleased(changes)))
    lines = []
    for name, before in record.items():
        now = found.get(name)
        if name in announced:
            continue
        what = ["it is no claim, or is not judged, any more"] if now is None else list(weaker(before, now))
        lines += [f"{name}: {one}" for one in what]
    if measured:
        lines += [f"{name}: not in the record; run `make evidence`" for name in found if name not in record]
    if lines:
        lines.append(
            "A test must not become weaker unseen. Restore it, or say in the unreleased part of CHANGELOG.md what "
            "changed, with the name of the claim in backquotes, and run `make evidence`."
        )
    return lines


def weakened(study: JudgedStudy) -> list[str]:
    """What is tested less severely in a study than when it was recorded; nothing if there is no such record."""
    record = read(study.study)
    found = found_in(load(), study.claims, record)
    return problems(record, found, CHANGES.read_text(encoding="utf-8"), measured=True) if record else []


def found_in(
    claims: Iterable[Claim], judged: Iterable[JudgedClaim] | None, record: Mapping[str, Evidence]
) -> dict[str, Evidence]:
    """What every claim with evidence is tested on, in a judged study or without one."""
    by_name = None if judged is None else {one.id: one for one in judged}
    return {
        claim.id: Evidence.of(claim, None if by_name is None else by_name.get(claim.id), record.get(claim.id))
        for claim in claims
        if claim.readings
    }


def unreleased(changes: str) -> str:
    """The part of CHANGELOG.md on what is not released yet.

    Example
    -------
    >>> unreleased("# Changes\\n\\n## Unreleased\\n\\n- `slam-thm5` is judged.\\n\\n## 1.0\\n\\n- The first.").strip()
    '- `slam-thm5` is judged.'
    """
    return changes.partition("\n## Unreleased\n")[2].partition("\n## ")[0]


def path_of(study: str) -> Path:
    """The file with what the claims are tested on in a recorded study."""
    return recorded.FOLDER / f"{study}-evidence.yaml"


def read(study: str) -> dict[str, Evidence]:
    """Read the record of a study; nothing if there is none.

    Raises
    ------
    ConfigurationError
        When the file is no such record; the message names the claim.
    """
    path = path_of(study)
    found = schemas.load(path, "a record of evidence") if path.is_file() else {}
    return {name: Evidence.parse(entry, f"{path}: {name}") for name, entry in found.items()}


def write(study: str, found: Mapping[str, Evidence]) -> None:
    """Write the record of a study: one entry for each claim, in the order of the ledger."""
    entries = {name: one.model_dump(mode="json", exclude_defaults=True) for name, one in found.items()}
    text = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    path_of(study).write_text(HEAD + text, encoding="utf-8")


def _conditions(reading: Reading) -> Any:
    values = (*reading.values.values(), *filter(None, [reading.value]))
    return [reading.table, reading.where, [one.where for one in values]]


def _expressions(reading: Reading) -> Any:
    plain = reading.model_dump(mode="json", exclude={"table", "where", "notes"})
    for value in (*plain["values"].values(), *filter(None, [plain["value"]])):
        del value["where"]
    return plain


def _digest(content: Any) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]


def _weaker_rule(before: Sequence[dict[str, Any]], now: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Every former condition must be among the present ones, or be less strict than one on the same statistic."""
    present = [one for check in now for one in _conditions_of(check)]
    for check in before:
        for old in _conditions_of(check):
            same = [list(_looser(old, new)) for new in present if _about(new) == _about(old)]
            if not same:
                yield f"the check {_words(old)} is gone"
            elif all(same):
                yield from min(same, key=len)


def _conditions_of(check: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The check itself; of an order or a question, each of its comparisons or answers."""
    parts = {"order": "greater", "question": "answers"}.get(check["check"])
    if parts is None:
        yield check
        return
    for one in check[parts]:
        yield {**{key: value for key, value in check.items() if key != parts}, "part": one}


def _about(check: dict[str, Any]) -> Any:
    return [check.get(key) for key in ("check", "statistic", "relation", "statistics", "part")]


def _words(check: dict[str, Any]) -> str:
    if "part" in check:
        return " > ".join(map(str, check["part"])) if check["check"] == "order" else f"“{check['part']['says']}”"
    return f"{check['statistic']} {check.get('relation', '=')} {check.get('limit', check.get('expected'))}"


def _looser(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """In what a check is less strict than an earlier one on the same statistic."""
    for key in ("tolerance", "deviates_within"):
        if new.get(key, 0) > old.get(key, 0):
            yield f"the {key} of {_words(old)} was {old.get(key, 0)} and is {new[key]}"
    for key in ("limit", "expected", "trivial", "shared"):
        if key in old and old[key] != new.get(key) and not _tighter(old, new, key):
            yield f"the {key} of {_words(old)} was {old[key]} and is {new.get(key, 'left out')}"
    for key in ("guards", "sharper"):
        if key in new and new[key] != old.get(key):
            yield f"{_words(old)} has {key}: {new[key]}"


def _tighter(old: dict[str, Any], new: dict[str, Any], key: str) -> bool:
    both = old[key], new.get(key)
    if key != "limit" or not all(isinstance(one, int | float) for one in both):
        return False
    return {"<=": both[1] < both[0], ">=": both[1] > both[0]}.get(old["relation"], False)


def _covers(judged: JudgedClaim) -> dict[str, Any]:
    labels: dict[str, set[Any]] = {name: set(values) for name, values in judged.covered.items()}
    for trial in judged.trials:
        for axis, label in trial.setting.items():
            labels.setdefault(axis, set()).add(_rounded(label) if isinstance(label, float) else label)
    return {axis: _condensed(values) for axis, values in sorted(labels.items())}


def _condensed(values: set[Any]) -> Any:
    found = sorted(values, key=lambda one: (isinstance(one, str), one))
    if len(found) <= MOST:
        return found
    numbers = [one for one in found if not isinstance(one, str)]
    return {"number": len(found), **({"from": numbers[0], "to": numbers[-1]} if numbers else {})}


def _lost(before: Any, now: Any) -> str:
    """What of the values of an axis is gone, as a clause; nothing if each is still there."""
    if now is None:
        return "it is no axis any more"
    if isinstance(before, list) and isinstance(now, list):
        gone = [str(one) for one in before if one not in now]
        return f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone" if gone else ""
    old, new = (
        one if isinstance(one, dict) else {"number": len(one), "from": one[0], "to": one[-1]} for one in (before, now)
    )
    if new["number"] < old["number"]:
        return f"it had {old['number']} values, and has {new['number']}"
    if all(isinstance(one.get("from"), int | float) for one in (old, new)) and (
        new["from"] > old["from"] or new["to"] < old["to"]
    ):
        return f"it went from {old['from']} to {old['to']}, and goes from {new['from']} to {new['to']}"
    return ""


def _ranges(judged: JudgedClaim, names: Iterable[str]) -> Iterator[tuple[str, tuple[float, float]]]:
    for name in names:
        found = [trial.values[name] for trial in judged.trials if name in trial.values]
        numbers = [one.value if isinstance(one, Interval) else one for one in found]
        if numbers:
            yield name, (_rounded(min(numbers)), _rounded(max(numbers)))


def _named(claim: Claim, judged: JudgedClaim) -> dict[str, bool]:
    """What a statement names, of :data:`NAMES` and by number, and whether a trial or the rows behind it name it."""
    texts = [f"{axis} {label}" for trial in judged.trials for axis, label in trial.setting.items()]
    texts += [f"{column} {value}" for column, values in judged.covered.items() for value in values]
    texts += [*{name for trial in judged.trials for name in trial.values}, *judged.tables]
    tried = "\n".join(dict.fromkeys(texts)).lower().replace("_", " ")
    found = {
        name: re.search(trials, tried) is not None
        for name, (says, trials) in NAMES.items()
        if re.search(says, claim.says)
    }
    for kind, numbers in re.findall(PLACES, f"{claim.says} {claim.where}"):
        short = {"Theorem": "thm", "Corollar": "cor", "Proposition": "prop", "Lemma": "lemma"}[kind]
        for number in re.findall(r"\d+(?:\.\d+)?", numbers):
            pattern = rf"\b({kind.lower()}\w* ([\d., ]|and )*|{short}){number.replace('.', '.?')}(?!\d)"
            found[f"{kind.replace('ar', 'ary')} {number}"] = re.search(pattern, tried) is not None
    return found


def _rounded(number: float) -> float:
    """Four significant digits; rounding errors of other machines change no more."""
    return number if not math.isfinite(number) or number == int(number) else float(f"{number:.4g}")

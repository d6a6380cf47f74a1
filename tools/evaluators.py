"""Write what evaluators of artefacts read: codecheck.yml, codemeta.json and docs/artefact.md.

    python -m tools.evaluators

All of it follows from the ledger, the record of the default study, pyproject.toml and CITATION.cff; `make evaluators`
runs it, and a test says when a file is out of date. ``docs/for-evaluators.md`` says what each is for.
"""

import json
import re
import textwrap
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib import papers
from pipeline_lib.claims import ledger
from pipeline_lib.experiment import pattern_of
from pipeline_lib.papers import Paper
from pipeline_lib.report import site
from pipeline_lib.report.article import NAME as ARTICLE
from pipeline_lib.report.rerun import Rerun
from pipeline_lib.report.results import ResultsFolder
from pipeline_lib.study import recorded
from pipeline_lib.study.recorded import Costs, Record

ROOT = Path(__file__).parents[1]
STUDY = "default"
CODECHECK = "https://codecheck.org.uk/spec/config/1.0/"
CODECHECK_HEAD = """\
%YAML 1.1
# Written by `make evaluators`. The codechecker adds `codechecker`, `report`, `summary`, `check_time` and `certificate`,
# and `repository` where the code is published (docs/for-evaluators.md).
"""
CODEMETA = "https://w3id.org/codemeta/3.0"
LICENCES = "https://spdx.org/licenses/"
CERTIFICATES = "python -m pipeline_lib check-proofs"
NOT_RECORDED = "not recorded"
"""What is said of a claim or an experiment that is newer than the record of the study."""

ARTEFACT = """\
One row for each experiment of the default study: the claims for which it gives evidence, with their recorded status,
and the time of all its jobs on one core with the memory of the largest. `{command}`, with the rules of the row, makes
its tables again, and what they need, such as models; captions in a report have the whole command. `{certificates}`
checks the claims that have certificates alone. [How a claim is judged](claims.md) explains the statuses; claims that
are not run need data that cannot be had without agreeing to terms ([data sets](../data/README.md)).

`make` makes the whole study: {minutes:.0f} minutes of one core, of which jobs of no paper, such as the training of
models, take {other:.0f}, and {megabytes:.0f} MB for each job at a time. It was recorded on {date} with {cores} cores
({machine}, Python {python}, commit {code}), while the machine did other work as well. Once the packages are installed,
neither data nor a network nor an accelerator is needed. `python -m pipeline_lib compare-studies default` then says how
far results are those of the record: claims by status and numbers, tables by digest.
"""


def made() -> dict[str, str]:
    """The text of every file, by its path in the project."""
    record = recorded.read(STUDY)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return {
        "codecheck.yml": codecheck(record, citation),
        "codemeta.json": json.dumps(codemeta(project, citation), indent=2, ensure_ascii=False) + "\n",
        "docs/artefact.md": artefact(record),
    }


def codecheck(record: Record, citation: dict[str, Any]) -> str:
    """The configuration of a CODECHECK, as far as authors write it."""
    report = f"reports/{record.study}"
    manifest = [
        {"file": f"{report}/claims.json", "comment": "the judgement of every claim, with its evidence"},
        {"file": f"{report}/{site.WHOLE}", "comment": "the report, in one file"},
        {"file": f"{report}/{ARTICLE}.pdf", "comment": "the report as an article"},
    ]
    tables = sorted(table for table in record.tables if table.startswith("tables/"))
    manifest += [{"file": f"results/{record.study}/{path}", "comment": _comment(path)} for path in tables]
    content = {
        "version": CODECHECK,
        "manifest": manifest,
        "paper": {
            "title": site.heading(record.study, papers.names()),
            "authors": [{"name": author["name"]} for author in citation["authors"]],
        },
        "source": "This folder: `make` installs the locked versions and makes every file of the manifest.",
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120, explicit_start=True)
    return f"{CODECHECK_HEAD}{text}"


def codemeta(project: dict[str, Any], citation: dict[str, Any]) -> dict[str, Any]:
    """The description of the software in the terms of CodeMeta, with what the library and the workflow need."""
    required = sorted([*project["dependencies"], *project["optional-dependencies"]["workflow"]])
    return {
        "@context": CODEMETA,
        "@type": "SoftwareSourceCode",
        "name": project["name"],
        "description": project["description"],
        "version": project["version"],
        "datePublished": str(citation["date-released"]),
        "license": [LICENCES + licence for licence in project["license"].split(" AND ")],
        "author": [{"@type": "Organization", "name": author["name"]} for author in citation["authors"]],
        "keywords": list(dict.fromkeys([*project["keywords"], *citation["keywords"]])),
        "programmingLanguage": {"@type": "ComputerLanguage", "name": "Python"},
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": [_requirement(words) for words in required],
        "readme": project["readme"],
        "referencePublication": [_publication(one) for one in citation["references"]],
    }


def _requirement(words: str) -> dict[str, str]:
    found = re.fullmatch(r"([A-Za-z0-9._-]+)(.*)", words)
    assert found is not None, words
    return {"@type": "SoftwareApplication", "name": found[1], "version": found[2]}


def _publication(one: dict[str, Any]) -> dict[str, Any]:
    authors = [
        {"@type": "Person", "givenName": author["given-names"], "familyName": author["family-names"]}
        for author in one["authors"]
    ]
    about = {"datePublished": str(one["year"]), "url": one["url"]}
    return {"@type": "ScholarlyArticle", "name": one["title"], "author": authors} | about


def artefact(record: Record) -> str:
    """The page with the claims, rules, time and memory of every experiment."""
    rerun = Rerun(_no_results(record), papers.names())
    introduction = ARTEFACT.format(
        command=rerun.of(()).command.replace("render_report", "RULES"),
        certificates=CERTIFICATES,
        minutes=sum(cost.seconds for cost in record.rules.values()) / 60.0,
        other=record.costs[recorded.OTHER].seconds / 60.0,
        megabytes=max(cost.megabytes for cost in record.rules.values()),
        date=record.made_with["time"][:10],
        **record.made_with,
    )
    parts = ["# Artefact appendix", *introduction.strip().split("\n\n")]
    for paper in papers.every():
        parts += [
            f"## {paper.name}",
            f"{paper.authors}: *{paper.title}*. {paper.published}.",
            _table(paper, record, rerun),
        ]
    return "\n\n".join(part if part.startswith("|") else _filled(part) for part in parts) + "\n"


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, 120, break_on_hyphens=False)


def _no_results(record: Record) -> ResultsFolder:
    """A folder of the study's name that is empty, so that what is written depends on the record alone."""
    return ResultsFolder(recorded.FOLDER / record.study)


def _table(paper: Paper, record: Record, rerun: Rerun) -> str:
    head = ("experiment", "claims", "rules", "minutes", "memory, MB")
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---:|---:|"]
    for name, experiment in papers.experiments(paper.name).items():
        # A step writes all its tables in the same jobs: one of each step stands for the others.
        shown = [
            [f"{table}.parquet" for table in step.tables if table.startswith("tables/")] for step in experiment.steps
        ]
        targets = [tables[0] for tables in shown if tables]
        rules = dict.fromkeys(rule.name for file in targets for rule in rerun.rules(file))
        costs = [record.rules[rule] for rule in rules if rule in record.rules]
        claims = [claim for tables in shown for file in tables for claim in _evidence().get(file, [])]
        lines.append(_row(name, list(dict.fromkeys(claims)), " ".join(rules), _spent(costs), record))
    if proved := [claim for claim in _evidence()[""] if claim.startswith(f"{paper.name}-")]:
        lines.append(_row("certificates alone", proved, "", ("", ""), record))
    return "\n".join(lines)


def _spent(costs: list[Costs]) -> tuple[str, str]:
    """Minutes and megabytes of some rules, of which the record has none where they are newer than the record."""
    if not costs:
        return NOT_RECORDED, NOT_RECORDED
    spent = sum(cost.seconds for cost in costs) / 60.0
    return f"{spent:.1f}" if spent >= 0.1 else "< 0.1", f"{max(cost.megabytes for cost in costs):.0f}"


def _row(name: str, claims: list[str], rules: str, spent: tuple[str, str], record: Record) -> str:
    return f"| {' | '.join([name, _by_status(claims, record), rules and f'`{rules}`', *spent])} |"


def _by_status(claims: list[str], record: Record) -> str:
    groups: dict[str, list[str]] = {}
    for claim in claims:
        status = record.claims[claim].status if claim in record.claims else NOT_RECORDED
        groups.setdefault(status, []).append(f"`{claim}`")
    return "; ".join(f"{status}: {', '.join(names)}" for status, names in groups.items())


@cache
def _evidence() -> dict[str, list[str]]:
    """The claims whose evidence is read from a table, by its path below the results; "" has those without evidence."""
    found: dict[str, list[str]] = {}
    for claim in ledger.load():
        for file in dict.fromkeys(f"tables/{reading.table}.parquet" for reading in claim.readings) or {"": None}:
            found.setdefault(file, []).append(claim.id)
    return found


def _comment(path: str) -> str:
    for paper, experiment, step in papers.steps(papers.names()):
        if any(re.search(pattern_of(table), path) for table in step.tables):
            claims = ", ".join(_evidence().get(path, []))
            return f"{paper}, experiment {experiment}{f'; evidence for {claims}' if claims else ''}"
    return "of all models of the study"


if __name__ == "__main__":
    for name, text in made().items():
        (ROOT / name).write_text(text, encoding="utf-8")

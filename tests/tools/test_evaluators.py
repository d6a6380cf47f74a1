"""Are the files for evaluators up to date, and do they keep the rules of their formats?

The validators of CODECHECK and CodeMeta are not in packages, and that of REUSE needs a C library: their rules are here
in our words, as far as these files use them.
"""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline_lib.study import recorded
from tools import evaluators

ROOT = Path(__file__).parents[2]
# Of the terms of CodeMeta 3.0, those that belong to software as a whole.
TERMS = {
    *("name", "description", "version", "datePublished", "license", "author", "keywords", "programmingLanguage"),
    *("runtimePlatform", "softwareRequirements", "readme", "referencePublication", "codeRepository", "identifier"),
}


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """The text of every file."""
    return evaluators.made()


@pytest.mark.parametrize("name", ["codecheck.yml", "codemeta.json", "docs/artefact.md"])
def test_the_file_is_up_to_date(name: str, made: dict[str, str]) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == made[name], "run make evaluators"


def test_these_are_all_files(made: dict[str, str]) -> None:
    assert sorted(made) == ["codecheck.yml", "codemeta.json", "docs/artefact.md"]


def test_a_codecheck_can_begin(made: dict[str, str]) -> None:
    text = made["codecheck.yml"]
    assert re.search(r"^---$", text, re.MULTILINE)
    content: dict[str, Any] = yaml.safe_load(text)
    assert content["version"] == "https://codecheck.org.uk/spec/config/1.0/"
    files = [entry["file"] for entry in content["manifest"]]
    assert len(files) == len(set(files)) > 100
    assert all(set(entry) == {"file", "comment"} and entry["comment"] for entry in content["manifest"])
    assert not any(Path(file).is_absolute() or ".." in file for file in files)
    tables = {file.removeprefix("results/default/") for file in files if file.startswith("results/")}
    assert tables == {table for table in recorded.read("default").tables if table.startswith("tables/")}
    assert content["paper"]["title"]
    assert all(author["name"] for author in content["paper"]["authors"])
    left_to_the_checker = {"codechecker", "report", "summary", "check_time", "certificate"}
    assert not left_to_the_checker & content.keys()


def test_the_description_of_the_software_has_terms_of_codemeta(made: dict[str, str]) -> None:
    content = json.loads(made["codemeta.json"])
    assert content.pop("@context") == "https://w3id.org/codemeta/3.0"
    assert content.pop("@type") == "SoftwareSourceCode"
    assert content.keys() <= TERMS
    assert {"name", "description", "version", "license", "author"} <= content.keys()
    assert all(licence.startswith("https://spdx.org/licenses/") for licence in content["license"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", content["datePublished"])
    for one in (*content["author"], *content["softwareRequirements"], *content["referencePublication"]):
        assert one["@type"]
        assert one["name"]


def test_the_appendix_has_every_claim(made: dict[str, str]) -> None:
    assert set(recorded.read("default").claims) <= set(re.findall(r"`([a-z0-9-]+)`", made["docs/artefact.md"]))


def test_an_experiment_that_is_newer_than_the_record_has_a_row_that_says_so() -> None:
    record = recorded.read("default")
    rules = {name: costs for name, costs in record.rules.items() if not name.startswith("topk_regret")}
    claims = {name: claim for name, claim in record.claims.items() if name != "topk-fig1"}
    page = evaluators.artefact(record.model_copy(update={"rules": rules, "claims": claims}))
    [row] = [line for line in page.splitlines() if line.startswith("| regret |")]
    assert row.endswith("| not recorded | not recorded |")
    assert "not recorded: `topk-fig1`" in page


def test_every_answer_of_the_checklists_has_evidence_that_exists() -> None:
    page = (ROOT / "docs/reproducibility-checklists.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    answers = [row for row in rows if row[0] != "question"]
    assert len(answers) == 16 + 18
    for question, answer, evidence in answers:
        assert question.endswith("?")
        assert answer in ("Yes", "No", "NA", "For those who submit a paper")
        links = re.findall(r"\]\(([^)#]+)", evidence)
        files = re.findall(r"`([^`]+\.lock)`", evidence)
        assert links or files, question
        assert all((ROOT / "docs" / link).is_file() for link in links), question


def test_every_file_has_a_licence_whose_text_is_there() -> None:
    rules = tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]
    assert rules[0]["path"] == "**"
    assert all((ROOT / rule["path"]).is_file() for rule in rules[1:])
    assert all(rule["SPDX-FileCopyrightText"] for rule in rules)
    licences = [rule["SPDX-License-Identifier"] for rule in rules]
    texts = sorted(path.name for path in (ROOT / "LICENSES").iterdir())
    assert texts == sorted(f"{licence}.txt" for licence in licences)
    assert (ROOT / "LICENSES" / f"{licences[0]}.txt").read_text() == (ROOT / "LICENSE").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == " AND ".join(licences)
    assert {"LICENSE", *(f"LICENSES/{licence}.txt" for licence in licences[1:])} == set(project["license-files"])


def test_no_file_says_another_licence() -> None:
    tag = "SPDX-License-" + "Identifier:"
    found = subprocess.run(["git", "-C", str(ROOT), "grep", "-l", tag], capture_output=True, text=True)
    if found.returncode > 1:
        pytest.skip("the project is not under version control here")
    assert not found.stdout

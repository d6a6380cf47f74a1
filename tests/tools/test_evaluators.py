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
MADE = evaluators.made()
# Of the terms of CodeMeta 3.0, those that belong to software as a whole.
TERMS = {
    *("name", "description", "version", "datePublished", "license", "author", "keywords", "programmingLanguage"),
    *("runtimePlatform", "softwareRequirements", "readme", "referencePublication", "codeRepository", "identifier"),
}


@pytest.mark.parametrize("name", MADE)
def test_the_file_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text(encoding="utf-8") == MADE[name], "run make evaluators"


def test_a_codecheck_can_begin() -> None:
    text = MADE["codecheck.yml"]
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


def test_the_description_of_the_software_has_terms_of_codemeta() -> None:
    content = json.loads(MADE["codemeta.json"])
    assert content.pop("@context") == "https://w3id.org/codemeta/3.0"
    assert content.pop("@type") == "SoftwareSourceCode"
    assert content.keys() <= TERMS
    assert {"name", "description", "version", "license", "author"} <= content.keys()
    assert all(licence.startswith("https://spdx.org/licenses/") for licence in content["license"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", content["datePublished"])
    for one in (*content["author"], *content["softwareRequirements"], *content["referencePublication"]):
        assert one["@type"]
        assert one["name"]


def test_the_appendix_has_every_claim() -> None:
    assert set(recorded.read("default").claims) <= set(re.findall(r"`([a-z0-9-]+)`", MADE["docs/artefact.md"]))


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

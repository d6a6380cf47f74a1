"""The description of a results folder: complete, consistent, and true of the files."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.sources import catalog
from pipeline_lib.study import run_crate
from pipeline_lib.study.snakemake_internals import FinishedJob


@pytest.fixture
def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, dict[str, Any]]]:
    """A results folder with a model, a table made from it and a file outside; its entities by identifier."""
    monkeypatch.chdir(tmp_path)
    texts = {
        "data/documents.parquet": "documents",
        "results/mine/models/fold 1.json": "model",
        "results/mine/tables/summary.parquet": "table",
        "results/mine/logs/train.log": "",
        "results/mine/configuration.yaml": "seed: 1",
        "Snakefile": "rule all: ...",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    model, table = "results/mine/models/fold 1.json", "results/mine/tables/summary.parquet"
    jobs = [
        FinishedJob(
            "train", "train it", ("data/documents.parquet",), (model,), "results/mine/logs/train.log", 0.0, 2.0
        ),
        FinishedJob("summarise", "sum it up", (model,), (table,), "", 2.0, 3.0),
    ]
    folder = Path("results/mine")
    run_crate.write(folder, "My study", jobs, [catalog.load()["letor-sim"]], [("Snakefile", "Snakefile")])
    graph = json.loads((folder / run_crate.METADATA).read_text())["@graph"]
    return tmp_path / folder, {entity["@id"]: entity for entity in graph}


def references(value: Any) -> list[str]:
    """All identifiers to which a value refers."""
    if isinstance(value, dict):
        return [value["@id"]] if value.keys() == {"@id"} else [r for one in value.values() for r in references(one)]
    return [r for one in value for r in references(one)] if isinstance(value, list) else []


def test_every_reference_is_described(described: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    _, entities = described
    known = {*entities, "https://w3id.org/ro/crate/1.1"}
    for entity in entities.values():
        for key, value in entity.items():
            assert set(references(value)) <= known, (entity["@id"], key)


def test_every_file_is_listed_with_its_digest(described: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    folder, entities = described
    listed = {part["@id"] for part in entities["./"]["hasPart"]}
    files = {path.relative_to(folder).as_posix().replace(" ", "%20"): path for path in folder.rglob("*")}
    files = {name: path for name, path in files.items() if path.is_file() and name != run_crate.METADATA}
    assert listed == set(files)
    for name, path in files.items():
        assert entities[name]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert entities[name]["contentSize"] == str(path.stat().st_size)


def test_the_crate_keeps_the_rules_of_its_profiles(described: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    """What Workflow Run Crate 0.5 and the profiles below it require, in our words: their validator needs a network."""
    _, entities = described
    root = entities["./"]
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    profiles = references(root["conformsTo"])
    assert profiles == list(run_crate.PROFILES)
    for profile in profiles:
        assert "CreativeWork" in entities[profile]["@type"]
        assert entities[profile]["version"] == profile.rsplit("/", 1)[1]
    main = entities[references(root["mainEntity"])[0]]
    assert set(main["@type"]) >= {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert entities[references(main["programmingLanguage"])[0]]["@type"] == "ComputerLanguage"
    assert references(entities["README.md"]["about"]) == ["./"]
    assert entities["README.md"]["encodingFormat"] == "text/markdown"
    actions = [entity for entity in entities.values() if entity["@type"] == "CreateAction"]
    assert {action["@id"] for action in actions} == set(references(root["mentions"]))
    programs = {"SoftwareApplication", "SoftwareSourceCode", "ComputationalWorkflow"}
    for action in actions:
        (program,) = references(action["instrument"])
        kinds = entities[program]["@type"]
        assert programs.intersection([kinds] if isinstance(kinds, str) else kinds)
        assert action["endTime"]
        assert action["result"]
        assert action["actionStatus"].startswith("http://schema.org/")
    assert any(references(action["instrument"]) == [main["@id"]] for action in actions)

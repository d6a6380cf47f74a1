import re
import textwrap
from pathlib import Path

import pytest
from small_sets import ENTRY, TEXTS, entry, small_set, write_catalog

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.sources import catalog

ROOT = Path(__file__).parents[2]


def test_the_worked_example_of_the_documentation_is_valid(tmp_path):
    text = (ROOT / "docs" / "adding-a-data-set.md").read_text(encoding="utf-8")
    found = re.search(r"^( +)Library-Clicks:\n(?:\1 +.*\n)+", text, re.MULTILINE)
    assert found is not None
    example = textwrap.dedent(found[0]).replace("<64 hexadecimal digits>", "a" * 64)
    path = tmp_path / "catalog.yaml"
    path.write_text("data_sets:\n" + textwrap.indent(example, "  "), encoding="utf-8")
    assert catalog.load(path)["Library-Clicks"].n_folds == 1


@pytest.mark.parametrize(
    ("size", "largest"), [({}, None), ({"bytes": 7}, 7), ({"max_bytes": 9}, 9), ({"bytes": 7, "max_bytes": 9}, 7)]
)
def test_every_archive_has_a_limit(tmp_path, size, largest):
    path = write_catalog(tmp_path, {"data_sets": {"Small": entry(archives=[{"name": "Small.zip", **size}])}})
    found = catalog.load(path)["Small"].archives[0].max_bytes
    text = sum(map(len, TEXTS.values()))
    assert found == largest if largest else 6 * text <= found < 100 * text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"titel": "A"}, "data_sets.Small: unknown key 'titel'; did you mean 'title'"),
        ({"title": None}, "data_sets.Small: expected the key 'title'"),
        ({"title": 5}, "data_sets.Small.title: expected text, found 5"),
        ({"source": "downloaded"}, "data_sets.Small.source: expected 'download' or 'generated'"),
        ({"text": {"labels": "real", "qid": "token"}}, "text.labels: expected 'integer' or 'rounded', found 'real'"),
        ({"features": 0}, "data_sets.Small.features"),
        ({"features": None}, "features: a data set to be downloaded needs this key"),
        ({"counts": None}, "counts: a data set to be downloaded needs this key"),
        ({"archives": [{"name": "../Small.zip"}]}, "archives[0].name: expected text that matches"),
        (
            {"archives": [{"name": "Small.zip", "sha256": ["beef"]}]},
            "archives[0].sha256[0]: expected text that matches",
        ),
        ({"archives": [{"name": "a.zip"}, {"name": "a.zip"}]}, "archives: expected different names"),
        (
            {"addresses": [{"address": "https://example.org/x", "archive": "x.zip", "kind": "mirror"}]},
            "addresses[0].archive: expected one of Small.zip, Small.tar.gz; found 'x.zip'",
        ),
        (
            {"addresses": [{"address": "ftp://example.org/x", "archive": "Small.zip", "kind": "mirror"}]},
            "addresses[0].address: expected text that matches ^https?://",
        ),
        ({"by_hand": "Ask."}, "by_hand: expected text that matches"),
        ({"counts": {"rows": 20, "queries": 5, "labels": [1, 2, 3]}}, "counts.labels: expected a sum of 20"),
        ({"counts": {"rows": 20, "queries": 5, "labels": [10, 10]}}, "counts.labels: expected labels 0..2"),
        ({"parts": {name: {"members": ["a"], "rows": 1} for name in ENTRY["parts"]}}, "counts.rows: expected 5"),
        ({"parts": {name: {} for name in ENTRY["parts"]}}, "parts.S1.members"),
        ({"parts": {name: {"members": ["/etc/passwd"]} for name in ENTRY["parts"]}}, "members[0]: expected text"),
        ({"split": {"S9": 2}}, "split.S9: expected a part"),
        ({"folds": [{"train": ["S1"], "validation": ["S2"], "test": ["S33"]}]}, "unknown part or block 'S33'; did you"),
        ({"folds": [{"train": ["S1"], "validation": ["S1"], "test": ["S2"]}]}, "'S1' has more than one role"),
        ({"folds": ENTRY["folds"][:4]}, "folds: the test parts must contain every block once"),
        ({"folds": []}, "folds"),
        ({"source": "generated"}, "the key 'simulation'"),
        ({"source": "generated", "simulation": {"queries": 9}}, "source: a generated data set has no archives"),
        ({"simulation": {"queries": 9}}, "simulation: only a generated data set is drawn"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(tmp_path, changes, message):
    with pytest.raises(ConfigurationError) as caught:
        small_set(tmp_path, **changes)
    assert message in str(caught.value)


def test_a_key_given_twice_is_refused(tmp_path):
    path = tmp_path / "catalog.yaml"
    path.write_text("data_sets:\n  A: {title: one,\n    title: two}\n")
    with pytest.raises(ConfigurationError, match="line 3: the key 'title' is given twice"):
        catalog.load(path)


@pytest.mark.parametrize("text", ["data_sets: [", "- a\n", "", "data_sets: {}", "\tdata_sets: 1"])
def test_a_broken_file_is_one_clear_error(tmp_path, text):
    path = tmp_path / "catalog.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        catalog.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "nearest"), [("mq2008", "MQ2008"), ("MSLR-10K", "MSLR-WEB10K"), ("letor_sim", "letor-sim")]
)
def test_an_unknown_data_set_names_the_nearest(asked, nearest):
    with pytest.raises(ConfigurationError, match=f"did you mean '{nearest}'"):
        catalog.get(asked)


@pytest.mark.parametrize(
    ("simulation", "message"),
    [
        ({"queries": 1}, r"simulation\.queries: expected one for each of the 2 parts or more"),
        (
            {"queries": 9, "population": {"noise": -1}},
            r"simulation\.population: noise: expected a number greater than or equal to 0",
        ),
        ({"queries": 9, "populatoin": {}}, "did you mean 'population'"),
    ],
)
def test_what_is_wrong_with_a_simulation_is_said(tmp_path, simulation, message):
    entry = {key: ENTRY[key] for key in ("title", "terms", "terms_page", "citation")}
    fold = {"train": ["S1/1"], "validation": ["S1/2"], "test": ["S2"]}
    entry |= {"source": "generated", "parts": {"S1": {}, "S2": {}}, "split": {"S1": 2}, "folds": [fold]}
    right, wrong = ({"data_sets": {"Small": {**entry, "simulation": one}}} for one in ({"queries": 2}, simulation))
    assert not catalog.load(write_catalog(tmp_path, right))["Small"].has_text
    with pytest.raises(ConfigurationError, match=message):
        catalog.load(write_catalog(tmp_path, wrong))

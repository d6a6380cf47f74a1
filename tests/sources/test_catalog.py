from __future__ import annotations

import copy
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_sets import ENTRY, TEXTS, entry, small_set, write_catalog

from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.sources import catalog

ROOT = Path(__file__).parents[2]
NAMES = [
    *(
        "letor-sim",
        "mslr-sim",
        "MQ2007",
        "MQ2008",
        "OHSUMED",
        "MSLR-WEB10K",
        "MSLR-WEB30K",
        "Istella",
        "Istella-S",
        "Istella-X",
    ),
    *("Yahoo-set1", "Yahoo-set2", "Yandex-IMAT2009"),
]


@pytest.fixture(scope="module")
def data_sets() -> dict[str, catalog.DataSet]:
    return catalog.load()


def test_the_catalogue_is_valid_and_complete(data_sets):
    assert set(NAMES) <= set(data_sets)


def test_the_worked_example_of_the_documentation_is_valid(tmp_path):
    text = (ROOT / "docs" / "adding-a-data-set.md").read_text(encoding="utf-8")
    found = re.search(r"^( +)Library-Clicks:\n(?:\1 +.*\n)+", text, re.MULTILINE)
    assert found is not None
    example = textwrap.dedent(found[0]).replace("<64 hexadecimal digits>", "a" * 64)
    path = tmp_path / "catalog.yaml"
    path.write_text("data_sets:\n" + textwrap.indent(example, "  "), encoding="utf-8")
    assert catalog.load(path)["Library-Clicks"].n_folds == 1


@pytest.mark.parametrize("name", ["MQ2007", "MQ2008", "OHSUMED", "MSLR-WEB10K", "MSLR-WEB30K", "letor-sim", "mslr-sim"])
def test_letor_sets_have_the_published_folds(data_sets, name):
    published = {
        1: (("S1", "S2", "S3"), ("S4",), ("S5",)),
        2: (("S2", "S3", "S4"), ("S5",), ("S1",)),
        3: (("S3", "S4", "S5"), ("S1",), ("S2",)),
        4: (("S4", "S5", "S1"), ("S2",), ("S3",)),
        5: (("S5", "S1", "S2"), ("S3",), ("S4",)),
    }
    folds = {i: (fold.train, fold.validation, fold.test) for i, fold in enumerate(data_sets[name].folds, 1)}
    assert folds == published


@pytest.mark.parametrize("name", ["MQ2007", "MQ2008", "OHSUMED", "MSLR-WEB10K", "MSLR-WEB30K"])
def test_a_fold_file_stands_for_the_part_that_the_layout_tests_in_that_fold(data_sets, name):
    tested_in = {fold.test[0]: number for number, fold in enumerate(data_sets[name].folds, 1)}
    checked = 0
    for part, details in data_sets[name].parts.items():
        for member in details.members:
            if "Fold" in member:
                assert member.endswith(f"Fold{tested_in[part]}/test.txt")
                checked += 1
    assert checked >= 5


def test_published_digests_of_mslr_fold_1_are_those_of_s4_and_s5(data_sets):
    ten, thirty = data_sets["MSLR-WEB10K"].parts, data_sets["MSLR-WEB30K"].parts
    assert ten["S4"].sha256 == ("e86fb3fe7e8a5f16479da7ce04f783ae85735f17f66016786c3ffc797dd9d4db",)
    assert ten["S5"].sha256 == ("33fe002374a4fce58c4e12863e4eee74745d5672a26f3e4ddacc20ccfe7d6ba0",)
    assert thirty["S4"].sha256 == ("7647834b84c849a61e5cf3c999a2f72a4785613286fd972a5615e9fcb58f94d8",)
    assert thirty["S5"].sha256 == ("9a4668fd2615e6772d2e5c4d558d084b2daaf2405571eaf3e4d0526f4da096c7",)


def test_counts_add_up_to_the_published_totals(data_sets):
    counts = {name: data_set.counts for name, data_set in data_sets.items() if data_set.counts}
    assert (counts["MQ2008"].rows, counts["MQ2008"].queries, counts["MQ2008"].labels) == (
        15211,
        784,
        (12279, 2001, 931),
    )
    assert (counts["OHSUMED"].rows, counts["OHSUMED"].queries) == (16140, 106)
    assert counts["MQ2007"].approximate == ("queries",)
    for known in counts.values():
        assert known.labels is None or sum(known.labels) == known.rows


def test_every_set_names_terms_citation_and_a_way_by_hand(data_sets):
    for data_set in data_sets.values():
        assert data_set.terms
        assert data_set.citation
        assert data_set.source == "generated" or "{folder}" in data_set.by_hand


def test_sets_without_a_validation_file_take_it_from_their_training_part(data_sets):
    (fold,) = data_sets["Istella"].folds
    assert fold.validation == ("train/1",)
    assert len(fold.train) == 9
    assert fold.test == ("test",)


def _every_key(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = []
    if isinstance(document, dict):
        for key, value in document.items():
            found += [(*path, key), *_every_key(value, (*path, key))]
    if isinstance(document, list):
        for i, value in enumerate(document):
            found += _every_key(value, (*path, i))
    return found


FREE_NAMES = {"parts", "split", "data_sets"}  # their keys are names of our own choice
FULL = {
    "data_sets": {
        "Small": entry(
            counts={"rows": 20, "queries": 5, "labels": [10, 5, 5], "approximate": ["labels"]},
            archives=[{"name": "Small.zip", "bytes": 10, "max_bytes": 10, "sha256": ["0" * 64], "md5": ["0" * 32]}],
            addresses=[{"address": "https://example.org/Small.zip", "archive": "Small.zip", "kind": "mirror"}],
            parts={
                **ENTRY["parts"],
                "S1": {"members": ["S1.txt"], "sha256": ["0" * 64], "max_bytes": 9, "rows": 4, "queries": 1},
            },
        )
    }
}
KEYS = [path for path in _every_key(FULL) if path[-2:-1] == () or path[-2] not in FREE_NAMES]


def test_the_full_example_is_valid(tmp_path):
    assert catalog.load(write_catalog(tmp_path, FULL))["Small"].parts["S1"].rows == 4


@pytest.mark.parametrize(
    ("size", "largest"), [({}, None), ({"bytes": 7}, 7), ({"max_bytes": 9}, 9), ({"bytes": 7, "max_bytes": 9}, 7)]
)
def test_every_archive_has_a_limit(tmp_path, size, largest):
    path = write_catalog(tmp_path, {"data_sets": {"Small": entry(archives=[{"name": "Small.zip", **size}])}})
    found = catalog.load(path)["Small"].archives[0].max_bytes
    text = sum(map(len, TEXTS.values()))
    assert found == largest if largest else 6 * text <= found < 100 * text


def test_no_archive_of_the_catalogue_is_fetched_without_end(data_sets):
    for data_set in data_sets.values():
        for archive in data_set.archives:
            assert 0 < archive.max_bytes <= (archive.bytes or catalog.LARGEST_ARCHIVE)


@pytest.mark.parametrize("path", KEYS, ids=lambda path: ".".join(map(str, path)))
def test_every_misspelt_key_is_found_and_the_right_one_named(tmp_path, path):
    document = copy.deepcopy(FULL)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    misspelt = path[-1] + "x"
    changed = {misspelt if key == path[-1] else key: value for key, value in holder.items()}
    holder.clear()
    holder.update(changed)
    with pytest.raises(ConfigurationError) as caught:
        catalog.load(write_catalog(tmp_path, document))
    message = str(caught.value)
    assert f"unknown key {misspelt!r}; did you mean {path[-1]!r}?" in message
    assert str(tmp_path / "catalog.yaml") in message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
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


WRONG_VALUES = {
    "title": ["", "two\nlines", "\u2028", None],
    "terms": [""],
    "citation": [""],
    "terms_page": ["ftp://x", 3],
    "features": [True, 1.0, 2**31],
    "max_label": [0, 256],
    "counts": [[], {"rows": 0, "queries": 5}, {"rows": 20, "queries": 5, "labels": [20]}],
    "archives": ["a.zip", [{"name": "a.zip", "bytes": 0}], [{"name": "a.zip", "md5": ["0" * 31]}]],
    "by_hand": [3],
    "parts": [{}, {"S 1": {}}, {"S1": {"members": ["a", "a"]}}, {"S1": {"members": ["a//b"]}}],
    "split": [{"S1": 1}, {"S1": 101}],
    "folds": [{}, [{"train": [], "validation": ["S1"], "test": ["S2"]}], [{**ENTRY["folds"][0], "train": ["S1/0"]}]],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG_VALUES.items() for value in values])
def test_values_of_another_kind_or_range_are_named_with_their_key(tmp_path, key, value):
    wrong = {"data_sets": {"Small": {**entry(), key: value}}}
    with pytest.raises(ConfigurationError, match=rf"data_sets\.Small\.{key}"):
        catalog.load(write_catalog(tmp_path, wrong))


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


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match=r"nothing\.yaml: cannot be read"):
        catalog.load(tmp_path / "nothing.yaml")


@pytest.mark.parametrize(
    ("asked", "nearest"), [("mq2008", "MQ2008"), ("MSLR-10K", "MSLR-WEB10K"), ("letor_sim", "letor-sim")]
)
def test_an_unknown_data_set_names_the_nearest(asked, nearest):
    with pytest.raises(ConfigurationError, match=f"did you mean '{nearest}'"):
        catalog.get(asked)


def test_a_name_like_no_other_lists_all():
    with pytest.raises(ConfigurationError, match="known are letor-sim, mslr-sim"):
        catalog.get("q")


@pytest.mark.parametrize(
    ("simulation", "message"),
    [
        ({"queries": 1}, r"simulation\.queries: expected one for each of the 2 parts or more"),
        ({"queries": 9, "population": {"noise": -1}}, r"simulation\.population: noise: expected a number >= 0"),
        ({"queries": 9, "populatoin": {}}, "did you mean 'population'"),
    ],
)
def test_what_is_wrong_with_a_simulation_is_said(tmp_path, simulation, message):
    entry = {key: ENTRY[key] for key in ("title", "terms", "terms_page", "citation")}
    fold = {"train": ["S1/1"], "validation": ["S1/2"], "test": ["S2"]}
    entry |= {"source": "generated", "parts": {"S1": {}, "S2": {}}, "split": {"S1": 2}, "folds": [fold]}
    path = tmp_path / "catalog.yaml"
    path.write_text(yaml.safe_dump({"data_sets": {"Small": {**entry, "simulation": {"queries": 2}}}}))
    assert not catalog.load(path)["Small"].has_text
    path.write_text(yaml.safe_dump({"data_sets": {"Small": {**entry, "simulation": simulation}}}))
    with pytest.raises(ConfigurationError, match=message):
        catalog.load(path)

"""Target: the catalogue of data sets. What is accepted is kept as it was given, and fits together."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.sources import catalog

from . import damage
from .configurations import WORDS
from .plain_values import VALUES, damaged
from .verdict import raised

COMMON = {"title": "A title", "terms": "Terms.", "terms_page": "https://example.org", "citation": "Somebody, 2012."}
BASE: dict[str, Any] = {
    "data_sets": {
        "made": {
            **COMMON,
            "source": "generated",
            "text": {"labels": "integer", "qid": "token"},
            "simulation": {"queries": 30},
            "parts": {"S1": {}, "S2": {}, "S3": {}},
            "folds": [
                {"train": ["S1"], "validation": ["S2"], "test": ["S3"]},
                {"train": ["S2"], "validation": ["S3"], "test": ["S1"]},
                {"train": ["S3"], "validation": ["S1"], "test": ["S2"]},
            ],
        },
        "Fetched": {
            **COMMON,
            "source": "download",
            "features": 4,
            "max_label": 1,
            "text": {"labels": "rounded", "qid": "comment"},
            "counts": {"rows": 6, "queries": 3, "labels": [4, 2], "approximate": ["queries"]},
            "archives": [{"name": "a.zip", "bytes": 9, "sha256": ["0" * 64]}, {"name": "b.rar", "md5": ["a" * 32]}],
            "addresses": [{"address": "https://example.org/a.zip", "archive": "a.zip", "kind": "official"}],
            "by_hand": "Put it into {folder}.",
            "parts": {
                "all": {"members": ["x/all.txt"], "rows": 4, "queries": 2},
                "test": {"members": ["test.txt"], "sha256": ["1" * 64], "rows": 2, "queries": 1},
            },
            "split": {"all": 2},
            "folds": [{"train": ["all/1"], "validation": ["all/2"], "test": ["test"]}],
        },
    }
}


def fuzz(rng: random.Random, folder: Path) -> tuple[bytes, bool, str | None]:
    """A catalogue with damage to its values, or to its text."""
    tree = copy.deepcopy(BASE)
    if rng.random() < 0.7:
        del tree["data_sets"][rng.choice(("made", "Fetched", "Fetched"))]
    by_text = rng.random() < 0.3
    values = tuple(value for value in VALUES if isinstance(value, str | int | float | list | dict | None))
    changes = 0 if by_text else rng.choice((0, 1, 1, 1, 2, 3))
    for _ in range(changes):
        tree = damaged(tree, rng, values)
    try:
        content = json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError):  # keys or numbers that JSON cannot write
        content = repr(tree).encode("utf-8", "surrogatepass")
    if by_text:
        dumped = yaml.dump(tree, sort_keys=False, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper)).encode()
        content = damage.damaged(dumped, rng, WORDS)
    path = folder / "catalog.yaml"
    path.write_bytes(content)
    try:
        found = catalog.load(path)
    except ConfigurationError as error:
        if not changes and not by_text:
            return content, False, f"refused a valid input: {error}"
        return content, False, None if str(error).startswith(f"{path}") else f"another file is named: {error}"
    except BaseException as error:
        return content, False, raised(error)
    given = _known(yaml.load(content.decode("utf-8"), schemas.loader()))["data_sets"]
    expected = {name: _expected(entry) for name, entry in given.items()}
    shown = {name: _shown(data_set) for name, data_set in found.items()}
    if repr(expected) != repr(shown):
        return content, True, f"expected {expected!r}, found {shown!r}"
    return content, True, None if all(map(_fits_together, given.values())) else "accepted what does not fit together"


def _known(tree: Any) -> Any:
    """What is stated: null stands for a key that is not there."""
    if isinstance(tree, dict):
        return {key: _known(value) for key, value in tree.items() if value is not None}
    return [_known(one) for one in tree] if isinstance(tree, list) else tree


def _fits_together(entry: dict[str, Any]) -> bool:
    archives = [archive["name"] for archive in entry.get("archives", ())]
    if entry["source"] == "generated":
        if archives or entry.get("addresses") or entry.get("by_hand"):
            return False
        if "simulation" not in entry or entry["simulation"]["queries"] < len(entry["parts"]):
            return False
    else:
        if "text" not in entry or "simulation" in entry:
            return False
        needed = ("features", "max_label", "counts", "archives", "by_hand")
        if not all(entry.get(key) for key in needed) or not all(
            part.get("members") for part in entry["parts"].values()
        ):
            return False
        if len(set(archives)) < len(archives):
            return False
        if any(one["archive"] not in archives for one in entry.get("addresses", ())):
            return False
    counts = entry.get("counts")
    if counts:
        labels = counts.get("labels")
        if labels and (sum(labels) != counts["rows"] or len(labels) - 1 != entry.get("max_label")):
            return False
        for key in ("rows", "queries"):
            known = [part.get(key) for part in entry["parts"].values()]
            if None not in known and sum(known) != counts[key]:
                return False
    split = entry.get("split", {})
    if not set(split) <= set(entry["parts"]):
        return False
    every = [
        block
        for part in entry["parts"]
        for block in ([f"{part}/{i}" for i in range(1, split[part] + 1)] if part in split else [part])
    ]
    for fold in entry["folds"]:
        used = [block for role in ("train", "validation", "test") for block in fold[role]]
        if not set(used) <= set(every) or len(set(used)) < len(used):
            return False
    tests = [block for fold in entry["folds"] for block in fold["test"]]
    return len(entry["folds"]) == 1 or sorted(tests) == sorted(every)


def _expected(entry: dict[str, Any]) -> Any:
    counts = entry.get("counts")
    return [
        *(entry[key] for key in ("title", "source", "terms", "terms_page", "citation")),
        *(entry.get(key) for key in ("features", "max_label")),
        *(entry.get("text", {}).get(key, default) for key, default in (("labels", "integer"), ("qid", "token"))),
        entry.get("by_hand", ""),
        counts and [counts["rows"], counts["queries"], counts.get("labels"), sorted(counts.get("approximate", []))],
        [[a["name"], a.get("bytes"), a.get("sha256", []), a.get("md5", [])] for a in entry.get("archives", [])],
        [[a["address"], a["archive"], a["kind"]] for a in entry.get("addresses", [])],
        [
            [name, part.get("members", []), part.get("sha256", []), *map(part.get, ("max_bytes", "rows", "queries"))]
            for name, part in entry["parts"].items()
        ],
        entry.get("split", {}),
        [[fold["train"], fold["validation"], fold["test"]] for fold in entry["folds"]],
    ]


def _shown(data_set: catalog.DataSet) -> Any:
    counts = data_set.counts
    labels = list(counts.labels) if counts and counts.labels is not None else None
    return [
        *(data_set.title, data_set.source, data_set.terms, data_set.terms_page, data_set.citation),
        *(data_set.n_features, data_set.max_label, data_set.labels, data_set.qid, data_set.by_hand),
        counts and [counts.rows, counts.queries, labels, sorted(counts.approximate)],
        [[one.name, one.bytes, list(one.sha256), list(one.md5)] for one in data_set.archives],
        [[one.address, one.archive, one.kind] for one in data_set.addresses],
        [
            [name, list(part.members), list(part.sha256), part.max_bytes, part.rows, part.queries]
            for name, part in data_set.parts.items()
        ],
        dict(data_set.split),
        [[list(fold.train), list(fold.validation), list(fold.test)] for fold in data_set.folds],
    ]

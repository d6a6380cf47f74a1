"""Target: the configuration of a study against rules written out from ``config.yaml``; some sections of it."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib import configuration, schemas

from . import damage
from .plain_values import (
    a_list,
    choice,
    damaged,
    either,
    fits,
    line,
    mapping,
    nothing,
    number,
    places,
    whole,
)
from .verdict import Refused, difference

FOLDS = {"letor-sim": 5, "MQ2008": 5, "Istella-S": 1}
DEFAULT = yaml.safe_load(Path(__file__).parents[2].joinpath("config.yaml").read_text(encoding="utf-8"))
KNOWN_MODELS = {model["name"]: model for model in DEFAULT["models"]}
SURROGATES = {
    *(
        "kl",
        "listmle",
        "listnet",
        "rankboost",
        "rankcosine",
        "ranknet",
        "ranksvm",
        "slam-map",
        "slam-ndcg",
        "smooth-dcg",
    ),
    *("squared", "squared-ndcg", "structured-ndcg", "svm-map"),
}
PAPERS = ("slam", "topk", "cone", "lists", "twolayer")
MEASURE = r"map|err|letor4_mean_ndcg|ndcg|(ndcg|p|letor4_ndcg)@[1-9][0-9]{0,8}"

slug, measure, yes_or_no = (
    fits("(?=.{1,100}$)[a-z0-9]+(-[a-z0-9]+)*"),
    fits(MEASURE),
    lambda value: isinstance(value, bool),
)
positive, not_negative = number(0, ends="(]"), number(0)
names = a_list(line, 1, different=True)
FEATURES = either(
    choice("standardised", "raw"),
    mapping(
        {}, {"kernel": choice("gaussian"), "components": whole(1), "bandwidth": either(choice("median"), positive)}
    ),
)
ERM = {
    "l2": either(a_list(not_negative, 1), not_negative),
    "radius": either(nothing, positive),
    "ball": choice("l2", "l1"),
    "tol": number(0, 0.1, ends="(]"),
    "sublists": either(nothing, whole(1)),
    "features": FEATURES,
    "selection": measure,
}
PERCEPTRON = {
    "measure": fits("(map|ndcg(@[1-9][0-9]*)?)"),
    "step": either(choice("theory"), positive),
    "active": choice("margin", "misordered"),
    "selection": measure,
    "passes": whole(1),
    "average": yes_or_no,
    "features": FEATURES,
}
LEARNERS: dict[str, dict[str, Any]] = {
    "erm": ERM,
    "perceptron": PERCEPTRON,
    "random": {},
    "best-feature": {"selection": measure},
}
OTHER_LEARNERS = (
    *("adarank", "cone", "file-order", "ideal", "lambdamart", "ogd", "prank", "rankboost", "pairwise-perceptron"),
    "top-k-feedback",
)
MODEL = {
    "title": either(nothing, line),
    "surrogate": either(nothing, line),
    "options": lambda value: isinstance(value, dict),
    "datasets": either(nothing, names),
    "published": either(nothing, line),
}
SECTIONS = {
    "study": slug,
    "title": either(nothing, line),
    "seed": whole(0),
    "mirrors": a_list(line),
    "folds": either(choice("all"), a_list(whole(1), 1, different=True)),
    "letor_sim": mapping({}, {"queries": whole(5), "population": lambda value: isinstance(value, dict)}),
    "mslr_sim": mapping({}, {"queries": whole(5), "population": lambda value: isinstance(value, dict)}),
    "experiment_queries": either(nothing, whole(20)),
    "evaluation": mapping(
        {}, {"measures": a_list(measure, 1, different=True), "headline": line, "compared": a_list(line)}
    ),
    "statistics": mapping({}, {"level": number(0, 1, ends="()"), "resamples": whole(100)}),
    "papers": either(choice("all"), a_list(choice(*PAPERS))),
    "erm": mapping({}, ERM),
    "perceptron": mapping({}, PERCEPTRON),
}
BASE: dict[str, Any] = {
    "study": "some-study",
    "title": "A title",
    "seed": 7,
    "mirrors": ["/data", "https://example.org"],
    "datasets": ["letor-sim", {"name": "mine", "files": ["FILE"], "folds": 3}],
    "folds": [1, 2],
    "letor_sim": {"queries": 40, "population": {}},
    "evaluation": {"measures": ["ndcg@10", "map"], "headline": "map", "compared": ["map"]},
    "statistics": {"level": 0.9, "resamples": 200},
    "papers": ["slam", "lists"],
    "erm": {"l2": [0.1, 1.0], "radius": 2.0, "ball": "l2", "tol": 1e-3, "features": "raw", "selection": "map"},
    "perceptron": {"step": "theory", "passes": 3, "average": False, "measure": "ndcg@5"},
    "models": [
        "listnet",
        {"name": "mine", "title": "Mine", "algorithm": "erm", "surrogate": "ranksvm", "l2": [0.5], "tol": 0.01},
        {
            "name": "fixed",
            "algorithm": "erm",
            "surrogate": "kl",
            "datasets": ["letor-sim"],
            "l2": {"letor-sim": [1.0] * 5},
        },
        {"name": "chance", "algorithm": "random", "published": "Random"},
        {"name": "p", "algorithm": "perceptron", "passes": 2, "features": {"kernel": "gaussian", "components": 10}},
    ],
}
WORDS = (
    *(
        "~",
        "null",
        "yes",
        "[",
        "]",
        "{",
        "}",
        "- ",
        "a: b",
        "&a",
        "*a",
        "!!set {a, b}",
        "!!binary x",
        "!!python/name:os",
    ),
    *(
        "2024-01-01",
        "2024-13-45",
        "1:30",
        "0o17",
        "1_000",
        ".inf",
        ".nan",
        "<<",
        "? x",
        "|",
        ">",
        "'",
        '"',
        "%",
        "@",
        "---",
    ),
)


class Undecided(Exception):
    """The rules written out here do not cover this input, which the project may accept or refuse."""


def fuzz(rng: random.Random, folder: Path) -> tuple[bytes, bool, str | None]:
    """A configuration with damage to its values, or to its text."""
    file = folder / "mine.txt"
    file.write_text("1 qid:1 1:1\n")
    config = copy.deepcopy(BASE)
    config["datasets"][1]["files"] = [str(file)]
    for key in rng.sample(list(config), rng.randrange(4, 12)):
        del config[key]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        config = damaged(config, rng)
        if not isinstance(config, dict):
            config = {}
    text = repr(config)
    if rng.random() < 0.25:
        try:
            text = yaml.dump(config, sort_keys=False, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
            text = damage.damaged(text.encode(), rng, WORDS).decode()
            config = yaml.load(text, schemas.loader())
        except Exception:
            return text.encode("utf-8", "replace"), False, None  # Snakemake reads the file, and refuses it
        if not isinstance(config, dict):
            return text.encode(), False, None

    def project() -> Any:
        study = configuration.check(config, FOLDS)
        return _comparable({key: study.config[key] for key in (*SECTIONS, "datasets", "models")})

    try:
        return text.encode("utf-8", "replace"), *difference(lambda: _comparable(plain(config)), project)
    except Undecided:
        _, found = difference(lambda: _refuse(), project)
        return text.encode("utf-8", "replace"), False, found if found and found.startswith("raised") else None


def _comparable(tree: Any) -> Any:
    """The tree with whole numbers as floating-point numbers where float64 has not all of them."""
    if isinstance(tree, dict):
        return {key: _comparable(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_comparable(value) for value in tree]
    return float(tree) if type(tree) is int and 2**53 < abs(tree) < 10**308 else tree


def _refuse() -> Any:
    raise Refused("")


REFUSED = Refused("the configuration cannot be used:")


def plain(config: dict[Any, Any]) -> dict[str, Any]:
    """The settings of a configuration, defaults included."""
    if not _finite(config) or not all(key in (*SECTIONS, "datasets", "models") for key in config):
        raise REFUSED
    if not all(SECTIONS[key](value) for key, value in config.items() if key in SECTIONS):
        raise REFUSED
    full = {**copy.deepcopy(DEFAULT), **copy.deepcopy(config)}
    for key in ("letor_sim", "mslr_sim", "evaluation", "statistics", "erm", "perceptron"):
        full[key] = {**DEFAULT[key], **full[key]}
        if isinstance(full[key].get("features"), dict):
            full[key]["features"] = {
                "kernel": "gaussian",
                "components": 300,
                "bandwidth": "median",
                **full[key]["features"],
            }
    if not isinstance(full["erm"]["l2"], list):
        full["erm"]["l2"] = [full["erm"]["l2"]]
    if full["letor_sim"]["population"] or full["mslr_sim"]["population"]:
        raise Undecided
    measures = full["evaluation"]["measures"]
    if not {full["evaluation"]["headline"], *full["evaluation"]["compared"]} <= set(measures):
        raise REFUSED
    n_folds = _data_sets(full["datasets"])
    for name in n_folds:
        known = {**FOLDS, **n_folds}[name]
        if full["folds"] != "all" and not any(1 <= fold <= known for fold in full["folds"]):
            raise REFUSED
    full["models"] = _models(full["models"], list(n_folds), {**FOLDS, **n_folds})
    return {key: full[key] for key in (*SECTIONS, "datasets", "models")}


def _finite(tree: Any) -> bool:
    def at(place: tuple[Any, ...]) -> Any:
        value = tree
        for step in place:
            value = value[step]
        return value

    return not any(isinstance(value := at(place), float) and value - value != 0 for place in places(tree))


def _data_sets(entries: Any) -> dict[str, int]:
    """The data sets with their numbers of folds."""
    if not a_list(either(line, lambda entry: isinstance(entry, dict)), 1, different=True)(entries):
        raise REFUSED
    folds: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, str):
            if entry not in FOLDS or entry in folds:
                raise REFUSED
            folds[entry] = FOLDS[entry]
            continue
        if {"train", "validation", "test", "folder", "files"} & set(entry) != {"files"} or not isinstance(
            entry.get("name"), str
        ):
            raise Undecided
        own = mapping(
            {"name": fits("(?=.{1,100}$)[A-Za-z][A-Za-z0-9-]*"), "files": either(line, names)},
            {
                "title": either(nothing, line),
                "folds": either(nothing, whole(1, 1000), fits("0*[0-9]{1,3}|0*1000")),
                "label": either(nothing, line),
                "query": either(nothing, line),
                "ignore": a_list(line, different=True),
                "labels": choice("whole", "rounded"),
            },
        )
        if not own(entry) or entry["name"] in (*FOLDS, *folds) or entry["name"].endswith("\n"):
            raise REFUSED
        files = [entry["files"]] if isinstance(entry["files"], str) else entry["files"]
        number_of_folds = int(entry["folds"]) if entry.get("folds") is not None else 5
        paths = [Path(one) for one in files]
        if not all(map(_is_file, paths)) or len(set(paths)) < len(paths) or number_of_folds in (0, 2):
            raise REFUSED
        if isinstance(entry.get("folds"), str):
            entry["folds"] = number_of_folds
        folds[entry["name"]] = number_of_folds
    return folds


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _models(entries: Any, data_sets: list[str], n_folds: dict[str, int]) -> list[dict[str, Any]]:
    if not a_list(either(choice(*KNOWN_MODELS), lambda entry: isinstance(entry, dict)), 1)(entries):
        raise REFUSED
    models = [KNOWN_MODELS[entry] if isinstance(entry, str) else entry for entry in entries]
    for model in models:
        if not (slug(model.get("name")) and line(model.get("algorithm"))):
            raise REFUSED
        if not all(isinstance(key, str) for key in model):
            raise REFUSED
        if not all(MODEL[key](value) for key, value in model.items() if key in MODEL):
            raise REFUSED
        if model["algorithm"] not in LEARNERS:
            if model["algorithm"] not in OTHER_LEARNERS:
                raise REFUSED
            continue
        _model(model, data_sets, n_folds)
    if len({model["name"] for model in models}) < len(models):
        raise REFUSED
    if any(model["algorithm"] not in LEARNERS and model not in KNOWN_MODELS.values() for model in models):
        raise Undecided
    return models


def _model(model: dict[str, Any], data_sets: list[str], n_folds: dict[str, int]) -> None:
    settings = LEARNERS[model["algorithm"]]
    own = {key: value for key, value in model.items() if key not in (*MODEL, "name", "algorithm")}
    surrogate = model.get("surrogate")
    if (surrogate is not None) != (model["algorithm"] == "erm"):
        raise REFUSED
    if surrogate is not None and surrogate not in SURROGATES and not re.fullmatch("slam-ndcg@[1-9][0-9]*", surrogate):
        raise REFUSED
    if not set(model.get("datasets") or ()) <= set(n_folds) or not set(own) <= set(settings):
        raise REFUSED
    if isinstance(own.get("l2"), dict):
        for name, values in own["l2"].items():
            if not a_list(not_negative)(values) or (name in n_folds and len(values) != n_folds[name]):
                raise REFUSED
            if name not in n_folds:
                raise Undecided
        if not set(model.get("datasets") or data_sets) <= set(own["l2"]):
            raise REFUSED
        own = {key: value for key, value in own.items() if key != "l2"}
    if not all(settings[key](value) for key, value in own.items()):
        raise REFUSED
    if model.get("options") and model not in KNOWN_MODELS.values():
        raise Undecided

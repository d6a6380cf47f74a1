"""Target: the configuration of a study. What is accepted is kept as it was given, and is accepted again."""

import copy
import random
import re
from pathlib import Path
from typing import Any

import yaml

from pipeline_lib.core import schemas
from pipeline_lib.core.errors import ConfigurationError
from pipeline_lib.study import configuration

from . import damage
from .plain_values import damaged
from .verdict import raised

MEASURE = re.compile(r"\.(selection|headline|measure|(measures|compared)\[\d+\])$")
SPELLINGS = {"ap": "map", "mrr": "rr", "r": "recall"}
FOLDS = {"letor-sim": 5, "MQ2008": 5, "Istella-S": 1}
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
SIGNS = """~ null yes [ ] { } &a *a 2024-01-01 2024-13-45 1:30 0o17 1_000 .inf .nan << | > ' " % @ ---"""
WORDS = (*SIGNS.split(), "- ", "a: b", "!!set {a, b}", "!!binary x", "!!python/name:os", "? x")


def fuzz(rng: random.Random, folder: Path) -> tuple[bytes, bool, str | None]:
    """A configuration with damage to its values, or to its text."""
    file = folder / "mine.txt"
    file.write_text("1 qid:1 1:1\n")
    config = copy.deepcopy(BASE)
    config["datasets"][1]["files"] = [str(file)]
    for key in rng.sample(list(config), rng.randrange(4, 12)):
        del config[key]
    if "datasets" in config:  # one of them is of one's own
        config["study"] = BASE["study"]
    changes = rng.choice((0, 1, 1, 1, 2, 3))
    for _ in range(changes):
        config = damaged(config, rng)
        if not isinstance(config, dict):
            config = {}
    text = repr(config)
    if by_text := rng.random() < 0.25:
        try:
            text = yaml.dump(config, sort_keys=False, Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper))
            text = damage.damaged(text.encode(), rng, WORDS).decode()
            config = yaml.load(text, schemas.loader())
        except Exception:
            return text.encode("utf-8", "replace"), False, None  # Snakemake reads the file, and refuses it
        if not isinstance(config, dict):
            return text.encode(), False, None
    content = text.encode("utf-8", "replace")
    try:
        found = configuration.check(copy.deepcopy(config), FOLDS).config
        again = configuration.check(copy.deepcopy(found), FOLDS).config
    except ConfigurationError as error:
        return content, False, None if changes or by_text else f"refused a valid input: {error}"
    except BaseException as error:
        return content, False, raised(error)
    return content, True, changed(config, found) or ("accepted only once" if again != found else None)


def changed(given: Any, found: Any, place: str = "") -> str | None:
    """What was given and is not kept, with its type; what is left out has a default, and names may be completed."""
    if isinstance(given, dict) and isinstance(found, dict):
        if unknown := [key for key in given if key not in found and given[key] is not None]:
            return f"accepted the unknown keys {unknown!r} at {place or 'the top'}"
        parts = ((given[key], found[key], f"{place}.{key}") for key in given if key in found)
        return next((difference for part in parts if (difference := changed(*part))), None)
    if place == ".evaluation.measures" and isinstance(given, list) and isinstance(found, list):
        found = found[: len(given)]  # the headline and the measures that are compared follow
    if isinstance(given, list | tuple) and isinstance(found, list) and len(given) == len(found):
        parts = ((one, other, f"{place}[{k}]") for k, (one, other) in enumerate(zip(given, found, strict=True)))
        return next((difference for part in parts if (difference := changed(*part))), None)
    completed = place.startswith(".models[") and isinstance(found, dict) and given == found.get("name")
    if place == ".erm.l2" and isinstance(found, list) and len(found) == 1:
        return changed(given, found[0], f"{place}[0]")
    counted = place.endswith(".folds") and isinstance(given, str) and str(found) == given.lstrip("0")
    # Where a number that is not whole is asked for, a whole one becomes one.
    number = type(given) is int and type(found) is float and abs(given) < 10**308 and float(given) == found
    spelled = MEASURE.search(place) is not None and isinstance(given, str) and usual_spelling(given) == found
    if completed or counted or number or spelled or (type(given) is type(found) and given == found):
        return None
    return f"kept {given!r} as {found!r} at {place}"


def usual_spelling(measure: str) -> str:
    """The name of a measure that tables have: capital letters make no difference, and AP, MRR and R@K are known."""
    family, at, rank = measure.lower().partition("@")
    return SPELLINGS.get(family, family) + at + rank

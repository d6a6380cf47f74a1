"""Shapes of plain values, as small predicates, and damage to trees of them."""

from __future__ import annotations

import copy
import datetime
import math
import random
import re
from collections.abc import Callable
from typing import Any

Shape = Callable[[Any], bool]

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 5, 100, 255, 256, 2**31, 2**63, 10**30, -(10**30), 10**400, 1.0, 0.5, -0.5),
    *(
        1e-320,
        1e308,
        -0.0,
        math.nan,
        math.inf,
        -math.inf,
        0.1,
        0.95,
        "",
        " ",
        "x",
        "a\nb",
        "\x1b[2J",
        "é",
        "1e-6",
        "0.5",
    ),
    *(
        "5",
        "all",
        "default",
        "none",
        "null",
        "true",
        "letor-sim",
        "MQ2008",
        "listnet",
        "ranksvm",
        "random",
        "erm",
        "{x}",
    ),
    *(
        "perceptron",
        "ndcg",
        "ndcg@10",
        "ndcg@0",
        "ndcg@03",
        "map",
        "p@5",
        "slam",
        "S1",
        "S1/1",
        "x" * 5000,
        "a-b",
        "a--b",
    ),
    *("0" * 64, "0" * 32, "https://x", "ftp://x", "\u2028", "\x7f", "\ud800", b"bytes", datetime.date(2024, 1, 1)),
    *(
        [],
        [1],
        [1, 1],
        [2, 1],
        ["x", "x"],
        [None],
        [[]],
        [0.1, 0.2],
        ["S1"],
        {},
        {"a": 1},
        {1: 2},
        {None: None},
        {"x": []},
    ),
    *({1, 2}, {"surrogate": "x"}, {"surrogate": "listnet", "options": 5}, {"noise": "x"}, "~nobody/x"),
)
"""What may stand in the place of any value."""


def line(value: Any) -> bool:
    """One line of text without control characters."""
    return isinstance(value, str) and bool(value) and not re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", value)


def fits(pattern: str) -> Shape:
    """Text that matches a pattern as a whole."""
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL) is not None


def whole(least: int, most: float = math.inf) -> Shape:
    """A whole number, written as one."""
    return lambda value: type(value) is int and least <= value <= most


def number(least: float = -math.inf, most: float = math.inf, *, ends: str = "[]") -> Shape:
    """A finite number; a round bracket excludes an end."""

    def shape(value: Any) -> bool:
        if type(value) not in (int, float) or not abs(value) <= 1.7976931348623157e308:
            return False
        above = least <= value if ends[0] == "[" else least < value
        return above and (value <= most if ends[1] == "]" else value < most)

    return shape


def a_list(of: Shape, least: int = 0, *, different: bool = False) -> Shape:
    """A list."""

    def shape(value: Any) -> bool:
        fine = isinstance(value, list) and len(value) >= least and all(map(of, value))
        return fine and not (different and any(one in value[:place] for place, one in enumerate(value)))

    return shape


def choice(*words: str) -> Shape:
    """One of some words."""
    return lambda value: isinstance(value, str) and value in words


def either(*shapes: Shape) -> Shape:
    """A value of one of several shapes."""
    return lambda value: any(shape(value) for shape in shapes)


def nothing(value: Any) -> bool:
    """The null of YAML."""
    return value is None


def mapping(required: dict[str, Shape], optional: dict[str, Shape]) -> Shape:
    """A mapping with these keys and no others."""
    known = {**required, **optional}
    return lambda value: (
        isinstance(value, dict)
        and set(required) <= set(value)
        and all(key in known and known[key](one) for key, one in value.items())
    )


def table(keys: Shape, values: Shape, least: int = 0) -> Shape:
    """A mapping with any keys of a shape."""
    return lambda value: (
        isinstance(value, dict) and len(value) >= least and all(map(keys, value)) and all(map(values, value.values()))
    )


def places(tree: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values inside a tree."""
    inner = list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)) if isinstance(tree, list) else []
    return [found for key, value in inner for found in ((*place, key), *places(value, (*place, key)))]


def damaged(tree: Any, rng: random.Random, values: tuple[Any, ...] = VALUES) -> Any:
    """Change one place of a tree, which is a copy of one's own."""
    where, value = places(tree), copy.deepcopy(rng.choice(values))
    if not where:
        return value
    *outer, key = rng.choice(where)
    inside = tree
    for step in outer:
        inside = inside[step]
    way = rng.randrange(8)
    if way < 4:
        inside[key] = value
    elif way == 4:
        del inside[key]
    elif way == 5:
        inside[key] = rng.choice(
            ([inside[key]], {"a": inside[key]}, str(inside[key]), [inside[key], copy.deepcopy(inside[key])])
        )
    elif isinstance(inside, list):
        inside.insert(rng.randrange(len(inside) + 1), rng.choice((copy.deepcopy(inside[key]), value)))
    else:
        other = rng.choice((f"{key}s", str(key).upper(), str(key)[:-1], 1, None, "x", *inside))
        inside[other] = inside.pop(key) if rng.random() < 0.5 else value
    return tree

"""Damage to trees of plain values."""

import copy
import datetime
import math
import random
from typing import Any

WORDS = """\
x 1e-6 0.5 5 all default none null true letor-sim MQ2008 listnet ranksvm random erm {x} perceptron ndcg ndcg@10 ndcg@0
ndcg@03 map p@5 slam S1 S1/1 a-b a--b https://x ftp://x ~nobody/x é"""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 3, 5, 100, 255, 256, 2**31, 2**63, 10**30, -(10**30), 10**400, 1.0, 0.5, -0.5),
    *(1e-320, 1e308, -0.0, math.nan, math.inf, -math.inf, 0.1, 0.95, *WORDS.split(), "", " ", "a\nb", "\x1b[2J"),
    *("x" * 5000, "0" * 64, "0" * 32, "\u2028", "\x7f", "\ud800", b"bytes", datetime.date(2024, 1, 1), {1, 2}),
    *([], [1], [1, 1], [2, 1], ["x", "x"], [None], [[]], [0.1, 0.2], ["S1"], {}, {"a": 1}, {1: 2}, {None: None}),
    *({"x": []}, {"surrogate": "x"}, {"surrogate": "listnet", "options": 5}, {"noise": "x"}),
)
"""What may stand in the place of any value."""


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

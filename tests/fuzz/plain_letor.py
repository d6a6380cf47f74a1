"""LETOR and libsvm text read line by line, as ``pipeline_lib.sources.letor`` describes the format."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .verdict import Refused

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
WHOLE = r"[+-]?[0-9]+"
BLANK = "[ \t]"
MISSING = "NaN|nan|-NaN|-nan|NA|N/A|n/a|NULL|null"
LARGEST = float(np.finfo(np.float32).max)
POLICIES = ("whole", "rounded", "doubled", "shifted", "lowered", "clipped")
LABEL = {"integer": WHOLE} | dict.fromkeys(POLICIES, NUMBER)
QUERY = {"token": rf"{BLANK}+qid:({WHOLE})", "text": rf"{BLANK}+qid:([^ \t\r]+)", "comment": "()", "none": "()"}
LINES = {
    (labels, qid): re.compile(rf"{BLANK}*({label}){query}((?:{BLANK}+[0-9]+:(?:{NUMBER}|{MISSING}))*){BLANK}*".encode())
    for labels, label in LABEL.items()
    for qid, query in QUERY.items()
}
COMMENT = re.compile(rf"[ \t]*({WHOLE})(?:[ \t\r#].*)?".encode(), re.DOTALL)
LONGEST_NAME = 4096
NOT_TEXT = (b"\x1f\x8b", b"PK\x03\x04", b"\xff\xfe", b"\xfe\xff")
PLAIN_WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")
"""Queries that all have such names are numbered by them."""


@dataclass
class Text:
    """What a text contains: labels, names of queries (numbers or text), values by id, and line numbers."""

    y: list[int] = field(default_factory=list)
    queries: list[Any] = field(default_factory=list)
    values: list[dict[int, np.float32]] = field(default_factory=list)


def single(text: str, extreme: str = "refuse") -> np.float32:
    """The float32 nearest to the float64 nearest to a number; infinite beyond float32, if that is to be refused."""
    with np.errstate(over="ignore"):
        value = np.float32(float(text))
    if np.isinf(value) and extreme != "refuse":
        return np.copysign(np.float32(LARGEST), value) if extreme == "clip" else np.float32(np.nan)
    return value


@dataclass
class Ways:
    """What is done about values beyond float32, values that are missing, and features that stand twice in a line."""

    extreme: str = "refuse"
    missing: str = "refuse"
    repeated: str = "refuse"

    def value(self, text: str) -> np.float32 | None:
        """The value of a token, NaN if it is to be filled in; None if it is refused."""
        absent = np.float32(np.nan if self.missing == "mean" else 0)
        if re.fullmatch(MISSING, text):
            return None if self.missing == "refuse" else absent
        found = single(text, self.extreme)
        return None if np.isinf(found) else absent if np.isnan(found) else found


def label_of(text: str, form: str) -> int | None:
    """The label that a number stands for; None if it is none."""
    if form == "integer":
        return int(text) if 0 <= int(text) <= 255 else None
    value = float(text)
    if math.isinf(value):
        return 0 if form == "clipped" and value < 0 else None
    down = math.floor(value)
    label = {
        "whole": down if value == down else None,
        "rounded": down + (value - down >= 0.5) if value >= 0 else None,
        "doubled": 2 * down + (value != down) if value - down in (0, 0.5) else None,
        "shifted": down + 1 if value == down else None,
        "lowered": down - 1 if value == down else None,
        "clipped": max(down, 0) if value == down else None,
    }[form]
    return label if label is not None and 0 <= label <= 255 else None


def read(
    text: bytes,
    where: object,
    labels: str,
    qid: str,
    first_id: int = 1,
    n_features: int | None = None,
    ways: Ways | None = None,
) -> Text:
    """Read a whole text; ``where`` names the file in refusals. A value that is to be filled in is NaN."""
    ways = ways or Ways()
    found = Text()
    if text.startswith(NOT_TEXT):
        raise Refused(f"{where}:1: ")
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        fault = Refused(f"{where}:{number}: ")
        before, hash_sign, comment = line.removesuffix(b"\r").partition(b"#")
        if b"\0" in comment:
            raise fault
        if not before.strip(b" \t"):
            continue
        form = labels
        if labels == "ignored":
            before, form = _with_label(before), "integer"
        match = LINES[form, qid].fullmatch(before)
        if not match:
            raise fault
        label = label_of(match[1].decode(), form)
        if label is None:
            raise fault
        values: dict[int, np.float32] = {}
        for token in match[3].decode().split():
            id_, _, value = token.partition(":")
            last = (n_features or 65_536) - 1 + first_id
            number = ways.value(value)
            twice = int(id_) in values and ways.repeated == "refuse"
            if twice or not first_id <= int(id_) <= last or number is None:
                raise fault
            values[int(id_)] = number
        query: Any = 0
        if qid == "comment":
            word = COMMENT.fullmatch(comment) if hash_sign else None
            if not word:
                raise fault
            query = int(word[1])
        elif qid == "token":
            query = int(match[2])
        elif qid == "text":
            try:
                query = match[2].decode()
            except UnicodeDecodeError:
                raise fault from None
            if len(match[2]) > LONGEST_NAME:
                raise fault
        if isinstance(query, int) and abs(query) >= 2**63:
            raise fault
        if query in found.queries and found.queries[-1] != query:
            raise fault
        found.y.append(label)
        found.queries.append(query)
        found.values.append(values)
    if not found.y:
        raise Refused(f"{where}:")
    return found


def _with_label(line: bytes) -> bytes:
    """The line with the label 0 in place of its own, if it has one: a first word without a colon."""
    first = re.split(rb"[ \t]", line.strip(b" \t"), maxsplit=1)[0]
    own = b"" if b":" in first or b"\r" in first else first
    return b"0 " + line.strip(b" \t").removeprefix(own)


def fill(found: Text, queries: list[Any]) -> None:
    """Put the mean of the query, over all its documents with a value, where one is to be filled in."""
    lacking = [[id_ for id_, value in values.items() if np.isnan(value)] for values in found.values]
    means = {}
    for query, id_ in {(query, id_) for query, ids in zip(queries, lacking, strict=True) for id_ in ids}:
        of_query = [values for values, its in zip(found.values, queries, strict=True) if its == query]
        there = [float(values.get(id_, 0)) for values in of_query if not np.isnan(values.get(id_, 0))]
        means[query, id_] = np.float32(sum(there) / len(there)) if there else np.float32(0)
    for values, query, ids in zip(found.values, queries, lacking, strict=True):
        values |= {id_: means[query, id_] for id_ in ids}


def features(found: Text, where: object, first_id: int, n_features: int | None) -> list[list[int]]:
    """The values of all features in the order of their ids, as the bits of float32."""
    largest = max((id_ for values in found.values for id_ in values), default=None)
    if n_features is None and (largest is None or first_id > largest):
        raise Refused(f"{where}:")
    last = largest if n_features is None else n_features - 1 + first_id
    rows = [[values.get(id_, np.float32(0)) for id_ in range(first_id, last + 1)] for values in found.values]
    return [[int(value.view(np.uint32)) for value in row] for row in rows]


def first_id_of(found: Text) -> int:
    """Ids count from 0 where an id 0 occurs."""
    return 0 if any(0 in values for values in found.values) else 1


def group_sizes(text: bytes, where: object) -> list[int]:
    """The numbers of documents in a file of LightGBM or XGBoost."""
    sizes: list[int] = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        for word in line.split():
            if not re.fullmatch(rb"[0-9]{1,18}", word) or int(word) == 0:
                raise Refused(f"{where}:{number}: ")
            sizes.append(int(word))
    if not sizes:
        raise Refused(f"{where}:1: ")
    return sizes


def weights(text: bytes, where: object, queries: list[Any]) -> list[float]:
    """The weight of every document's query, in a file that has one for each document or for each query."""
    found: list[float] = []
    lines: list[int] = []
    for number, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        for word in line.split():
            if not re.fullmatch(NUMBER.encode(), word) or not 0.0 < float(word) < math.inf:
                raise Refused(f"{where}:{number}: ")
            found.append(float(word))
            lines.append(number)
    order = list(dict.fromkeys(queries))
    if len(found) == len(order):
        return [found[order.index(query)] for query in queries]
    if len(found) != len(queries):
        raise Refused(f"{where}: ")
    for row, query in enumerate(queries):
        if found[row] != found[queries.index(query)]:
            raise Refused(f"{where}:{lines[row]}: ")
    return found


def names_queries(text: bytes) -> bool:
    """Whether the first document of a text names its query, so that group sizes are not needed."""
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        words = line.split(b"#")[0].split()
        if words:
            return any(word.startswith(b"qid:") for word in words[:2])
    return False


def by_groups(sizes: list[int], n: int, where: Path) -> list[int]:
    """The number of every document's query, counted from 0."""
    if sum(sizes) != n:
        raise Refused(f"{where}:")
    return [query for query, size in enumerate(sizes) for _ in range(size)]

"""Targets: LETOR and libsvm text, by every reader of it."""

import random
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_lib.sources import letor, letor_reader

from . import damage, plain_letor
from .verdict import Refused, difference

QUERIES = ("1", "2", "10", "-3", "007", "0", "+4", "a", "b", "jaguar", "é", "x:y", "9223372036854775807", "1e5")
WORDS = (
    *("qid:", "qid:1", "qid:2", "qid:a", "qid:1:1", "QID:1", "1:", ":1", "1:1", "2:0.5", "0:1", "3:-1e-3", "65536:1"),
    *(
        "2:nan",
        "3:-1e39",
        "1:NULL",
        "65537:1",
        "00001:2",
        "7:1",
        "99999999999999999999:1",
        "-1:1",
        "+1:1",
        "1.0:1",
        "#",
        "# 5",
        "qid:\0",
        "_",
    ),
)


def made(rng: random.Random, qid: str, first_id: int) -> bytes:
    """A valid text, unless a number goes beyond its range."""
    lines = []
    query, numeric = "", rng.random() < 0.7 or qid in ("token", "comment")
    for name in rng.sample([q for q in QUERIES if not numeric or q.lstrip("+-").isdecimal()], rng.randrange(1, 4)):
        for _ in range(rng.randrange(1, 4)):
            ids = rng.sample(range(first_id, 6), rng.randrange(4))
            if rng.random() < 0.8:
                ids.sort()
            if ids and rng.random() < 0.1:
                ids.append(rng.choice(ids))
            label = rng.choice(("0", "1", "2", "2", "1", "255" if rng.random() < 0.2 else "3"))
            values = " ".join(f"{id_}:{damage.number(rng)}" for id_ in ids)
            query = f" qid:{name}" if qid in ("token", "text") else ""
            comment = f" # {name}" if qid == "comment" else rng.choice(("", "", "", " # a note", "#"))
            lines.append(f"{label}{query} {values}{comment}")
    return "\n".join(lines).encode() + b"\n"


def ways(rng: random.Random) -> plain_letor.Ways:
    """What is done about values that may be refused."""
    extreme, missing = rng.choice(("refuse", "clip", "missing")), rng.choice(("refuse", "zero", "mean"))
    return plain_letor.Ways(extreme, missing, rng.choice(("refuse", "last")))


def small_blocks(rng: random.Random) -> None:
    """Read pieces and blocks of a few bytes and rows, so that a small text takes many."""
    letor_reader.PIECE = rng.choice((48, 100, 1000, 1 << 14))
    size = rng.choice((1, 2, 3, 100))
    letor_reader.rows_per_group = lambda n_features: size  # type: ignore[assignment]


def bits(X: Any) -> list[list[int]]:
    return np.ascontiguousarray(X, np.float32).view(np.uint32).tolist()


def strict(rng: random.Random, folder: Path) -> tuple[bytes, bool, str | None]:
    """``letor.read``: numbered queries in a token or a comment, and a number of features, stated or not."""
    labels, qid = rng.choice(("integer", "integer", "rounded")), rng.choice(("token", "token", "token", "comment"))
    n_features = rng.choice((5, 5, 5, 12, None))
    text = damage.damaged(made(rng, qid, 1), rng, WORDS)
    how = ways(rng)
    content, whole = damage.packed(text, rng)
    path = folder / "strict.txt"
    path.write_bytes(content)
    small_blocks(rng)

    def plain() -> Any:
        if not whole:
            raise Refused(f"{path}:")
        found = plain_letor.read(text, path, labels, qid, 1, n_features, how)
        plain_letor.fill(found, found.queries)
        return plain_letor.features(found, path, 1, n_features), found.y, found.queries

    def project() -> Any:
        data = letor.read(
            path, n_features=n_features, labels=labels, qid=qid, extreme=how.extreme, missing=how.missing,
            repeated_features=how.repeated,
        )  # type: ignore[arg-type]  # fmt: skip
        return bits(data.X), data.y.tolist(), np.repeat(data.qids, data.documents_per_query).tolist()

    return content, *difference(plain, project)


def weights_for(text: bytes, sizes: bytes | None, rng: random.Random) -> bytes:
    """A file of weights that fits a text, mostly."""
    queries = [line.split(b"qid:")[-1].split(b" ")[0] for line in text.split(b"\n") if line.split(b"#")[0].strip()]
    words = (sizes or b"").split()
    if sizes is not None and all(word.isdigit() and len(word) < 4 for word in words):
        queries = [b"%d" % query for query, size in enumerate(words) for _ in range(int(size))]
    of_queries = {query: rng.choice(("1", "2.5", "1e-3", ".5", "300")) for query in dict.fromkeys(queries)}
    rows = queries if rng.random() < 0.5 else list(of_queries)
    weights = rng.choice(("\n", "\n\n", "\r\n")).join(of_queries[query] for query in rows).encode() + b"\n"
    if rng.random() < 0.3:
        return damage.damaged(weights, rng, ("0", "-1", "1", "nan", "inf", "1e999", "1e-999", "+2"))
    return weights


def sizes_for(text: bytes, rng: random.Random) -> bytes:
    """A file of group sizes that fits a text, mostly."""
    n = sum(1 for line in text.split(b"\n") if line.split(b"#")[0].strip())
    first = rng.randrange(1, n) if n > 1 else n
    sizes = rng.choice(("\n", " ", "\r\n")).join(map(str, [first] + [n - first] * (n > first))).encode() + b"\n"
    if rng.random() < 0.3:
        return damage.damaged(sizes, rng, ("0", "00", "1", "+1", "1.0", "10000000000000000000"))
    return sizes

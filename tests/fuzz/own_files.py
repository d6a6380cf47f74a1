"""Targets: the files of a data set of one's own, one or two, as text or as tables, as the workflow reads them."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_lib.sources import readers, tables

from . import damage, letor_text, plain_letor, plain_table
from .letor_text import bits, sizes_for, small_blocks
from .verdict import Refused, difference

NAMES = ("docid", "a", "b", "bm25", "x 1", "é", "X", "-", "1", '"q"', "a,b")
WORDS = ("label", "qid", "y", "query", "a", "b", '"a"', '"1"', '"', '""', '"a,b"', '"a\nb"', ",", ",,", "\t", "#", "ID")


def stored(paths: list[Path], options: tables.Options) -> Any:
    """What the project reads: the layout, and of every file the queries, labels and features of all documents."""
    known = readers.layout(paths, options)
    files = []
    for path in paths:
        queries: list[Any] = []
        y: list[int] = []
        X: list[list[int]] = []
        weights: list[float] = []
        for block in readers.blocks(path, options, known):
            named = known.textual and not block.grouped
            assert not named or block.names is not None
            queries += [block.names[q] if named else q for q in block.qid.tolist()]  # type: ignore[index]
            y += block.label.tolist()
            X += bits(block.X)
            weights += [] if block.weights is None else block.weights.tolist()
        beside = [path.with_name(f"{path.name}{ending}") for ending in (".query", ".weight")]
        content = b"".join(one.read_bytes() for one in (path, *beside) if one.exists())
        assert readers.digest(path) == hashlib.sha256(content).hexdigest()
        files.append((queries, y, X, weights))
    return known.n_features, known.feature_names, known.textual, files


def gathered(plain: list[Callable[[], Any]]) -> list[Any]:
    """What plain readers make of all files; a refusal holds the faults of all."""
    found, places = [], []
    for read in plain:
        try:
            found.append(read())
        except Refused as refusal:
            places += refusal.places
    if places:
        raise Refused(*places)
    return found


def _place(
    folder: Path, index: int, ending: str, content: bytes, sizes: bytes | None = None, weights: bytes | None = None
) -> Path:
    path = folder / f"own{index}{ending}"
    path.write_bytes(content)
    for of_rows, what in ((".query", sizes), (".weight", weights)):
        beside = path.with_name(f"{path.name}{of_rows}")
        beside.unlink(missing_ok=True)
        if what is not None:
            beside.write_bytes(what)
    return path


def text(rng: random.Random, folder: Path) -> tuple[bytes, bool, str | None]:
    """LETOR and libsvm text."""
    labels, first_id, ways = rng.choice((*plain_letor.POLICIES, "ignored")), rng.choice((0, 1)), letor_text.ways(rng)
    contents, paths, plain = [], [], []
    weighted = rng.random() < 0.3
    for index in range(rng.choice((1, 1, 2))):
        grouped = rng.random() < 0.3
        made = letor_text.made(rng, "none" if grouped else "text", first_id)
        if labels == "ignored":
            made = b"\n".join(line.partition(b" ")[2] if rng.random() < 0.5 else line for line in made.split(b"\n"))
        content = damage.damaged(made, rng, letor_text.WORDS)
        sizes = sizes_for(content, rng) if grouped else None
        weights = letor_text.weights_for(content, sizes, rng) if weighted != (rng.random() < 0.05) else None
        packed, whole = damage.packed(content, rng)
        paths.append(_place(folder, index, ".txt", packed, sizes, weights))
        contents.append(packed)
        plain.append(
            _plain_text(content, paths[-1], sizes, None if labels == "ignored" else weights, labels, whole, ways)
        )
    small_blocks(rng)

    def expected() -> Any:
        found = gathered(plain)
        for path, (_, _, weights) in zip(paths, found, strict=True):
            if not weights and any(weights for *_, weights in found):
                raise Refused(f"{path}: ")
        first = min(plain_letor.first_id_of(one) for one, *_ in found)
        n = max(id_ for one, *_ in found for values in one.values for id_ in values) + 1 - first
        names = any(plain_table.textual(one.queries) for one, groups, _ in found if groups is None)
        files = []
        for one, groups, weights in found:
            queries = groups if groups is not None else one.queries if names else [int(q) for q in one.queries]
            plain_letor.fill(one, queries)
            files.append((queries, one.y, plain_letor.features(one, "", first, n), weights))
        return n, None, names, files

    read = {"labelled": False} if labels == "ignored" else {"labels": labels}
    options = tables.Options(
        extreme=ways.extreme, missing=ways.missing, repeated_features=ways.repeated, **read
    )  # type: ignore[arg-type]  # fmt: skip
    return b"\n--- next file ---\n".join(contents), *difference(expected, lambda: stored(paths, options))


def _plain_text(
    content: bytes,
    path: Path,
    sizes: bytes | None,
    weights: bytes | None,
    labels: str,
    whole: bool,
    ways: plain_letor.Ways,
) -> Callable[[], Any]:
    def read() -> Any:
        if not whole:
            raise Refused(f"{path}:", f"{path}.query:")
        by_groups = sizes is not None and not plain_letor.names_queries(content)
        groups = path.with_name(f"{path.name}.query")
        known, found = gathered(
            [
                lambda: plain_letor.group_sizes(sizes, groups) if by_groups else None,  # type: ignore[arg-type]
                lambda: plain_letor.read(content, path, labels, "none" if by_groups else "text", 0, ways=ways),
            ]
        )
        plain_letor.features(found, path, 1 if plain_letor.first_id_of(found) else 0, None)
        queries = None if known is None else plain_letor.by_groups(known, len(found.y), groups)
        of_rows: list[float] = []
        if weights is not None:
            place = path.with_name(f"{path.name}.weight")
            of_rows = plain_letor.weights(weights, place, found.queries if queries is None else queries)
        return found, queries, of_rows

    return read


def table(rng: random.Random, folder: Path) -> tuple[bytes, bool, str | None]:
    """CSV and TSV."""
    separator, ending = rng.choice(((",", ".csv"), (",", ".csv"), ("\t", ".tsv")))
    missing = rng.choice(("refuse", "zero", "mean", "flag"))
    extreme = rng.choice(("refuse", "clip", *(["missing"] if missing != "refuse" else [])))
    options = tables.Options(
        labels=rng.choice(plain_letor.POLICIES), missing=missing, extreme=extreme
    )  # type: ignore[arg-type]  # fmt: skip
    label, query = (
        rng.choice(("label", "Label", "y", "rel", "clicked")),
        rng.choice(("qid", "QUERY", "topic", "session")),
    )
    if label == "clicked" or rng.random() < 0.1:
        options = replace(options, label=label)
    if query == "session" or rng.random() < 0.1:
        options = replace(options, query=query)
    features = rng.sample(NAMES, rng.randrange(1, 4))
    url = rng.random() < 0.3
    if url:
        options = replace(options, ignore=("url",))
    if rng.random() < 0.3:
        options = replace(options, one_hot=("brand",))
    columns = [query, label, *features, *(["url"] if url else []), *options.one_hot]
    contents, paths, plain = [], [], []
    of_names: list[list[str]] = []
    for index in range(rng.choice((1, 1, 1, 2))):
        rng.shuffle(columns)
        content = damage.damaged(_made_table(rng, separator, columns, label, query), rng, WORDS)
        packed, whole = damage.packed(content, rng)
        paths.append(_place(folder, index, ending, packed))
        contents.append(packed)
        plain.append(_plain_table(content, separator, paths[-1], options, whole, of_names))
    small = rng.choice((1, 2, 3, 100))
    tables.rows_per_group = lambda n_features: small  # type: ignore[assignment]

    def expected() -> Any:
        refusal, found = Refused(), []
        try:
            found = gathered(plain)
        except Refused as error:
            refusal = error
        if len(of_names) == 2 and set(of_names[0]) != set(of_names[1]):
            raise Refused(f"{paths[1]}:", *refusal.places)
        if not found and of_names and not of_names[0]:
            # Only columns of categories: where they have no values, there are no features, which is known first.
            raise Refused(f"{paths[0]}:", *refusal.places)
        if not found:
            raise refusal
        names = of_names[0]
        more = plain_table.encoded(found, options.one_hot)
        if not [*names, *more]:
            raise Refused(f"{paths[0]}:")
        lacking = [name for name in names if any(np.isnan(values[name]) for one in found for values in one.values)]
        for one in found:
            plain_table.filled(one, missing)
        names = [*names, *more, *(f"{name} missing" for name in lacking if missing == "flag")]
        named = any(plain_table.textual(one.queries) for one in found)
        files = []
        for one in found:
            queries = one.queries if named else [int(q) for q in one.queries]
            X = [[int(values[name].view("uint32")) for name in names] for values in one.values]
            files.append((queries, one.y, X, []))
        return len(names), tuple(names), named, files

    return b"\n--- next file ---\n".join(contents), *difference(expected, lambda: stored(paths, options))


def _made_table(rng: random.Random, separator: str, columns: list[str], label: str, query: str) -> bytes:
    numeric = rng.random() < 0.6
    names = ("1", "2", "10", "-3", "0") if numeric else ("a", "NA", "1", "x y", "é", "01", 'a"b', "a,b")
    lines = [separator.join(_cell(name, rng, separator) for name in columns)]
    for name in rng.sample(names, rng.randrange(1, 4)):
        for _ in range(rng.randrange(1, 4)):
            row = {
                query: name,
                label: rng.choice(("0", "1", "2", "2.0", "3")),
                "url": rng.choice(("", "u", "u,v", "ü")),
                "brand": rng.choice(("", "a", "b", "NA", "a,b", "ü", "1.0", " a")),
            }
            cells = [row[column] if column in row else damage.number(rng) for column in columns]
            lines.append(separator.join(_cell(cell, rng, separator) for cell in cells))
    return ("\n".join(lines) + "\n").encode()


def _cell(text: str, rng: random.Random, separator: str) -> str:
    if separator in text or '"' in text or "\n" in text or rng.random() < 0.05:
        return '"' + text.replace('"', '""') + '"'
    return text


def _plain_table(
    content: bytes, separator: str, path: Path, options: tables.Options, whole: bool, of_names: list[list[str]]
) -> Callable[[], Any]:
    def read() -> Any:
        if not whole:
            raise Refused(f"{path}:")
        return plain_table.read(
            content, separator, path, label=options.label, query=options.query, ignore=options.ignore,
            one_hot=options.one_hot, labels=options.labels, missing=options.missing != "refuse",
            extreme=options.extreme, of_names=of_names,
        )  # fmt: skip

    return read

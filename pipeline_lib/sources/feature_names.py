"""What are the features of LETOR text called, as a file next to it says: ``NAME.features.json`` or ``.features.tsv``?

The JSON is a list of the names in the order of the ids, or an object of ids and names, ``{"1": "bm25", "2": "age"}``. A
line of the TSV is an id, a tab and a name.
"""

import json
from pathlib import Path
from typing import Any

from pipeline_lib.core.errors import DataError
from pipeline_lib.sources.own_settings import names_file

__all__: list[str] = []  # internal: what comes here was checked before (see pipeline_lib.core.checks)

_FORMS = 'expected a list of names, or ids and names as in {"1": "bm25"}'


def beside(path: Path, first_id: int, n_features: int) -> tuple[int, tuple[str, ...]] | None:
    """The id of the first feature, and the names of all; None where no file says them.

    ``first_id`` and ``n_features`` are those of the text at ``path``, which need not mention every feature.

    Raises
    ------
    DataError
        When the file has another form, or a feature no name of its own.
    """
    place = names_file(path)
    if place is None:
        return None
    given = _read(place)
    pairs = given if isinstance(given, tuple) else [(str(id_), name) for id_, name in enumerate(given, start=first_id)]
    named: dict[int, str] = {}
    for word, name in pairs:
        if not (word.isascii() and word.isdecimal()) or int(word) in named:
            raise DataError(
                f"{place}: expected every id of a feature once, a whole number of at least 0, found {word!r}"
            )
        if not isinstance(name, str) or not name.strip():
            raise DataError(f"{place}: expected a name for the feature {word}, found {name!r}")
        named[int(word)] = name.strip()
    first = 0 if 0 in named else first_id
    ids = range(first, max([first_id + n_features - 1, *named]) + 1)
    for id_ in ids:
        if id_ not in named:
            raise DataError(f"{place}: expected a name for every feature of {path.name}, found none for {id_}")
    names = tuple(named[id_] for id_ in ids)
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{place}: expected different names, found {name!r} twice")
    return first, names


def _read(place: Path) -> Any:
    """A list of names, or the pairs of every id, as it is written, and its name."""
    try:
        text = place.read_text(encoding="utf-8-sig")
        if place.suffix == ".tsv":
            rows = [line.split("\t") for line in text.splitlines() if line.strip()]
            if any(len(row) != 2 for row in rows):
                raise DataError(f"{place}: expected an id, a tab and a name in every line")
            return tuple(rows)
        found = json.loads(text, object_pairs_hook=tuple)
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{place}: {_FORMS} in UTF-8, found something else ({error})") from error
    if not isinstance(found, list | tuple):
        raise DataError(f"{place}: {_FORMS}, found {type(found).__name__}")
    return found

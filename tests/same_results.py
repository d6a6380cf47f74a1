"""Do two results folders hold the same numbers? ``python tests/same_results.py results/A results/B``

A change that is not meant to change numbers is proved with this: every table under ``tables/`` and ``evaluation/`` must
have the same columns, types, rows and values bit for bit, and every claim in ``reports/A/claims.json`` the same trials
and status. Checksums and other metadata in the files are not compared, nor are times, logs and parts of tables
(``slices/``).

With ``--renamed OLD=NEW``, which may be repeated, columns and texts of the first folder that are exactly OLD count as
NEW: a change of names is proved to be nothing more.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl


def differences(first: Path, second: Path, renamed: Mapping[str, str]) -> Iterator[str]:
    """Sentences about everything that differs, tables first; ``renamed`` maps names of the first to the second's."""
    names = sorted(
        {
            path.relative_to(folder).as_posix()
            for folder in (first, second)
            for top in ("tables", "evaluation")
            for path in (folder / top).rglob("*.parquet")
        }
    )
    if not names:
        yield f"expected tables below {first} and {second}, found none"
    for name in names:
        missing = [str(folder) for folder in (first, second) if not (folder / name).is_file()]
        if missing:
            yield f"{name}: missing in {', '.join(missing)}"
            continue
        earlier = _renamed_table(pl.read_parquet(first / name), renamed)
        yield from _of_tables(name, earlier, pl.read_parquet(second / name))
    yield from _of_claims(*(_claims_file(folder) for folder in (first, second)), renamed)


def _of_tables(name: str, one: pl.DataFrame, other: pl.DataFrame) -> Iterator[str]:
    if one.schema != other.schema:
        yield f"{name}: columns {dict(one.schema)} and {dict(other.schema)}"
    elif one.height != other.height:
        yield f"{name}: {one.height} and {other.height} rows"
    else:
        for column in one.columns:
            if not _bits(one[column]).equals(_bits(other[column]), null_equal=True):
                yield f"{name}: values of {column} differ"


def _bits(values: pl.Series) -> pl.Series:
    """The values so that equality is that of every bit: 0.0 is not -0.0."""
    return values.reinterpret(signed=True) if values.dtype == pl.Float64 else values


def _renamed_table(table: pl.DataFrame, renamed: Mapping[str, str]) -> pl.DataFrame:
    if not renamed:
        return table
    table = table.rename({old: new for old, new in renamed.items() if old in table.columns})
    return table.with_columns(pl.col(pl.String).replace(dict(renamed)))


def _renamed(content: object, renamed: Mapping[str, str]) -> object:
    if isinstance(content, str):
        return renamed.get(content, content)
    if isinstance(content, Mapping):
        return {_renamed(key, renamed): _renamed(value, renamed) for key, value in content.items()}
    return [_renamed(one, renamed) for one in content] if isinstance(content, list) else content


def _claims_file(results: Path) -> Path:
    results = results.resolve()
    return results.parents[1] / "reports" / results.name / "claims.json"


def _of_claims(one: Path, other: Path, renamed: Mapping[str, str]) -> Iterator[str]:
    missing = [str(path) for path in (one, other) if not path.is_file()]
    if missing:
        yield f"expected the judged claims of both studies, found no {' and no '.join(missing)}"
        return
    first, second = _judged(one), _judged(other)
    for name in sorted({*first, *second}):
        if _renamed(first.get(name), renamed) != second.get(name):
            yield f"claim {name}: status or trials differ"


def _judged(path: Path) -> dict[str, object]:
    claims = json.loads(path.read_text(encoding="utf-8"))["claims"]
    return {claim["id"]: [claim[key] for key in ("status", "explanation", "trials")] for claim in claims}


def main() -> int:
    """Print what differs; status 1 if anything does."""
    parser = argparse.ArgumentParser(description="Compare the numbers of two results folders bit for bit.")
    parser.add_argument("folders", nargs=2, type=Path, metavar="FOLDER")
    parser.add_argument(
        "--renamed",
        action="append",
        type=lambda words: words.split("=", 1),
        default=[],
        metavar="OLD=NEW",
        help="count columns and texts that are exactly OLD in the first folder as NEW",
    )
    arguments = parser.parse_args()
    found = list(differences(*arguments.folders, dict(arguments.renamed)))
    print("\n".join(found) if found else "the same numbers")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())

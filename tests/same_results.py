"""Do two results folders hold the same numbers? ``python tests/same_results.py results/A results/B``

A change that is not meant to change numbers is proved with this: every table under ``tables/`` and ``evaluation/`` must
have the same columns, types, rows and values bit for bit, and every claim in ``reports/A/claims.json`` the same trials
and status. Checksums and other metadata in the files are not compared, nor are times, logs and parts of tables
(``slices/``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl


def differences(first: Path, second: Path) -> Iterator[str]:
    """Sentences about everything that differs, tables first."""
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
        yield from _of_tables(name, pl.read_parquet(first / name), pl.read_parquet(second / name))
    yield from _of_claims(*(_claims_file(folder) for folder in (first, second)))


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


def _claims_file(results: Path) -> Path:
    results = results.resolve()
    return results.parents[1] / "reports" / results.name / "claims.json"


def _of_claims(one: Path, other: Path) -> Iterator[str]:
    missing = [str(path) for path in (one, other) if not path.is_file()]
    if missing:
        yield f"expected the judged claims of both studies, found no {' and no '.join(missing)}"
        return
    first, second = _judged(one), _judged(other)
    for name in sorted({*first, *second}):
        if first.get(name) != second.get(name):
            yield f"claim {name}: status or trials differ"


def _judged(path: Path) -> dict[str, object]:
    claims = json.loads(path.read_text(encoding="utf-8"))["claims"]
    return {claim["id"]: [claim[key] for key in ("status", "explanation", "trials")] for claim in claims}


def main(arguments: list[str]) -> int:
    """Print what differs; status 1 if anything does."""
    if len(arguments) != 2:
        print("usage: python tests/same_results.py FOLDER FOLDER", file=sys.stderr)
        return 2
    found = list(differences(*map(Path, arguments)))
    print("\n".join(found) if found else "the same numbers")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

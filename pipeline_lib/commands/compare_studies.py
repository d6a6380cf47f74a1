"""Compare two studies, or one with its record: which statuses of claims, which settings and which numbers differ.

A study is given by its name, or by its results folder `results/NAME`, next to which `reports/NAME/claims.json` is
expected. The exit status is 1 if a status, the evidence for a claim, or a number differs beyond the tolerance.

Without a second study, the first is compared with workflow/recorded/NAME.json, which says what came out when its
authors ran it, and with NAME-evidence.yaml beside it, which says what claims were tested on. The record has the bytes
of tables only as digests, so that there is no tolerance.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pipeline_lib.claims import judged
from pipeline_lib.report.comparison import Change, Comparison, TableChange, claims_of, compare
from pipeline_lib.study import evidence, recorded


def run(
    first: Annotated[str, "name or results folder of the first study"],
    second: Annotated[
        str | None, "name or results folder of the second study; by default the record of the first"
    ] = None,
    *,
    tolerance: Annotated[
        float, "difference that two numbers may have, relative to the larger; 0 for equal bits"
    ] = 1e-9,
) -> None:
    """Print what differs; DataError if one of the studies has no results, or the first no record."""
    if second is None:
        record, here = recorded.read(first), recorded.made(first)
        different = list(recorded.differences(record, here))
        if record.configuration == here.configuration:
            different += evidence.weakened(judged.read(claims_of(Path("results") / first)))
        print("\n".join([*different, recorded.summary(record, here)]))
        if different:
            raise SystemExit(1)
        return
    found = compare(folder(first), folder(second), tolerance)
    print("\n".join(lines(found)))
    if not found.same:
        raise SystemExit(1)


def folder(words: str) -> Path:
    """The results folder of a study that is given by its name or by the folder."""
    return Path(words) if Path(words).is_dir() else Path("results") / words


def lines(found: Comparison) -> Iterator[str]:
    """What differs, statuses first."""
    moved = [change for change in found.claims if change.before != change.after]
    yield f"{len(moved)} of {found.compared_claims} claims have another status"
    yield from map(_change, moved)
    evidence = [change.name for change in found.claims if change.before == change.after]
    if evidence:
        yield f"{len(evidence)} claims have other evidence: {', '.join(evidence)}"
    yield f"{len(found.settings)} settings differ"
    yield from map(_change, found.settings)
    tables = {change.table for change in found.tables}
    yield f"{len(tables)} of {found.compared_tables} tables differ (relative tolerance {found.tolerance:g})"
    yield from (f"  {one.table}: {one.what}{_extent(one)}" for one in found.tables)


def _change(one: Change) -> str:
    return f"  {one.name}: {one.before or 'absent'}, now {one.after or 'absent'}"


def _extent(change: TableChange) -> str:
    """How many rows differ, by how much, and where most."""
    if change.rows is None:
        return ""
    rows = f"; {change.rows:,} of {change.of:,} rows"
    if change.largest is None:
        return rows
    infinite = change.largest == float("inf")
    share = "a number that is missing in one of them" if infinite else f"{change.largest:.2g} of the larger"
    return f"{rows}, by up to {share}, most at {change.where}"

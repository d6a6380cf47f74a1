"""Is every result of this project compared with works that are cited, and no better than they were read?"""

from pathlib import Path
from typing import Any

import pytest

from pipeline_lib.claims import novelty
from pipeline_lib.core.errors import ConfigurationError
from tests import readings

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_written_from_the_results(registers: Any) -> None:
    page = (DOCS / "what-is-new.md").read_text(encoding="utf-8")
    assert registers.with_novelty(page) == page, "run python docs/registers.py"
    changed = page.replace("seems new", "is new")
    assert changed != page
    assert registers.with_novelty(changed).count("is new") < changed.count("is new")


def test_the_claims_works_and_pages_that_are_named_exist() -> None:
    every = novelty.load()
    assert len({one.id for one in every}) == len({one.title for one in every}) == len(every) > 10
    known = {claim.id for claim in readings.ledger_of_claims()}
    assert {name for one in every for name in one.claims} <= known
    assert {name for one in every for name in one.neighbours} <= {*novelty.works()}
    assert all((DOCS / f"{one.page}.md").is_file() for one in every)
    assert all(one.sentence.endswith(".") and one.says.endswith(".") for one in every)


def test_every_work_says_how_much_of_it_was_read() -> None:
    found = novelty.works()
    assert len(found) > 50
    assert not [name for name, read in found.items() if not read]
    assert {novelty.has_theorems(read) for read in found.values()} == {True, False}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"verdict": "seems new", "neighbours": ["Feldman 2016"]}, "theorems of every neighbour.*Feldman 2016"),
        ({"verdict": "seems new", "neighbours": ["Liu 2007", "Holm 1979"]}, "less of Holm 1979"),
        ({"neighbours": ["Nobody 1900"]}, "works of docs/references.md, found Nobody 1900"),
        ({"verdict": "new"}, "verdict"),
        ({"neighbours": []}, "neighbours"),
    ],
)
def test_a_verdict_without_support_is_refused(changed: dict[str, Any], message: str) -> None:
    entry = novelty.load()[0].plain() | changed
    with pytest.raises(ConfigurationError, match=rf"novelty\.yaml.*{message}"):
        novelty.Result.parse(entry, "novelty.yaml")


def test_what_was_only_seen_in_part_supports_a_weaker_verdict() -> None:
    entry = novelty.load()[0].plain() | {"neighbours": ["Feldman 2016"], "verdict": "known in part"}
    assert novelty.Result.parse(entry, "novelty.yaml").verdict == "known in part"

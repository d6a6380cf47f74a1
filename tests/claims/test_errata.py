"""Are the errata complete, do claims cite those on which they depend, and is the page in docs/ written from them?"""

import re
from pathlib import Path
from typing import Any

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import errata, ledger
from pipeline_lib.claims.errata import Erratum
from pipeline_lib.core.errors import ConfigurationError, DataError
from pipeline_lib.papers.witnesses import Witness
from tests import readings

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "errata.md").read_text(encoding="utf-8")
EVERY = [one for name in papers.names() for one in papers.witnesses(name)]


def test_the_page_is_written_from_the_errata_and_the_witnesses(registers: Any) -> None:
    assert registers.with_errata(PAGE, EVERY) == PAGE, "run python docs/registers.py"
    changed = PAGE.replace("1 ≤ 0", "2 ≤ 0").replace("| wrong |", "| loose |")
    assert changed != PAGE
    assert registers.with_errata(changed, EVERY) == PAGE


def test_the_page_needs_its_table_and_an_erratum_for_every_letter(registers: Any) -> None:
    with pytest.raises(DataError, match="expected the line"):
        registers.with_errata("# Errata\n", EVERY)
    unknown = Witness("made", "section 1", "1 is 0.", EVERY[0].compute, errata="ZZ")
    with pytest.raises(DataError, match="found none for ZZ"):
        registers.with_errata(PAGE, [unknown])


def test_names_are_unique_and_say_the_paper() -> None:
    every = errata.load()
    assert len({one.id for one in every}) == len({one.letter for one in every}) == len(every) > 50
    assert all(one.id.partition("-")[0] == next(iter(one.where), "data") for one in every)


def test_the_claims_that_are_named_exist() -> None:
    known = {claim.id for claim in readings.ledger_of_claims()}
    named = {name for one in (*errata.load(), *EVERY) for name in one.claims}
    assert len(named) > 50
    assert named <= known


def test_nothing_is_refuted_for_a_misprint_or_a_loose_bound_or_in_one_reading() -> None:
    """A claim that is expected to be refuted has a control, which must pass."""
    refuted = [one for one in readings.ledger_of_claims() if any(planted.holds for planted in one.planted)]
    assert len(refuted) > 20
    assert {errata.kinds().get(one.id) for one in refuted} == {"wrong", "gap"}
    assert not [one.id for one in readings.ledger_of_claims() if "reading that" in one.says]


@pytest.mark.parametrize("paper", papers.names())
def test_notes_of_claims_name_the_letter(paper: str) -> None:
    text = {
        claim.id: " ".join([*(reading.notes for reading in claim.readings), claim.rule_in_words()])
        for claim in ledger.load([papers.get(paper)])
        if claim.readings  # one that rests on its certificate has no notes
    }
    unnamed = [
        (one.letter, name)
        for one in errata.load()
        for name in one.claims
        if name in text and not re.search(rf"[Ee]rrat(?:a|um)[^.]*\b{one.letter}\b", text[name])
    ]
    assert not unnamed


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"holds": ""}, "holds: expected text"), ({"kind": "false"}, "kind: expected"), ({"leter": "A"}, "did you mean")],
)
def test_a_wrong_erratum_is_refused(changed: dict[str, str], message: str) -> None:
    entry = errata.load()[0].plain() | changed
    with pytest.raises(ConfigurationError, match=rf"errata\.yaml.*{message}"):
        Erratum.parse(entry, "errata.yaml")

"""Are the errata complete, and do claims cite those on which they depend?"""

import re

import pytest

from pipeline_lib import papers
from pipeline_lib.claims import errata, ledger
from pipeline_lib.claims.errata import Erratum
from pipeline_lib.core.errors import ConfigurationError
from tests import readings

EVERY = [one for name in papers.names() for one in papers.witnesses(name)]


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

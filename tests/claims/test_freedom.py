"""Do the claims state the degrees of freedom of every interval that has some?"""

from pipeline_lib.claims import ledger

OTHERS = {
    "cone-published": "what rounding leaves",
    "cone-table1": "shown beside what is judged; the number of folds is not in the table",
    "lists-cells": "normal: the error of a held-out sample",
    "lists-sparse": "normal: the error of a held-out sample",
    "lists-uniform": "order statistics",
    "promises-alarms": "Clopper and Pearson",
    "promises-certify": "Clopper and Pearson",
    "promises-family-wise": "Clopper and Pearson",
    "promises-plan": "Clopper and Pearson",
    "slam-practice": "bootstrap of queries",
    "slam-short-lists": "bootstrap of queries",
    "twolayer-best-splits": "bootstrap of repetitions",
    "twolayer-gaps": "normal: the error of a held-out sample",
    "twolayer-rates": "order statistics",
}
"""Tables with intervals that are not Student's, and what those are."""


def test_intervals_by_students_distribution_state_their_freedom() -> None:
    silent = {
        (claim.id, reading.table)
        for claim in ledger.load()
        for reading in claim.readings
        for measured in (*reading.values.values(), *filter(None, [reading.value]))
        if len(measured.value) > 1 and not (measured.freedom or reading.freedom)
    }
    assert sorted(one for one in silent if one[1] not in OTHERS) == []
    assert {table for _, table in silent} == OTHERS.keys()

"""Are the papers' studies run at shares of their sizes, and are exponents computed from what they took?"""

from itertools import product

import pytest

from benchmarks import growth
from pipeline_lib.sources import catalog
from pipeline_lib.study import configuration
from tests.readings import papers_in_order


@pytest.mark.parametrize(("paper", "share"), [*product(papers_in_order(), (*growth.SHARES, growth.WHOLE))])
def test_a_share_of_a_study_is_a_study_with_smaller_experiments(paper: str, share: str) -> None:
    folds = {name: entry.n_folds for name, entry in catalog.load().items()}
    found = configuration.check(growth.study(paper, share), folds)
    whole = growth.study(paper, growth.WHOLE)["experiments"]
    assert (growth.study(paper, share)["experiments"] == whole) is (share == growth.WHOLE)
    assert found.papers == (paper,)


def test_the_section_has_exponents_and_ten_times_the_size() -> None:
    took = {"1/10": (10.0, 100.0), "1/3": (100.0, 100.0), "1": (900.0, 200.0)}
    rows = [growth.Measured("slam", share, *of) for share, of in took.items()]
    line = next(line for line in growth.section(rows).splitlines() if line.startswith("| `slam`"))
    # From a third to the whole: three times the size takes nine times as long and twice the memory.
    assert [cell.strip() for cell in line.split("|")[2:-1]] == [
        *("10", "100", "900", "1.95", "100", "100", "200", "0.30"),
        *("25.0", "0.9"),
    ]
    assert "slam" not in growth.section([])

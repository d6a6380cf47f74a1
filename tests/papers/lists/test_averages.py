"""Are averages and covering numbers bounded as stated, and closed forms compared with the right integrals?"""

import math
from collections import defaultdict

import numpy as np
import pytest

from pipeline_lib.experiment import Job
from pipeline_lib.papers.lists.averages import experiment as averages
from pipeline_lib.papers.lists.averages.experiment import AveragesSettings, ClosedForm, Packing
from tests import readings
from tests.papers.jobs import of, tables
from tests.papers.lists.plainly import closed_form
from tests.small_settings import small


def test_packings_and_cut_integrals_stay_below_their_bounds() -> None:
    asked = small("lists", "averages")
    rows = list(averages.measure(Job(asked, 1)))
    coverings, closed_forms = of(Packing, rows), of(ClosedForm, rows)
    assert all(row.log2_packing_found <= row.log2_covering_bound for row in coverings)
    assert len(closed_forms) == 6
    named = defaultdict(list, tables(rows))
    packed = readings.trials("lists-prop7", named, asked.plain())
    of_l2 = [row for row in coverings if row.class_ == "l2"]
    assert [trial.values["log2_packing"] for trial in packed] == [row.log2_packing_found for row in of_l2]
    assert all(row.cut_integral <= row.integral * (1 + 1e-9) for row in closed_forms)
    assert all(row.cut_integral <= row.closed_form for row in closed_forms)
    ratios = [row.closed_form / row.integral for row in closed_forms if row.corollary != 11]
    read = readings.values("lists-cor8-proof", "closed_form_over_integral", named)
    assert sorted(read) == sorted(ratios)


def test_closed_forms_and_integrals() -> None:
    # Corollaries 8, 11 and 16: Riemann sums of the entropy, up to the scale from which one ranker is a cover.
    settings = AveragesSettings.parse({"integral_queries": [10_000], "integral_documents": [5], "radii": [0.5, 2.5]})
    for row in averages.closed_forms(settings):
        n, m, W, B = row.n, row.m, row.radius, row.loss_bound
        assert pytest.approx(2 + 2 * W) == B
        d = settings.features
        scale, reach, top, cut = {
            8: (2 * W, 0.0, B, 2 * W),
            11: (2 * W * math.sqrt(288 * (2 + math.log(d))), 16 * W, B, 2 * W),
            16: (math.sqrt(24) * W, 0.0, math.sqrt(B), 2 * math.sqrt(24) * W),
        }[row.corollary]
        for end, name in ((top, "integral"), (min(top, cut), "cut_integral")):
            eps = np.linspace(0.0, end, 200_001)[1:] - end / 400_000
            entropy = np.ceil((scale / eps) ** 2) * np.log2(2 * np.maximum(1, np.ceil(reach / eps)) * m * n + 1)
            beyond = np.cumsum((10 * np.sqrt(entropy / n) * (end / 200_000))[::-1])[::-1]
            least = min(4 * end, float((4 * eps + beyond).min()))
            assert getattr(row, name) == pytest.approx(least, rel=2e-3)
        if row.corollary == 8:
            assert row.closed_form == pytest.approx(closed_form(n, m, 2 * W, B))

"""Does letor4 follow the LETOR 4.0 evaluation on MQ2008, with its short lists and its queries without relevance?"""

import numpy as np
import pytest

from pipeline_lib import metrics
from tests.metrics.test_metrics import plain_letor4


@pytest.mark.parametrize("feature", [22, 24, 39, 45])
def test_letor4_on_fold_1(mq2008, feature):
    data = mq2008("Fold1/test")
    assert np.mean(data.documents_per_query < 10) > 0.3
    assert np.mean(np.maximum.reduceat(data.y, data.offsets[:-1]) == 0) > 0.1
    # Single features are full of ties, which both sides must break by the order of the file.
    scores = data.X64[:, feature]
    assert len(np.unique(scores)) < len(scores)
    ends = data.offsets[1:-1]
    queries = zip(np.split(scores, ends), np.split(data.y.astype(int), ends), strict=True)
    tables = [plain_letor4(s.tolist(), y.tolist()) for s, y in queries]
    expected = {name: np.mean([table[name] for table in tables]) for name in tables[0]}
    assert metrics.letor4(scores, data.y, data.offsets) == pytest.approx(expected, rel=1e-12)

"""Does RankSVM give on MQ2008 what was published for it?

The values are those of RankSVM-struct on fold 1 in the LETOR 4.0 results: MAP .4502, MeanNDCG .4577, with C = 10 in
1/2 ||w||^2 + (C/n) sum over queries of the sum of pair hinges. The data's terms of use keep them out of the repository.
"""

from __future__ import annotations

import itertools
import math
import zipfile

import numpy as np
import pytest

from pipeline_lib import RankingData
from pipeline_lib.learners import erm
from pipeline_lib.learners.models import LinearModel


def read(archive, parts):
    """LETOR text of some parts, read plainly."""
    X, y, qid = [], [], []
    with zipfile.ZipFile(archive) as files:
        for part in parts:
            for line in files.read(f"MQ2008/{part}.txt").decode("ascii").splitlines():
                label, query, *features = line.split("#")[0].split()
                y.append(int(label))
                qid.append(int(query.removeprefix("qid:")))
                X.append([float(feature.split(":")[1]) for feature in features])
    return RankingData.from_arrays(X, y, qid)


def letor4(scores, data):
    """MAP and MeanNDCG as LETOR 4.0 defines them: discount 1, 1, 1/log2(3), ...; no relevant document counts 0."""
    precisions, gains = [], []
    for a, b in itertools.pairwise(data.offsets):
        ranked = data.y[a:b][np.argsort(-scores[a:b], kind="stable")]
        if not ranked.any():
            precisions.append(0.0)
            gains.append(0.0)
            continue
        relevant = np.flatnonzero(ranked > 0)
        precisions.append(np.mean((np.arange(len(relevant)) + 1) / (relevant + 1)))
        discount = np.array([1.0 / max(1.0, math.log2(rank)) for rank in range(1, len(ranked) + 1)])
        dcg = np.cumsum((2.0**ranked - 1) * discount)
        ideal = np.cumsum((2.0 ** np.sort(ranked)[::-1] - 1) * discount)
        gains.append(np.mean(dcg / ideal))
    return float(np.mean(precisions)), float(np.mean(gains))


def test_fold_one(mirror):
    archive = mirror / "MQ2008.zip"
    if not archive.is_file():
        pytest.skip(f"{archive} is not there")
    train, test = read(archive, ["S1", "S2", "S3"]), read(archive, ["S5"])
    result = erm.fit(train, "ranksvm", l2=0.1)
    assert result.certified
    assert result.relative_gap <= 1e-6
    mean_average_precision, mean_ndcg = letor4(LinearModel.of(result.w).predict(test), test)
    assert mean_average_precision == pytest.approx(0.4502, abs=0.004)
    assert mean_ndcg == pytest.approx(0.4577, abs=0.004)

"""Does letor4 follow the LETOR 4.0 evaluation on MQ2008, with its short lists and its queries without relevance?"""

import math
import zipfile

import numpy as np
import pytest

from pipeline_lib import metrics


@pytest.fixture(scope="module")
def fold1_test(mirror):
    """Labels, qids and features of the test part of fold 1, in the order of the file."""
    archive = mirror / "MQ2008.zip"
    if not archive.exists():
        pytest.skip(f"no real data: {archive} is missing")
    labels, qids, rows = [], [], []
    with zipfile.ZipFile(archive) as zipped:
        for line in zipped.read("MQ2008/Fold1/test.txt").decode().splitlines():
            label, qid, *features = line.partition("#")[0].split()
            labels.append(int(label))
            qids.append(qid)
            rows.append([float(feature.partition(":")[2]) for feature in features])
    return labels, qids, np.array(rows)


def evaluate(scores, labels, qids):
    """The evaluation as LETOR 4.0 describes it, query by query, in plain Python; also how many queries are unusual."""
    per_query = []
    for qid in dict.fromkeys(qids):
        documents = [i for i, name in enumerate(qids) if name == qid]
        ranking = [labels[i] for i in sorted(documents, key=lambda i: -scores[i])]
        ideal = sorted(ranking, reverse=True)
        m, relevant = len(ranking), sum(label > 0 for label in ranking)

        def dcg(list_, k):
            gains = [2**label - 1 for label in list_[:k]]
            return gains[0] + sum(gain / math.log2(rank) for rank, gain in enumerate(gains[1:], 2))

        ndcg = [dcg(ranking, k) / dcg(ideal, k) if relevant else 0.0 for k in range(1, m + 1)]
        values = {f"ndcg@{k}": ndcg[k - 1] if k <= m else 0.0 for k in range(1, 11)}
        values["mean_ndcg"] = sum(ndcg) / m
        values |= {f"p@{k}": sum(label > 0 for label in ranking[:k]) / k for k in range(1, 11)}
        hits = [sum(label > 0 for label in ranking[:rank]) / rank for rank in range(1, m + 1) if ranking[rank - 1] > 0]
        values["map"] = sum(hits) / relevant if relevant else 0.0
        per_query.append(values | {"short": m < 10, "no_relevant": relevant == 0})
    return {name: sum(values[name] for values in per_query) / len(per_query) for name in per_query[0]}


@pytest.mark.parametrize("feature", [22, 24, 39, 45])
def test_letor4_on_fold_1(fold1_test, feature):
    labels, qids, X = fold1_test
    # Single features are full of ties, which both sides must break by the order of the file.
    scores = X[:, feature]
    offsets = np.r_[0, np.flatnonzero(np.array(qids[1:]) != np.array(qids[:-1])) + 1, len(qids)]
    assert len(np.unique(scores)) < len(scores)
    expected = evaluate(scores.tolist(), labels, qids)
    assert expected.pop("short") > 0.3
    assert expected.pop("no_relevant") > 0.1
    assert metrics.letor4(scores, labels, offsets) == pytest.approx(expected, rel=1e-12)

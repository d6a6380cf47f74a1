"""How is each library asked for the NDCG of a vector?

An adapter brings the lists into the types that the documentation of the library asks for, calls what it offers for
NDCG, and returns the number. Settings are the defaults of the library unless the name of the entry says otherwise.
Libraries that take a ranking and no scores are not among them, because they leave the order to their caller.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from tools.conformance.vectors import Query, Vector

DOUBLE, SINGLE, FIVE_DECIMALS = 1e-9, 2e-6, 1.1e-5
"""The largest difference at which two numbers count as equal, for the precision in which a library computes."""

Queries = Sequence[Query]


@dataclass(frozen=True)
class Library:
    """An entry of the table: the package and what of it is called, how it is asked, and how exact it is."""

    name: str
    package: str
    ask: Callable[[Queries, int | None], Any]
    tolerance: float = DOUBLE
    note: str = ""


def matrices(queries: Queries) -> tuple[Any, Any]:
    """Labels and scores with a row for each query; all queries of a vector are of one length."""
    return np.array([query.labels for query in queries]), np.array([query.scores for query in queries])


def flat(queries: Queries) -> tuple[Any, Any, Any]:
    """Labels and scores of all documents, and the query of each."""
    labels, scores = matrices(queries)
    return labels.ravel(), scores.ravel(), np.repeat(np.arange(len(queries)), [len(one.labels) for one in queries])


def dictionaries(queries: Queries) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, float]]]:
    """Judgements and a run by the names of queries and documents; scores are floats, as these libraries require."""
    judged = {str(q): dict(zip(one.names, one.labels, strict=True)) for q, one in enumerate(queries, 1)}
    run = {str(q): dict(zip(one.names, map(float, one.scores), strict=True)) for q, one in enumerate(queries, 1)}
    return judged, run


def depth(queries: Queries, k: int | None) -> int:
    """The cut for libraries that have no whole NDCG."""
    return max(1, *(len(one.labels) for one in queries)) if k is None else k


def stand_in(*modules: str) -> None:
    """Let modules be imported that are not installed, and that a library needs for other things than NDCG."""
    for name in modules:
        sys.modules[name] = mock.MagicMock()


def ours(queries: Queries, k: int | None) -> Any:
    from pipeline_lib import metrics

    labels, scores, _ = flat(queries)
    offsets = np.cumsum([0, *(len(one.labels) for one in queries)])
    return metrics.ndcg(scores, labels, offsets, k).mean()


def scikit_learn(queries: Queries, k: int | None, **options: Any) -> Any:
    from sklearn.metrics import ndcg_score

    labels, scores = matrices(queries)
    return ndcg_score(labels, scores, k=k, **options)


def ranx(queries: Queries, k: int | None, measure: str) -> Any:
    import ranx

    judged, run = dictionaries(queries)
    name = measure if k is None else f"{measure}@{k}"
    return ranx.evaluate(ranx.Qrels(judged), ranx.Run(run), name)


def pytrec_eval(queries: Queries, k: int | None) -> Any:
    import pytrec_eval

    judged, run = dictionaries(queries)
    name = "ndcg" if k is None else f"ndcg_cut.{k}"
    values = pytrec_eval.RelevanceEvaluator(judged, {name}).evaluate(run).values()
    return pytrec_eval.compute_aggregated_measure(name, [one[name.replace(".", "_")] for one in values])


def ir_measures(queries: Queries, k: int | None) -> Any:
    import ir_measures

    judged, run = dictionaries(queries)
    measure = ir_measures.nDCG if k is None else ir_measures.nDCG @ k
    return ir_measures.calc_aggregate([measure], judged, run)[measure]


def gdeval(queries: Queries, k: int | None) -> Any:
    import ir_measures

    judged, run = dictionaries(queries)
    measure = ir_measures.nDCG(dcg="exp-log2") @ depth(queries, k)
    return ir_measures.gdeval.calc_aggregate([measure], judged, run)[measure]


def lightgbm(queries: Queries, k: int | None) -> Any:
    import lightgbm

    labels, scores, _ = flat(queries)
    sizes, column = [len(one.labels) for one in queries], np.arange(len(labels))[:, None]
    data = lightgbm.Dataset(column, label=labels, group=sizes, init_score=scores, params={"verbosity": -1})
    settings = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [depth(queries, k)], "verbosity": -1}
    return lightgbm.Booster(settings, data).eval_train()[0][2]


def xgboost(queries: Queries, k: int | None, suffix: str = "", **options: Any) -> Any:
    import xgboost

    labels, scores, qid = flat(queries)
    data = xgboost.DMatrix(np.zeros((len(labels), 1)), label=labels, base_margin=scores, qid=qid)
    name = f"ndcg@{depth(queries, k)}{suffix}"
    booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": name, "base_score": 0.0, **options}, [data])
    return float(booster.eval(data).rpartition(":")[2])


def catboost(queries: Queries, k: int | None, options: str = "") -> Any:
    from catboost.utils import eval_metric

    labels, scores, qid = flat(queries)
    cut = "" if k is None else f"top={k}"
    name = ":".join(filter(None, ["NDCG", ";".join(filter(None, [cut, options]))]))
    return eval_metric(labels, scores, name, group_id=qid)[0]


def torchmetrics(queries: Queries, k: int | None) -> Any:
    import torch
    from torchmetrics.retrieval import RetrievalNormalizedDCG

    labels, scores, qid = (torch.tensor(values.tolist()) for values in flat(queries))
    return float(RetrievalNormalizedDCG(top_k=k)(scores, labels, indexes=qid))


def rax(queries: Queries, k: int | None) -> Any:
    import jax.numpy as jnp
    import rax

    labels, scores = matrices(queries)
    return float(rax.ndcg_metric(jnp.asarray(scores), jnp.asarray(labels), topn=k))


def tensorflow_ranking(queries: Queries, k: int | None) -> Any:
    os.environ |= {"TF_USE_LEGACY_KERAS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    import tensorflow

    if not hasattr(tensorflow, "estimator"):
        tensorflow.estimator = tensorflow.compat.v1.estimator = mock.MagicMock()
    import tensorflow_ranking

    labels, scores = matrices(queries)
    metric = tensorflow_ranking.keras.metrics.NDCGMetric(topn=k)
    return float(metric(labels.astype(np.float32), scores.astype(np.float32)))


def keras_rs(queries: Queries, k: int | None) -> Any:
    os.environ["KERAS_BACKEND"] = "jax"
    import keras_rs

    metric = keras_rs.metrics.NDCG(k=k)
    metric.update_state(*matrices(queries))
    return float(metric.result())


def allrank(queries: Queries, k: int | None) -> Any:
    stand_in("torchvision", "torchvision.transforms", "gcsfs", "pkg_resources")
    import torch
    from allrank.models.metrics import ndcg

    labels, scores = (torch.tensor(values.tolist(), dtype=torch.float) for values in matrices(queries))
    return float(ndcg(scores, labels, None if k is None else [k]).mean())


def trectools(queries: Queries, k: int | None) -> Any:
    from trectools import TrecEval, TrecQrel, TrecRun

    with tempfile.TemporaryDirectory() as folder:
        judged, run = Path(folder, "judged.txt"), Path(folder, "run.txt")
        rows = [(q, *row) for q, one in enumerate(queries, 1) for row in zip(*_columns(one), strict=True)]
        judged.write_text("".join(f"{q} 0 {name} {label}\n" for q, name, label, _ in rows), encoding="utf-8")
        run.write_text(
            "".join(f"{q} Q0 {name} {i} {score!r} run\n" for i, (q, name, _, score) in enumerate(rows, 1)),
            encoding="utf-8",
        )
        return TrecEval(TrecRun(str(run)), TrecQrel(str(judged))).get_ndcg(**({} if k is None else {"depth": k}))


def _columns(one: Query) -> tuple[Sequence[Any], ...]:
    return one.names, one.labels, one.scores


def rankereval(queries: Queries, k: int | None, **options: Any) -> Any:
    np.__dict__.setdefault("NaN", np.nan)
    from rankereval import NDCG, NumericLabels, Rankings

    labels, scores = matrices(queries)
    return NDCG(k, **options).mean(NumericLabels.from_matrix(labels), Rankings.from_scores(scores))


def ignite(queries: Queries, k: int | None, **options: Any) -> Any:
    import torch
    from ignite.metrics.rec_sys import NDCG

    labels, scores = (torch.tensor(values.tolist()) for values in matrices(queries))
    metric = NDCG(top_k=[depth(queries, k)], **options)
    metric.update((scores, labels))
    return metric.compute()[0]


def pyltr(queries: Queries, k: int | None) -> Any:
    from pyltr.metrics import NDCG

    labels, scores, qid = flat(queries)
    return NDCG(k=depth(queries, k)).calc_mean(qid, labels, scores)


def tie_aware(queries: Queries, k: int | None) -> Any:
    from trm import evaluate

    cut = depth(queries, k)
    relevant = [[label > 0 for label in one.labels] for one in queries]
    found = evaluate([list(one.scores) for one in queries], relevant, metrics=["ndcg"], k_list=[cut])
    return found.metrics["ndcg"][cut].expected


def recommenders(queries: Queries, k: int | None, **options: Any) -> Any:
    import pandas
    from recommenders.evaluation.python_evaluation import ndcg_at_k

    labels, scores, qid = flat(queries)
    names = [name for one in queries for name in one.names]
    run = pandas.DataFrame({"userID": qid, "itemID": names, "prediction": scores})
    judged = pandas.DataFrame({"userID": qid, "itemID": names, "rating": labels})
    return ndcg_at_k(judged[judged["rating"] > 0], run, k=depth(queries, k), **options)


_ENTRIES = (
    Library("pipeline_lib", "pipeline_lib", ours),
    Library("scikit-learn", "scikit-learn", scikit_learn),
    Library("scikit-learn, `ignore_ties`", "scikit-learn", partial(scikit_learn, ignore_ties=True)),
    Library("ranx, `ndcg`", "ranx", partial(ranx, measure="ndcg")),
    Library("ranx, `ndcg_burges`", "ranx", partial(ranx, measure="ndcg_burges")),
    Library("pytrec_eval", "pytrec-eval-terrier", pytrec_eval),
    Library("ir_measures", "ir-measures", ir_measures),
    Library("ir_measures, `gdeval`", "ir-measures", gdeval, FIVE_DECIMALS),
    Library("trectools", "trectools", trectools),
    Library("LightGBM", "lightgbm", lightgbm),
    Library("XGBoost, `ndcg`", "xgboost-cpu", xgboost, SINGLE),
    Library("XGBoost, `ndcg-`", "xgboost-cpu", partial(xgboost, suffix="-"), SINGLE),
    Library("CatBoost", "catboost", catboost),
    Library("CatBoost, `type=Exp`", "catboost", partial(catboost, options="type=Exp")),
    Library(
        "TorchMetrics",
        "torchmetrics",
        torchmetrics,
        SINGLE,
        note="discounts are differences of running sums in single precision, which leaves few digits in long lists.",
    ),
    Library("PyTorch-Ignite", "pytorch-ignite", ignite, SINGLE),
    Library(
        "allRank",
        "allRank",
        allrank,
        SINGLE,
        note="modules that it imports for reading data are replaced by empty ones; long ties come in no fixed order.",
    ),
    Library("Rax", "rax", rax, SINGLE),
    Library(
        "TF-Ranking",
        "tensorflow-ranking",
        tensorflow_ranking,
        SINGLE,
        note="a part of TensorFlow that it imports for other things, and that is gone, is replaced by an empty one.",
    ),
    Library("KerasRS", "keras-rs", keras_rs, SINGLE),
    Library(
        "pyltr",
        "pyltr",
        pyltr,
        note="where the ideal sum is not positive, it divides by the rounding unit of a double.",
    ),
    Library(
        "RankerEval",
        "rankerEval",
        rankereval,
        SINGLE,
        note="it uses the name NaN of NumPy 1, which is given back to NumPy 2.",
    ),
    Library(
        "RankerEval, `power`",
        "rankerEval",
        partial(rankereval, relevance_scaling="power"),
        SINGLE,
        note="a label 0 counts −1 in the ranking and is missing in the ideal one; numbers may be infinite or above 1.",
    ),
    Library("Recommenders", "recommenders", recommenders),
    Library(
        "Recommenders, `exp`",
        "recommenders",
        partial(recommenders, score_type="exp"),
        note="gains are whole numbers of 64 bits, which overflow, and the ideal ranking sorts by labels.",
    ),
    Library("tie-aware-retrieval-metrics", "tie-aware-retrieval-metrics", tie_aware),
)
LIBRARIES: dict[str, Library] = {entry.name: entry for entry in _ENTRIES}


def in_words(error: BaseException) -> str:
    """The kind of an error and the first line of its message, without addresses of this machine."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    first = re.sub(r"(/[\w.+-]+){2,}", "...", first)
    first = re.sub(r"^\[\d\d:\d\d:\d\d\] \S+ ", "", first)
    first = re.sub(r"Command '\[.*?\]'", "command", first)
    name = type(error).__name__
    return name if not first else f"{name}: {first}" if len(first) <= 160 else f"{name}: {first[:157]}..."


def answer(library: Library, vector: Vector, times: int) -> dict[str, Any]:
    """What a library says of a vector: a number, the smallest and largest of several calls, or an error."""
    try:
        values = [float(library.ask(vector.queries, vector.k)) for _ in range(times)]
    except Exception as error:  # whatever a library raises is its answer
        return {"error": in_words(error)}
    if len({repr(value) for value in values}) == 1:
        return {"value": repr(values[0])}
    return {"values": [repr(min(values)), repr(max(values))]}

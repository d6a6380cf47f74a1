"""Is the worst ranker that is found inside its ball, and worse than others?"""

from dataclasses import replace

import numpy as np

from pipeline_lib import surrogates
from pipeline_lib.learners import erm, ogd
from pipeline_lib.papers.lists import held_out
from pipeline_lib.papers.lists.trained import descents, worst_gaps
from tests.samples import unrelated


def test_the_worst_ranker_found_is_worse_than_zero_and_in_the_ball():
    sample, reference, loss = unrelated(40, seed=1), unrelated(400, seed=2), surrogates.create("listnet")
    [w] = worst_gaps(loss, [sample], reference, 2.0, 10)
    assert np.linalg.norm(w) <= 2.0 + 1e-12

    def gap(v):
        return float(held_out.losses(loss, reference, v).mean() - held_out.losses(loss, sample, v).mean())

    minimiser = erm.fit(sample, loss, l2=0.0, radius=2.0).w
    assert gap(w) >= max(gap(np.zeros(3)), gap(minimiser))


def test_the_worst_ranker_of_the_l1_ball_is_a_step_uphill_to_a_corner_and_stays_inside():
    sample, reference, loss = unrelated(40, seed=1), unrelated(400, seed=2), surrogates.create("listnet")
    for steps in (2, 10):
        [w] = worst_gaps(loss, [sample], reference, 2.0, steps, "l1")
        assert np.abs(w).sum() <= 2.0 + 1e-12
    slopes = [
        loss.unchecked(np.zeros(data.n_documents), data.y, data.offsets)[1] @ data.X64 / data.n_queries
        for data in (reference, sample)
    ]
    uphill = slopes[0] - slopes[1]
    j = int(np.argmax(np.abs(uphill)))
    [first] = worst_gaps(loss, [sample], reference, 2.0, 2, "l1")
    np.testing.assert_array_equal(first, 2.0 * np.sign(uphill[j]) * np.eye(3)[j])


def test_samples_do_not_see_each_other():
    samples = [replace(unrelated(40, seed=seed), role="train") for seed in (1, 2, 3)]
    reference, loss = unrelated(400, seed=4), surrogates.create("ranksvm")
    together = worst_gaps(loss, samples, reference, 2.0, 6)
    alone = [worst_gaps(loss, [sample], reference, 2.0, 6)[0] for sample in samples]
    np.testing.assert_allclose(together, alone, rtol=1e-9)
    for sample, ranker in zip(samples, descents("ogd", loss, samples, 0.1, 2.0), strict=True):
        np.testing.assert_array_equal(ranker.w, ogd.run(sample, loss, step=0.1, radius=2.0).average)
        assert ranker.empirical == held_out.losses(loss, sample, ranker.w).mean()

"""Is a false statement of a surrogate's class found, whichever it is, and by every learner before it trains?"""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from pipeline_lib import RankingData, surrogates
from pipeline_lib.core import seeds
from pipeline_lib.core.errors import DataError
from pipeline_lib.learners import erm, losses, ogd, top_k_feedback
from pipeline_lib.surrogates.checking import PARTS
from pipeline_lib.surrogates.listwise import ListNet
from pipeline_lib.surrogates.pairwise import RankNet, RankSVM
from pipeline_lib.surrogates.pointwise import Squared
from pipeline_lib.surrogates.slam import SlamMAP
from pipeline_lib.surrogates.smooth_dcg import SmoothDCG


def changed(kind, **attributes):
    """An object of a subclass of ``kind``, from outside the package, with other attributes or methods."""
    return type("Changed", (kind,), {"__module__": __name__, **attributes})()


def answering(kind, change, method="unchecked"):
    """One whose method ``unchecked``, or another, gives what ``change`` makes of the arguments and the answer."""

    def method_of_changed(self, *arguments):
        return change(*arguments, getattr(super(type(self), self), method)(*arguments))

    return changed(kind, **{method: method_of_changed})


def constant(kind, name, factor):
    """One whose constant is that of ``kind`` times ``factor``."""

    def method(self, *arguments, **named):
        return factor * getattr(super(type(self), self), name)(*arguments, **named)

    return changed(kind, **{name: method})


def gradient(change, kind=ListNet):
    return answering(kind, lambda s, y, offsets, found: (found[0], change(s, y, found[1])))


def value(change, kind=ListNet):
    return answering(kind, lambda s, y, offsets, found: (change(s, y, offsets, found[0]), found[1]))


def only_top(s, y, offsets, values):
    # A measure in place of a loss: it jumps where the order of documents changes.
    return np.array([-float(y[a + np.argmax(s[a:b])]) for a, b in pairwise(offsets)])


def writing(s, y, offsets, found):
    s[:] = 0.0
    return found


def failing(s, y, offsets, found):
    return found[0][[len(offsets)]], found[1]


def above(s, y, offsets, found):
    return dataclasses.replace(found, heights=found.heights + 1.0)


def smoothed_above(loss, width):
    rounded = RankSVM().smoothed(width)
    minorant = rounded.minorant
    rounded.minorant = lambda s, y, offsets: (*minorant(s, y, offsets)[:2], minorant(s, y, offsets)[2] + 1.0)
    return rounded


FALSE = {
    "no gradient": (lambda: gradient(lambda s, y, g: 0.0 * g), "gradient", "the gradient of its value"),
    "half the gradient": (lambda: gradient(lambda s, y, g: 0.5 * g), "gradient", "the gradient of its value"),
    "a little off": (lambda: gradient(lambda s, y, g: 1.001 * g), "gradient", "the gradient of its value"),
    "the gradient of others": (lambda: gradient(lambda s, y, g: np.where(y == 0, g, -g)), "gradient", "its value"),
    "off where scores are large": (
        lambda: gradient(lambda s, y, g: np.where(np.abs(s) > 2.5, 0.0, g), Squared),
        "gradient",
        "gradient",
    ),
    "no subgradient at ties": (
        lambda: answering(
            RankSVM, lambda s, y, o, found: (found[0], np.where(2 * s == np.round(2 * s), 9.0, found[1]))
        ),
        "convexity",
        "no value below a tangent",
    ),
    "jumps": (lambda: changed(JumpingLoss), "integral", "changes as its gradient says"),
    "not convex": (lambda: changed(SmoothDCG, convex=True), "convexity", "no value below a tangent"),
    "negative": (lambda: value(lambda s, y, o, v: v - 9.0, Squared), "least", "no value below its least"),
    "kinks": (lambda: changed(RankSVM, smooth=True), "kinks", "does not jump"),
    "another curvature": (
        lambda: answering(RankNet, lambda s, y, o, V, found: 2.0 * found, "hessian_product"),
        "second derivative",
        "hessian_product that is the change",
    ),
    "a quadratic": (lambda: changed(RankNet, third_order=0.0), "third order", "third_order = 0"),
    "half the third order": (lambda: changed(ListNet, third_order=0.5), "third order", "third_order = 0.5"),
    "no third order": (lambda: changed(RankNet, third_order=None), "third order", "a number third_order"),
    "shifts matter": (lambda: changed(Squared, shift_invariant=True), "invariances", "shift of all scores"),
    "the order of documents matters": (
        lambda: value(lambda s, y, o, v: v + np.add.reduceat(np.arange(len(s)) * s, o[:-1]), Squared),
        "invariances",
        "order of the documents",
    ),
    "no number at ties": (
        lambda: value(lambda s, y, o, v: np.where(np.minimum.reduceat(s, o[:-1]) == 0.0, np.nan, v)),
        "forms",
        "finite numbers, found nan",
    ),
    "no number for large labels": (
        lambda: value(lambda s, y, o, v: np.where(np.maximum.reduceat(y, o[:-1]) > 200, np.inf, v)),
        "forms",
        "finite numbers, found inf",
    ),
    "one value for all": (lambda: value(lambda s, y, o, v: v[:1]), "forms", "values of shape"),
    "other queries matter": (lambda: value(lambda s, y, o, v: v + len(v)), "forms", "a query alone"),
    "scores are written to": (lambda: answering(Squared, writing), "forms", "leaves the scores alone"),
    "an error": (lambda: answering(Squared, failing), "forms", "values and gradients, found IndexError"),
    "another value when evaluated again": (
        lambda: changed(Squared, on=lambda self, y, o: lambda s: self.unchecked(s, y + 1, o)),
        "forms",
        "evaluated by `on`",
    ),
    "minorants above": (lambda: changed(RankSVM, smoothed=smoothed_above), "minorants", "minorant of width"),
    "a programme above": (
        lambda: answering(SlamMAP, lambda y, o, found: above(None, y, o, found), "programme"),
        "minorants",
        "its programme",
    ),
    "Lipschitz": (lambda: constant(ListNet, "lipschitz", 0.9), "constants", "lipschitz-linf at most"),
    "smoothness": (lambda: constant(ListNet, "smoothness", 0.4), "constants", "smoothness at most"),
    "smoothness of a quadratic": (lambda: constant(Squared, "smoothness", 0.99), "constants", "smoothness at most"),
    "bound": (lambda: constant(RankSVM, "bound", 0.9), "constants", "bound at most"),
    "bound on the excess": (lambda: constant(Squared, "excess_bound", 0.9), "constants", "excess_bound at most"),
    "a constant that is free of the length": (
        lambda: changed(RankSVM, lipschitz=lambda self, m, y_max, norm="linf", *, score_bound=None: 8.0),
        "constants",
        "lists of at most 12",
    ),
    "the Euclidean norm": (
        lambda: changed(
            SlamMAP, lipschitz=lambda self, m, y_max, norm="linf", *, score_bound=None: 2.0 if norm == "linf" else 0.1
        ),
        "constants",
        "lipschitz-l2 at most",
    ),
}


class JumpingLoss(Squared):
    """Minus the label of the first document, and a gradient of zeros, which is its slope almost everywhere."""

    convex = False
    smooth = False

    def unchecked(self, scores, y, offsets):
        values, slopes = super().unchecked(scores, y, offsets)
        return only_top(scores, y, offsets, values), 0.0 * slopes


@pytest.mark.parametrize("what", FALSE)
def test_a_false_statement_is_found_with_a_point_that_shows_it(what):
    make, part, said = FALSE[what]
    loss = make()
    with pytest.raises(DataError, match=said) as error:
        PARTS[part](loss, seeds.generator("surrogates", "check", part))
    assert str(error.value).startswith(f"{loss.name}: expected ")
    with pytest.raises(DataError, match=f"^{loss.name}: expected "):
        surrogates.check(loss)


def test_every_part_finds_something():
    assert {part for _, part, _ in FALSE.values()} == set(PARTS)


def test_what_is_shown_is_false_there():
    # The message names a document, its scores and labels: recompute the slope there.
    with pytest.raises(DataError) as error:
        surrogates.check(gradient(lambda s, y, g: 0.5 * g, Squared))
    told, place = str(error.value).split(", at scores ")
    scores, labels = (np.array(eval(part), float) for part in place.split(" with labels "))
    i = int(told.split("document ")[1].split(",")[0])
    assert f"found {scores[i] - labels[i]:.4g}"[:-2] in told
    assert f"{2 * (scores[i] - labels[i]):.4g}"[:-2] in told.rpartition("changes by")[2]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return RankingData.from_arrays(rng.normal(size=(60, 3)), rng.integers(0, 3, 60), np.repeat(np.arange(12), 5))


TRAINED = {
    "erm.fit": lambda data, loss: erm.fit(data, loss, l2=0.1),
    "erm.path": lambda data, loss: erm.path(data, loss, [0.1, 1.0]),
    "ogd.run": lambda data, loss: ogd.run(data, loss, step=0.1),
    "top_k_feedback.run": lambda data, loss: top_k_feedback.run(data, loss, 1, 10, 0.1, 0.5),
}


@pytest.mark.parametrize("train", TRAINED)
def test_no_learner_trains_with_a_wrong_gradient(data, train):
    with pytest.raises(DataError, match="squared: expected the gradient of its value, found 0 for document"):
        TRAINED[train](data, gradient(lambda s, y, g: 0.0 * g, Squared))


def test_a_class_is_checked_once_for_every_choice_of_its_options(data, monkeypatch):
    calls = []
    monkeypatch.setattr(surrogates.checking, "check", calls.append)

    class Outside(RankSVM):
        pass

    for margin in (1.0, 1.0, 2.0, 1.0):
        erm.fit(data, Outside(margin=margin), l2=0.1)
    erm.fit(data, RankSVM(margin=3.0), l2=0.1)
    assert [loss.margin for loss in calls] == [1.0, 2.0]


def test_a_file_that_somebody_adds_to_the_package_is_checked(data):
    """Only the package's own classes go unchecked, which its tests check."""
    assert losses._TESTED.issubset(surrogates.NAMES)
    Added = type(gradient(lambda s, y, g: 0.0 * g, Squared))
    Added.__module__, Added.name = "pipeline_lib.surrogates.added", "added"
    with pytest.raises(DataError, match="added: expected the gradient of its value"):
        erm.fit(data, Added(), l2=0.1)


def test_kernels_that_know_a_loss_by_its_name_take_no_other_class_of_that_name(data):
    class Doubled(Squared):
        def unchecked(self, scores, y, offsets):
            values, slopes = super().unchecked(scores, y, offsets)
            return 2.0 * values, 2.0 * slopes

        def lipschitz(self, *arguments, **named):
            return 2.0 * super().lipschitz(*arguments, **named)

        def smoothness(self, *arguments, **named):
            return 2.0 * super().smoothness(*arguments, **named)

        def bound(self, *arguments, **named):
            return 2.0 * super().bound(*arguments, **named)

        def hessian_product(self, *arguments):
            return 2.0 * super().hessian_product(*arguments)

    surrogates.check(Doubled())
    with pytest.raises(DataError, match="expected the package's own squared, found a class of"):
        top_k_feedback.run(data, Doubled(), 1, 10, 0.1, 0.5)

"""Do public functions answer arguments that make no sense with one clear error, and never with a crash or nonsense?"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import misuse

from pipeline_lib import RankingData, learners, metrics, results, sources, surrogates, theory
from pipeline_lib.core import checks
from pipeline_lib.core.errors import ConfigurationError, DataError

SCORES, Y, OFFSETS = np.array([0.5, 1.5, 1.0]), np.array([0, 1, 2]), np.array([0, 2, 3])


def findings(calls: int, seed: int, seconds: float) -> list[str]:
    """What a process of its own found wrong; where it died, the call it had begun."""
    command = [sys.executable, misuse.__file__, *f"--calls {calls} --seed {seed}".split()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert (run.returncode, run.stdout[-5:]) == (0, "done\n"), run.stderr[-2000:]
    return run.stdout.splitlines()[:-1]


@pytest.mark.parametrize(
    ("calls", "seed", "seconds"), [(400, 1, 1_500), pytest.param(100_000, 2, 3_000, marks=pytest.mark.slow)]
)
def test_misuses_have_clear_errors(calls: int, seed: int, seconds: float) -> None:
    """Hundreds of calls reach every public function that has an example; the slow test goes on from there."""
    wrong = findings(calls, seed, seconds)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda data: learners.check_weights("perceptron", "data"),  # type: ignore[arg-type]
        lambda data: data.labels_for(binary=np.array([1, 0])),
        lambda data: results.names("x" * 300),
    ],
)
def test_what_a_search_found_has_a_clear_error(call: Callable[[RankingData], object]) -> None:
    with pytest.raises(DataError, match="expected"):
        call(RankingData.from_arrays([[0.0], [1.0]], [0, 1], [1, 1]))


def test_what_counts_as_a_clear_error() -> None:
    """A raw error and NaN are findings; an error that names the argument is none."""
    for function, given, wrong in (
        (lambda k: [][k], 3, True),
        (lambda k: float("nan"), 3, True),
        (lambda k: int(k), "x", True),
        (lambda k: checks.whole("k", k), "x", False),
    ):
        assert (misuse.outcome("f", misuse.Call(function, {"k": given})) is not None) is wrong


# --- What was seen to go wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights",
    [
        [1e308] * 3,
        [5e-324, 0, 0],
        [1, np.nan, 1],
        [1, -1, 1],
        [0, 0, 0],
        [1, 1],
        np.ma.array([1, 1, 1], mask=[1, 0, 0]),
    ],
    ids=str,
)
def test_weights_that_cannot_be_averaged_certify_nothing(weights) -> None:
    data = RankingData.from_arrays(np.eye(3), [0, 1, 2], [1, 2, 3])
    with pytest.raises(DataError, match="weights"):
        learners.erm.fit(data, "squared", l2=1.0, weights=weights)


def test_masks_are_not_ignored() -> None:
    masked = np.ma.array(SCORES, mask=[False, True, False])
    for call in (
        lambda: metrics.ndcg(masked, Y, OFFSETS),
        lambda: surrogates.create("listnet").value(masked, Y, OFFSETS),
        lambda: surrogates.create("listnet").value([masked[0], masked[1], 1.0], Y, OFFSETS),
        lambda: RankingData.from_arrays(masked[:, None], Y, [1, 1, 2]),
        lambda: RankingData.from_arrays([masked], [0], [1]),
    ):
        with pytest.raises(DataError, match=r"scores|X"):
            call()
    nothing = np.ma.array(SCORES, mask=False)
    np.testing.assert_array_equal(metrics.ndcg(nothing, Y, OFFSETS), metrics.ndcg(SCORES, Y, OFFSETS))


def test_swapped_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="names"):
        metrics.per_query(SCORES.astype(np.float32), ["ndcg"], Y, OFFSETS)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="data"):
        learners.erm.fit("ranksvm", SCORES, l2=1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="rng"):
        RankingData.from_arrays(np.eye(2), [0, 1], [1, 1]).subsample_documents(1, 7)  # type: ignore[arg-type]


def test_no_cutoff_is_none_or_beyond_64_bits_for_precision() -> None:
    assert metrics.precision(SCORES, Y, OFFSETS, 2**63 - 1).tolist() == pytest.approx([0.0, 0.0], abs=1e-18)
    for k in (None, 2**63, 10**30):
        with pytest.raises(DataError, match="k:"):
            metrics.precision(SCORES, Y, OFFSETS, k)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", surrogates.NAMES)
def test_values_beyond_float64_are_no_result(name: str) -> None:
    try:
        values, gradient = surrogates.create(name).value_and_gradient([1e308, -1e308], [0, 1], [0, 2])
    except DataError as error:
        assert "scores" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(values).all()
        assert np.isfinite(gradient).all()


def test_overflow_in_between_names_the_numbers() -> None:
    with pytest.raises(DataError, match=r"m = 2.*score_bound = 1e\+200"):
        surrogates.create("squared-ndcg").bound(2, 1, 1e200)
    with pytest.raises(DataError, match="delta"):
        theory.two_layer.budget(100, 3, 1.0)


def test_errors_name_what_was_given_and_not_what_was_made_of_it() -> None:
    with pytest.raises(DataError, match="mean: expected one number for each feature"):
        learners.models.RandomFourierModel(np.ones(3), np.array(3.0), np.ones(1), 1.0, (5,))
    with pytest.raises(TypeError, match=r"assess\(\) missing .*'m'"):
        theory.list_bounds.assess("ogd", n=2, lipschitz=2.0, radius=1.0, feature_norm=1.0, loss_bound=0.5)  # type: ignore[call-arg]
    with pytest.raises(DataError, match="p: expected probabilities"):
        theory.partial_labels.linear_rate(np.full(8, 1e308), np.full(8, 0.125), 3, 2)
    model = learners.models.LinearModel.of([1.0], mean=[0.0], scale=[1e-30])
    data = RankingData.from_arrays([[1e30], [0.0]], [1, 0], [1, 1])
    with pytest.raises(DataError, match="data: expected features that float32 can hold"):
        theory.ranker_facts.of_model(model, data, surrogates.create("ranksvm"))


def test_a_set_is_no_list_of_values() -> None:
    with pytest.raises(ConfigurationError, match="expected a list under the key 'l2', found the set"):
        learners.erm.ErmSettings.parse({"l2": {1, 2}})


def test_what_no_file_can_be_called_is_no_path() -> None:
    with pytest.raises(DataError, match="expected a readable file"):
        sources.letor.read("x" * 300)
    for wrong in ("\ud800", "a\0b", ""):
        with pytest.raises(DataError, match="path: expected a path"):
            sources.letor.read(wrong)


def test_a_part_that_is_drawn_must_be_documents(tmp_path: Path) -> None:
    data = RankingData.from_arrays([[0.5]], [1], [1])
    for first in (int, lambda: data):
        with pytest.raises(TypeError, match=r"drawn\['S[12]'\]\(\): expected an object of RankingData, found 0"):
            sources.conversion.convert_drawn({"S1": first, "S2": int}, tmp_path / "data.parquet")  # type: ignore[dict-item]


def test_numbers_too_large_or_too_few_to_compute_with_are_named() -> None:
    data = RankingData.from_arrays(np.eye(3), [0, 1, 2], [1, 1, 1])
    for v in ([0.0, 1e308, 1e308], [0.0, 1e200, 1e200]):
        with pytest.raises(DataError, match="v: "):
            theory.zero_minimiser.best_direction(data, v)
    # Listed before any is tried.
    with pytest.raises(ConfigurationError, match="restarts: expected a number less than or equal to 1000"):
        learners.get("cone").settings.parse({"restarts": 10**23})


# --- The decorator itself -----------------------------------------------------------------------------------------


def test_what_passes_is_passed_on_as_python_numbers_and_uncopied() -> None:
    @checks.checked
    def same(a: float, b: int, c: np.ndarray, *, d: str | None = None) -> tuple[object, ...]:
        return a, b, c, d

    array = np.zeros(3)
    a, b, c, d = same(1, np.int32(2), c=array)
    assert (a, type(a), type(b), d) == (1, int, int, None)
    assert same(np.float32(0.5), 2, array)[0] == 0.5
    assert type(same(np.float32(0.5), 2, array)[0]) is float
    assert c is array


def test_a_surrogate_without_annotations_is_checked_as_its_base_is() -> None:
    class Nothing(surrogates.base.Surrogate):
        name = "nothing"

        def unchecked(self, scores, y, offsets):
            return np.zeros(len(offsets) - 1), np.zeros(len(scores))

        def lipschitz(self, m, y_max, norm="linf", *, score_bound=None):
            return 0.0

        def smoothness(self, m, y_max, *, score_bound=None):
            return 0.0

    for wrong in ((0, 1), ("x", 1), (2, 256), (2, 1, "max")):
        with pytest.raises(DataError, match=r"m|y_max|norm"):
            Nothing().lipschitz(*wrong)
    assert Nothing().lipschitz(2, 1, "l2", score_bound=1.0) == 0.0

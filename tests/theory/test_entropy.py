"""Are covering numbers, entropy integrals and closed forms what the formulas of `lists` say?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from pipeline_lib.core.errors import DataError
from pipeline_lib.theory import entropy

SIZES = st.fixed_dictionaries(
    {
        "n": st.floats(2.0, 1e12),
        "m": st.floats(1.0, 1e6),
        "radius": st.floats(1e-2, 1e2),
        "feature_norm": st.floats(1e-1, 1e1),
    }
)


def by_brute_force(log2_covering, n, reach):
    """The entropy integral on a fine logarithmic grid, alpha by numerical minimisation."""

    def value(log_alpha):
        edges = np.exp(np.linspace(log_alpha, math.log(reach), 200_001))
        middle = 0.5 * (edges[1:] + edges[:-1])
        area = sum(math.sqrt(log2_covering(e) / n) * width for e, width in zip(middle, np.diff(edges), strict=True))
        return 4.0 * math.exp(log_alpha) + 10.0 * area

    def coarse(log_alpha):
        eps = np.exp(np.linspace(log_alpha, math.log(reach), 2_001))
        heights = np.sqrt(np.array([log2_covering(e) for e in eps]) / n)
        return 4.0 * math.exp(log_alpha) + 10.0 * np.trapezoid(heights, eps)

    ends = (math.log(reach) - 12.0, math.log(reach))
    found = minimize_scalar(coarse, bounds=ends, method="bounded", options={"xatol": 1e-6}).x
    return min(value(found), 4.0 * reach)


@pytest.mark.parametrize(("n", "m", "radius", "B"), [(400, 10, 1.0, 4.0), (10_000, 50, 2.5, 7.0), (900, 5, 0.1, 2.2)])
def test_the_integral_of_proposition_7_is_the_numerical_minimum(n, m, radius, B):
    covering = entropy.proposition_7(n=n, m=m, lipschitz=2.0, radius=radius, feature_norm=1.0)
    plain = by_brute_force(lambda e: math.ceil((2.0 * radius / e) ** 2) * math.log2(2 * m * n + 1), n, B)
    assert entropy.integral(covering, n, B).value == pytest.approx(plain, rel=2e-4)


def test_the_integral_of_proposition_10_is_the_numerical_minimum():
    n, m, d, a = 10**7, 10, 1000, 2.0
    covering = entropy.proposition_10(n=n, m=m, d=d, lipschitz=2.0, radius=1.0, feature_norm=1.0)

    def log2_covering(e):
        return math.ceil(288 * a**2 * (2 + math.log(d)) / e**2) * math.log2(2 * math.ceil(8 * a / e) * m * n + 1)

    assert float(covering.log2(0.3)) == pytest.approx(log2_covering(0.3), rel=1e-12)
    assert entropy.integral(covering, n, 4.0).value == pytest.approx(by_brute_force(log2_covering, n, 4.0), rel=2e-4)


def test_steps_and_their_mean_agree(monkeypatch):
    covering = entropy.proposition_7(n=10**8, m=10, lipschitz=2.0, radius=1.0, feature_norm=1.0)
    here = entropy.integral(covering, 10**8, 4.0).value
    monkeypatch.setattr(entropy, "STEPS", 10**6)
    assert entropy.integral(covering, 10**8, 4.0).value == pytest.approx(here, rel=1e-6)


def test_proposition_15_is_proposition_7_with_another_scale():
    given_ = {"n": 100, "m": 7, "radius": 1.5, "feature_norm": 2.0}
    local = entropy.proposition_15(smoothness=2.0, risk=0.25, **given_)
    steep = entropy.proposition_7(lipschitz=math.sqrt(12 * 2.0 * 0.25), **given_)
    assert local.scale == pytest.approx(steep.scale, rel=1e-15)
    assert local.points == steep.points


def test_corollary_16_scales_with_the_root_of_the_risk():
    given_ = {"n": 10**6, "m": 7, "radius": 1.5, "feature_norm": 2.0, "smoothness": 2.0, "loss_bound": 5.0}
    C = 5 * math.sqrt(3) * 1.5 * 2.0 * math.sqrt(2.0 * math.log2(3 * 7e6) / 1e6)
    assert entropy.corollary_16(risk=0.09, **given_) == pytest.approx(
        4 * 0.3 * C * math.log(3 * math.sqrt(5.0) / C), rel=1e-12
    )


def test_corollary_8_and_11_by_hand():
    given_ = {"n": 10**6, "m": 3, "lipschitz": 2.0, "radius": 0.5, "feature_norm": 3.0}
    a = 3.0
    root = math.sqrt(math.log2(9e6) / 1e6)
    assert entropy.corollary_8(loss_bound=7.0, **given_) == pytest.approx(
        10 * a * root * math.log(6 * 7.0 / (5 * a * root)), rel=1e-12
    )
    b = math.sqrt(math.log(50) * math.log2(24 * 3e6 * a))
    logarithm = math.log((7.0 + 24 * 3e6 * a) / (40 * math.sqrt(2) * a * b))
    assert entropy.corollary_11(d=50, loss_bound=7.0, **given_) == pytest.approx(
        120 * math.sqrt(2) * a * b / 1e3 * logarithm**2, rel=1e-12
    )


def test_the_closed_form_holds_without_ceilings_and_fails_with_them():
    """Erratum X: Corollary 8 is at least the integral of a^2/eps^2 log2(3mn), but not that of the ceiling."""
    n, m, a, B = 10_000, 10, 2.0, 4.0
    closed = entropy.corollary_8(n=n, m=m, lipschitz=2.0, radius=1.0, feature_norm=1.0, loss_bound=B)
    with_ceilings = entropy.integral(entropy.Covering(a, m * n), n, B).value
    without = by_brute_force(lambda e: (a / e) ** 2 * math.log2(3 * m * n), n, B)
    assert without < closed < with_ceilings


def test_vacuous_closed_forms_stay_above_four_times_the_loss():
    given_ = {"m": 10, "lipschitz": 2.0, "radius": 1.0, "feature_norm": 1.0, "loss_bound": 4.0}
    values = [entropy.corollary_8(n=n, **given_) for n in (1, 2, 5, 20, 100)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 4.0 * 4.0


@settings(max_examples=60)
@given(SIZES, st.floats(0.1, 50.0), st.floats(0.1, 100.0), st.floats(1.5, 50.0))
def test_integrals_are_monotone(sizes, lipschitz, B, factor):
    def value(n=1.0, m=1.0, radius=1.0, feature_norm=1.0, steep=1.0, largest=1.0):
        scaled = {
            "n": sizes["n"] * n,
            "m": sizes["m"] * m,
            "radius": sizes["radius"] * radius,
            "feature_norm": sizes["feature_norm"] * feature_norm,
        }
        covering = entropy.proposition_7(lipschitz=lipschitz * steep, **scaled)
        found = entropy.integral(covering, scaled["n"], B * largest)
        assert math.isfinite(found.value)
        assert 0.0 < found.alpha <= B * largest
        return found.value

    base, allowed = value(), 1.0 + 1e-9
    assert value(n=factor) <= base * allowed
    for name in ("m", "radius", "feature_norm", "steep", "largest"):
        assert value(**{name: factor}) * allowed >= base


def test_corollary_11_needs_two_features():
    with pytest.raises(DataError, match="d >= 2"):
        entropy.corollary_11(n=10, m=2, d=1, lipschitz=1.0, radius=1.0, feature_norm=1.0, loss_bound=1.0)


def with_one_centre(scale, reach, steepness):
    """The least 4 alpha + 10 steepness int_alpha^reach sqrt(ceil(scale^2/eps^2)), with one centre for eps >= scale."""
    top = min(scale, reach)
    ks = np.arange(1, 100_000)
    edges = np.minimum(scale / np.sqrt(ks), top)  # the ceiling is k + 1 from scale/sqrt(k + 1) to scale/sqrt(k)
    areas = np.concatenate([[0.0], np.cumsum(-np.diff(edges) * np.sqrt(ks[1:]))])
    return float(np.min(4.0 * edges + 10.0 * steepness * areas))


def test_one_centre_makes_up_for_the_ceilings():
    """Corollary 8 holds for B >= 1.05 G W2 R_X and log2(3 m n) <= n/4, although its derivation loses the ceilings."""
    k = np.arange(1, 1_000_000)
    lost = float((np.sqrt((k + 1) / k) - 1.0 - 0.5 * np.log((k + 1) / k)).sum()) + 1.0 / k[-1]
    assert lost < 0.14
    for B in (1.05, 1.3, 2.0, 10.0):
        for steepness in (0.03, 0.1, 0.25, 0.4, 0.5):
            closed = 10.0 * steepness * math.log(6.0 * B / (5.0 * steepness))
            assert with_one_centre(1.0, B, steepness) <= closed
    assert with_one_centre(1.0, 1.0, 0.05) > 10.0 * 0.05 * math.log(6.0 / (5.0 * 0.05))

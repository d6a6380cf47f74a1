"""Does the plan for a labelling budget say what the formula gives, and refuse what makes no sense?"""

import math
import re

import pytest

from pipeline_lib import cli
from pipeline_lib.theory import two_layer, two_layer_rates


def test_the_plan_and_the_bound_around_it(capsys):
    assert cli.main(["budget", "--documents", "50000", "--features", "46", "--delta", "0.05"]) == 0
    printed = capsys.readouterr().out
    assert "227.1 queries with 220.1 documents each" in printed
    lines = [line for line in printed.splitlines() if re.match(r"^[* ] +[\d,.]+  +[\d,.]+  +\d", line)]
    assert len(lines) == 5
    totals = [float(line[1:].replace(",", "").split()[2]) for line in lines]
    assert lines[totals.index(min(totals))].startswith("*")
    best = two_layer.budget(50_000, 46, 0.05)
    assert min(totals) == pytest.approx(two_layer.even_bound(best.queries, 50_000, 46, 0.05).total, abs=1e-4)
    plot = [line for line in printed.splitlines() if "|" in line]
    assert sum(line.count("*") for line in plot) == 1
    assert "*" in plot[-1]  # the best split is the lowest point


def test_the_corrected_plan_is_the_one_with_the_smallest_bound(capsys):
    given = ["--documents", "9999", "--features", "7", "--delta", "0.1", "--bound", "corrected"]
    assert cli.main(["budget", *given, "--variances", "0.02", "0.01", "0.2"]) == 0
    printed = capsys.readouterr().out
    variances, log_rankers = [two_layer_rates.Variances(0.02, 0.01, 0.2)], 7 * math.log(2)
    totals = {
        n: two_layer_rates.bound([9999 // n + (i < 9999 % n) for i in range(n)], variances, log_rankers, 0.1).total
        for n in range(1000, 3001)
    }
    best = min(totals, key=totals.__getitem__)
    assert f"{best:,} queries (" in printed
    assert f"bound {totals[best]:.4f}" in printed
    assert f"{1 + math.sqrt(2 * 0.18 / 0.02):.1f} documents per query" in printed
    plot = [line for line in printed.splitlines() if "|" in line]
    assert "*" in plot[-1]


@pytest.mark.parametrize("bound", ["printed", "corrected"])
@pytest.mark.parametrize("documents", ["2", "3", "5", "17"])
def test_small_budgets_have_plans(capsys, documents, bound):
    assert cli.main(["budget", "--documents", documents, "--features", "3", "--bound", bound]) == 0
    shares = re.findall(r"(\d+) with (\d+)", capsys.readouterr().out)
    assert sum(int(queries) * int(length) for queries, length in shares) == int(documents)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--documents", "1"], "documents: expected a finite number >= 2, found 1"),
        (["--documents", "1", "--bound", "corrected"], "documents: expected a whole number between 2 and"),
        (["--documents", "9", "--variances", "1", "0", "0"], "variances: expected --bound corrected"),
        (
            ["--documents", "9", "--bound", "corrected", "--variances", "0", "1", "1"],
            "pairs: expected at least twice the variance of documents, 2, found 1",
        ),
        (["--documents", "100", "--figure", "plan.xyz"], "figure: expected a file .svg, .png or .pdf, found plan.xyz"),
    ],
)
def test_errors_are_one_line(capsys, arguments, message):
    assert cli.main(["budget", "--features", "5", *arguments]) == 1
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_the_figure_is_a_picture(tmp_path, capsys):
    for name, start in (("plan.svg", b"<?xml"), ("plan.png", b"\x89PNG")):
        assert cli.main(["budget", "--documents", "500", "--features", "5", "--figure", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)

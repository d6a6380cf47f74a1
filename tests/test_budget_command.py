"""Does the plan for a labelling budget say what the formula gives, and refuse what makes no sense?"""

from __future__ import annotations

import re

import pytest

from pipeline_lib import cli
from pipeline_lib.theory import two_layer


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


@pytest.mark.parametrize("documents", ["2", "3", "5", "17"])
def test_small_budgets_have_plans(capsys, documents):
    assert cli.main(["budget", "--documents", documents, "--features", "3"]) == 0
    shares = re.findall(r"(\d+) with (\d+)", capsys.readouterr().out)
    assert sum(int(queries) * int(length) for queries, length in shares) == int(documents)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--documents", "1"], "documents: expected a finite number >= 2, found 1"),
        (["--documents", "100", "--c1", "0"], "c1: expected"),
        (["--documents", "100", "--delta", "1.5"], "delta: expected"),
        (["--documents", "100", "--figure", "plan.xyz"], "figure: expected a file .svg, .png or .pdf, found plan.xyz"),
        (["--documents", "100", "--figure", "plan"], "figure: expected a file .svg, .png or .pdf, found plan"),
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

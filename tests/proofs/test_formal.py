"""Coq accepts the proofs in the folder ``proofs/``, and ``make formal`` refuses axioms."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import readings

ROOT = Path(__file__).parents[2]
NO_AXIOM = "Closed under the global context"

needs_coq = pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is not installed")


def _made(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``make formal`` in a folder."""
    make = shutil.which("make")
    assert make is not None
    return subprocess.run(
        [make, "--no-print-directory", "formal"],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with the Makefile, and the proofs to damage."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "proofs", tmp_path / "proofs")
    return tmp_path


def test_claims_that_are_proved_in_coq_name_theorems_of_its_files() -> None:
    named = [one.split(".") for claim in readings.ledger_of_claims() for one in claim.coq]
    assert named
    for file, theorem in named:
        assert f"\nTheorem {theorem} " in (ROOT / f"proofs/{file}.v").read_text()


@needs_coq
@pytest.mark.slow
def test_the_theorems_are_proved_without_axioms(copy: Path) -> None:
    made = _made(copy)
    assert made.returncode == 0, made.stderr
    rests_on = dict(zip(*[iter(line for line in made.stdout.splitlines() if not line.endswith(".v"))] * 2, strict=True))
    theorems = ("theorem_1", "theorem_2", "theorem_2_sharp", "theorem_2_for_AP_and_NDCG", "no_smaller_constant")
    assert {f"{name}:" for name in theorems} <= rests_on.keys()
    assert set(rests_on.values()) == {NO_AXIOM}
    assert {path.name for path in (copy / "proofs").iterdir()} == {path.name for path in (ROOT / "proofs").iterdir()}


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    "planted",
    [
        "Axiom wrong : False. Theorem planted : False. Proof. exact wrong. Qed.",
        "Theorem planted : False. Admitted.",
        "Lemma planted : True. Proof. exact I. Qed.",
        "Theorem planted : False. Proof. exact I. Qed.",
    ],
    ids=["an axiom", "no proof", "no theorem", "a wrong proof"],
)
def test_a_theorem_that_rests_on_an_axiom_or_has_no_proof_is_refused(copy: Path, planted: str) -> None:
    for path in (copy / "proofs").glob("*.v"):
        path.write_text("Theorem right : True.\nProof. exact I. Qed.\n")
    assert _made(copy).returncode == 0
    (copy / "proofs/wrong_neighbours.v").write_text(planted.replace(". ", ".\n"))
    assert _made(copy).returncode != 0


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "planted"),
    [
        (r"\sum_(i < m r) v i <= 1", r"\sum_(i < m r) v i <= 2%:R"),
        ("N algorithm_1 eta X T\n    <= 2%:R * F", "N algorithm_1 eta X T\n    <= 1%:R * F"),
        ("norm2 u * (2%:R / eta + Delta ^+ 2)\n  /\\", "norm2 u * (1%:R / eta + Delta ^+ 2)\n  /\\"),
        ("norm2 u * Delta ^+ 2\n  /\\", "norm2 u * Delta ^+ 2 / 2%:R\n  /\\"),
    ],
    ids=["weights with the sum 2", "F once", "1 / eta", "half of Delta^2"],
)
def test_no_neighbour_of_a_theorem_has_its_proof(copy: Path, said: str, planted: str) -> None:
    path = copy / "proofs/perceptron_bound.v"
    text = path.read_text()
    assert text.count(said) == 1
    path.write_text(text.replace(said, planted))
    made = _made(copy)
    assert made.returncode != 0
    assert "Error" in made.stderr


def test_what_has_to_be_installed_is_named_where_coq_is_missing(copy: Path) -> None:
    commands = copy / "commands"
    commands.mkdir()
    for name in ("sh", "dirname"):
        (commands / name).symlink_to(str(shutil.which(name)))
    made = subprocess.run(
        ["/bin/sh", "proofs/check.sh"],
        cwd=copy,
        env={"PATH": str(commands)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 1
    assert "libcoq-mathcomp-algebra" in made.stderr

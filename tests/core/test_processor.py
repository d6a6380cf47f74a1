"""Are the bytes those of one level of instructions, whatever the environment says and the processor has?"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_lib.core import processor

ROOT = Path(__file__).parents[2]
UNSTABLE = ("argsort", "argpartition")
IMITATED = {
    "OPENBLAS_CORETYPE": "Nehalem",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3",
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "+sse2",
    "OPENBLAS_NUM_THREADS": "2",
}
COMPUTED = """
import hashlib, sys
if sys.argv[1] == "pinned":
    from pipeline_lib.core import processor
    processor.pin()
import numpy as np, scipy.linalg, numba
rng = np.random.default_rng(1)
A = rng.normal(size=(300, 300))
x = rng.normal(size=20_000)

@numba.njit(fastmath=True)
def total(x):
    s = 0.0
    for one in x:
        s += one * one
    return s

found = {
    "product": A @ A, "solution": np.linalg.solve(A, A[0]), "scipy": scipy.linalg.qr(A)[0],
    "tanh": np.tanh(x), "exp": np.exp(x.astype(np.float32)), "order": np.argsort(x.round(1)), "sum": np.array(total(x)),
}
for name, values in found.items():
    print(name, hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest())
"""


def digests(pinned: str, environment: dict[str, str]) -> list[str]:
    plain = {name: value for name, value in os.environ.items() if name not in processor.variables()}
    command = [sys.executable, "-c", COMPUTED, pinned]
    return subprocess.run(
        command, cwd=ROOT, env=plain | environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_the_flags_of_linux_say_whether_there_is_the_level(tmp_path: Path) -> None:
    flags = tmp_path / "cpuinfo"
    flags.write_text(f"model name\t: some\nflags\t\t: fpu {' '.join(sorted(processor.NEEDED))} sse2\n")
    assert processor.has_level(flags) == (processor.platform.machine() == "x86_64")
    flags.write_text("model name\t: some\nflags\t\t: fpu avx sse2\n")
    assert not processor.has_level(flags)
    flags.write_text("Features\t: asimd\n")
    assert not processor.has_level(flags)


@pytest.mark.skipif(not processor.has_level(), reason="this processor has not the level of instructions")
def test_no_environment_that_imitates_another_processor_changes_a_byte() -> None:
    expected = digests("pinned", {})
    assert len(expected) == 7
    assert digests("pinned", IMITATED) == expected
    unpinned = digests("not pinned", IMITATED)
    changed = {one.split()[0] for one, other in zip(expected, unpinned, strict=True) if one != other}
    assert changed >= {"product", "solution", "scipy", "tanh", "exp", "sum"}


def test_it_is_refused_when_numpy_has_read_other_variables() -> None:
    script = "import numpy\nfrom pipeline_lib.core import processor\nprocessor.pin()"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "7"}
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert "RuntimeError: processor.pin: expected a call before numpy is imported" in ended.stderr


def test_no_order_of_equal_numbers_depends_on_the_processor() -> None:
    """Without ``kind="stable"``, numpy sorts by other networks where a processor has other vectors."""
    for path in sorted((ROOT / "pipeline_lib").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in UNSTABLE:
                kinds = [one.value for one in node.keywords if one.arg == "kind"]
                assert [ast.literal_eval(one) for one in kinds] in (["stable"], ["mergesort"]), f"{path}:{node.lineno}"

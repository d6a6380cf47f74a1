"""One level of instructions, and one thread, for everything that is computed, so that other processors give its bytes.

Libraries choose among kernels by the processor they find, and another order of sums, or a product that is fused with
a sum, is another last digit. The level is x86-64-v3 (AVX2 and FMA), which processors of Intel have had since 2013 and
of AMD since 2015. OpenBLAS, numpy and numba are told so by variables of the environment, which they read once, when
they are imported; polars, Arrow and LightGBM, as far as was tried, give the same bytes without. The mathematical
functions of the C library choose by themselves whether they fuse: glibc asks for AVX2 and FMA, as the level does.
docs/where-results-may-differ.md says on which processors this was tried.
"""

import os
import platform
import sys
from collections.abc import MutableMapping
from pathlib import Path

THREADS = {f"{library}_THREADS": "1" for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "NUMBA_NUM", "POLARS_MAX")}
"""Sums in a fixed order; and jobs run in parallel, so that none slows another."""
LEVEL = "x86-64-v3"
INSTRUCTIONS = {
    "OPENBLAS_CORETYPE": "Haswell",
    # Not NPY_ENABLE_CPU_FEATURES: older versions of numpy have other names for what is enabled.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "NUMBA_CPU_NAME": LEVEL,
    "NUMBA_CPU_FEATURES": "",  # without it, numba adds the features of the processor to those of the name
}
NEEDED = {"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe", "abm"}
"""What the level has beyond that before it, as Linux calls it."""


def has_level(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor has the instructions of the level, as far as Linux says so.

    Example
    -------
    >>> has_level(Path("no such file"))
    False
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        with cpuinfo.open() as lines:  # of which there are thousands where there are many cores
            flags = next((line for line in lines if line.startswith("flags")), "")
    except OSError:
        return False
    return set(flags.split()) >= NEEDED


def variables() -> dict[str, str]:
    """The variables of the environment by which libraries are told; those of the level where there is it."""
    return THREADS | (INSTRUCTIONS if has_level() else {})


def pin(environment: MutableMapping[str, str] = os.environ) -> bool:
    """Let everything that this process computes be computed with one thread and, where there is it, one level.

    The commands of the project call it before they import a library. A program that uses the package, and is to have
    their bytes, calls it first of all::

        from pipeline_lib.core import processor

        processor.pin()
        import numpy

    Returns
    -------
    bool
        Whether the processor has the level; elsewhere, last digits may differ from those of others.

    Raises
    ------
    RuntimeError
        When numpy was imported before, which reads the variables then, with others.

    Example
    -------
    >>> environment: dict[str, str] = {}
    >>> pin(environment) == has_level(), environment["OPENBLAS_NUM_THREADS"]
    (True, '1')
    """
    wanted = variables()
    if any(environment.get(name) != value for name, value in wanted.items()):
        if environment is os.environ and "numpy" in sys.modules:
            raise RuntimeError("processor.pin: expected a call before numpy is imported, found it imported already")
        environment.update(wanted)
    return wanted.keys() >= INSTRUCTIONS.keys()

"""Are the theory's modules there by name, and imported only when used?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline_lib import theory


def test_modules_by_name():
    assert {"constants", "decomposability", "invariance", "operator_norms"} <= set(dir(theory))
    assert theory.invariance.dimension(2, 1) == 2
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = theory.nothing_of_this_name


def test_importing_the_package_imports_no_module():
    script = "import sys, pipeline_lib.theory; print([n for n in sys.modules if n.startswith('pipeline_lib.theory.')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

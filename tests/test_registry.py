"""Does importing the packages import none of the modules that their registries name?"""

from __future__ import annotations

import subprocess
import sys


def test_packages_are_lazy():
    code = (
        "import sys; from pipeline_lib import surrogates, learners; "
        "heavy = [m for m in sys.modules if m.startswith(('pipeline_lib.surrogates.', 'pipeline_lib.learners.'))]; "
        "assert not heavy, heavy; assert 'numba' not in sys.modules and 'numpy' not in sys.modules; "
        "surrogates.create('squared'); assert 'pipeline_lib.surrogates.listwise' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

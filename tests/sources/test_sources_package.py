from __future__ import annotations

import subprocess
import sys

import pytest

from pipeline_lib import sources


def test_modules_are_imported_on_first_use() -> None:
    code = (
        "import sys; from pipeline_lib import sources; before = 'pipeline_lib.sources.letor' in sys.modules;"
        "sources.letor.read; print(before, 'pipeline_lib.sources.letor' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        == "False True\n"
    )


@pytest.mark.parametrize("name", ["lettor", "_private", "__wrapped__"])
def test_what_is_not_there_is_an_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(sources, name)

"""Are the examples of properties the same in every run, and ten times as many in the random search?"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]


def drawn() -> list[tuple[int, float]]:
    found = []

    @given(st.integers(), st.floats(0.0, 1.0))
    def note(whole: int, real: float) -> None:
        found.append((whole, real))

    note()
    return found


def test_what_was_imported_before_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    other = ModuleType("other_module")
    other.__file__ = str(tmp_path / "other_module.py")
    Path(other.__file__).write_text("".join(f"a{i} = {i} + {i}e-4\n" for i in range(1234, 1334)))
    monkeypatch.setitem(sys.modules, "other_module", other)
    assert len(before) > 90
    assert drawn() == before

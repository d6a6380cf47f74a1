"""Which errors does the mutation campaign make, and does it tell what tests notice from what they do not?"""

from __future__ import annotations

import textwrap
from types import FunctionType

from pipeline_lib.core import compiled
from tools.mutation.__main__ import interpret
from tools.mutation.operators import mutants

SOURCE = textwrap.dedent(
    '''
    """A minus B."""
    __all__ = ["f"] * 1

    @cached(size=1)
    def f(a: Array[2], é: int = 0, *, flag: bool) -> Array[3]:
        """1 + 1."""
        if TYPE_CHECKING:
            a = 1
        _log.info("%s", a + 1)
        if not flag and a < 0:
            raise ValueError(f"{a + 1}" + "-" * 3)
        return zip((é) * a[i], np.sqrt(a)[:], strict=True)
    '''
)


def edited(line: str) -> set[str]:
    """What the mutants make of the line of the source that begins so."""
    number = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if text.lstrip().startswith(line))
    found = [one for one in mutants("made.py", SOURCE) if one.line == number]
    return {one.applied(SOURCE).splitlines()[number - 1].strip() for one in found}


def test_what_computes_nothing_is_left_alone():
    lines = {one.line for one in mutants("made.py", SOURCE)}
    assert {SOURCE.splitlines()[line - 1].split()[0] for line in lines} == {"def", "if", "return"}
    assert edited("def f") == {"def f(a: Array[2], é: int = 1, *, flag: bool) -> Array[3]:"}


def test_every_token_that_computes_is_changed():
    assert edited("if not flag") == {
        "if flag and a < 0:",
        "if not flag or a < 0:",
        "if not flag and a <= 0:",
        "if not flag and a > 0:",
        "if not flag and a < 1:",
        "if not (not flag and a < 0):",
    }
    assert edited("return") == {
        "return zip((é) / a[i], np.sqrt(a)[:], strict=True)",
        "return zip((é) , np.sqrt(a)[:], strict=True)",
        "return zip( a[i], np.sqrt(a)[:], strict=True)",
        "return zip((é) * a[i - 1], np.sqrt(a)[:], strict=True)",
        "return zip((é) * a[i + 1], np.sqrt(a)[:], strict=True)",
        "return zip((é) * a[i], (a)[:], strict=True)",
    }


KERNEL = """
from pipeline_lib.core.compiled import njit

@njit
def plain(x):
    return x + 1

@njit(nogil=True)
def with_options(x):
    return x + 1
"""


def test_modules_that_a_mutant_changes_are_interpreted_and_others_compiled(monkeypatch):
    monkeypatch.setattr(compiled, "njit", compiled.njit)
    interpret({"changed"})
    for name, interpreted in (("changed", True), ("other", False)):
        module = {"__name__": name}
        exec(KERNEL, module)
        for function in (module["plain"], module["with_options"]):
            assert isinstance(function, FunctionType) is interpreted

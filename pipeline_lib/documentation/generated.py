"""Which pages of the reference are made from the code?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline_lib.documentation import commands_page, interface, keys, registers
from pipeline_lib.documentation.contents import Generated

PAGES: dict[str, Callable[[Path], list[Generated]]] = {
    interface.TITLE: lambda root: interface.pages(),
    keys.TITLE: lambda root: keys.pages(),
    commands_page.TITLE: commands_page.pages,
    registers.TITLE: lambda root: registers.pages(),
    registers.CLAIMS: lambda root: registers.claims(),
}
"""Title in the contents -> what makes the page, and those below it, for the project in a folder."""

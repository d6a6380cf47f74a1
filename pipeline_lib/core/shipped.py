"""Where is a page of the documentation that the report shows? An installed package has copies of these pages."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def page(name: str) -> Path:
    """The file of a page: that of the project's folder ``docs``, or the copy of an installed package.

    Example
    -------
    >>> page("glossary.md").name
    'glossary.md'
    """
    copy = _PACKAGE / name
    return copy if copy.is_file() else _PACKAGE.parent / "docs" / name

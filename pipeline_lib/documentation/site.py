"""How do the pages become a folder of HTML that opens from disk?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from pipeline_lib.documentation import contents, page
from pipeline_lib.documentation.contents import FILE, FRONT, Entry, Part
from pipeline_lib.documentation.generated import PAGES
from pipeline_lib.documentation.page import Text
from pipeline_lib.errors import DataError
from pipeline_lib.files import write_text
from pipeline_lib.reporting.site import TEMPLATES as SHARED
from pipeline_lib.reporting.site import environment, search_script

TEMPLATES = Path(__file__).parent / "templates"
STYLES = "style.css"
SEARCH = "search.js"
SCRIPT = "script.js"
FILES = "files"
"""The folder with what pages link to and what is no page, such as pictures."""


@dataclass(frozen=True)
class Source:
    """A page before it is set: its name and text, the folder from which its links go, and its place in the contents."""

    name: str
    markdown: str
    folder: str
    part: str
    entry: str
    letters: bool = False
    group: str = ""


def build(root: str | os.PathLike[str], folder: str | os.PathLike[str]) -> int:
    """Write the documentation of the project in ``root`` into ``folder``; give the number of its pages.

    Raises
    ------
    DataError
        When the contents and the pages do not fit, a page is malformed, or a link leads nowhere; the message names the
        page.
    """
    root, folder = Path(root), Path(folder)
    parts = contents.read(root)
    _check_complete(root, parts)
    sources = {source.name: source for source in _sources(root, parts)}
    used: set[str] = set()
    texts = {name: _set(source, sources, root, used) for name, source in sources.items()}
    _check_links(sources, texts)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    shutil.rmtree(folder / FILES, ignore_errors=True)
    for path in sorted(used):
        (folder / FILES / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / path, folder / FILES / path)
    styles = [SHARED / "report.css", TEMPLATES / "documentation.css"]
    write_text(folder / STYLES, "".join(one.read_text(encoding="utf-8") for one in styles))
    write_text(folder / SCRIPT, (SHARED / "report.js").read_text(encoding="utf-8"))
    write_text(folder / SEARCH, _search(sources, texts))
    for name, text in _rendered(parts, sources, texts):
        write_text(folder / f"{name}.html", text)
    return len(texts)


def pages_of(root: Path) -> Iterator[str]:
    """The pages in Markdown that the contents have to name."""
    yield from sorted(path.relative_to(root).as_posix() for path in (root / "docs").glob("*.md"))


def _check_complete(root: Path, parts: tuple[Part, ...]) -> None:
    named = set(contents.paths(parts))
    if missing := [path for path in pages_of(root) if path not in named]:
        raise DataError(f"{FILE}: expected every page of docs/, found none of {', '.join(missing)}")
    if absent := [path for path in sorted(named) if not (root / path).is_file()]:
        raise DataError(f"{FILE}: expected pages that exist, found {', '.join(absent)}")
    titles = [entry.title for part in parts for entry in part.entries if not entry.path]
    if sorted(titles) != sorted(PAGES):
        raise DataError(f"{FILE}: expected the generated pages {', '.join(PAGES)}, found {', '.join(titles)}")


def _sources(root: Path, parts: tuple[Part, ...]) -> Iterator[Source]:
    entries = [(part.title, entry) for part in parts for entry in part.entries]
    generated = {entry.title: PAGES[entry.title](root) for _, entry in entries if not entry.path}
    yield Source(contents.name_of(FRONT), _text(root / FRONT), ".", "", "", letters=True)
    listed = _text(root / FILE)
    for title, made in generated.items():
        listed = listed.replace(f"- **{title}**:", f"- [**{title}**]({made[0].name}.md):")
    yield Source(contents.name_of(FILE), listed, str(PurePosixPath(FILE).parent), "", "", letters=True)
    for part, entry in entries:
        if entry.path:
            where = str(PurePosixPath(entry.path).parent)
            yield Source(contents.name_of(entry.path), _text(root / entry.path), where, part, entry.title, letters=True)
        else:
            for one in generated[entry.title]:
                yield Source(one.name, one.markdown, "docs", part, entry.title, one.letters, one.group)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _set(source: Source, sources: Mapping[str, Source], root: Path, used: set[str]) -> Text:
    linked = partial(_linked, source=source, sources=sources, root=root, used=used)
    return page.text(source.markdown, source.name, linked, letters=source.letters)


def _linked(link: str, *, source: Source, sources: Mapping[str, Source], root: Path, used: set[str]) -> str:
    """The address in the site of what a page links to; files that are no pages are noted in ``used``."""
    file, sign, anchor = link.partition("#")
    if ":" in file or not file:
        return link
    path = PurePosixPath(os.path.normpath(PurePosixPath(source.folder) / unquote(file))).as_posix()
    name = contents.name_of(path)
    if path.endswith(".md") and name in sources:
        return f"{name}.html{sign}{anchor}"
    if (root / path).is_file() and not path.startswith(".."):
        used.add(path)
        return f"{FILES}/{path}"
    raise DataError(f"{source.name}: expected a link to a page or a file of the project, found {link!r}")


def _check_links(sources: Mapping[str, Source], texts: Mapping[str, Text]) -> None:
    """Every address after # is one of the page that is linked to."""
    for name, text in texts.items():
        for link in text.links:
            file, _, anchor = link.partition("#")
            if ":" in file or not anchor or (file and not file.endswith(".md")):
                continue
            path = os.path.normpath(PurePosixPath(sources[name].folder) / file) if file else ""
            target = contents.name_of(path) if file else name
            if unquote(anchor) not in {heading.id for heading in texts[target].headings}:
                raise DataError(f"{name}: expected a link to a heading of {target}, found {link!r}")


def _search(sources: Mapping[str, Source], texts: Mapping[str, Text]) -> str:
    """The script that fills the search of every page: place, page, and the words in which one searches."""
    found: list[tuple[str, str, str]] = []
    for name, text in texts.items():
        found.append((f"{name}.html", sources[name].part or "Page", _joined(text.title, text.begins)))
        found += [(f"{name}.html#{one.id}", text.title, _joined(one.words, one.begins)) for one in text.headings]
    return search_script(found)


def _joined(title: str, begins: str) -> str:
    """A title and the sentence that follows it."""
    return f"{title if title.endswith(('?', '.', ':')) else f'{title}.'} {begins}".strip()


def _rendered(
    parts: tuple[Part, ...], sources: Mapping[str, Source], texts: Mapping[str, Text]
) -> Iterator[tuple[str, str]]:
    """The HTML of every page."""
    from markupsafe import Markup

    template = environment(TEMPLATES).get_template("documentation.html.j2")
    files = {"styles": STYLES, "search": SEARCH, "script": SCRIPT, "contents": contents.name_of(FILE)}
    titles = {name: text.title for name, text in texts.items()}
    order = [name for name, source in sources.items() if source.part]
    around = dict(zip(order, zip([None, *order], [*order[1:], None], strict=False), strict=True))
    for name, text in texts.items():
        before, after = around.get(name, (None, None))
        shown = [(part.title, page.slug(part.title), list(_places(part, sources, texts, name))) for part in parts]
        about = {"name": name, "part": sources[name].part, "text": text, "body": Markup(text.html), "parts": shown}
        yield name, template.render(**about, **files, titles=titles, before=before, after=after)


@dataclass(frozen=True)
class Place:
    """An item of the navigation: where it leads, its title, and the pages below it that are shown."""

    name: str
    title: str
    here: bool
    below: tuple[tuple[str, str], ...]


def _places(part: Part, sources: Mapping[str, Source], texts: Mapping[str, Text], current: str) -> Iterator[Place]:
    """The pages of a part; the pages that belong to an entry are listed where one of them is shown."""
    for entry in part.entries:
        names = _names(entry, sources)
        near = ("", current, sources[current].group)
        below = [name for name in names[1:] if sources[name].group in near] if current in names else []
        yield Place(names[0], entry.title, current == names[0], tuple((one, texts[one].title) for one in below))


def _names(entry: Entry, sources: Mapping[str, Source]) -> list[str]:
    if entry.path:
        return [contents.name_of(entry.path)]
    return [name for name, source in sources.items() if source.entry == entry.title and source.folder == "docs"]

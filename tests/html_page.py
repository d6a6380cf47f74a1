"""What is on a page in HTML: addresses, links, what it loads, headings; and are its tags balanced?"""

import re
from html.parser import HTMLParser

VOID = {"wbr", "meta", "link", "br", "input", "img", "hr", "path", "use"}


class Page(HTMLParser):
    """Collect identifiers, links and balance of tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.headings: list[str] = []
        self.headers_without_scope = 0
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        elif tag in ("script", "img", "link", "iframe", "object", "embed", "source", "image"):
            self.loaded += [str(value) for key, value in attrs if key in ("src", "href", "data", "xlink:href")]
        if re.fullmatch(r"h\d", tag):
            self.headings.append(tag)
        if tag == "th" and "scope" not in found:
            self.headers_without_scope += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

"""Does the picture of the report in the README show its first page as it is now?

    python tools/picture.py            take the picture of reports/default with Chromium
    python tools/picture.py --check    exit with status 1 if the page says something else now, or is laid out otherwise

The picture, ``docs/report.png``, contains the digest of the words of the page and of the style of all pages.
"""

import argparse
import hashlib
import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT = Path(__file__).parents[1]
PICTURE, REPORT = ROOT / "docs/report.png", ROOT / "reports/default"
KEY = "digest of the page"
SIZE = (1280, 855)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# What a reader does not see at first, and what differs from run to run: commands with their times, the commit.
UNSEEN = re.compile(r"<(script|style|details|address)\b.*?</\1>|<[^>]+>", re.DOTALL)


def digest(report: Path) -> str:
    """The digest of what the first page says and of how all pages look."""
    words = html.unescape(UNSEEN.sub(" ", (report / "index.html").read_text(encoding="utf-8"))).split()
    style = (report / "report.css").read_text(encoding="utf-8")
    return hashlib.sha256("\n".join([*words, style]).encode()).hexdigest()


def take(report: Path, picture: Path) -> None:
    """Take the picture, in a palette of 256 colours."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.exit(f"error: expected a browser to take the picture with, found none of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder) / "page.png"
        window = f"--window-size={SIZE[0]},{SIZE[1]}"
        options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", window)
        page = (report / "index.html").resolve().as_uri()
        subprocess.run([browser, *options, f"--screenshot={taken}", page], check=True, capture_output=True)
        about = PngInfo()
        about.add_text(KEY, digest(report))
        Image.open(taken).convert("RGB").quantize(256).save(picture, pnginfo=about, optimize=True)


def main() -> int:
    """Take the picture, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether the picture is out of date")
    if not parser.parse_args().check:
        take(REPORT, PICTURE)
    elif Image.open(PICTURE).info.get(KEY) != digest(REPORT):
        sys.exit(f"error: {PICTURE.relative_to(ROOT)} shows an earlier first page: python tools/picture.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Is a picture of a page that has changed since noticed?"""

from pathlib import Path

import pytest
from PIL import Image

from tests.report import browser
from tools import picture


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "index.html").write_text("<h1>Ranking</h1><details>2 minutes</details><script>f()</script>")
    (tmp_path / "report.css").write_text("h1 { color: red }")
    monkeypatch.setattr(picture, "ROOT", tmp_path)
    monkeypatch.setattr(picture, "REPORT", tmp_path)
    monkeypatch.setattr(picture, "PICTURE", tmp_path / "report.png")
    return tmp_path


@pytest.mark.parametrize(
    ("file", "old", "new", "stale"),
    [
        ("index.html", "Ranking", "Learning", True),
        ("report.css", "red", "blue", True),
        ("index.html", "2 minutes", "3 minutes", False),
    ],
)
def test_a_change_that_is_seen_makes_a_picture_stale(
    report: Path, monkeypatch: pytest.MonkeyPatch, file: str, old: str, new: str, stale: bool
) -> None:
    browser.command()
    monkeypatch.setattr("sys.argv", ["picture.py"])
    assert picture.main() == 0
    assert Image.open(report / "report.png").size == picture.SIZE
    monkeypatch.setattr("sys.argv", ["picture.py", "--check"])
    assert picture.main() == 0
    (report / file).write_text((report / file).read_text().replace(old, new))
    if stale:
        with pytest.raises(SystemExit, match="an earlier first page"):
            picture.main()
    else:
        assert picture.main() == 0

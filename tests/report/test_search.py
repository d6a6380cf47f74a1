"""Does the index of the search hold what stands on the pages, each at its place, and stay small?"""

import json
from pathlib import Path

from pipeline_lib.claims import judged
from pipeline_lib.report import search

BODY = """<section id="a"><h2>First &amp; last <a class="here" href="#a">#</a></h2>
<p>Words in <em>prose</em>, x<sub>i</sub>.</p><svg><text>drawn</text></svg>
<figure class="table" id="t"><figcaption><a class="number">Table 1.</a> Means.
<span class="source">From x</span></figcaption>
<table><tr><th>Model</th><td>0.5</td></tr><tr><th>ListNet<br>two</th><td>words</td></tr></table></figure>
<section id="b"><h3>Inner</h3><ul><li>An item.</li></ul><pre>seed: 7</pre></section></section>"""


def test_every_place_has_its_own_words() -> None:
    found = {(one.place, one.kind): one for one in search.entries(BODY)}
    assert {name: one.shown for name, one in found.items()} == {
        ("a", "Section"): "First & last",
        ("a", "Text"): "Words in prose, xi.",
        ("t", "Table"): "Table 1. Means.",
        ("b", "Section"): "Inner",
        ("b", "Text"): "An item.",
    }
    assert found["t", "Table"].others.split() == ["listnet", "model", "two", "words"]
    assert found["b", "Section"].others.split() == ["seed"]


def index_of(text: str) -> dict[str, list[list[str]]]:
    """The index in a script."""
    return dict(json.loads(text.removeprefix("const INDEX = ").removesuffix(";\n")))


def test_no_tag_can_begin_in_the_script() -> None:
    text = search.script({"p": ("p.html", "</script>")}, {"p": "<section id='a'><p>&lt;/script&gt;</p></section>"})
    assert "<" not in text
    assert index_of(text)["pages"] == [["p.html", "</script>"]]
    assert index_of(text)["entries"][1][3] == "</script>"


def test_numbered_statements_are_told_from_their_proofs_and_from_remarks() -> None:
    for place in (
        "Theorem 5",
        "Section 5.1, Theorem 5",
        "Lemma 5 and its proof",
        "Theorems 1, 2 and 3",
        "Theorem 3, (4)",
    ):
        assert search.is_statement(place)
    for place in ("Theorem 5.2, proof", "Section 5.1, before Theorem 5", "Lemma 5, corrected", "Table 1"):
        assert not search.is_statement(place)


def test_the_index_of_a_report_has_all_claims_and_files_and_is_small(report: Path) -> None:
    path = report / "search-index.js"
    assert path.stat().st_size < 500_000
    index = index_of(path.read_text(encoding="utf-8"))
    assert all((report / file).is_file() for file, _ in index["pages"])
    places = {place for _, place, kind, *_ in index["entries"] if kind in ("Claim", "Statement")}
    assert places == {f"claim-{claim.id}" for claim in judged.read(report / "claims.json").claims}

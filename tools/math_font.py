"""Make the font in which browsers set the formulas of a report: a part of STIX Two Math, in a style sheet.

    pip install 'fonttools[woff]' && pip install --no-deps ziamath==0.13
    python -m tools.math_font

STIX Two Math is in the package ziamath. Its letters, signs and brackets of all sizes that formulas need are written,
with what browsers must know to set them (OpenType's table MATH), into ``pipeline_lib/report/templates/math.css``. STIX
is a trademark, so that the part has another name. The same versions give the same bytes.
"""

import base64
import io
import itertools
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "pipeline_lib" / "report" / "templates" / "math.css"
NAME = "Report Math"
LETTERS = (
    (0x20, 0x7E),
    (0x391, 0x3C9),  # Greek
    (0x1D400, 0x1D467),  # bold, italic
    (0x1D49C, 0x1D4B5),  # script, capitals
    (0x1D538, 0x1D551),  # double-struck, capitals
    (0x1D6A4, 0x1D6A5),  # i and j without dots
    (0x1D6E2, 0x1D71B),  # Greek, italic
    (0x1D7D8, 0x1D7E1),  # double-struck, digits
)
"""First and last characters of what is taken; some of these letters have been elsewhere in Unicode before."""
EARLIER = "ϑϕϖϱϵℂℍℕℙℚℝℤℬℰℱℋℐℒℳℛℎℏℓ"
SIGNS = "\N{NO-BREAK SPACE}¨¬¯±·×÷ˆ˙˜‖…′″←→↦⇒⇔∀∂∃∅∆∇∈∉∏∑−∓∖∗⋆∘√∝∞∣∥∧∨∩∪∫∼≃≅≈≔≠≡≤≥≪≫≺≻⊂⊃⊆⊇⊕⊗⊤⊥⋂⋃⋅⌈⌉⌊⌋⟨⟩―"


def sheet(source: Path) -> str:
    """The style sheet with the part of the font in a file."""
    font = TTFont(source, recalcTimestamp=False)
    _narrow_radicals(font)
    options = Options(layout_features=[], hinting=False, glyph_names=False, drop_tables=["DSIG"])
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]
    subsetter = Subsetter(options)
    letters = (code for first, last in LETTERS for code in range(first, last + 1))
    subsetter.populate(unicodes=[*letters, *map(ord, EARLIER + SIGNS)])
    subsetter.subset(font)
    for record in font["name"].names:
        record.string = str(record).replace("STIX Two Math", NAME).replace("STIXTwoMath", NAME.replace(" ", ""))
    font.flavor = "woff2"
    written = io.BytesIO()
    font.save(written)
    data = base64.b64encode(written.getvalue()).decode()
    return (
        f"/* {NAME}: a part of STIX Two Math, made by tools/math_font.py.\n"
        f"   {font['name'].getDebugName(0)},\n"
        "   under the SIL Open Font License 1.1, https://openfontlicense.org. */\n"
        f'@font-face {{ font-family: "{NAME}"; unicode-range: {_ranges(sorted(font.getBestCmap()))};\n'
        f"  src: url(data:font/woff2;base64,{data}); }}\n"
    )


def _narrow_radicals(font: TTFont) -> None:
    """Make radicals of all sizes as wide as the smallest: Chromium leaves room for the widest after each of them."""
    variants, radical = font["MATH"].table.MathVariants, font.getBestCmap()[ord("√")]
    sizes = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(radical)]
    width, _ = font["hmtx"][radical]
    for name in {
        *(one.VariantGlyph for one in sizes.MathGlyphVariantRecord),
        *(part.glyph for part in sizes.GlyphAssembly.PartRecords),
    }:
        advance, bearing = font["hmtx"][name]
        glyph = font["glyf"][name]
        glyph.coordinates.scale((width / advance, 1.0))
        glyph.coordinates.toInt()
        glyph.recalcBounds(font["glyf"])
        font["hmtx"][name] = (width, round(bearing * width / advance))


def _ranges(codes: Sequence[int]) -> str:
    """Ascending code points as CSS writes their ranges.

    Example
    -------
    >>> _ranges([32, 33, 34, 8730])
    'U+20-22, U+221A'
    """
    runs = [[code for _, code in run] for _, run in itertools.groupby(enumerate(codes), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"U+{run[0]:X}" + (f"-{run[-1]:X}" if len(run) > 1 else "") for run in runs)


if __name__ == "__main__":
    package = find_spec("ziamath")
    if package is None or package.origin is None:
        raise SystemExit("pip install --no-deps ziamath==0.13")
    TARGET.write_text(sheet(Path(package.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf"), encoding="utf-8")

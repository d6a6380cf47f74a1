"""Damage to text: to bytes, to what stands between separators, to lines, and to the file as a whole."""

import bz2
import gzip
import math
import random
import re

import numpy as np

_NUMBERS = """\
0 1 2 3 -1 +5 007 -0 +0.0 .5 5. -.5e1 1e3 1E-3 1e+2 0e999999 255 256 255.49999999999999999 0.49999999999999994
1.5 2.0 1.00000000000000000001 1e-320 1e-400 -1e-400 1e-46 7e-46 3.4028235e38 3.4028235677973366e38 1e39 -1e39
1e308 1e309 1e400 123456789012345678901234567890 0.1234567890123456789 16777217 9007199254740993
00000000000000000000000000001 9223372036854775807 9223372036854775808 -9223372036854775808
18446744073709551616 999999999999999999 1.00000005960464477539 1.000000059604644775390625
1.00000005960464477539062500001 1e1000000000000"""
NUMBERS = (*_NUMBERS.split(), "0." + "0" * 60 + "1e60", "1" + "0" * 60 + "e-60")
"""Numbers of all kinds, many of them where a format or a type ends."""

_NO_NUMBERS = """\
nan NaN inf -inf Infinity 0x10 1_000 1e e5 --1 +-1 1.2.3 1,5 . + - 1d3 1f 1e+ 1e5.0 0b1 ½ ٣ x NA null None
true 1e--5"""
NO_NUMBERS = (*_NO_NUMBERS.split(), "1 2", "1\x0b", "\x0c1")
"""What is no number, although some reader may take it for one."""

BYTES = b"\0\t\n\r \"#'+,-.:;=_0159eEqx|\x0b\x0c\x1a\x7f\x80\xa0\xc3\xef\xff"
"""Bytes that mean something somewhere."""


def number(rng: random.Random) -> str:
    """A number: one of the list, one of few digits, or one close to the middle between two numbers of float32."""
    way = rng.random()
    if way < 0.35:
        return rng.choice(NUMBERS)
    if way < 0.8:
        return f"{rng.choice(['', '', '-'])}{rng.randrange(10)}.{rng.randrange(10 ** rng.randrange(1, 9))}"
    single = np.float32(math.ldexp(rng.uniform(0.5, 1.0), rng.randrange(-140, 120)))
    middle = (float(single) + float(np.nextafter(single, np.float32(np.inf)))) / 2
    return f"{middle:.{rng.randrange(6, 40)}e}"


def damaged(text: bytes, rng: random.Random, words: tuple[str, ...]) -> bytes:
    """The text after none to three changes; ``words`` are what may stand between separators, right or wrong."""
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 3))):
        text = rng.choice((_byte, _token, _token, _line, _whole))(text, rng, words)
    return text


def packed(text: bytes, rng: random.Random) -> tuple[bytes, bool]:
    """The bytes of a file with this text, now and then compressed, and whether they are whole."""
    if rng.random() > 0.02 or not text:
        return text, True
    pack = rng.choice((gzip.compress, bz2.compress))(text)
    if rng.random() < 0.3:
        return pack[: rng.randrange(12, len(pack))] if len(pack) > 12 else pack[:12], len(pack) <= 12
    return pack, True


def _byte(text: bytes, rng: random.Random, words: tuple[str, ...]) -> bytes:
    place = rng.randrange(len(text) + 1)
    way = rng.randrange(4)
    if way == 0:
        return text[:place] + text[place + 1 :]
    new = bytes([rng.choice(BYTES)])
    if way == 1 and place < len(text):
        new = bytes([text[place] ^ 1 << rng.randrange(8)])
    return text[:place] + new + text[place + (way != 2) :]


def _token(text: bytes, rng: random.Random, words: tuple[str, ...]) -> bytes:
    tokens = [match.span() for match in re.finditer(rb"[^\s,:]+", text)]
    if not tokens:
        return text
    start, stop = rng.choice(tokens)
    way = rng.randrange(6)
    new = [
        lambda: number(rng),
        lambda: rng.choice(NUMBERS),
        lambda: rng.choice(NO_NUMBERS),
        lambda: rng.choice(words),
        lambda: text[slice(*rng.choice(tokens))].decode("latin-1"),
        lambda: "",
    ][way]()
    return text[:start] + new.encode("latin-1" if way == 4 else "utf-8") + text[stop:]


def _line(text: bytes, rng: random.Random, words: tuple[str, ...]) -> bytes:
    lines = text.split(b"\n")
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    way = rng.randrange(7)
    if way == 0:
        lines.insert(other, lines[place])
    elif way == 1:
        del lines[place]
    elif way == 2:
        lines[place], lines[other] = lines[other], lines[place]
    elif way == 3:
        lines.insert(place, rng.choice((b"", b"  ", b"\t", b"\r", b"#", b"# 1 qid:1", b" # \xff", b"#\0", b"\x0c")))
    elif way == 4 and place + 1 < len(lines):
        lines[place : place + 2] = [lines[place] + rng.choice((b"", b" ", b"\r", b"\x0b")) + lines[place + 1]]
    elif way == 5:
        lines[place] += rng.choice((b" ", b"\t", b"\r", b" # note", b"#", b",", b"\0", b" 1:1", b" 3:0.5", b'"', b"\\"))
    else:
        lines[place] = rng.choice((b" ", b"\t", b"  ", b'"', b",", b"\xef\xbb\xbf")) + lines[place]
    return b"\n".join(lines)


def _whole(text: bytes, rng: random.Random, words: tuple[str, ...]) -> bytes:
    way = rng.randrange(10)
    if way < 3:
        return text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if way == 3:
        return b"\xef\xbb\xbf" + text
    if way == 4:
        return text.rstrip(b"\n")
    if way == 5:
        return text[: rng.randrange(len(text) + 1)]
    if way == 6:
        return text + rng.choice((b"\n", b"\n\n", b"\r\n", b" ", b"\0", b"\x1a", b"\r"))
    if way == 7:
        return text.replace(b" ", rng.choice((b"\t", b"  ", b" \t "))).replace(b",", rng.choice((b",", b", ", b" ,")))
    if way == 8:
        return text.replace(b"\n", b"\r")
    return rng.choice((b"", b"\n", b"\xff\xfe" + text, b"PK\x03\x04" + text, text.decode("latin-1").encode("utf-16")))

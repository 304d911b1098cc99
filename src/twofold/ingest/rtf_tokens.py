"""RTF as a stream of tokens and decoded characters, in one pass whatever the input: groups, control words, text.

Bytes mean what the font of the moment says, Unicode escapes are followed by stand-ins to skip, and binary runs are
stepped over. What the words *do* to the document is `rtf.py`'s business.
"""

import re
from codecs import lookup
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?[0-9]{1,9})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([\r\n]+)|([^\\{}\r\n]+)|\\", re.DOTALL
)
_CHARSETS = {128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256,
             186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Token:
    """One token: exactly one of `word` (with `number`, None where none is given), `sign`, `brace` and `text` is set.

    `text` holds one character for each byte; a Unicode escape is the word `u`, whose stand-ins are marked `escaped`.
    """

    word: str = ""
    number: int | None = None
    sign: str = ""
    brace: str = ""
    text: str = ""
    escaped: bool = False


def tokens(data: str) -> Iterator[Token]:
    r"""Cut RTF, given as one character a byte, into tokens. `\binN` takes its N bytes with it."""
    position = 0
    while found := _TOKEN.match(data, position):
        position = found.end()
        word, number, byte, sign, brace, _, text = found.groups()
        if word:
            value = int(number) if number else None
            if word == "bin":
                position += max(value or 0, 0)
            yield Token(word=word, number=value)
        elif byte:
            yield Token(text=chr(int(byte, 16)), escaped=True)
        elif sign:
            yield Token(sign=sign)
        elif brace:
            yield Token(brace=brace)
        elif text:
            yield Token(text=text)


class Characters:
    """Gathers characters that come as bytes of changing code pages and as UTF-16 units."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._bytes: list[str] = []
        self._page = ""
        self._units: list[int] = []

    def add_bytes(self, text: str, page: str) -> None:
        """Add bytes, one a character, of one code page; a letter may lie across two calls."""
        if self._units or page != self._page:
            self._flush()
            self._page = page
        self._bytes.append(text)

    def add_unit(self, unit: int) -> None:
        """Add one UTF-16 unit; RTF writes those above 32767 as negative numbers."""
        if self._bytes:
            self._flush()
        self._units.append(unit & 0xFFFF)

    def add(self, text: str) -> None:
        """Add characters as they are."""
        self._flush()
        self._parts.append(text)

    def take(self) -> str:
        """Give all that was gathered, and begin anew."""
        self._flush()
        text = "".join(self._parts)
        self._parts.clear()
        return text

    def _flush(self) -> None:
        if self._bytes:
            raw = "".join(self._bytes).encode("latin-1", "replace")
            self._parts.append(raw.decode(self._page, "replace"))
            self._bytes.clear()
        if self._units:
            raw = b"".join(unit.to_bytes(2, "little") for unit in self._units)
            self._parts.append(raw.decode("utf-16-le", "replace"))
            self._units.clear()


def code_page(number: int) -> str:
    """Name the codec of a Windows code page; one that Python lacks is read as Western European."""
    name = "utf-8" if number == 65001 else f"cp{number}"  # noqa: PLR2004
    try:
        return lookup(name).name
    except LookupError:
        return "cp1252"


def charset_page(charset: int) -> str:
    """Name the codec of a font's character set, or "" where the document's own holds."""
    return code_page(_CHARSETS[charset]) if charset in _CHARSETS else ""

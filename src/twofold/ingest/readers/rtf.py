"""RTF: paragraphs, headings by outline level or style, lists as they are numbered in the file, tables, notes.

A reader of our own, since none that may be used is both linear on hostile input and right about code pages,
surrogate pairs and tables.
"""

import re
from codecs import lookup
from collections.abc import Iterator
from dataclasses import field, replace

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError
from twofold.domain.types import BlockKind
from twofold.ingest.readers.office.rows import add_rows
from twofold.ingest.readers.types import Extract, Outline, Source, TextBuilder, one_line


class RtfBlocks:
    """Keeps what is still open: the cells of a row, the rows of a table, the items of a list, notes not yet written."""

    def __init__(self) -> None:
        self._cells: list[str] = []
        self._rows: list[list[str]] = []
        self._items: list[str] = []
        self._notes: list[str] = []
        self._outline = Outline()
        self._builder = TextBuilder()

    def end_cell(self, text: str) -> None:
        """End a cell of a table."""
        self._cells.append(text)

    def end_row(self) -> None:
        """End a row of a table."""
        self._rows.append(self._cells)
        self._cells = []

    def note(self, text: str) -> None:
        """Keep a note until its paragraph ends."""
        self._notes.append(text.strip())

    def end_paragraph(self, text: str, label: str, level: int | None) -> None:
        """End a paragraph outside of tables. `label` is its number in a list, `level` that of a heading."""
        if self._cells:
            self.end_row()
        if text.strip():
            self._end_table()
            self._write(text.strip(), one_line(label), level)
        if self._notes:
            self._end_list()
        for note in self._notes:
            self._builder.add(BlockKind.PARAGRAPH, note, heading=self._outline.path)
        self._notes = []

    def extract(self, title: str, metadata: dict[str, str]) -> Extract:
        """Close what is open and give all."""
        self._end_table()
        self._end_list()
        return self._builder.extract(title, {**metadata})

    def _write(self, text: str, label: str, level: int | None) -> None:
        if level is not None:
            self._end_list()
            title = one_line(f"{label} {text}")
            self._builder.add(BlockKind.HEADING, title, heading=self._outline.enter(level, title))
        elif label:
            numbered = label[-1].isalnum() or label[-1] in ".)"
            self._items.append(f"{label if numbered else '-'} {text}")
        else:
            self._end_list()
            self._builder.add(BlockKind.PARAGRAPH, text, heading=self._outline.path)

    def _end_list(self) -> None:
        self._builder.add(BlockKind.LIST, "\n".join(self._items), heading=self._outline.path)
        self._items = []

    def _end_table(self) -> None:
        if self._rows:
            self._end_list()
            add_rows(self._builder, self._rows, has_header=True, heading=self._outline.path)
            self._rows = []


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
        """Return all that was gathered, and begin again."""
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


_SIGNATURE = b"{\\rtf"
_MAX_DEPTH = 1_000
_BODY, _SKIP, _FONTS, _STYLES, _NOTE, _LABEL = "body", "skip", "fonts", "styles", "note", "label"

_SKIPPED = frozenset(
    ("pict", "fldinst", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "info",
     "colortbl", "object", "objdata", "themedata", "colorschememapping", "datastore", "listtable", "listpicture",
     "listoverridetable", "rsidtbl", "xmlnstbl", "generator", "filetbl", "revtbl", "annotation", "atnid", "atnauthor",
     "xe", "tc", "nonshppict", "pnseclvl", "latentstyles", "bkmkstart", "bkmkend")
)  # fmt: skip
_DESTINATIONS = {"fonttbl": _FONTS, "stylesheet": _STYLES, "footnote": _NOTE, "listtext": _LABEL, "pntext": _LABEL}
_STARRED = frozenset(("shptxt", "shpinst", "shp", "footnote"))  # read although marked as optional
_INFO = {"title": "title", "author": "author", "subject": "subject", "keywords": "keywords", "doccomm": "description"}
_SIGNS = {"~": "\u00a0", "_": "\u2011", "-": "\u00ad"}
_WORDS = {"tab": "\t", "line": "\n", "emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022", "lquote": "\u2018",
          "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d", "emspace": "\u2003", "enspace": "\u2002",
          "nestcell": " ", "nestrow": " "}  # fmt: skip
_BREAKS = frozenset(("par", "sect", "page"))


@dataclass(frozen=True, slots=True)
class _Group:
    """What a brace opens and its partner ends: where text goes, how its bytes are read, how many stand-ins to skip."""

    goes_to: str = _BODY
    page: str = ""
    stand_ins: int = 1
    deleted: bool = False


@dataclass(slots=True)
class _Paragraph:
    level: int | None = None
    style: int | None = None
    in_table: bool = False


@dataclass(slots=True)
class _Tables:
    """The fonts' code pages and the styles' heading levels, by number."""

    fonts: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)


def read_rtf(source: Source) -> Extract:
    """Read an RTF file. Metadata: `author`, `subject`, `keywords`, `description`, where given.

    Raises ReadError: `malformed`, and `limit` for groups nested deeper than 1,000.
    """
    if not source.data.lstrip().startswith(_SIGNATURE):
        raise ReadError(f"{source.name}: not RTF.", "Save the file again in its own program.")
    reader = _Reader(source)
    for token in tokens(source.data.lstrip().decode("latin-1")):
        reader.take(token)
        if reader.is_done:
            break
    return reader.extract()


class _Reader:
    """Follows the tokens with what RTF keeps between them: the open groups, the paragraph, the row of a table."""

    def __init__(self, source: Source) -> None:
        self._name = source.name
        self._stack: list[_Group] = []
        self._group = _Group()
        self._default_page = "cp1252"
        self._default_font = 0
        self._tables = _Tables()
        self._font = self._style = -1
        self._starred = False
        self._to_skip = 0
        self._paragraph = _Paragraph()
        self._texts = {name: Characters() for name in (_BODY, _NOTE, _LABEL, _STYLES, *_INFO)}
        self._info: dict[str, str] = {}
        self._blocks = RtfBlocks()
        self.is_done = False

    def take(self, token: Token) -> None:
        """Take one token."""
        if token.brace == "{":
            self._open()
        elif token.brace:
            self._close()
        elif token.text:
            self._text(token)
        elif token.sign:
            self._sign(token.sign)
        else:
            self._word(token.word, token.number)

    def extract(self) -> Extract:
        """Close what is open and give all."""
        self._end_paragraph()
        return self._blocks.extract(self._info.pop("title", ""), self._info)

    def _open(self) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            raise ReadError(f"{self._name}: groups nested deeper than {_MAX_DEPTH}.", "Save it again.", kind="limit")
        self._stack.append(self._group)
        self._to_skip = 0

    def _close(self) -> None:
        ended = self._group
        self._to_skip = 0
        self._starred = False
        if not self._stack:
            return
        self._group = self._stack.pop()
        self.is_done = not self._stack
        if ended.goes_to != self._group.goes_to:
            self._leave(ended.goes_to)

    def _leave(self, place: str) -> None:
        if place == _NOTE:
            self._blocks.note(self._texts[_NOTE].take())
        elif place in _INFO:
            self._info[_INFO[place]] = one_line(self._texts[place].take())
        elif place == _STYLES:
            self._name_style()

    def _text(self, token: Token) -> None:
        text = token.text
        if self._to_skip:
            skipped = min(self._to_skip, len(text))
            self._to_skip -= skipped
            text = text[skipped:]
        if self._group.goes_to == _STYLES:
            self._texts[_STYLES].add_bytes(text.partition(";")[0], self._default_page)
            if ";" in text:
                self._name_style()
        elif text and self._group.goes_to in self._texts and not self._group.deleted:
            self._texts[self._group.goes_to].add_bytes(text, self._group.page or self._default_page)

    def _sign(self, sign: str) -> None:
        if self._to_skip:
            self._to_skip -= 1
        elif sign == "*":
            self._starred = True
        elif sign in "\r\n":
            self._word("par", None)
        elif sign in "\\{}":
            self._text(Token(text=sign))
        elif sign in _SIGNS:
            self._put(_SIGNS[sign])

    def _put(self, text: str) -> None:
        if self._group.goes_to in self._texts and not self._group.deleted:
            self._texts[self._group.goes_to].add(text)

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if word == "u":
            self._unicode(number or 0)
        elif self._group.goes_to == _SKIP:
            if word in _INFO and self._stack:
                self._group = replace(self._group, goes_to=word)
        elif word in _DESTINATIONS:
            self._group = replace(self._group, goes_to=_DESTINATIONS[word])
        elif word in _SKIPPED or (starred and word not in _STARRED):
            self._group = replace(self._group, goes_to=_SKIP)
        elif self._group.goes_to in (_FONTS, _STYLES):
            self._define(word, number or 0)
        elif word in _WORDS:
            self._put(_WORDS[word])
        else:
            self._format(word, number)

    def _unicode(self, number: int) -> None:
        if self._group.goes_to in self._texts and not self._group.deleted:
            self._texts[self._group.goes_to].add_unit(number)
        self._to_skip = self._group.stand_ins

    def _define(self, word: str, number: int) -> None:
        """Take a word of the font table or of the style sheet."""
        if word == "f":
            self._font = number
        elif word == "fcharset":
            self._tables.fonts[self._font] = charset_page(number)
        elif word == "s":
            self._style = number
        elif word == "outlinelevel" and 0 <= number < 9:  # noqa: PLR2004 Word's nine levels
            self._tables.levels[self._style] = number + 1

    def _name_style(self) -> None:
        """End a style: one that is called `heading 2` is of level 2, whatever else it says."""
        word, _, digit = self._texts[_STYLES].take().strip().casefold().partition(" ")
        if word == "heading" and digit in tuple("123456789"):
            self._tables.levels.setdefault(self._style, int(digit))
        elif word == "title" and not digit:
            self._tables.levels.setdefault(self._style, 0)
        self._style = 0

    def _format(self, word: str, number: int | None) -> None:
        value = number or 0
        if word in _BREAKS:
            self._break()
        elif word == "cell":
            self._blocks.end_cell(f"{self._texts[_LABEL].take()} {self._texts[_BODY].take()}")
        elif word == "row":
            self._blocks.end_row()
        elif word in ("ansicpg", "deff", "mac", "pc", "pca"):
            self._set_default(word, value)
        elif word in ("f", "plain"):
            font = value if word == "f" else self._default_font
            self._group = replace(self._group, page=self._tables.fonts.get(font, ""))
        elif word == "uc":
            self._group = replace(self._group, stand_ins=min(max(value, 0), 16))
        elif word == "deleted":
            self._group = replace(self._group, deleted=number != 0)
        else:
            self._format_paragraph(word, value)

    def _set_default(self, word: str, value: int) -> None:
        if word == "deff":
            self._default_font = value
        else:
            pages = {"ansicpg": code_page(value), "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
            self._default_page = pages[word]

    def _format_paragraph(self, word: str, value: int) -> None:
        if word == "pard":
            self._paragraph = _Paragraph()
        elif word == "intbl":
            self._paragraph.in_table = True
        elif word == "s":
            self._paragraph.style = value
        elif word == "outlinelevel":
            self._paragraph.level = value + 1 if 0 <= value < 9 else None  # noqa: PLR2004

    def _break(self) -> None:
        if self._group.goes_to != _BODY:
            self._put("\n")
        elif self._paragraph.in_table:
            self._texts[_BODY].add(" ")
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        style = self._paragraph.style
        named = None if style is None else self._tables.levels.get(style)
        level = named if self._paragraph.level is None else self._paragraph.level
        self._blocks.end_paragraph(self._texts[_BODY].take(), self._texts[_LABEL].take(), level)

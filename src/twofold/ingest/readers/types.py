"""What every reader is given and gives back, and the one place where extracted text is made clean.

A reader is a function from `Source` to `Extract`; it raises `ReadError` and nothing else. The kinds of `ReadError` are
`unsupported`, `malformed`, `encrypted`, `empty`, `no-text-layer`, `limit`, `crashed` and `unreadable`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from math import isfinite
from types import MappingProxyType

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Block, BlockKind, Dropped, Metadata, MetadataValue, PageWords, Scalar

MEBIBYTE = 1 << 20
MAX_PICTURES = 1_000
"""Pages of one file whose text is recognized; the others have none."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_MAX_INTEGER = 1 << 63  # what stores hold as a number; longer ones are kept as text
_MAX_INTEGER_BITS_LENGTH = 4096
_GAP = "\n\n"
_MAX_DROPPED = 200
_MAX_DROPPED_LENGTH = 1_000
NO_FIELDS: Metadata = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one file may cost. Sizes in bytes, times in seconds; `archive_ratio` is unpacked size over packed."""

    file_bytes: int = 50 * MEBIBYTE
    unpacked_bytes: int = 200 * MEBIBYTE
    archive_ratio: int = 100
    archive_depth: int = 2
    archive_entries: int = 2_000
    memory_bytes: int = 1024 * MEBIBYTE
    cpu_seconds: int = 30


DEFAULT_LIMITS = Limits()


OnPage = Callable[[int, int], None]
"""Called before a slow page is read, with its number among the slow ones, from 1, and how many these are."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a reader is given. `name` is for people and for its suffix, and never a path to open.

    Without `on_page` pages that are pictures are not read: reading them takes more than `limits` allow a file, so who
    asks for it must allow more for each of them.
    """

    name: str
    data: bytes
    limits: Limits = DEFAULT_LIMITS
    on_page: OnPage | None = None


@dataclass(frozen=True, slots=True)
class Extract:
    """What a reader gives back: `text[block.start:block.end]` is a block; blocks are in order and never overlap."""

    text: str
    blocks: tuple[Block, ...] = ()
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    dropped: tuple[Dropped, ...] = ()
    words: tuple[PageWords, ...] = ()


Reader = Callable[[Source], Extract]
"""Reads one format. Raises ReadError."""


def clean(text: str) -> str:
    r"""Make text storable: CRLF and CR become LF, NUL goes, lone surrogates become U+FFFD.

    `clean("a\r\nb\0")` is `"a\nb"`.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    return _LONE_SURROGATE.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Make a title or a heading of text: clean, and every run of white space one blank."""
    return " ".join(clean(text).split())


class Outline:
    """Follows headings down a document: the path of headings above the place where the reader stands."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The headings that the next block stands under, outermost first."""
        return tuple(title for _, title in self._open)

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Pass a heading of `level` (1 is the highest) and give the path of headings above it, without itself."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        above = self.path
        name = one_line(title)
        if name:
            self._open.append((level, name))
        return above


class TextBuilder:
    """Gathers a document's text block by block, with a blank line between blocks, and keeps the exact spans."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self._dropped: dict[tuple[str, str], Dropped] = {}

    def drop(self, text: str, reason: str, page: int | None = None, count: int = 1) -> None:
        """Note text that is left out, once however often it stands there: its first 1,000 characters, 200 texts."""
        body = one_line(text)[:_MAX_DROPPED_LENGTH]
        known = self._dropped.get((body, reason))
        if known:
            self._dropped[body, reason] = replace(known, count=known.count + count)
        elif body and len(self._dropped) < _MAX_DROPPED:
            self._dropped[body, reason] = Dropped(body, reason, page, count)

    def add(  # noqa: PLR0913 a block has this many properties
        self,
        kind: BlockKind,
        text: str,
        *,
        heading: Sequence[str] = (),
        page: int | None = None,
        place: str = "",
        header: str = "",
        metadata: Metadata = NO_FIELDS,
        part: int = 0,
    ) -> None:
        """Add one block, without the blank lines around it. Text of white space alone adds nothing."""
        body = _trimmed(clean(text))
        if not body:
            return
        if self._parts:
            self._parts.append(_GAP)
            self._length += len(_GAP)
        start, end = self._length, self._length + len(body)
        self._parts.append(body)
        self._length = end
        path = tuple(one_line(part) for part in heading)
        self._blocks.append(Block(kind, start, end, path, page, one_line(place), clean(header), metadata, part))

    def add_paragraphs(
        self, text: str, *, heading: Sequence[str] = (), page: int | None = None, place: str = ""
    ) -> None:
        """Add running text as one paragraph for each stretch between blank lines."""
        for paragraph in _BLANK_LINES.split(clean(text)):
            self.add(BlockKind.PARAGRAPH, paragraph, heading=heading, page=page, place=place)

    def add_extract(
        self,
        extract: Extract,
        *,
        heading: Sequence[str] = (),
        page: int | None = None,
        place: str = "",
        part: int | None = None,
    ) -> None:
        """Add what another reader made of a part: its blocks keep their own paths and places below these."""
        for left in extract.dropped:
            self.drop(left.text, left.reason, left.page if page is None else page, left.count)
        if not extract.blocks:
            return
        first, last = extract.blocks[0].start, extract.blocks[-1].end
        if self._parts:
            self._parts.append(_GAP)
            self._length += len(_GAP)
        shift = self._length - first
        self._parts.append(extract.text[first:last])
        self._length += last - first
        path = tuple(one_line(part) for part in heading)
        for block in extract.blocks:
            where = ", ".join(part for part in (one_line(place), block.place) if part)
            self._blocks.append(
                replace(
                    block,
                    start=block.start + shift,
                    end=block.end + shift,
                    heading=path + block.heading,
                    page=block.page if page is None else page,
                    place=where,
                    part=block.part if part is None else part,
                )
            )

    @property
    def count(self) -> int:
        """How many blocks there are so far."""
        return len(self._blocks)

    @property
    def length(self) -> int:
        """How many characters the text has so far."""
        return self._length

    def extract(self, title: str = "", metadata: Metadata | None = None) -> Extract:
        """Return all that was added."""
        text, blocks, dropped = "".join(self._parts), tuple(self._blocks), tuple(self._dropped.values())
        return Extract(text, blocks, one_line(title), clean_metadata(metadata or {}), dropped)


def clean_metadata(metadata: Mapping[str, MetadataValue]) -> dict[str, MetadataValue]:
    """Keep what can be stored: named, not empty, numbers finite, text clean and without white space around it."""
    kept: dict[str, MetadataValue] = {}
    for name, value in metadata.items():
        tidy = _clean_value(value)
        if tidy not in ("", ()) and one_line(name):
            kept[one_line(name)] = tidy
    return kept


def _clean_value(value: MetadataValue) -> MetadataValue:
    if isinstance(value, tuple):
        return tuple(part for part in map(_clean_scalar, value) if part != "")
    return _clean_scalar(value)


def _clean_scalar(value: Scalar) -> Scalar:
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, float) and not isfinite(value):
        return ""
    if isinstance(value, int) and not -_MAX_INTEGER <= value < _MAX_INTEGER:
        return str(value) if value.bit_length() < _MAX_INTEGER_BITS_LENGTH else ""
    return value


def _trimmed(text: str) -> str:
    """Cut blank lines at both ends and blanks at the very end; the first line's indentation stays."""
    body = text.rstrip()
    lead = len(body) - len(body.lstrip())
    return body[body.rfind("\n", 0, lead) + 1 :]

"""The messages between a reading process and its parent. The parent believes nothing that it has not checked.

A frame is two big-endian 32-bit lengths, a head in JSON and a body of bytes: the file on the way in, the extracted text
in UTF-8 on the way out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from struct import Struct
from typing import Any

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ReadError
from twofold.domain.types import Block, BlockKind, Dropped, MetadataValue, PageWords
from twofold.ingest.readers.types import Extract, Limits, OnPage, Source, clean, clean_metadata, one_line

LENGTHS = Struct(">II")
READY = b"twofold reader 1\n"  # what a reading process says once, before it is asked anything
MAX_HEAD_BYTES = 64 << 20
_MAX_PAGE = 10_000_000
WHOLE = 10_000  # of a page's width or height, which boxes of words are counted in


class WireError(ValueError):
    """A message is not what it must be."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reading process says of one file. After a `last` reply it reads no more files.

    With a `page` it is no answer yet: the process begins with that one of `pages` slow pages.
    """

    media_type: str
    extract: Extract | None
    error: ReadError | None
    last: bool = False
    page: int = 0
    pages: int = 0


def frame(head: Mapping[str, Any], body: bytes) -> tuple[bytes, bytes]:
    """Make a frame, in two parts so that a large body is not copied."""
    packed = json.dumps(head).encode("ascii")
    return LENGTHS.pack(len(packed), len(body)) + packed, body


def pack_source(source: Source) -> tuple[bytes, bytes]:
    """Make the message that asks for a file to be read."""
    asked = {"name": source.name, "limits": asdict(source.limits), "pictures": source.on_page is not None}
    return frame(asked, source.data)


def unpack_source(head: bytes, body: bytes, on_page: OnPage | None = None) -> Source:
    """Read the parent's message, which is trusted; where pictures are to be read, `on_page` is called for each."""
    held = json.loads(head)
    return Source(held["name"], body, Limits(**held["limits"]), on_page if held["pictures"] else None)


def pack_extract(media_type: str, extract: Extract, *, last: bool) -> tuple[bytes, bytes]:
    """Make the message that carries what was read. Heading paths and header rows are sent once each."""
    paths: dict[tuple[str, ...], int] = {}
    headers: dict[str, int] = {}
    records = {place: dict(block.metadata) for place, block in enumerate(extract.blocks) if block.metadata}
    blocks = [
        (
            block.kind.value,
            block.start,
            block.end,
            paths.setdefault(block.heading, len(paths)),
            block.page,
            block.place,
            headers.setdefault(block.header, len(headers)),
            block.part,
        )
        for block in extract.blocks
    ]
    head = {
        "media_type": media_type,
        "title": extract.title,
        "metadata": dict(extract.metadata),
        "paths": list(paths),
        "headers": list(headers),
        "records": records,
        "blocks": blocks,
        "dropped": [(left.text, left.reason, left.page, left.count) for left in extract.dropped],
        "words": [(one.page, one.words, one.boxes) for one in extract.words],
        "last": last,
    }
    return frame(head, extract.text.encode("utf-8", "replace"))


def pack_error(error: ReadError, *, last: bool) -> tuple[bytes, bytes]:
    """Make the message that says why a file could not be read."""
    head = {"kind": error.kind, "message": error.message[:1000], "hint": error.hint[:1000], "last": last}
    return frame(head, b"")


def pack_page(page: int, pages: int) -> tuple[bytes, bytes]:
    """Make the message that says which slow page is read now."""
    return frame({"page": page, "pages": pages}, b"")


def unpack_reply(head: bytes, body: bytes) -> Reply:
    """Read a reading process's message, which may be anything. Raises WireError."""
    try:
        held = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise WireError("the head is not JSON") from error
    if not isinstance(held, dict):
        raise WireError("the head is no object")
    if "page" in held:
        return Reply("", None, None, page=_integer(held["page"]), pages=_integer(held.get("pages")))
    last = held.get("last") is True
    if "kind" in held:
        kind, message, hint = (one_line(_text(held.get(name))) for name in ("kind", "message", "hint"))
        return Reply("", None, ReadError(message, hint, kind), last)
    return Reply(_text(held.get("media_type")), _extract(held, body), None, last)


def _extract(held: Mapping[str, Any], body: bytes) -> Extract:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise WireError("the text is not UTF-8") from error
    if "\0" in text or "\r" in text:
        raise WireError("the text is not clean")
    paths = [tuple(one_line(_text(part)) for part in _list(path)) for path in _list(held.get("paths"))]
    headers = [clean(_text(header)) for header in _list(held.get("headers"))]
    records = held.get("records", {})
    if not isinstance(records, dict):
        raise WireError("the records are no object")
    blocks: list[Block] = []
    position = 0
    for place, row in enumerate(_list(held.get("blocks"))):
        block = _block(_list(row), paths, headers)
        if str(place) in records:
            block = replace(block, metadata=_metadata(records[str(place)]))
        if not position <= block.start < block.end <= len(text):
            raise WireError("a block lies outside of the text or over another")
        position = block.end
        blocks.append(block)
    dropped = tuple(_dropped(_list(row)) for row in _list(held.get("dropped", [])))
    words = tuple(_words(_list(row)) for row in _list(held.get("words", [])))
    title, metadata = one_line(_text(held.get("title"))), _metadata(held.get("metadata"))
    return Extract(text, tuple(blocks), title, metadata, dropped, words)


def _words(row: Sequence[Any]) -> PageWords:
    page, texts, boxes = row if len(row) == 3 else (0, [], [])  # noqa: PLR2004 the fields of a page's words
    found = tuple(one_line(_text(text)) for text in _list(texts))
    places = tuple(_box(_list(box)) for box in _list(boxes))
    if _page(page) is None or len(found) != len(places):
        raise WireError("a page has words without places")
    return PageWords(page, found, places)


def _box(held: Sequence[Any]) -> tuple[int, int, int, int]:
    if len(held) != 4 or not all(0 <= _integer(part) <= WHOLE for part in held):  # noqa: PLR2004 four edges
        raise WireError("a word stands outside of its page")
    left, top, right, bottom = held
    return (left, top, right, bottom)


def _dropped(row: Sequence[Any]) -> Dropped:
    if len(row) != 4:  # noqa: PLR2004 the fields of what was dropped
        raise WireError("what was dropped has other fields")
    text, reason, page, count = row
    if _integer(count) < 1:
        raise WireError("what was dropped never stood there")
    return Dropped(one_line(_text(text)), one_line(_text(reason)), _page(page), count)


def _page(page: Any) -> int | None:  # noqa: ANN401 parsed JSON
    if page is None or 1 <= _integer(page) <= _MAX_PAGE:
        return page  # type: ignore[no-any-return]  # _integer checked it
    raise WireError("a page is out of range")


def _block(row: Sequence[Any], paths: Sequence[tuple[str, ...]], headers: Sequence[str]) -> Block:
    if len(row) != 8:  # noqa: PLR2004 the fields of a block
        raise WireError("a block has other fields")
    kind, start, end, path, page, place, header, part = row
    if _text(kind) not in BlockKind.__members__.values():
        raise WireError("a block is of unknown kind")
    if not 0 <= _integer(path) < len(paths) or not 0 <= _integer(header) < len(headers):
        raise WireError("a block names a path that was not sent")
    where = one_line(_text(place))
    span, above = (_integer(start), _integer(end)), headers[header]
    return Block(BlockKind(kind), *span, paths[path], _page(page), where, above, part=_integer(part))


def _metadata(held: Any) -> dict[str, MetadataValue]:  # noqa: ANN401 parsed JSON
    if not isinstance(held, dict):
        raise WireError("the metadata are no object")
    found: dict[str, MetadataValue] = {}
    for name, value in held.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str | int | float | bool) for each in values):
            raise WireError("a metadata value is no scalar")
        found[name] = tuple(values) if isinstance(value, list) else value
    return clean_metadata(found)


def _text(value: Any) -> str:  # noqa: ANN401 parsed JSON
    if not isinstance(value, str):
        raise WireError("a text is missing")
    return value


def _integer(value: Any) -> int:  # noqa: ANN401 parsed JSON
    if not isinstance(value, int) or isinstance(value, bool):
        raise WireError("a number is missing")
    return value


def _list(value: Any) -> list[Any]:  # noqa: ANN401 parsed JSON
    if not isinstance(value, list):
        raise WireError("a list is missing")
    return value

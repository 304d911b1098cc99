"""How the nouns stand in the catalog's rows. What cannot have been written so raises CorruptError when it is read."""

import json
import math
from collections.abc import Callable, Sequence
from functools import wraps
from hashlib import blake2b
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Readers, readers_of
from twofold.domain.errors import CorruptError, InvalidInputError
from twofold.domain.ports import EmbedderIdentity, IndexFingerprint
from twofold.domain.types import (
    MAX_INTEGER,
    Block,
    BlockKind,
    Chunk,
    Document,
    DocumentInfo,
    Dropped,
    IndexedChunk,
    Metadata,
    PageWords,
    Scores,
    Vector,
)
from twofold.kernels import are_unicode

TERM_RECORD = np.dtype([("term", "<u4"), ("count", "<u2")])
MAX_DIMENSIONS = 65_536
_DROPPED = "dropped"  # in place of a block's kind
_WORDS = "words"  # as above

MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What reading a value raises that no row or segment of ours holds."""

_Arguments = ParamSpec("_Arguments")
_Read = TypeVar("_Read")

READERS_COLUMN = (  # a number that no set of readers has is no default: it reads as damage
    "CASE WHEN document.readers IS NULL THEN '' ELSE"
    " (SELECT principals FROM readers WHERE readers.id = document.readers) END"
)
DOCUMENT_COLUMNS = f"document.id, source, title, media_type, metadata, content_hash, blocks, text, {READERS_COLUMN}"
INFO_COLUMNS = (
    "document.id, source, title, media_type, document.metadata, content_hash,"
    " (SELECT count(*) FROM chunk AS own WHERE own.document = document.row AND own.edition = ?1), characters,"
    " {READERS_COLUMN}"
).replace("{READERS_COLUMN}", READERS_COLUMN)
CHUNK_COLUMNS = "document.id, ordinal, chunk.text, start, stop, heading, page, place, header, chunk.metadata"
CHUNK_WIDTH = CHUNK_COLUMNS.count(",") + 1
FIELD_COLUMNS = "chunk.document, source, title, media_type, document.metadata, page, chunk.metadata, heading"
FETCHED_COLUMNS = f"{CHUNK_COLUMNS}, source, title, document.metadata"


def reading(what: str) -> Callable[[Callable[_Arguments, _Read]], Callable[_Arguments, _Read]]:
    """Return a decorator for what reads stored values: those that are malformed raise CorruptError, naming `what`."""

    def decorated(read: Callable[_Arguments, _Read]) -> Callable[_Arguments, _Read]:
        @wraps(read)
        def checked(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Read:
            try:
                return read(*arguments, **named)
            except MALFORMED as error:
                raise CorruptError(
                    f"The index is damaged: {what} cannot be read.",
                    "Run `twofold index verify`; restore a copy or sync into a new index.",
                ) from error

        return checked

    return decorated


def _refuse(message: str = "not a value that is written") -> NoReturn:
    raise ValueError(message)


_JSON = json.JSONDecoder(parse_constant=_refuse)
_written = json.JSONEncoder(ensure_ascii=False, default=dict).encode  # made once: `dumps` makes one for each value


def text_hash(indexed_text: str) -> bytes:
    """Name an indexed text: sixteen bytes of BLAKE2b."""
    return blake2b(indexed_text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@reading("a vector")
def unpack_vector(data: bytes) -> Vector:
    """Read a vector back, widened to float32."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


def document_row(document: Document) -> tuple[str | int, ...]:
    """Return a document's columns, in the table's order after `row`."""
    dropped = [[_DROPPED, left.text, left.reason, left.page, left.count] for left in document.dropped]
    words = [[_WORDS, one.page, one.words, one.boxes] for one in document.words]
    blocks = [
        [block.kind.value, block.start, block.end, block.heading, block.page, block.place, block.header]
        + ([dict(block.metadata)] if block.metadata else [])
        for block in document.blocks
    ]
    return (
        document.id,
        document.source,
        document.title,
        document.media_type,
        write_metadata(document.metadata),
        document.content_hash,
        len(document.text),
        _written([*blocks, *dropped, *words]) if blocks or dropped or words else "[]",
        document.text,
    )


class FieldsRow(NamedTuple):
    """A passage's fields, its document's and its own, as they stand in `FIELD_COLUMNS`."""

    document: int
    source: str
    title: str
    media_type: str
    shared: str
    page: int | None
    own: str
    heading: str = "[]"


def read_document_fields(row: FieldsRow) -> DocumentInfo:
    """Read what filters look at of a document; the rest is left empty."""
    return DocumentInfo("", row.source, row.title, row.media_type, read_metadata(row.shared), "", 0, 0)


def read_filter_fields(row: FieldsRow) -> Chunk:
    """Read what filters look at of a passage alone; the rest is left empty."""
    heading = () if row.heading == "[]" else _texts(_JSON.decode(row.heading))
    return Chunk("", 0, "", 0, 0, heading=heading, page=row.page, metadata=read_metadata(row.own))


def write_metadata(metadata: Metadata) -> str:
    """Write metadata as JSON."""
    return _written(metadata) if metadata else "{}"


def chunk_row(indexed: IndexedChunk) -> tuple[str | int | bytes | None, ...]:
    """Return a passage's columns, in the table's order from after `document` to before `terms`."""
    chunk = indexed.chunk
    return (
        chunk.ordinal,
        chunk.key,
        chunk.start,
        chunk.end,
        chunk.page,
        chunk.place,
        write_metadata(chunk.metadata),
        _written(chunk.heading) if chunk.heading else "[]",
        chunk.header,
        chunk.text,
        text_hash(chunk.indexed_text),
        indexed.terms.length,
    )


@reading("a document")
def read_document(row: tuple[str, ...]) -> Document:
    """Make a document of `DOCUMENT_COLUMNS`."""
    identity, source, title, media_type, metadata, content_hash, blocks, text, readers = row
    rows = _JSON.decode(blocks)
    return Document(
        id=identity,
        source=source,
        text=text,
        title=title,
        media_type=media_type,
        blocks=tuple(_block(*row) for row in rows if row[0] not in (_DROPPED, _WORDS)),
        metadata=read_metadata(metadata),
        content_hash=content_hash,
        dropped=tuple(_dropped(*row[1:]) for row in rows if row[0] == _DROPPED),
        readers=read_readers(readers),
        words=tuple(_page_words(*row[1:]) for row in rows if row[0] == _WORDS),
    )


def _page_words(page: object, words: object, boxes: object) -> PageWords:
    number = _page(page)
    if number is None or not isinstance(words, list) or not isinstance(boxes, list) or len(words) != len(boxes):
        _refuse()
    return PageWords(number, _texts(words), tuple(_box(one) for one in boxes))


def _box(held: object) -> tuple[int, int, int, int]:
    if not isinstance(held, list) or not all(isinstance(part, int) for part in held):
        _refuse()
    left, top, right, bottom = held
    return (left, top, right, bottom)


def _dropped(text: str, reason: str, page: object, count: object) -> Dropped:
    if not isinstance(count, int) or count < 1:
        _refuse()
    shown, why = _texts([text, reason])
    return Dropped(shown, why, _page(page), count)


def _block(kind: str, start: int, end: int, *rest: object) -> Block:
    """Make a block of what `document_row` wrote; only a record's block has fields at its end."""
    heading, page, place, header, *own = rest
    shown = _texts([place, header])
    metadata = _fields(own[0]) if own else {}
    return Block(BlockKind(kind), *_span(start, end), _texts(heading), _page(page), shown[0], shown[1], metadata)


@reading("a document's line")
def read_info(row: tuple[str | int, ...]) -> DocumentInfo:
    """Make a listing's line of `INFO_COLUMNS`."""
    identity, source, title, media_type, metadata, content_hash, chunks, characters, readers = row
    return DocumentInfo(
        str(identity),
        str(source),
        str(title),
        str(media_type),
        read_metadata(str(metadata)),
        str(content_hash),
        int(chunks),
        int(characters),
        read_readers(readers),
    )


@reading("who may read")
def read_readers(text: object) -> Readers | None:
    """Read principals back; the empty text stands for the index's default."""
    if text == "":
        return None
    kept = _texts(_JSON.decode(str(text)))
    try:
        sound = readers_of(kept) == kept
    except InvalidInputError:
        sound = False
    if not sound:
        _refuse()
    return kept


def write_readers(readers: Readers) -> str:
    """Write principals as they are kept."""
    return json.dumps(readers, ensure_ascii=False)


@reading("metadata")
def read_metadata(text: str) -> Metadata:
    """Read metadata back; lists become tuples."""
    if text == "{}":
        return {}
    return _fields(_JSON.decode(text))


def _fields(read: object) -> Metadata:
    if not isinstance(read, dict):
        _refuse()
    held = {name: tuple(one) if isinstance(one, list) else one for name, one in read.items()}
    for name, one in held.items():
        values = one if isinstance(one, tuple) else (one,)
        if not (all(map(_is_scalar, values)) and is_unicode(name)):
            _refuse()
    return held


def _is_scalar(value: object) -> bool:
    if isinstance(value, str):
        return is_unicode(value)
    if isinstance(value, int):
        return abs(value) <= MAX_INTEGER
    return isinstance(value, float) and math.isfinite(value)


def is_unicode(text: str) -> bool:
    """Return whether a text can be written out: JSON can spell half a surrogate pair."""
    return text.isascii() or are_unicode([text])


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(one, str) and is_unicode(one) for one in values):
        _refuse()
    return tuple(values)


def _span(start: object, end: object) -> tuple[int, int]:
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end):
        _refuse()
    return start, end


def _page(page: object) -> int | None:
    if not (page is None or (isinstance(page, int) and page >= 0)):
        _refuse()
    return page


@reading("a passage")
def read_chunk(row: tuple[str | int | None, ...]) -> Chunk:
    """Make a passage of `CHUNK_COLUMNS`."""
    document, ordinal, text, start, stop, heading, page, place, header, metadata = row
    first, end = _span(start, stop)
    return Chunk(
        document=str(document),
        ordinal=_span(0, ordinal)[1],
        text=str(text),
        start=first,
        end=end,
        heading=() if heading == "[]" else _texts(_JSON.decode(str(heading))),
        page=_page(page),
        place=str(place),
        header=str(header),
        metadata={} if metadata == "{}" else read_metadata(str(metadata)),
    )


@reading("a passage")
def read_indexed_text(heading: str, header: str, text: str) -> str:
    """Return what both retrievers see of a passage, from its columns."""
    if heading == "[]" and not header:
        return text
    return Chunk("", 0, text, 0, 0, heading=_texts(_JSON.decode(heading)), header=header).indexed_text


def write_fingerprint(fingerprint: IndexFingerprint) -> str:
    """Write a recipe as canonical JSON."""
    embedder = {name: getattr(fingerprint.embedder, name) for name in EmbedderIdentity.__slots__}
    parts = {
        "embedder": embedder,
        "analyzer": fingerprint.analyzer,
        "chunker": fingerprint.chunker,
        "enricher": fingerprint.enricher,
        "settings": dict(fingerprint.settings),
    }
    return json.dumps(parts, ensure_ascii=False, sort_keys=True)


@reading("the recipe")
def read_fingerprint(text: str) -> IndexFingerprint:
    """Read a recipe back."""
    parts = _JSON.decode(text)
    names, values = _texts(list(parts["settings"])), _texts(list(parts["settings"].values()))
    held = parts["embedder"]
    sizes = [held["dimensions"], held["max_tokens"]]
    if not all(type(size) is int and 0 < size <= MAX_INTEGER for size in sizes) or sizes[0] > MAX_DIMENSIONS:
        _refuse()
    _texts([held[name] for name in EmbedderIdentity.__slots__ if name not in {"dimensions", "max_tokens"}])
    analyzer, chunker, enricher = _texts([parts["analyzer"], parts["chunker"], parts["enricher"]])
    return IndexFingerprint(
        EmbedderIdentity(**held), analyzer, chunker, enricher, tuple(zip(names, values, strict=True))
    )


@reading("a passage's terms")
def read_terms(data: bytes) -> tuple[NDArray[np.uint32], NDArray[np.uint16]]:
    """Read a passage's term ids and their counts back."""
    records = np.frombuffer(data, dtype=TERM_RECORD)
    return records["term"], records["count"]


@reading("a passage's terms")
def read_passages_terms(
    packed: Sequence[bytes],
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint16]]:
    """Read the terms of passages: how many each has, then the ids and the counts of all, one after the other."""
    lengths = np.array(list(map(len, packed)), dtype=np.int64)
    sizes, rests = np.divmod(lengths, TERM_RECORD.itemsize)
    if rests.any():
        _refuse("a passage's terms are cut off")
    return sizes, *read_terms(b"".join(packed))


class FetchedRow:
    """A passage as its row holds it, read when it is looked at; see `FetchedPassage`."""

    __slots__ = ("_row",)

    def __init__(self, row: tuple[Any, ...]) -> None:
        self._row = row

    @property
    def chunk(self) -> Chunk:
        """The passage."""
        return read_chunk(self._row[1:-3])

    @property
    def source(self) -> str:
        """The document's path or address."""
        return str(self._row[-3])

    @property
    def title(self) -> str:
        """The document's title."""
        return str(self._row[-2])

    @property
    def metadata(self) -> Metadata:
        """The document's fields."""
        return read_metadata(str(self._row[-1]))


def finite_scores(scores: Scores) -> Scores:
    """Return the scores. Raises ValueError where a segment's vectors make them no numbers."""
    if not np.isfinite(scores).all():
        message = "a score is no number"
        raise ValueError(message)
    return scores

"""One file that holds a whole collection: what `index export` writes and `index import` reads, on any platform.

Everything lies uncompressed in one order that follows from the documents alone, so equal collections make equal files,
and a file can make nothing larger than itself. It names no paths to write to and nothing that is run. The layout:

    "twofold index 1" and a line feed             16 bytes
    length, header                               JSON: counts, the recipe, the collection's own settings
    length, document                             for each, by rising id; see `_document_frame`
    0                                            a length of zero
    SHA-256 of all that stands before            32 bytes

Lengths are unsigned, 8 bytes, little-endian. What roots it was synced from is not in it: paths of another machine.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, BinaryIO, NoReturn

import numpy as np

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError, InvalidInputError, MismatchError
from twofold.domain.ports import IndexFingerprint, Snapshot
from twofold.domain.snapshots import StoredVectors
from twofold.domain.types import Chunk, Document, Entry, IndexedChunk, TermCounts
from twofold.stores.local.serialization import (
    MALFORMED,
    TERM_RECORD,
    document_row,
    read_chunk,
    read_document,
    read_fingerprint,
    write_fingerprint,
    write_metadata,
    write_readers,
)

MAGIC = b"twofold index "
FORMAT = 1
LENGTH_BYTES = 8
CHECKSUM_BYTES = 32
READ_BYTES = 1 << 20
_HINT = "Export it again, or get another copy from where it came."


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """What stands before the documents."""

    documents: int
    chunks: int
    fingerprint: IndexFingerprint | None
    settings: Mapping[str, str]
    synonyms: str


def entries_of(view: Snapshot) -> Iterator[Entry]:
    """Yield all documents whole, by rising id, with the vectors and the words that are stored."""
    if not isinstance(view, StoredVectors):
        raise InvalidInputError("Several indexes are not copied as one.", "Copy one after the other.")
    for identity in sorted(info.id for info in view.documents()):
        document = view.document(identity)
        if document is None:
            raise CorruptError(f"The index lists a document {identity!r} and does not hold it.", _HINT)
        chunks = view.chunks_of(identity)
        keys = [chunk.key for chunk in chunks]
        counted = zip(chunks, view.term_counts(keys), view.vectors(keys), strict=True)
        yield Entry(document, tuple(IndexedChunk(chunk, terms, vector) for chunk, terms, vector in counted))


def write_export(view: Snapshot, settings: Mapping[str, str], write: Callable[[bytes], object]) -> str:
    """Write a collection; return the SHA-256 of the whole file, as `sha256sum` prints it."""
    checksum = sha256()

    def put(data: bytes) -> None:
        checksum.update(data)
        write(data)

    infos = list(view.documents())
    recipe = None if view.fingerprint is None else json.loads(write_fingerprint(view.fingerprint))
    header = {
        "documents": len(infos),
        "chunks": sum(info.chunks for info in infos),
        "fingerprint": recipe,
        "settings": dict(settings),
        "synonyms": view.synonyms,
    }
    put(MAGIC + b"%d\n" % FORMAT)
    put(_framed(_as_json(header)))
    for entry in entries_of(view):
        put(_framed(_document_frame(entry)))
    put(_framed(b""))
    put(checksum.digest())
    return checksum.hexdigest()


def _framed(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "little") + data


def _as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _document_frame(entry: Entry) -> bytes:
    """Return a document: a frame of JSON, a frame of its text, then the terms and the vectors of its passages.

    Terms are numbered by their place among the document's own, sorted, so that no history shows.
    """
    identity, source, title, media_type, _, content_hash, _, blocks, text = document_row(entry.document)
    terms = sorted({term for one in entry.chunks for term in one.terms.counts})
    numbers = {term: number for number, term in enumerate(terms)}
    counted = [sorted((numbers[term], often) for term, often in one.terms.counts.items()) for one in entry.chunks]
    head = {
        "document": [identity, source, title, media_type, content_hash, blocks],
        "metadata": json.loads(write_metadata(entry.document.metadata)),
        "readers": None if entry.document.readers is None else list(entry.document.readers),
        "terms": terms,
        "chunks": [
            {
                "span": [one.chunk.start, one.chunk.end],
                "ordinal": one.chunk.ordinal,
                "page": one.chunk.page,
                "place": one.chunk.place,
                "heading": list(one.chunk.heading),
                "header": one.chunk.header,
                "metadata": json.loads(write_metadata(one.chunk.metadata)),
                "words": one.terms.length,
                "terms": len(found),
                "vector": one.vector is not None,
            }
            for one, found in zip(entry.chunks, counted, strict=True)
        ],
    }
    records = np.array([pair for found in counted for pair in found], dtype=TERM_RECORD).tobytes()
    vectors = b"".join(one.vector.astype("<f2").tobytes() for one in entry.chunks if one.vector is not None)
    return _framed(_as_json(head)) + _framed(str(text).encode()) + records + vectors


def check_whole(file: BinaryIO) -> None:
    """Read a file through and hold it against its checksum; leave it at its beginning.

    Raises CorruptError for a file that is cut off, changed or none of ours, MismatchError for another format.
    """
    file.seek(0)
    start = file.read(len(MAGIC) + 2)
    if not start.startswith(MAGIC) or not start.endswith(b"\n"):
        raise CorruptError("This file is no exported index.", "Name a file that `twofold index export` wrote.")
    if start[len(MAGIC) : -1] != b"%d" % FORMAT:
        found = start[len(MAGIC) : -1].decode("ascii", "replace")
        raise MismatchError(
            f"The file has format {found}; this twofold reads format {FORMAT}.",
            "Use the version of twofold that wrote it, or export it again with this one.",
        )
    checksum, kept = sha256(start), b""
    while data := file.read(READ_BYTES):
        checksum.update((kept + data)[:-CHECKSUM_BYTES])
        kept = (kept + data)[-CHECKSUM_BYTES:]
    if checksum.digest() != kept:
        raise CorruptError("The exported index is damaged: its checksum does not match its content.", _HINT)
    file.seek(0)


class ExportReader:
    """Reads an exported file that was checked as a whole. What it says is data: each value is checked again."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size - CHECKSUM_BYTES
        self._take(len(MAGIC) + 2)
        with _malformed():
            head = json.loads(self._frame())
            recipe, settings = head["fingerprint"], head["settings"]
            self.header = ExportHeader(
                documents=_count(head["documents"]),
                chunks=_count(head["chunks"]),
                fingerprint=None if recipe is None else read_fingerprint(json.dumps(recipe)),
                settings={_text(name): _text(value) for name, value in settings.items()},
                synonyms=_text(head["synonyms"]),
            )

    def entries(self) -> Iterator[Entry]:
        """Yield the documents. Raises CorruptError for what no file of ours holds."""
        recipe = self.header.fingerprint
        width = 0 if recipe is None else recipe.embedder.dimensions
        last = ""
        while frame := self._frame():
            with _malformed():
                entry = _read_document_frame(frame, width)
                if entry.document.id <= last:
                    _refuse("documents do not stand in order")
            last = entry.document.id
            yield entry
        if self._left:
            raise CorruptError("The exported index goes on behind its end.", _HINT)

    def _frame(self) -> bytes:
        length = int.from_bytes(self._take(LENGTH_BYTES), "little")
        return self._take(length)

    def _take(self, length: int) -> bytes:
        """Read a part; nothing is read, or made room for, that is longer than the rest of the file."""
        if length > self._left:
            raise CorruptError("The exported index is damaged: a part is longer than the file.", _HINT)
        self._left -= length
        data = self._file.read(length)
        if len(data) != length:
            raise CorruptError("The exported index is cut off.", _HINT)
        return data


class _Bytes:
    """A frame that is read from left to right."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    def take(self, length: int) -> memoryview:
        """Return the next bytes. Raises ValueError where there are not as many."""
        if not 0 <= length <= len(self._data):
            _refuse("a part is longer than its frame")
        taken, self._data = self._data[:length], self._data[length:]
        return taken

    def frame(self) -> bytes:
        """Return the next part that has its length before it."""
        return bytes(self.take(int.from_bytes(self.take(LENGTH_BYTES), "little")))

    def end(self) -> None:
        """Raise ValueError where something is left."""
        if len(self._data):
            _refuse("a frame is longer than what it holds")


def _read_document_frame(frame: bytes, width: int) -> Entry:
    data = _Bytes(frame)
    head, text = json.loads(data.frame()), data.frame().decode()
    identity, source, title, media_type, content_hash, blocks = map(_text, head["document"])
    metadata = json.dumps(head["metadata"], ensure_ascii=False)
    readers = "" if head["readers"] is None else write_readers(tuple(map(_text, head["readers"])))
    document = read_document((identity, source, title, media_type, metadata, content_hash, blocks, text, readers))
    terms = list(map(_text, head["terms"]))
    counted = [_read_terms(one, data, terms) for one in head["chunks"]]
    chunks = []
    for one, counts in zip(head["chunks"], counted, strict=True):
        vector = None
        if one["vector"] is True:
            vector = np.frombuffer(data.take(2 * width), dtype="<f2").astype(np.float32)
        chunks.append(IndexedChunk(_read_chunk(one, document), counts, vector))
    data.end()
    if [one.chunk.ordinal for one in chunks] != list(range(len(chunks))):
        _refuse("passages are not numbered from 0")
    return Entry(document, tuple(chunks))


def _read_terms(one: Mapping[str, Any], data: _Bytes, terms: list[str]) -> TermCounts:
    records = np.frombuffer(data.take(_count(one["terms"]) * TERM_RECORD.itemsize), dtype=TERM_RECORD)
    numbers, often = records["term"].tolist(), records["count"].tolist()
    if not all(often) or len(set(numbers)) != len(numbers):
        _refuse("a term does not occur")
    return TermCounts(
        {terms[number]: count for number, count in zip(numbers, often, strict=True)}, _count(one["words"])
    )


def _read_chunk(one: Mapping[str, Any], document: Document) -> Chunk:
    start, stop = map(_count, one["span"])
    if stop > len(document.text):
        _refuse("a passage ends behind its document")
    if start > stop:
        _refuse("a passage begins behind its end")
    heading, metadata = json.dumps(one["heading"]), json.dumps(one["metadata"])
    shown = (_text(one["place"]), _text(one["header"]))
    text = document.text[start:stop]
    return read_chunk((document.id, _count(one["ordinal"]), text, start, stop, heading, one["page"], *shown, metadata))


@contextmanager
def _malformed() -> Iterator[None]:
    try:
        yield
    except MALFORMED as error:
        raise CorruptError(f"The exported index is malformed: {error}.", _HINT) from error


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**40:
        _refuse("a count is no number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        _refuse("a text is of another kind")
    return value


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)

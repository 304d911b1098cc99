"""A segment: a run of passages made ready for both retrievers, in memory or mapped from an immutable file.

It is derived from the catalog's rows and can be made from them again at any time. The file is a line of JSON that
names its arrays, then the arrays, each at a multiple of 64 bytes. The catalog keeps the hash of the whole file.
"""

import json
import math
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import CorruptError
from twofold.kernels import NOWHERE
from twofold.stores.local.field_index import Columns, Lookup, build_columns, merge_columns, titles_and_fields
from twofold.stores.local.folded_texts import FoldedTexts
from twofold.stores.local.serialization import (
    MALFORMED,
    FieldsRow,
    read_indexed_text,
    read_passages_terms,
    reading,
)
from twofold.stores.local.sound import is_sound
from twofold.stores.local.term_dictionary import EncodedTerms, TermDictionary, merge_dictionaries
from twofold.system.files import open_plain
from twofold.system.memory import let_go
from twofold.text.postings import DROPPED, Postings, TermsOfPassages, build, merge
from twofold.text.vocabulary import PlainVocabulary, WordTable
from twofold.vectors.quantize import Codes, quantize
from twofold.vectors.rabitq import BitCodes, bit_codes, rotated

MAGIC = b"twofold segment 7\n"
ALIGNMENT = 64
BITS_FROM = 4096  # passages in a segment; fewer are scanned as fast in eight bits
MAX_HEADER_BYTES = 4096
TABLE_FROM = 4096  # terms in a segment; fewer are found as fast by halving
SPARSEST = 64  # with this many numbers a term, and a table of them would be too large


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """Arrays over n passages ("slots", in the order of their rows), T terms, P postings and d dimensions.

    A passage without a vector has a row of zeros, which no embedder gives, and with it a scale of 0.
    """

    rows: NDArray[np.int64]  # (n,) rising row numbers of the catalog
    keys: NDArray[np.int64]  # (n,) the passages' keys
    rising_keys: NDArray[np.int64]  # (n,) the keys in order, to look one up
    key_order: NDArray[np.uint32]  # (n,) their slots
    documents: NDArray[np.int64]  # (n,) rows of their documents
    lengths: NDArray[np.uint32]  # (n,) in words
    terms: NDArray[np.uint32]  # (T,) rising term ids
    offsets: NDArray[np.int64]  # (T + 1,) where each term's postings begin
    slots: NDArray[np.uint32]  # (P,)
    frequencies: NDArray[np.uint16]  # (P,)
    forward_offsets: NDArray[np.int64]  # (n + 1,) these three are `ForwardIndex`
    forward_places: NDArray[np.uint32]  # (P,)
    forward_frequencies: NDArray[np.uint16]  # (P,)
    term_texts: NDArray[np.uint8]  # these four are `TermDictionary`
    term_offsets: NDArray[np.int64]  # (T + 1,)
    term_hashes: NDArray[np.uint64]  # (T,)
    term_places: NDArray[np.uint32]  # (T,)
    folded: NDArray[np.uint8]  # the passages' indexed texts, folded by `phrases.squeeze`, as UTF-8
    folded_offsets: NDArray[np.int64]  # (n + 1,)
    vectors: NDArray[np.float16]  # (n, d)
    codes: NDArray[np.int8]  # (n, d)
    scales: NDArray[np.float32]  # (n,)
    bit_center: NDArray[np.float32]  # these six are `BitCodes`, empty in a segment of few passages
    bits: NDArray[np.uint64]
    bit_scales: NDArray[np.float32]
    bit_offsets: NDArray[np.float32]
    bit_spreads: NDArray[np.float32]
    fine_bits: NDArray[np.uint64]  # (n, words)
    field_groups: NDArray[np.uint8]  # these four are `Columns`
    field_values: NDArray[np.uint8]
    field_offsets: NDArray[np.int64]
    field_slots: NDArray[np.uint32]
    lookups: list[Lookup] = field(default_factory=list)  # at most one, made when a filter first asks; never written
    passing: dict[str, NDArray[np.uint8]] = field(default_factory=dict)  # by scope, as lookups; the dead may pass
    tables: list[NDArray[np.uint32]] = field(default_factory=list)  # at most one, of `places_of`; never written
    readers: dict[int, NDArray[np.int64]] = field(default_factory=dict)  # by count of changes of access; never written
    coded: list[BitCodes] = field(default_factory=list)  # at most one, made when vectors are first searched
    words: list[PlainVocabulary] = field(default_factory=list)  # at most one, made when first asked; never written

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def vocabulary(self) -> PlainVocabulary:
        """Return the words of the passages, the dead ones' too; counting them takes about 7 µs a passage, once."""
        if not self.words:
            counted = partial(WordTable.of, self.folded, self.folded_offsets)
            self.words.append(PlainVocabulary(counted, *titles_and_fields(self.columns)))
        return self.words[0]

    @property
    def postings(self) -> Postings:
        """Return the BM25 retriever's arrays as one thing."""
        return Postings(self.terms, self.offsets, self.slots, self.frequencies)

    @property
    def dictionary(self) -> TermDictionary:
        """Return the texts of the terms as one thing."""
        return TermDictionary(self.term_texts, self.term_offsets, self.term_hashes, self.term_places)

    @property
    def quantized(self) -> Codes:
        """Return the eight-bit codes as one thing."""
        return Codes(self.codes, self.scales)

    @property
    def embedded(self) -> NDArray[np.bool_]:
        """Mark the passages that have a vector, (n,)."""
        return np.not_equal(self.scales, 0.0)

    @property
    def bit_codes(self) -> BitCodes | None:
        """Return the codes of one bit as one thing; None in a segment of few passages."""
        if not len(self.bit_scales):
            return None
        if not self.coded:
            numbers = (self.bit_scales, self.bit_offsets, self.bit_spreads, self.fine_bits)
            self.coded.append(BitCodes(self.bit_center, rotated(self.bit_center), self.bits, *numbers))
        return self.coded[0]

    @property
    def columns(self) -> Columns:
        """Return what filters look at as one thing."""
        return Columns(self.field_groups, self.field_values, self.field_offsets, self.field_slots)

    @property
    def lookup(self) -> Lookup:
        """Return what finds the passages that pass a test."""
        if not self.lookups:
            self.lookups.append(Lookup(self.columns))
        return self.lookups[0]

    def places_of(self, term_ids: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return where terms stand among `terms`; `NOWHERE` for one that is not there."""
        table = self.table
        return self.postings.places_of(term_ids) if table is None else table.take(term_ids, mode="clip")

    @property
    def table(self) -> NDArray[np.uint32] | None:
        """Return the place of each number, the last of all beyond; None where halving is as fast or it is too large."""
        if not self.tables:
            if len(self.terms) < TABLE_FROM or int(self.terms[-1]) > SPARSEST * len(self.terms):
                return None
            table = np.full(int(self.terms[-1]) + 2, NOWHERE, dtype=np.uint32)
            table[self.terms] = np.arange(len(self.terms), dtype=np.uint32)
            self.tables.append(table)
        return self.tables[0]

    def stretches(self, terms: EncodedTerms) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the postings of each term start and end."""
        return self.postings.stretches(self.dictionary.find(terms))

    def slots_of_keys(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Find which of the keys are here: their places among `keys`, and their slots."""
        return _locate(self.rising_keys, keys, self.key_order)

    def slots_of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Find the slots of those rows that are here."""
        return _locate(self.rows, rows, None)[1]


def _locate(
    rising: NDArray[np.int64], wanted: NDArray[np.int64], order: NDArray[np.uint32] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not len(rising) or not len(wanted):
        nothing = np.empty(0, dtype=np.int64)
        return nothing, nothing
    places = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
    (found,) = (rising[places] == wanted).nonzero()
    slots = places[found]
    return found, slots if order is None else order[slots].astype(np.int64)


NEVER_WRITTEN = frozenset({"lookups", "passing", "tables", "readers", "coded", "words"})
ARRAYS = tuple(one.name for one in fields(Segment) if one.name not in NEVER_WRITTEN)


DTYPES = {
    "rows": "<i8",
    "keys": "<i8",
    "rising_keys": "<i8",
    "key_order": "<u4",
    "documents": "<i8",
    "lengths": "<u4",
    "terms": "<u4",
    "offsets": "<i8",
    "slots": "<u4",
    "frequencies": "<u2",
    "forward_offsets": "<i8",
    "forward_places": "<u4",
    "forward_frequencies": "<u2",
    "term_texts": "|u1",
    "term_offsets": "<i8",
    "term_hashes": "<u8",
    "term_places": "<u4",
    "folded": "|u1",
    "folded_offsets": "<i8",
    "vectors": "<f2",
    "codes": "|i1",
    "scales": "<f4",
    "bit_center": "<f4",
    "bits": "<u8",
    "bit_scales": "<f4",
    "bit_offsets": "<f4",
    "bit_spreads": "<f4",
    "fine_bits": "<u8",
    "field_groups": "|u1",
    "field_values": "|u1",
    "field_offsets": "<i8",
    "field_slots": "<u4",
}


@dataclass(frozen=True, slots=True, eq=False)
class SegmentRows:
    """What segments need of passages' rows and their documents': columns in step, the last eight as in `FieldsRow`."""

    row: Sequence[int]
    key: Sequence[int]
    words: Sequence[int]
    terms: Sequence[bytes]
    vector: Sequence[bytes | None]  # None for a passage that is not embedded yet
    header: Sequence[str]
    text: Sequence[str]
    document: Sequence[int]
    source: Sequence[str]
    title: Sequence[str]
    media_type: Sequence[str]
    shared: Sequence[str]
    page: Sequence[int | None]
    own: Sequence[str]
    heading: Sequence[str]

    @classmethod
    def of(cls, rows: Iterable[tuple[Any, ...]]) -> Self:
        """Return rows of `ROW_COLUMNS` by column."""
        return cls(*(tuple(zip(*rows, strict=True)) or ((),) * len(cls.__slots__)))

    def __len__(self) -> int:
        return len(self.row)

    @property
    def fields(self) -> Iterator[FieldsRow]:
        """Yield what filters look at, by passage."""
        shared = (self.document, self.source, self.title, self.media_type, self.shared)
        return map(FieldsRow, *shared, self.page, self.own, self.heading)

    @property
    def indexed(self) -> list[str]:
        """Return the texts that are indexed: heading, header and text together."""
        return [
            text if heading == "[]" and not header else read_indexed_text(heading, header, text)
            for heading, header, text in zip(self.heading, self.header, self.text, strict=True)
        ]


TermTexts = Callable[[NDArray[np.uint32]], Sequence[str]]
"""Reads the texts of terms, by their numbers."""


@reading("a passage")
def build_segment(passages: SegmentRows, dimensions: int, texts: TermTexts) -> Segment:
    """Make a segment of passages, given by rising row."""
    postings = build(TermsOfPassages(*read_passages_terms(passages.terms)))
    zeros = bytes(2 * dimensions)
    joined = b"".join([zeros if vector is None else vector for vector in passages.vector])
    vectors = np.frombuffer(joined, dtype="<f2").reshape(len(passages), dimensions)
    if not np.isfinite(vectors).all():
        message = "a vector holds what is no number"
        raise ValueError(message)
    return _assemble(
        rows=np.array(passages.row, dtype=np.int64),
        keys=np.array(passages.key, dtype=np.int64),
        documents=np.array(passages.document, dtype=np.int64),
        lengths=np.array(passages.words, dtype=np.uint32),
        derived=Derived(
            postings,
            TermDictionary.of(texts(postings.terms)),
            build_columns(passages.fields),
            FoldedTexts.of(passages.indexed),
            quantize(vectors),
        ),
        vectors=vectors,
    )


def merge_segments(segments: Sequence[Segment], lives: Sequence[NDArray[np.uint8] | None]) -> Segment:
    """Merge neighboring segments, given by rising rows, and drop their dead passages."""
    kept = [
        np.arange(len(segment)) if live is None else np.flatnonzero(live)
        for segment, live in zip(segments, lives, strict=True)
    ]
    remaps = []
    first = 0
    for segment, slots in zip(segments, kept, strict=True):
        remap = np.full(len(segment), DROPPED, dtype=np.int64)
        remap[slots] = np.arange(first, first + len(slots))
        first += len(slots)
        remaps.append(remap)

    joined = partial(_joined, segments, kept)
    for segment in segments:
        let_go(segment.rows)  # all that was read to check it
    postings = merge([segment.postings for segment in segments], remaps)
    dictionaries = [segment.dictionary for segment in segments]
    return _assemble(
        rows=joined("rows"),
        keys=joined("keys"),
        documents=joined("documents"),
        lengths=joined("lengths"),
        derived=Derived(
            postings,
            merge_dictionaries(dictionaries, [segment.terms for segment in segments], postings.terms),
            merge_columns([segment.columns for segment in segments], remaps),
            merge_folded(segments, kept),
            Codes(joined("codes"), joined("scales")),
        ),
        vectors=joined("vectors"),
    )


def _joined(segments: Sequence[Segment], kept: Sequence[NDArray[np.int64]], name: str) -> NDArray[Any]:
    """Return the slots that are kept of one array, copied part by part: all at once would be held twice."""
    arrays: list[NDArray[Any]] = [getattr(segment, name) for segment in segments]
    made, at = np.empty((sum(map(len, kept)), *arrays[0].shape[1:]), dtype=arrays[0].dtype), 0
    for array, slots in zip(arrays, kept, strict=True):
        made[at : at + len(slots)] = array if len(slots) == len(array) else array[slots]
        at += len(slots)
        let_go(array)
    return made


def merge_folded(segments: Sequence[Segment], kept: Sequence[NDArray[np.int64]]) -> FoldedTexts:
    """Return the folded texts of the slots that are kept."""
    pieces, lengths = [np.empty(0, np.uint8)], [np.empty(0, np.int64)]
    for segment, slots in zip(segments, kept, strict=True):
        offsets = segment.folded_offsets
        lengths.append(np.diff(offsets)[slots])
        breaks = np.flatnonzero(np.diff(slots) != 1) + 1  # between runs of neighbors
        runs = np.split(slots, breaks) if len(slots) else ()
        pieces.extend(segment.folded[offsets[run[0]] : offsets[run[-1] + 1]] for run in runs)
    return FoldedTexts(np.concatenate(pieces), np.concatenate(lengths))


class Derived(NamedTuple):
    """What a segment's passages are looked up by."""

    postings: Postings
    dictionary: TermDictionary
    columns: Columns
    folded: FoldedTexts
    codes: Codes


def _assemble(
    *,
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
    documents: NDArray[np.int64],
    lengths: NDArray[np.uint32],
    derived: Derived,
    vectors: NDArray[np.float16],
) -> Segment:
    bits = bit_codes(vectors if len(vectors) >= BITS_FROM else vectors[:0])
    order = np.argsort(keys, kind="stable").astype(np.uint32)
    return Segment(
        rows=rows,
        keys=keys,
        rising_keys=keys[order],
        key_order=order,
        documents=documents,
        lengths=lengths,
        vectors=vectors,
        bit_center=bits.center,
        bits=bits.bits,
        bit_scales=bits.scales,
        bit_offsets=bits.offsets,
        bit_spreads=bits.spreads,
        fine_bits=bits.fine,
        **_arrays_of(derived, len(rows)),
    )


def _arrays_of(derived: Derived, passages: int) -> dict[str, Any]:
    postings, dictionary, columns, folded, codes = derived
    forward = postings.transposed(passages)
    return {
        "terms": postings.terms,
        "offsets": postings.offsets,
        "slots": postings.slots,
        "frequencies": postings.frequencies,
        "forward_offsets": forward.offsets,
        "forward_places": forward.places,
        "forward_frequencies": forward.frequencies,
        "term_texts": dictionary.texts,
        "term_offsets": dictionary.offsets,
        "term_hashes": dictionary.hashes,
        "term_places": dictionary.places,
        "folded": folded.texts,
        "folded_offsets": folded.offsets,
        "field_groups": columns.groups,
        "field_values": columns.values,
        "field_offsets": columns.offsets,
        "field_slots": columns.slots,
        "codes": codes.values,
        "scales": codes.scales,
    }


def encode(segment: Segment) -> Iterator[bytes | memoryview]:
    """Yield the file's bytes, piece by piece; arrays as they are, without a copy."""
    arrays = {name: np.ascontiguousarray(getattr(segment, name)) for name in ARRAYS}
    offset = MAX_HEADER_BYTES
    table = {}
    for name, array in arrays.items():
        table[name] = {"dtype": array.dtype.str, "shape": array.shape, "offset": offset}
        offset += _padded(array.nbytes)
    header = MAGIC + json.dumps(table).encode()
    yield header.ljust(MAX_HEADER_BYTES, b"\n")
    for array in arrays.values():
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(_padded(array.nbytes) - array.nbytes)


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def checksum(pieces: Iterable[bytes | memoryview]) -> bytes:
    """Hash a file's bytes: XXH3, 128 bits."""
    state = xxhash.xxh3_128()
    for piece in pieces:
        state.update(piece)
    return state.digest()


def open_segment(path: Path, expected: bytes, covers: tuple[int, int], dimensions: int) -> Segment:
    """Map a segment's file and check every byte of it, and that no array leads out of another.

    `covers` are the first and the last row that it may hold. Raises CorruptError when the file is missing, is a link
    or is not what was written.
    """
    try:
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise CorruptError(f"Segment {path.name} cannot be read.", "It is made again from the catalog.") from error
    return read_segment(mapped, path.name, expected, covers, dimensions)


def read_segment(
    data: bytes | mmap.mmap, name: str, expected: bytes, covers: tuple[int, int], dimensions: int
) -> Segment:
    """Read a segment from its bytes, which its arrays then share; errors as for `open_segment`."""
    if xxhash.xxh3_128_digest(data) != expected:
        raise CorruptError(f"Segment {name} fails its checksum.", "It is made again from the catalog.")
    if data[: len(MAGIC)] != MAGIC:
        raise CorruptError(f"Segment {name} has another format.", "It is made again from the catalog.")
    try:
        table = json.loads(data[len(MAGIC) : MAX_HEADER_BYTES])
        arrays: dict[str, Any] = {one: _array(data, one, table[one]) for one in ARRAYS}
        segment = Segment(**arrays)
        sound = is_sound(segment, covers, dimensions)
    except MALFORMED as error:
        raise CorruptError(f"Segment {name} is malformed.", "It is made again from the catalog.") from error
    if not sound:
        raise CorruptError(f"Segment {name} contradicts itself.", "It is made again from the catalog.")
    return segment


def _array(mapped: bytes | mmap.mmap, name: str, place: dict[str, Any]) -> NDArray[Any]:
    """Return one array of a file. Raises ValueError for another type, or an offset that kernels cannot load from."""
    shape, offset = place["shape"], place["offset"]
    if place["dtype"] != DTYPES[name] or offset % ALIGNMENT or offset < MAX_HEADER_BYTES or min(shape) < 0:
        message = f"the array {name} is misplaced"
        raise ValueError(message)
    return np.frombuffer(mapped, dtype=DTYPES[name], count=math.prod(shape), offset=offset).reshape(shape)

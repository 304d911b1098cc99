"""The nouns: documents, chunks, rankings and what a search hands back. Frozen; a score never lives in a noun."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from hashlib import blake2b
from typing import Final, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Readers
from twofold.domain.dataclass import dataclass

Scalar = str | int | float | bool
MetadataValue = Scalar | tuple[Scalar, ...]
Metadata = Mapping[str, MetadataValue]
MAX_INTEGER: Final = 2**63 - 1
"""The greatest whole number that a field of metadata may hold."""

ChunkKeys = NDArray[np.int64]
TermIds = NDArray[np.uint32]
Scores = NDArray[np.float64]
Vector = NDArray[np.float32]  # (dimensions,), Euclidean length 1
Vectors = NDArray[np.float32]  # (count, dimensions), each row of length 1

MAX_QUESTION_LENGTH = 4_096
"""Characters of a question, written out in full: more than any embedder of the catalog reads, and quick to read."""


class BlockKind(StrEnum):
    """What a stretch of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document's text that belongs together: `text[start:end]`, in reading order.

    `heading` is the path of headings above it, outermost first. `page` counts from 1: a PDF page, a slide.
    `place` is any other address a reader would give: `00:01:02`, `Sheet1 rows 2-40`, `lines 10-31`.
    A table block may name its header row in `header`: splitting the table repeats it in the indexed text.
    `metadata` are fields of this stretch alone, such as a record's: no passage reaches from one such record to another.
    `part` numbers what a file holds several of, each read for itself: messages of a mailbox, chapters of a book, half
    minutes of a recording. No passage reaches from one part to another, so that its place is that of all it says.
    """

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...] = ()
    page: int | None = None
    place: str = ""
    header: str = ""
    metadata: Metadata = field(default_factory=dict, hash=False)
    part: int = 0


@dataclass(frozen=True, slots=True)
class Dropped:
    """Text of a file that is no content of it, such as a running header: it is in no text, no passage and no index.

    `count` is how often it stood there, `page` where first, counted from 1.
    """

    text: str
    reason: str
    page: int | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words that were recognized on a picture of a page, and where each stands on it.

    `page` counts from 1. A box is left, top, right and bottom in ten-thousandths of the page's width and height, from
    its upper left corner; there is one for each word.
    """

    page: int
    words: tuple[str, ...]
    boxes: tuple[tuple[int, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read: its extracted text, and where in that text its parts stand.

    `id` is stable for one source and safe in a URL; `source` is a path or an address for people.
    `content_hash` names the bytes that were read. Spans of `blocks` are character offsets into `text`. `dropped` is
    what the file has besides and `text` has not. `readers` may read it: None where the index's default holds.
    `words` are those of pages whose text was recognized: other pages have theirs in the file.
    """

    id: str
    source: str
    text: str
    title: str = ""
    media_type: str = "text/plain"
    blocks: tuple[Block, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    content_hash: str = ""
    dropped: tuple[Dropped, ...] = ()
    readers: Readers | None = None
    words: tuple[PageWords, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What a listing shows of a document: everything but its text."""

    id: str
    source: str
    title: str
    media_type: str
    metadata: Metadata
    content_hash: str
    chunks: int
    characters: int
    readers: Readers | None = None


def shortened(text: str, most: int = 60) -> str:
    """Return the beginning of a text on one line, cut at a length, for a `repr`."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def document_id(source: str) -> str:
    """Return the stable id of a source: sixteen hexadecimal digits of its BLAKE2b hash, safe in URLs and file names."""
    return blake2b(source.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def chunk_key(chunk_id: str) -> int:
    """Return the number a chunk is known by in rankings: 63 bits of its id's BLAKE2b hash.

    It depends on the id alone, so ties broken by it do not depend on the order of insertion.
    """
    digest = blake2b(chunk_id.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `document_text[start:end] == text`, always.

    `heading` stands in front of the text in what is *indexed*, in both retrievers, and is never part of the text shown.
    `header` is a table's header row, repeated in what is indexed when the passage is a later part of that table.
    `metadata` are the passage's own fields, for filters, in addition to its document's; they are never part of what is
    indexed.
    """

    document: str
    ordinal: int
    text: str
    start: int
    end: int
    heading: tuple[str, ...] = ()
    page: int | None = None
    place: str = ""
    header: str = ""
    metadata: Metadata = field(default_factory=dict, hash=False)

    @property
    def id(self) -> str:
        """The passage's public name, such as `3f2a91c07b5de846_chunk_0`."""
        return f"{self.document}_chunk_{self.ordinal}"

    @property
    def key(self) -> int:
        """The passage's number in rankings."""
        return chunk_key(self.id)

    @property
    def indexed_text(self) -> str:
        """What both retrievers see: the heading path, a table's repeated header row, then the passage."""
        if not self.heading and not self.header:
            return self.text
        front = (" > ".join(self.heading), self.header)
        return "\n".join((*(line for line in front if line), self.text))


@dataclass(frozen=True, slots=True)
class TermCounts:
    """What the analyzer made of one passage: how often each term occurs, and the passage's length in words.

    Exact forms (codes, acronyms) are terms too but do not add to `length`, so they do not disturb BM25's length norm.
    A count is at most 65,535; analyzers stop there.
    """

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class PassageTerms:
    """The terms of n passages as arrays: `TermCounts` of all of them at once, with numbers for terms.

    Passage i holds the terms `ids[offsets[i]:offsets[i + 1]]`, each once and in no order that means anything, with
    `frequencies` in step, and is `lengths[i]` words long. A number stands for a term in one view alone.
    """

    offsets: NDArray[np.int64]  # (n + 1,)
    ids: TermIds  # (p,)
    frequencies: NDArray[np.uint16]  # (p,)
    lengths: NDArray[np.int64]  # (n,)


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A passage ready for both retrievers. `vector` has Euclidean length 1 and the collection's dimensions.

    A passage that is not embedded yet has no vector: BM25 finds it, and `Store.update_vectors` gives it one later.
    """

    chunk: Chunk
    terms: TermCounts
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with all of its passages: what a store takes in as one transaction."""

    document: Document
    chunks: tuple[IndexedChunk, ...]


class ScoredKey(NamedTuple):
    """One line of a ranking."""

    key: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The only carrier of order: best first, ties to the smaller key, no key twice.

    `keys` (n,) int64 and `scores` (n,) float64 run in step; higher is better. Make one with `Ranking.of`.
    """

    keys: ChunkKeys
    scores: Scores

    @classmethod
    def of(cls, keys: Sequence[int] | ChunkKeys, scores: Sequence[float] | Scores, limit: int | None = None) -> Self:
        """Order `keys` by falling score, ties by rising key, and keep the first `limit`."""
        found = np.asarray(keys, dtype=np.int64)
        values = np.asarray(scores, dtype=np.float64)
        rising = np.sort(found)
        if (rising[1:] == rising[:-1]).any():
            message = "a ranking may not hold a key twice"
            raise ValueError(message)
        order = np.lexsort((found, -values))[:limit]
        return cls(found[order], values[order])

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[ScoredKey]:
        return (ScoredKey(int(key), float(score)) for key, score in zip(self.keys, self.scores, strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return NotImplemented
        return np.array_equal(self.keys, other.keys) and np.array_equal(self.scores, other.scores)

    __hash__ = None  # type: ignore[assignment]

    def ranks(self) -> Mapping[int, int]:
        """Return each key's place, counted from 1."""
        return {int(key): place for place, key in enumerate(self.keys, start=1)}


EMPTY_RANKING = Ranking(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of a collection; figures of several collections add up.

    `chunks` live passages, `words` the sum of their lengths, `frequencies` how many passages hold each asked term.
    With `rounded` they are of all passages, for a viewer who may not read all: two digits, and 10 at the least.
    """

    chunks: int
    words: int
    frequencies: Mapping[str, int]
    rounded: bool = False

    @property
    def average_length(self) -> float:
        """Mean passage length in words; 1.0 for an empty collection, so that no formula divides by zero."""
        return self.words / self.chunks if self.words else 1.0


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One way to say what a group of terms stands for; `weight`, in (0, 1], is how much each time counts.

    `phrase` is empty for a single term; else the words of `terms` must stand in the text as this phrase.
    """

    terms: tuple[str, ...]
    weight: float = 1.0
    phrase: str = ""


@dataclass(frozen=True, slots=True)
class TermQuery:
    """The query for BM25: how much each term counts, the formula, and BM25's two settings.

    `weights` holds a term's count in the query times any boost, > 0. `k1` ≥ 0 says how soon repeats stop counting,
    `b` in [0, 1] how much long passages are held back. `statistics`, when given, replaces the collection's own.
    `scorer` is `bm25` or `tfidf`: see `twofold.text.bm25` and `twofold.text.tfidf`. `groups` says which of the names in
    `weights` are no terms but groups, each scored as one term; see `twofold.text.bm25`.
    """

    weights: Mapping[str, float]
    k1: float = 1.2
    b: float = 0.75
    statistics: Statistics | None = None
    scorer: str = "bm25"
    groups: Mapping[str, tuple[GroupMember, ...]] = field(default_factory=dict)

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term that is looked up: those of its own, then those of its groups, none twice."""
        if not self.groups:
            return tuple(self.weights)
        own = [term for term in self.weights if term not in self.groups]
        held = [term for members in self.groups.values() for member in members for term in member.terms]
        return tuple(dict.fromkeys(own + held))


class FeedbackGains(NamedTuple):
    """What feedback gives to the terms of a question, `own` (T,), and to others: `terms`, `gains` (m,), falling."""

    own: Sequence[float] | Scores
    terms: Sequence[str]
    gains: Sequence[float] | Scores


@dataclass(frozen=True, slots=True)
class TermScore:
    """One term's part in a passage's BM25 score: `weight · idf · saturation == score`.

    Under TF-IDF the saturation is the term's share of the passage's vector, over the length of the question's. The
    `frequency` of a group of terms is its members' counts times their weights, added up; in a
    boosted field words count more. `origin` says whether the
    question has the term or feedback added it. `word` is the whole word behind the term, where an explanation was
    asked for, else empty.
    """

    term: str
    weight: float
    idf: float
    frequency: float
    score: float
    origin: Literal["query", "prf"] = "query"
    word: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A word or phrase that a passage must, or must not, hold.

    It holds when every one of `terms` occurs and, where `verbatim` is not empty, that phrase occurs in the indexed
    text as `twofold.text.phrases.occurs` means it, or, with a `slop`, its words as `near` means it. With `any_of` one
    of these must hold as well. `label` is how it was typed, for people.
    """

    terms: tuple[str, ...]
    verbatim: str = ""
    slop: int = 0
    any_of: tuple["Clause", ...] = ()
    label: str = field(default="", compare=False, repr=False)


class WordCount(NamedTuple):
    """A word of the collection, folded, and about how often it occurs."""

    word: str
    often: int


class Vocabulary(Protocol):
    """The words that passages are made of, their documents' titles, and the names of their fields."""

    def starting_with(self, prefix: str, most: int) -> Sequence[WordCount]:
        """Return the most frequent words that begin with a folded prefix."""

    def like(self, pattern: str, most: int) -> Sequence[WordCount]:
        """Return the most frequent words of a folded pattern, in which `*` is any characters and `?` is one."""

    def near(self, word: str, distance: int) -> Sequence[tuple[WordCount, int]]:
        """Return the words within an edit distance of 1 or 2 of a folded word, each with it; the word itself has 0.

        An edit is a character more, less or another, or two neighbors swapped.
        """

    def titles(self, prefix: str, most: int) -> Sequence[str]:
        """Return titles in which a word begins with a folded prefix; those that begin with it themselves come first."""

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that any passage has."""


class TermTable(Protocol):
    """What each term of a query adds to the scores of some passages: arrays, made into objects when they are read."""

    @property
    def query(self) -> TermQuery:
        """The query, T terms in its order."""

    @property
    def idfs(self) -> Sequence[float]:
        """How rare each term is, (T,)."""

    @property
    def frequencies(self) -> NDArray[np.uint16] | Scores:
        """How often each passage has each term, (passages, T); whole numbers but for groups of terms."""

    @property
    def norms(self) -> Scores:
        """What each passage's length counts for, (passages,); 1.0 for one that is not there."""

    def of(self, place: int) -> tuple[TermScore, ...]:
        """Return each occurring term's part of one passage's score, in the query's order, as many as occur.

        Added up from the left they are the passage's score.
        """


class Sizes(NamedTuple):
    """How much a view holds."""

    documents: int
    chunks: int

"""What the tools return. Each fits a budget of tokens; `next_cursor` goes on where it ended, and is empty at last.

No slots here: the SDK takes the slots of a class for defaults of its fields.
"""

from collections.abc import Mapping

from twofold.domain.dataclass import dataclass
from twofold.domain.types import MetadataValue

Fields = Mapping[str, MetadataValue]


@dataclass(frozen=True)
class SearchRow:
    """A passage as connectors list it. `url` opens it; `id` is what `fetch` takes."""

    id: str
    title: str
    url: str


@dataclass(frozen=True)
class SearchRows:
    """What `search` finds, best first."""

    results: tuple[SearchRow, ...]


@dataclass(frozen=True)
class Fetched:
    """A document's text, or as much of it around the passage as fits; `metadata` says which part."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


@dataclass(frozen=True)
class Passage:
    """A passage with its place: `document_text[start:end]` begins with `text`, which is cut where `truncated`.

    `score` orders and says nothing else. `page` counts from 1; `section` are the headings above it, outermost first.
    """

    id: str
    document: str
    title: str
    source: str
    url: str
    score: float
    page: int | None
    section: tuple[str, ...]
    start: int
    end: int
    text: str
    truncated: bool
    metadata: Fields


@dataclass(frozen=True)
class Passages:
    """Passages, best first. `p_answerable` in [0, 1] is the chance that the documents hold an answer, None if unknown.

    `warnings` say what could not be done, such as a retriever that failed.
    """

    query: str
    passages: tuple[Passage, ...]
    p_answerable: float | None
    warnings: tuple[str, ...]
    next_cursor: str


@dataclass(frozen=True)
class Reading:
    """A stretch of a document: `document_text[start:end] == text`, of `characters` in all."""

    id: str
    document: str
    title: str
    source: str
    url: str
    start: int
    end: int
    characters: int
    text: str
    next_cursor: str


@dataclass(frozen=True)
class Section:
    """A section, and the passage that begins it. `path` are its headings, outermost first."""

    path: tuple[str, ...]
    id: str
    page: int | None
    passages: int


@dataclass(frozen=True)
class Outline:
    """The sections of a document in reading order."""

    document: str
    title: str
    source: str
    sections: tuple[Section, ...]
    next_cursor: str


@dataclass(frozen=True)
class DocumentRow:
    """A document without its text."""

    id: str
    title: str
    source: str
    media_type: str
    passages: int
    characters: int
    metadata: Fields


@dataclass(frozen=True)
class DocumentRows:
    """Some of the documents that pass the filter, by source; `total` counts them all."""

    documents: tuple[DocumentRow, ...]
    total: int
    next_cursor: str


@dataclass(frozen=True)
class Cited:
    """What a sentence of an answer rests on: `quote` stands in the document word for word at `start:end`."""

    number: int
    id: str
    title: str
    source: str
    url: str
    page: int | None
    start: int
    end: int
    quote: str


@dataclass(frozen=True)
class AnswerResult:
    """An answer with its citations; `[1]` in `text` is the source with that number. Refused: the documents do not say.

    `mode` is `extractive` where it is made of the documents' own sentences, `generated` where a model wrote it.
    `p_correct` in [0, 1] is the chance that this answer is correct, None if unknown.
    """

    question: str
    text: str
    refused: bool
    mode: str
    p_answerable: float | None
    p_correct: float | None
    citations: tuple[Cited, ...]
    warnings: tuple[str, ...]
    truncated: bool


@dataclass(frozen=True)
class Part:
    """What one retriever made of a passage: its rank from 1, its own score, and its part of the fused score.

    A passage that has no vector yet has no `raw` for it.
    """

    retriever: str
    rank: int | None
    raw: float | None
    part: float


@dataclass(frozen=True)
class Term:
    """A term of the query in the passage, and what it adds to the BM25 score."""

    term: str
    frequency: float
    idf: float
    score: float


@dataclass(frozen=True)
class Change:
    """A later stage's change of the score."""

    stage: str
    before: float
    after: float


@dataclass(frozen=True)
class Explanation:
    """Where a passage's score comes from: the retrievers' parts add up to the fused score, then each change in turn.

    `notes` are what the retrievers have to say, such as that counts are rounded.
    """

    query: str
    id: str
    rank: int
    score: float
    fusion: str
    retrievers: tuple[Part, ...]
    terms: tuple[Term, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Missed:
    """Which stage of a search lost a document, and the smallest change that brings it back.

    `rank` is its place where it was found after all; `fix` is empty where none is known.
    """

    query: str
    document: str
    rank: int | None
    stage: str
    reason: str
    fix: dict[str, str]
    rank_after_fix: int | None
    hint: str


@dataclass(frozen=True)
class Added:
    """A document that was added or replaced."""

    id: str
    source: str
    passages: int


@dataclass(frozen=True)
class Deleted:
    """How many documents were deleted."""

    deleted: int

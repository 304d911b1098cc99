"""What the routes of twofold's own give: the engine's nouns, narrowed to what a client needs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Chunk, Document, DocumentInfo, Dropped, Metadata
from twofold.domain.warning import StageWarning
from twofold.indexing.diff import RECORDED
from twofold.indexing.types import IndexInfo
from twofold.ranking.fusion import RetrieverTrace
from twofold.search.result import CacheInfo, Counts, Facet, Hit, HitTrace, QuestionFilter, SearchResult
from twofold.search.suggest import Suggestion


@dataclass(frozen=True, slots=True)
class IndexResponse:
    """An index, and how it was made; the model's name is empty while it holds nothing.

    `pending` counts the passages that have no vector yet: only BM25 finds them.
    """

    name: str
    documents: int
    chunks: int
    generation: int
    bytes_on_disk: int
    embedder: str
    analyzer: str
    chunker: str
    pending: int


@dataclass(frozen=True, slots=True)
class IndexList:
    """The indexes that the caller may read."""

    indexes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetrieverResponse:
    """What one retriever said: its rank from 1, its own score, and its part of the fused one.

    A passage that has no vector yet has no `raw` for it.
    """

    retriever: str
    rank: int | None
    raw: float | None
    part: float


@dataclass(frozen=True, slots=True)
class PassageResponse:
    """A passage: `document_text[start:end] == text`. `relevance` is the reranker's, in [0, 1], where it was read.

    `collection` is the index that it is of, where several were searched. `more` counts the further passages of its
    document that were found, where documents are collapsed. `highlights` are where in `text` words of the question
    stand, (start, end) in characters, where that was asked for.
    """

    rank: int
    score: float
    source: str
    title: str
    document: str
    chunk_id: str
    page: int | None
    place: str
    heading: tuple[str, ...]
    start: int
    end: int
    text: str
    metadata: Metadata
    retrievers: tuple[RetrieverResponse, ...]
    relevance: float | None = None
    expanded: str | None = None
    collection: str = ""
    more: int = 0
    highlights: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """A search's answer. `degraded` says that it is less than what was asked for, and `warnings` why.

    `did_you_mean` is the question with words that the index does not know spelt as near ones; empty without any.
    """

    query: str
    mode: str
    profile: str
    fusion: str
    hits: tuple[PassageResponse, ...]
    degraded: bool
    warnings: tuple[StageWarning, ...]
    confidence: float | None
    p_answerable: float | None
    cache: CacheInfo
    counts: Counts
    timings_ms: Mapping[str, float]
    generation: int
    facets: tuple[Facet, ...]
    next_cursor: str
    did_you_mean: str = ""
    extracted: tuple[QuestionFilter, ...] = ()


@dataclass(frozen=True, slots=True)
class SuggestResponse:
    """How a question may go on, the best first."""

    suggestions: tuple[Suggestion, ...]


@dataclass(frozen=True, slots=True)
class SynonymsResponse:
    """The rules of an index's synonyms, one a line, and how many there are."""

    rules: str
    count: int


@dataclass(frozen=True, slots=True)
class BatchResponse:
    """One answer for each question, in order."""

    results: tuple[SearchResponse, ...]


@dataclass(frozen=True, slots=True)
class DocumentResponse:
    """A document without its text. `dropped` is what of its file is not indexed, where one document is asked for.

    `readers` may read it: null where the index's default holds.
    """

    id: str
    source: str
    title: str
    media_type: str
    metadata: Metadata
    content_hash: str
    chunks: int
    characters: int
    dropped: tuple[Dropped, ...] = ()
    readers: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class DocumentList:
    """Some of `total` documents, by source, from `offset` on."""

    documents: tuple[DocumentResponse, ...]
    offset: int
    total: int


@dataclass(frozen=True, slots=True)
class ChunkResponse:
    """A passage of a document, in reading order."""

    id: str
    ordinal: int
    text: str
    start: int
    end: int
    heading: tuple[str, ...]
    page: int | None
    place: str
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class ChunkList:
    """The passages of one document."""

    document: str
    chunks: tuple[ChunkResponse, ...]


@dataclass(frozen=True, slots=True)
class FeedbackResponse:
    """The number under which feedback was kept, and whether it became a judgement."""

    number: int
    judged: bool = False


def index_response(info: IndexInfo) -> IndexResponse:
    """Narrow what is said of an index; where it lies is nobody's business."""
    fingerprint = info.fingerprint
    model, analyzer, chunker = (
        (fingerprint.embedder.name, fingerprint.analyzer, fingerprint.chunker) if fingerprint else ("", "", "")
    )
    sizes = (info.documents, info.chunks, info.generation, info.bytes_on_disk)
    return IndexResponse(info.name, *sizes, model, analyzer, chunker, info.pending)


def search_response(found: SearchResult, *, highlight: bool = False) -> SearchResponse:
    """Narrow a search's answer; `explain` gives all of it."""
    return SearchResponse(
        query=found.query,
        mode=found.mode,
        profile=found.profile,
        fusion=found.fusion,
        hits=tuple(_passage(hit, highlight=highlight) for hit in found.hits),
        degraded=found.degraded,
        warnings=found.warnings,
        confidence=found.confidence,
        p_answerable=found.p_answerable,
        cache=found.cache,
        counts=found.counts,
        timings_ms=found.timings_ms,
        generation=found.generation,
        facets=found.facets,
        next_cursor=found.next_cursor,
        did_you_mean=found.did_you_mean,
        extracted=found.extracted,
    )


def explanation_response(found: SearchResult) -> SearchResult:
    """Return all of an answer but what a sync notes for itself."""
    return replace(found, hits=tuple(replace(hit, metadata=shown(hit.metadata)) for hit in found.hits))


def batch_response(found: Sequence[SearchResult]) -> BatchResponse:
    """Narrow many answers."""
    return BatchResponse(tuple(map(search_response, found)))


def document_response(info: DocumentInfo) -> DocumentResponse:
    """Narrow a line of a listing."""
    return DocumentResponse(
        info.id,
        info.source,
        info.title,
        info.media_type,
        shown(info.metadata),
        info.content_hash,
        info.chunks,
        info.characters,
        readers=info.readers,
    )


def whole_document_response(document: Document, chunks: int) -> DocumentResponse:
    """Narrow a document that is at hand with its text."""
    return DocumentResponse(
        document.id,
        document.source,
        document.title,
        document.media_type,
        shown(document.metadata),
        document.content_hash,
        chunks,
        len(document.text),
        document.dropped,
        document.readers,
    )


def chunk_list(document: str, chunks: Sequence[Chunk]) -> ChunkList:
    """Narrow a document's passages."""
    return ChunkList(document, tuple(map(_chunk, chunks)))


def relevance_of(trace: HitTrace) -> float | None:
    """Return what the reranker said of a passage, in [0, 1]; None where it was not read."""
    return trace.rerank.relevance if trace.rerank is not None else None


def _passage(hit: Hit, *, highlight: bool) -> PassageResponse:
    return PassageResponse(
        rank=hit.rank,
        score=hit.score,
        source=hit.source,
        title=hit.title,
        document=hit.document,
        chunk_id=hit.chunk_id,
        page=hit.page,
        place=hit.place,
        heading=hit.heading,
        start=hit.start,
        end=hit.end,
        text=hit.text,
        metadata=shown(hit.metadata),
        retrievers=tuple(map(_retriever, hit.trace.retrievers)),
        relevance=relevance_of(hit.trace),
        expanded=None if hit.joined is None else hit.joined.text,
        collection=hit.collection,
        more=hit.more,
        highlights=hit.highlights if highlight else (),
    )


def _retriever(trace: RetrieverTrace) -> RetrieverResponse:
    return RetrieverResponse(trace.retriever, trace.rank, trace.raw, trace.part)


def _chunk(chunk: Chunk) -> ChunkResponse:
    return ChunkResponse(
        chunk.id,
        chunk.ordinal,
        chunk.text,
        chunk.start,
        chunk.end,
        chunk.heading,
        chunk.page,
        chunk.place,
        shown(chunk.metadata),
    )


def shown(metadata: Metadata) -> Metadata:
    """Leave out what a sync notes for itself, such as folders of the server."""
    return {name: value for name, value in metadata.items() if name not in RECORDED}

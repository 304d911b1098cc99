"""HybridRetriever over several knowledge bases, its two retrievers alone, and ContextBuilder.

Checklist 11, 19, 56, 66 and 73.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import NamedTuple, Self

from twofold.answer.context import Budget, build_context, template_named
from twofold.answer.markers import resolve
from twofold.answer.types import Citation, Part, Source
from twofold.compat.shapes import raw_of, turns_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import NotFoundError
from twofold.domain.types import Metadata
from twofold.index_reader import Collection
from twofold.multi_index import Indexes, MultiIndex, Where
from twofold.query.history import Memory, Turn, prepend_turns
from twofold.search.engine import SearchOptions
from twofold.search.result import Hit, SearchResult

PROFILE = "voicevault"
NO_LIMIT = Budget(tokens=0)
_MARKER = re.compile(r"\[(?:Source: [^\[\]]{1,300}|[\d, -]{1,40})\]")


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """One passage. Scores are on their own scales; None where a stage did not take part.

    `vector_score` is `max(0, 1 - cosine distance)`: 0.75 for a distance of 0.25. `page_number` counts from 1, 0 is for
    a document without pages.
    """

    chunk_id: str
    text: str
    source_file: str
    page_number: int
    section: str
    kb_name: str
    score: float
    bm25_score: float = 0.0
    vector_score: float = 0.0
    rrf_score: float | None = None
    rerank_score: float | None = None
    start: int = 0
    end: int = 0
    metadata: Metadata = field(default_factory=dict, hash=False)


class BuiltContext(NamedTuple):
    """What a model is given, and whom each block cites, in the order of the blocks."""

    context: str
    citation_map: list[Citation]


class HybridRetriever:
    """Both retrievers over all knowledge bases at once, merged before they are fused by rank, reranked, two of a page.

    `kb_names` are names or paths of indexes, or a mapping of names to indexes that are open. One that cannot be opened
    is left out and named in `search(...).warnings`. Close it, or use it in a `with` statement.
    """

    def __init__(self, kb_names: Indexes, settings: Mapping[str, object] | None = None) -> None:
        self._several = MultiIndex(kb_names)
        self._settings = dict(settings or {})

    def search(self, query: str, top_k: int = 5) -> SearchResult:
        """Search, and give everything that there is to know about it."""
        return self._several.search(query, SearchOptions(k=top_k, profile=PROFILE, settings=self._settings), "global")

    def retrieve(self, query: str, top_k: int = 5) -> list[RetrievalResult]:
        """Find the best passages of all knowledge bases."""
        return [result_of(hit) for hit in self.search(query, top_k).hits]

    def close(self) -> None:
        """Close what was opened here."""
        self._several.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SingleRetriever:
    """One retriever of a knowledge base; a knowledge base that does not exist has no passages."""

    mode = "bm25"

    def __init__(self, kb_name: Where) -> None:
        self._where = kb_name
        self._opened: Collection | None = None

    def search(self, query: str, top_k: int = 20) -> list[RetrievalResult]:
        """Find the best passages, best first."""
        if self._opened is None:
            self.reload()
        if self._opened is None:
            return []
        found = self._opened.search(query, k=top_k, mode=self.mode, profile=PROFILE, rerank="none")
        return [result_of(hit) for hit in found.hits]

    def reload(self) -> bool:
        """Open the index again; say whether there is one. What was added since needs no reload."""
        self.close()
        try:
            self._opened = self._where if isinstance(self._where, Collection) else Collection(self._where)
        except NotFoundError:
            return False
        return True

    def close(self) -> None:
        """Close what was opened here."""
        if self._opened is not None and self._opened is not self._where:
            self._opened.close()
        self._opened = None


class BM25Retriever(SingleRetriever):
    """BM25 only: passages without any of the terms are left out."""


class VectorRetriever(SingleRetriever):
    """Vector search only."""

    mode = "vector"


class ContextBuilder:
    """Lays out results as `[Source: report.pdf, p.3 | Section: Results]` and their text; the last turns go before."""

    def __init__(self, max_turns: int = 5) -> None:
        self._memory = Memory(max_turns, None)

    def build(
        self, results: Sequence[RetrievalResult], history: Sequence[Turn | Mapping[str, str]] = ()
    ) -> BuiltContext:
        """Return the context and its map of citations."""
        made = build_context(sources_of(results), template_named(PROFILE), NO_LIMIT)
        return BuiltContext(prepend_turns(turns_of(history), made.text, self._memory), list(made.citations))


class CitationInjector:
    """Maps the markers of an answer, `[Source: report.pdf, p.3]` or `[1]`, back to citations."""

    def __init__(self, results: Sequence[RetrievalResult]) -> None:
        self._sources = sources_of(results)
        self._citations = {one.number: one for one in ContextBuilder().build(results).citation_map}

    def citations(self, answer: str) -> list[Citation]:
        """Return the sources that the answer cites, each once, in the order of its markers, without invalid ones."""
        numbers = (number for marker in _MARKER.findall(answer) for number in resolve(marker, self._sources))
        return [self._citations[number] for number in dict.fromkeys(numbers)]


def result_of(hit: Hit) -> RetrievalResult:
    """Return a hit in the shape of this system."""
    rerank = hit.trace.rerank
    return RetrievalResult(
        chunk_id=hit.chunk_id,
        text=hit.text,
        source_file=hit.source,
        page_number=hit.page or 0,
        section=" > ".join(hit.heading),
        kb_name=hit.collection,
        score=hit.score,
        bm25_score=raw_of(hit, "bm25"),
        vector_score=max(0.0, raw_of(hit, "vector")),
        rrf_score=hit.trace.fused() if len(hit.trace.retrievers) > 1 else None,
        rerank_score=None if rerank is None else rerank.relevance,
        start=hit.start,
        end=hit.end,
        metadata=hit.metadata,
    )


def sources_of(results: Sequence[RetrievalResult]) -> list[Source]:
    """Make sources of an answer of results, numbered from 1."""
    return [_source(number, one) for number, one in enumerate(results, start=1)]


def _source(number: int, one: RetrievalResult) -> Source:
    heading = tuple(one.section.split(" > ")) if one.section else ()
    part = Part(one.start, one.end or len(one.text), 0, one.chunk_id, one.page_number or None, "", heading)
    document = one.chunk_id.rpartition("_chunk_")[0]
    return Source(number, one.text, (part,), document, one.source_file, score=one.score, collection=one.kb_name)

"""RAGOrchestrator and its query module: a request of a query and filters, passages with three scores, a context.

Checklist 34, 43, 57 and 87.
"""

from collections.abc import Mapping
from dataclasses import asdict, field

from twofold.answer.context import Budget, build_context, template_named
from twofold.answer.types import Part, Source
from twofold.compat.shapes import Shape, normalized_of, plain
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL
from twofold.index import Index
from twofold.ingest.source_types import LOCAL_FILE, origin_of
from twofold.query.filter_json import filter_from_json
from twofold.search.result import Hit, SearchResult

PROFILE = "orchestrator"
MAX_CONTEXT_TOKENS = 6_000
Filters = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A passage: its text, and what is known of it: `filename`, `source`, `source_type`, and its own fields."""

    page_content: str
    metadata: Shape = field(hash=False)
    semantic_score: float
    keyword_score: float
    final_score: float


class QueryRetrievalModule:
    """Finds passages for a query and filters, under the profile `orchestrator`; `settings` are stronger than it."""

    def __init__(self, index: Index, settings: Mapping[str, object] | None = None) -> None:
        self._index = index
        self._settings = dict(settings or {})

    def search(self, query: str, filters: Filters | None = None, top_k: int | None = None) -> SearchResult:
        """Search, and give everything that there is to know about it. Raises InvalidInputError for unknown filters."""
        condition = filter_from_json(filters) if filters else MATCH_ALL
        return self._index.search(query, k=top_k, filter=condition, profile=PROFILE, settings=self._settings)

    def process_query(
        self, query: str, filters: Filters | None = None, top_k: int | None = None
    ) -> list[FoundDocument]:
        """Find the best passages."""
        return [document_of(hit) for hit in self.search(query, filters, top_k).hits]


class RAGOrchestrator:
    """Answers requests such as `{"query": "What is dbt?", "filters": {"file_type": [".sql"]}}`."""

    def __init__(
        self, index: Index, settings: Mapping[str, object] | None = None, max_context_tokens: int = MAX_CONTEXT_TOKENS
    ) -> None:
        self._module = QueryRetrievalModule(index, settings)
        self._budget = Budget(tokens=max_context_tokens)

    def query_documents(self, query: str, filters: Filters | None = None, top_k: int | None = None) -> Shape:
        """Find passages, and lay them out as a context for a model: whole ones, best first, `...` where some are cut.

        Gives `query`, `results` (each `content`, `metadata` and the three scores), `context`, `metrics` with the counts
        of checklist 82 and the milliseconds of each stage, `degraded` and `warnings`.
        """
        found = self._module.search(query, filters, top_k)
        sources = [_source(number, hit) for number, hit in enumerate(found.hits, start=1)]
        context = build_context(sources, template_named(PROFILE), self._budget)
        counts = found.counts
        return {
            "query": query,
            "results": [_shaped(document_of(hit)) for hit in found.hits],
            "context": context.text,
            "metrics": {
                "documents_retrieved": counts.retrieved,
                "documents_after_filter": counts.after_filter,
                "documents_after_rerank": counts.returned,
                "latency_ms": dict(found.timings_ms),
            },
            "degraded": found.degraded,
            "warnings": [{**asdict(one), "code": one.code.value} for one in found.warnings],
        }

    def handle(self, request: Mapping[str, object]) -> Shape:
        """Answer the body of `POST /api/search`. Raises InvalidInputError for anything but `query` and `filters`."""
        query, filters = request.get("query"), request.get("filters")
        unknown = request.keys() - {"query", "filters", "top_k"}
        if unknown or not isinstance(query, str) or not isinstance(filters, Mapping | None):
            raise InvalidInputError('A request is {"query": "…", "filters": {…}}.', "See docs/compat.md.")
        top_k = request.get("top_k")
        if top_k is not None and (not isinstance(top_k, int) or isinstance(top_k, bool)):
            raise InvalidInputError("top_k must be a whole number.", "Leave it out for 5.")
        return self.query_documents(query, filters, top_k)


def document_of(hit: Hit) -> FoundDocument:
    """Return a hit in the shape of this system."""
    own = plain(hit.metadata)
    known = {"id": hit.chunk_id, "filename": _filename(hit.source), "source_type": _kind(hit), "path": hit.source}
    metadata = {**own, **known, "source": own.get("source", _kind(hit))}
    return FoundDocument(hit.text, metadata, normalized_of(hit, "vector"), normalized_of(hit, "bm25"), hit.score)


def _shaped(one: FoundDocument) -> Shape:
    return {
        "content": one.page_content,
        "metadata": one.metadata,
        "semantic_score": one.semantic_score,
        "keyword_score": one.keyword_score,
        "final_score": one.final_score,
    }


def _kind(hit: Hit) -> str:
    return origin_of(hit.metadata) or LOCAL_FILE


def _filename(source: str) -> str:
    return source.rstrip("/").rpartition("/")[2] or source


def _source(number: int, hit: Hit) -> Source:
    part = Part(hit.start, hit.end, 0, hit.chunk_id, hit.page, hit.place, hit.heading)
    return Source(number, hit.text, (part,), hit.document, hit.source, hit.title, _kind(hit), hit.score)

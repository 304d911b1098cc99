"""Searches as other systems ask for them: `/api/search`, OpenAI's vector stores, Dify's external knowledge."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import Field

from twofold.compat.orchestrator import RAGOrchestrator
from twofold.compat.shapes import Shape
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Operator, Or
from twofold.domain.types import Metadata
from twofold.domain.warning import StageWarning
from twofold.query.parse import MAX_DEPTH
from twofold.server.auth import Action
from twofold.server.schemas.requests import Lenient, ModelName, Query, above, filter_of
from twofold.server.schemas.responses import shown
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, needs, require

router = APIRouter(tags=["compatible"], route_class=GuardedRoute)


class ApiSearchRequest(Lenient):
    """What `POST /api/search` takes: `{"query": …, "filters": {"source_type": […], "date_from": …}}`."""

    query: Query
    filters: dict[str, Any] = Field(default_factory=dict)
    index: Annotated[str, Field(max_length=64, description="The index; the server's own without one.")] = ""
    top_k: Annotated[int, Field(ge=1, le=1_000)] | None = None


@dataclass(frozen=True, slots=True)
class OrchestratorResult:
    """One passage: its text, what is known of its document, the scores of both retrievers and the final one."""

    content: str
    metadata: dict[str, Any]
    semantic_score: float
    keyword_score: float
    final_score: float


@dataclass(frozen=True, slots=True)
class OrchestratorMetrics:
    """How many passages there were after the retrieval, the filter and the reranking, and what each stage took."""

    documents_retrieved: int
    documents_after_filter: int
    documents_after_rerank: int
    latency_ms: dict[str, float]


@dataclass(frozen=True, slots=True)
class OrchestratorResponse:
    """What the orchestrator answers: passages, and the context for a model that is made of them."""

    query: str
    results: tuple[OrchestratorResult, ...]
    context: str
    metrics: OrchestratorMetrics
    degraded: bool = False
    warnings: tuple[StageWarning, ...] = ()


@router.post("/api/search", response_model=OrchestratorResponse, openapi_extra={SCOPE: ANY_GRANT})
async def api_search(asked: ApiSearchRequest, service: Here, caller: Caller) -> Response:
    """Search as the orchestrator's clients do, under its profile; filters as in docs/filters.md."""
    name = asked.index or service.index
    require(caller, Action.READ, name)

    def found() -> Shape:
        with service.held(name) as index:
            answer = RAGOrchestrator(index).query_documents(asked.query, asked.filters, asked.top_k)
        for one in answer["results"]:
            one["metadata"] = shown(one["metadata"])
        return answer

    return await service.answer(found)


class RankingOptions(Lenient):
    """How vector stores rank; of it the threshold counts here."""

    ranker: str = "auto"
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


class VectorStoreRequest(Lenient):
    """What a search of a vector store takes."""

    query: Query | Annotated[list[Query], Field(min_length=1, max_length=16)]
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 10
    filters: dict[str, Any] | None = None
    ranking_options: RankingOptions | None = None
    rewrite_query: bool = False


@dataclass(frozen=True, slots=True)
class TextContent:
    """A piece of text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class VectorStoreHit:
    """One passage, as a vector store gives it."""

    file_id: str
    filename: str
    score: float
    attributes: Metadata
    content: tuple[TextContent, ...]


@dataclass(frozen=True, slots=True)
class VectorStorePage:
    """What a vector store found."""

    search_query: tuple[str, ...]
    data: tuple[VectorStoreHit, ...]
    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    has_more: bool = False
    next_page: str | None = None


IndexPath = Annotated[str, Path(pattern="^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$", description="The name of an index.")]


@router.post("/v1/vector_stores/{index}/search", response_model=VectorStorePage, openapi_extra=needs(Action.READ))
async def vector_store_search(index: IndexPath, asked: VectorStoreRequest, service: Here) -> Response:
    """Search an index as OpenAI's clients search a vector store."""
    queries = (asked.query,) if isinstance(asked.query, str) else tuple(asked.query)
    threshold = asked.ranking_options.score_threshold if asked.ranking_options else 0.0

    def found() -> VectorStorePage:
        chosen = _openai_filter(asked.filters)
        with service.held(index) as held:
            result = held.search(" ".join(queries), k=asked.max_num_results, filter=chosen)
        hits = tuple(
            VectorStoreHit(hit.document, hit.source, score, shown(hit.metadata), (TextContent(hit.text),))
            for hit, score in above(result, threshold)
        )
        return VectorStorePage(queries, hits)

    return await service.answer(found)


class DifySetting(Lenient):
    """How much Dify wants."""

    top_k: Annotated[int, Field(ge=1, le=1_000)]
    score_threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


class DifyCondition(Lenient):
    """One condition on fields; the first name counts."""

    name: Annotated[list[str], Field(min_length=1, max_length=8)]
    comparison_operator: str
    value: str | int | float | bool | None = None


class DifyConditions(Lenient):
    """Conditions, joined by and or by or."""

    logical_operator: Literal["and", "or"] = "and"
    conditions: Annotated[list[DifyCondition], Field(max_length=64)]


class DifyRequest(Lenient):
    """What Dify's external knowledge interface sends."""

    knowledge_id: ModelName
    query: Query
    retrieval_setting: DifySetting
    metadata_condition: DifyConditions | None = None


@dataclass(frozen=True, slots=True)
class DifyRecord:
    """One passage for Dify."""

    content: str
    score: float
    title: str
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class DifyRecords:
    """What was found, for Dify."""

    records: tuple[DifyRecord, ...]


@router.post("/retrieval", response_model=DifyRecords, openapi_extra={SCOPE: ANY_GRANT})
async def dify_retrieval(asked: DifyRequest, service: Here, caller: Caller) -> Response:
    """Search an index as Dify asks an external knowledge base; `knowledge_id` names it."""
    require(caller, Action.READ, asked.knowledge_id)

    def found() -> DifyRecords:
        chosen = _dify_filter(asked.metadata_condition)
        with service.held(asked.knowledge_id) as index:
            result = index.search(asked.query, k=asked.retrieval_setting.top_k, filter=chosen)
        good = above(result, asked.retrieval_setting.score_threshold)
        return DifyRecords(
            tuple(
                DifyRecord(hit.text, score, hit.title or hit.source, {**shown(hit.metadata), "path": hit.source})
                for hit, score in good
            )
        )

    return await service.answer(found)


_OPENAI_OPS = {"eq": "==", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_NEGATED = {"ne": "eq", "nin": "in"}


def _openai_filter(said: dict[str, Any] | None) -> Filter:
    """Read `{"type": "eq", "key": …, "value": …}` and `{"type": "and", "filters": […]}`. Raises InvalidInputError."""
    return filter_of(_tree(said)) if said else MATCH_ALL


def _tree(said: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    kind, value = str(said.get("type")), said.get("value")
    if kind in ("and", "or"):
        if depth > MAX_DEPTH:
            raise InvalidInputError("The filter is nested too deeply.", "Ask with less.")
        inner = said.get("filters")
        return {kind: [_tree(one, depth + 1) if isinstance(one, dict) else one for one in inner or []]}
    if kind in _NEGATED:
        return {"not": _tree({**said, "type": _NEGATED[kind]})}
    if kind == "in" and isinstance(value, list):
        return {"or": [{"field": said.get("key"), "op": "==", "value": one} for one in value]}
    return {"field": said.get("key"), "op": _OPENAI_OPS.get(kind, kind), "value": value}


_DIFY_OPS = {
    "is": Operator.EQ, "=": Operator.EQ, ">": Operator.GT, "<": Operator.LT, "≥": Operator.GE, "≤": Operator.LE,
    "contains": Operator.CONTAINS, "start with": Operator.PREFIX, "after": Operator.GT, "before": Operator.LT,
}  # fmt: skip


_DIFY_NEGATED = {"is not": "is", "≠": "=", "not contains": "contains"}


def _dify_filter(said: DifyConditions | None) -> Filter:
    if said is None or not said.conditions:
        return MATCH_ALL
    tests = tuple(_dify_test(one) for one in said.conditions)
    return And(tests) if said.logical_operator == "and" else Or(tests)


def _dify_test(said: DifyCondition) -> Filter:
    name, operator = said.name[0], said.comparison_operator
    if operator in ("empty", "not empty"):
        there = Condition(name, Operator.EXISTS, True)
        return there if operator == "not empty" else Not(there)
    positive = _DIFY_NEGATED.get(operator, operator)
    if positive not in _DIFY_OPS or said.value is None:
        raise InvalidInputError(f"{operator[:40]!r} is no operator that is known here.", "See docs/server.md.")
    test = Condition(name, _DIFY_OPS[positive], said.value)
    return test if positive == operator else Not(test)

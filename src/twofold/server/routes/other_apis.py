"""Searches as other systems ask for them: `/api/search`, Dify's external knowledge."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import Field

from twofold.compat.orchestrator import RAGOrchestrator
from twofold.compat.shapes import Shape
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import MATCH_ALL, And, Condition, Filter, Not, Operator, Or
from twofold.domain.types import Metadata
from twofold.domain.warning import StageWarning
from twofold.server.auth import Action
from twofold.server.schemas.requests import Lenient, ModelName, Query, above
from twofold.server.schemas.responses import shown
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, require

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
        with service.open_index(name) as index:
            answer = RAGOrchestrator(index).query_documents(asked.query, asked.filters, asked.top_k)
        for one in answer["results"]:
            one["metadata"] = shown(one["metadata"])
        return answer

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
        with service.open_index(asked.knowledge_id) as index:
            result = index.search(asked.query, k=asked.retrieval_setting.top_k, filter=chosen)
        good = above(result, asked.retrieval_setting.score_threshold)
        return DifyRecords(
            tuple(
                DifyRecord(hit.text, score, hit.title or hit.source, {**shown(hit.metadata), "path": hit.source})
                for hit, score in good
            )
        )

    return await service.answer(found)


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

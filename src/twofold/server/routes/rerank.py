"""Models as other systems ask for them: embeddings as OpenAI gives them, relevance as Cohere and Jina give it."""

import base64
import secrets
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.retry import retried
from twofold.domain.types import Scores, Vectors
from twofold.index import Index
from twofold.models.rerankers.word_overlap import WordOverlap
from twofold.models.score_scale import relevance_of
from twofold.search.engine import DEFAULT_OPTIONS as _AS_SET
from twofold.server.auth import Action
from twofold.server.schemas.requests import Lenient, ModelName
from twofold.server.service import ANY_GRANT, SCOPE, Caller, GuardedRoute, Here, require

MAX_TEXT_LENGTH = 100_000

router = APIRouter(tags=["compatible"], route_class=GuardedRoute)
Text = Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)]


class EmbeddingsRequest(Lenient):
    """Texts to be turned into vectors, by the model of the index that `model` names."""

    input: Text | Annotated[list[Text], Field(min_length=1, max_length=512)]
    model: ModelName
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = None


@dataclass(frozen=True, slots=True)
class EmbeddingResponse:
    """One vector: numbers, or their little-endian float32 bytes in base64."""

    index: int
    embedding: tuple[float, ...] | str
    object: Literal["embedding"] = "embedding"


@dataclass(frozen=True, slots=True)
class UsageResponse:
    """How many tokens were read."""

    prompt_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class EmbeddingsResponse:
    """Vectors, in the order of the texts."""

    data: tuple[EmbeddingResponse, ...]
    model: str
    usage: UsageResponse
    object: Literal["list"] = "list"


@router.post("/v1/embeddings", response_model=EmbeddingsResponse, openapi_extra={SCOPE: ANY_GRANT})
async def embeddings(asked: EmbeddingsRequest, service: Here, caller: Caller) -> Response:
    """Turn texts into vectors as passages of an index are."""
    require(caller, Action.READ, asked.model)
    texts = [asked.input] if isinstance(asked.input, str) else asked.input

    def made() -> EmbeddingsResponse:
        with service.open_index(asked.model) as index:
            parts, plan = index.searcher.parts_for(_AS_SET)
            embedder = parts.embedder
            if asked.dimensions not in (None, embedder.identity.dimensions):
                raise InvalidInputError(
                    f"Vectors of {asked.model} have {embedder.identity.dimensions} dimensions.", "Leave the number out."
                )
            vectors = retried(lambda: embedder.embed_passages(texts), plan.timeouts.retry)
            tokens = sum(embedder.count_tokens(texts))
        return EmbeddingsResponse(_vectors(vectors, asked.encoding_format), asked.model, UsageResponse(tokens, tokens))

    return await service.answer(made)


class RerankDocument(Lenient):
    """A text in an object, as some clients send it."""

    text: Text


class RerankRequest(Lenient):
    """Texts to be put in order; `model` names an index whose reranker reads them, or a known reranker."""

    query: Text
    documents: Annotated[list[Text | RerankDocument], Field(min_length=1, max_length=1_000)]
    model: ModelName | None = None
    top_n: Annotated[int, Field(ge=1)] | None = None
    return_documents: bool = False


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A text given back."""

    text: str


@dataclass(frozen=True, slots=True)
class RerankHit:
    """One text: its place in the request, and how relevant it is, in [0, 1]."""

    index: int
    relevance_score: float
    document: DocumentText | None = None


@dataclass(frozen=True, slots=True)
class RerankResponse:
    """The texts in order, the most relevant first."""

    id: str
    model: str
    results: tuple[RerankHit, ...]


@router.post("/v1/rerank", response_model=RerankResponse, openapi_extra={SCOPE: ANY_GRANT})
async def rerank_v1(asked: RerankRequest, service: Here, caller: Caller) -> Response:
    """Put texts in order by relevance to a question, as Cohere (v1) and Jina do."""
    return await _reranked(asked, service, caller)


@router.post("/v2/rerank", response_model=RerankResponse, openapi_extra={SCOPE: ANY_GRANT})
async def rerank_v2(asked: RerankRequest, service: Here, caller: Caller) -> Response:
    """Put texts in order by relevance to a question, as Cohere (v2) does."""
    return await _reranked(asked, service, caller)


async def _reranked(asked: RerankRequest, service: Here, caller: Caller) -> Response:
    name = asked.model or service.index
    require(caller, Action.READ, name)
    texts = [one if isinstance(one, str) else one.text for one in asked.documents]

    def made() -> RerankResponse:
        with service.open_index(name) as index:
            model, scores = _scores(index, asked.query, texts)
        order = sorted(range(len(texts)), key=lambda at: (-scores[at], at))[: asked.top_n]
        return RerankResponse(
            secrets.token_hex(8),
            model,
            tuple(
                RerankHit(at, float(scores[at]), DocumentText(texts[at]) if asked.return_documents else None)
                for at in order
            ),
        )

    return await service.answer(made)


def _scores(index: Index, question: str, texts: list[str]) -> tuple[str, Scores]:
    """Ask the index's reranker; one that has none lets the words that are shared say it."""
    rerankers = index.searcher.parts_for(_AS_SET)[0].models.rerankers
    reranker = rerankers[0] if rerankers else WordOverlap()
    raw = reranker.score(question, texts)
    return reranker.identity.name, relevance_of(raw, reranker.identity.scale)


def _vectors(vectors: Vectors, form: str) -> tuple[EmbeddingResponse, ...]:
    if form == "float":
        return tuple(EmbeddingResponse(at, tuple(map(float, row))) for at, row in enumerate(vectors))
    packed = np.ascontiguousarray(vectors, dtype="<f4")
    return tuple(EmbeddingResponse(at, base64.b64encode(row.tobytes()).decode()) for at, row in enumerate(packed))

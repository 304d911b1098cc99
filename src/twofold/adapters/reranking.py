"""Ordering a framework's passages by a cross-encoder of twofold's catalog."""

from collections.abc import Sequence

from twofold.config.load import load_settings
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Reranker
from twofold.models.rerankers.factory import open_reranker

DEFAULT_RERANKER = "ms-marco-MiniLM-L-12-v2"


def reranker_named(name: str) -> Reranker:
    """Open a reranker by the name that `rerank.model` takes. Raises InvalidInputError, ModelError."""
    settings = load_settings()
    tokens = settings.rerank.tokens
    found = open_reranker(
        name, cache=settings.models, offline=settings.offline, max_tokens=tokens, embedder=settings.embedder
    )
    if found is None:
        raise InvalidInputError("`none` orders nothing.", "Name a reranker of `twofold models list`.")
    return found


def relevances(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Return the relevance of each text for a query, in [0, 1]."""
    found: list[float] = reranker.relevance(reranker.score(query, list(texts))).tolist()
    return found

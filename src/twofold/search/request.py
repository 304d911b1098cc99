"""What a search is asked: the question taken apart, and its queries as the retrievers get them."""

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import TermQuery, Vector
from twofold.domain.warning import StageWarning
from twofold.query.intent import Intent
from twofold.query.parse import ParsedQuery
from twofold.search.degradation import Degradation, degradation_of


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A parsed question and its other queries.

    `complete` is the one question behind them, with the conversation in it; empty where that is its own words.
    `meant` is a follow-up completed to a question of its own; None for what stands alone. `extracted` are phrases of
    the question that were read as filters, each with its filter. `hypothetical` is a passage that could answer it.
    `intent` says what kind of passage it is after, and `kinds` the same as semantic types, where they are known.
    """

    parsed: ParsedQuery
    queries: tuple[ParsedQuery, ...]
    complete: str = ""
    hypothetical: str | None = None
    intent: Intent | None = None
    kinds: frozenset[str] = frozenset()
    decisions: tuple[str, ...] = ()
    warnings: tuple[StageWarning, ...] = ()
    meant: ParsedQuery | None = None
    extracted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class QueryVariant:
    """One query for the retrievers: a retriever is left out without its half."""

    terms: TermQuery | None
    vector: Vector | None


@dataclass(frozen=True, slots=True, eq=False)
class EncodedQuery:
    """A question ready for the retrievers, its queries in order; `mode` is what `degradation` left of the plan's.

    `embedder` says what its vectors were made by, None without any.
    """

    understood: ParsedRequest
    mode: str
    asked: tuple[QueryVariant, ...]
    about_a_code: bool
    degradation: Degradation
    embedder: EmbedderIdentity | None = None


_NOTHING = ParsedQuery("", "", "", TermQuery({}))
NOT_PARSED = ParsedRequest(_NOTHING, ())
"""The request of a search that has not begun."""
NOT_ENCODED = EncodedQuery(NOT_PARSED, "hybrid", (), False, degradation_of("hybrid", reranks=False))
"""The query of a search that has not begun."""

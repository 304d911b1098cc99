"""What a search, an answer, or an error leaves in the query log."""

from datetime import UTC, datetime

from twofold.domain.dataclass import dataclass
from twofold.search.engine import Outcome
from twofold.search.result import SearchResult
from twofold.stores.query_log import LoggedQuery, QueryLog

MAX_HITS = 100


@dataclass(frozen=True, slots=True)
class LogRecorder:
    """Writes into the query log of one index; a `search.engine.QueryRecorder`."""

    log: QueryLog

    def record(self, found: SearchResult, answer: Outcome | None = None) -> None:
        """Keep a search, or the answer that was made of it. Raises StoreError and StorageFullError."""
        self.log.append(logged(found, answer))

    def record_error(self, question: str, error: Exception) -> None:
        """Keep a question that ended in an error. Raises StoreError and StorageFullError."""
        self.log.append(LoggedQuery(at=_now(), kind="search", question=question, error=type(error).__name__))


def logged(found: SearchResult, answer: Outcome | None = None) -> LoggedQuery:
    """Return what the log keeps of a search, or of the answer that was made of it."""
    counts = found.counts
    hits = (f"{hit.collection}/{hit.chunk_id}" if hit.collection else hit.chunk_id for hit in found.hits[:MAX_HITS])
    return LoggedQuery(
        at=_now(),
        kind="search" if answer is None else "ask",
        question=found.query,
        mode=found.mode,
        profile=found.profile,
        hits=tuple(hits),
        retrieved=counts.retrieved,
        after_filter=counts.after_filter,
        returned=counts.returned,
        timings_ms=dict(found.timings_ms if answer is None else answer.timings_ms),
        confidence=found.confidence,
        p_answerable=found.p_answerable,
        refused=None if answer is None else answer.refused,
        cached=found.cache.hit,
        warnings=found.warnings if answer is None else answer.warnings,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

"""How much of anything one server takes on; what is beyond is refused at once, never kept waiting without end."""

from twofold.domain.dataclass import dataclass
from twofold.domain.types import MAX_QUESTION_LENGTH

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Sizes in bytes, times in seconds.

    Each token makes `requests_per_minute`, 0 for any number; then 429. `workers` searches run at once and `waiting`
    more wait; then 503. A token keeps at most `feedback_records` records of feedback and `conversations` conversations
    with each index, and gives at most `judgements` grades; one request measures up to `evaluated_questions`. `pages`
    pages of PDF files are drawn at once, apart from the searches; what is sent must be read within `write_seconds`.
    `streams` answers are written at once; beyond, 429. `queued_jobs` jobs wait to be done, `running_jobs` of different
    indexes are done at once, `kept_jobs` finished ones are remembered. An upload holds at most `upload_files` files and
    `upload_bytes` in all, and `uploads` are taken in at once; one that comes as JSON, which is read into memory, holds
    at most `texts_bytes`. Of all bodies but forms `held_bytes` are in memory at once; beyond, 503.
    """

    requests_per_minute: int = 0
    workers: int = 4
    waiting: int = 64
    streams: int = 16
    connections: int = 1024
    body_bytes: int = MEBIBYTE
    held_bytes: int = 64 * MEBIBYTE
    upload_bytes: int = 256 * MEBIBYTE
    texts_bytes: int = 8 * MEBIBYTE
    upload_files: int = 100
    uploads: int = 4
    pages: int = 1
    query_characters: int = MAX_QUESTION_LENGTH
    turn_characters: int = 32_000
    k: int = 1_000
    batch: int = 100
    request_seconds: float = 30.0
    stream_seconds: float = 300.0
    body_seconds: float = 60.0
    header_seconds: float = 10.0
    write_seconds: float = 30.0
    queued_jobs: int = 64
    running_jobs: int = 2
    kept_jobs: int = 1_000
    feedback_records: int = 1_000
    conversations: int = 200
    judgements: int = 20_000
    evaluated_questions: int = 500
    shutdown_seconds: float = 8.0


DEFAULT_LIMITS = ServerLimits()

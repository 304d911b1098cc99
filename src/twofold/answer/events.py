"""What an answer tells while it is being made; the last event is always `done` or `error`.

An `error` after `done` says that the conversation could not be kept; the answer holds.

Each has its `type`, so that as JSON an event is `{"type": "answer_chunk", "content": "..."}`. The contents of all
chunks, put together, are the answer's text.
"""

from typing import Literal

from twofold.answer.types import Answer, Citation, Source
from twofold.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StageEvent:
    """A stage begins: `search`, `context`, `extract`, `generate`, `check`.

    `search_again` stands before a further search, `cache` where the answer is remembered, `plan`, `draft` and `revise`
    where it is planned.
    """

    name: str
    type: Literal["stage"] = "stage"


@dataclass(frozen=True, slots=True)
class ReadingEvent:
    """The model has read `done` of the `total` tokens of its prompt, and writes when it has read all."""

    done: int
    total: int
    type: Literal["reading"] = "reading"


@dataclass(frozen=True, slots=True)
class SourcesEvent:
    """The passages that were found, best first; they come before any word of the answer."""

    sources: tuple[Source, ...]
    p_answerable: float | None = None
    type: Literal["sources"] = "sources"


@dataclass(frozen=True, slots=True)
class ChunkEvent:
    """The next piece of the answer's text."""

    content: str
    type: Literal["answer_chunk"] = "answer_chunk"


@dataclass(frozen=True, slots=True)
class CitationEvent:
    """A sentence that stands now has this citation; `index` is its place in the answer's list."""

    index: int
    citation: Citation
    type: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The answer, whole."""

    answer: Answer
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """There is no answer, or its conversation was not kept.

    `code` and `status` are the error's for a shell and for an HTTP client.
    """

    message: str
    hint: str
    code: int
    status: int
    type: Literal["error"] = "error"


Event = StageEvent | ReadingEvent | SourcesEvent | ChunkEvent | CitationEvent | DoneEvent | ErrorEvent

"""What an answer waits for, on standard error: what was found, and how far a model has read it."""

import sys
from typing import TextIO

from twofold.answer.events import Event, ReadingEvent, SourcesEvent, StageEvent
from twofold.cli.render.terminal import one_line

_CLEAR = "\r\x1b[K"


class AnswerProgress:
    """One line that goes when there is something to read; nothing where nobody looks on."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._drawn = False

    def tell(self, event: Event) -> None:
        """Draw what was found and how far a model has read it; remove that where the answer comes."""
        if isinstance(event, SourcesEvent) and event.sources:
            self._draw(f"Reading {len(event.sources)} passages, first {one_line(event.sources[0].filename)}")
        elif isinstance(event, ReadingEvent) and event.total:
            self._draw(f"The model reads the passages: {event.done / event.total:.0%}")
        elif not isinstance(event, StageEvent):
            self._draw("")

    def _draw(self, says: str) -> None:
        if self._stream.isatty() and (says or self._drawn):
            self._stream.write(f"{_CLEAR}{says}")
            self._stream.flush()
            self._drawn = bool(says)

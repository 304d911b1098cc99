"""From a stream of pieces to an answer whose every sentence is checked and cited by us, not by its writer.

The model's own markers are taken out on the way (`guard.py`); what they pointed to counts as a hint. When a sentence
is over it is held against the sources, and the marker that is written behind it is ours.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from twofold.answer.events import ChunkEvent, CitationEvent
from twofold.answer.groundedness import Finding, GroundednessChecker, Span
from twofold.answer.sanitize_output import Hint, OutputSanitizer, addresses_in
from twofold.answer.types import REFUSAL, AnswerSentence, Citation, Removed, Source, citation_of

FLAG = " (not found in the documents)"
MAX_SENTENCE_LENGTH = 1_500  # characters after which a sentence is taken to be over
Ends = Callable[[str], Sequence[int]]
_LINE_END = re.compile(r"\n")


NOTHING = Finding(None, 0.0, None)


def is_refusal(text: str) -> bool:
    """Return whether a text is the refusal, whatever stands around its words."""
    return _plain(text) == _plain(REFUSAL)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", "", text).casefold().split())


class CitationWriter:
    """Takes what the guard lets through and tells it as events; at the end it holds the text, sentences, citations.

    `flag` writes behind each sentence that nothing supports that it was not found. Not for several threads.
    """

    def __init__(
        self, guard: OutputSanitizer, checker: GroundednessChecker, sources: Sequence[Source], ends: Ends, *, flag: bool
    ) -> None:
        self._guard = guard
        self._checker = checker
        self._sources = {one.number: one for one in sources}
        self._ends = ends
        self._flag = flag
        self._open = ""
        self._hints: list[int] = []
        self.text = ""
        self.sentences: list[AnswerSentence] = []
        self.citations: list[Citation] = []

    @property
    def checker(self) -> GroundednessChecker:
        """What holds the sentences against the sources."""
        return self._checker

    @property
    def removed(self) -> Removed:
        """What was taken out of the reply so far."""
        return self._guard.removed

    @property
    def refused(self) -> bool:
        """Whether the model itself says that the documents do not hold the answer."""
        return is_refusal(self.text) or (is_refusal(self.text[: len(REFUSAL) + 1]) and not self.citations)

    def feed(self, piece: str) -> Iterator[ChunkEvent | CitationEvent]:
        """Take a piece of the reply."""
        yield from self._take(self._guard.feed(piece))

    def finish(self) -> Iterator[ChunkEvent | CitationEvent]:
        """End the reply."""
        yield from self._take(self._guard.finish())
        yield from self._close(self._open)

    def _take(self, parts: Iterable[str | Hint]) -> Iterator[ChunkEvent | CitationEvent]:
        for part in parts:
            if isinstance(part, Hint):
                self._hints += part.numbers
                continue
            shown = part if self.text or self._open else part.lstrip()
            if shown:
                yield from self._write(shown)

    def _write(self, part: str) -> Iterator[ChunkEvent | CitationEvent]:
        """Write a part, and end each sentence that is over where the next one begins."""
        self._open += part
        pending = part
        while (end := self._over()) is not None:
            done, rest = self._open[:end], self._open[end:]
            begun = len(done) - (len(self._open) - len(pending))
            if begun > 0:
                yield self._say(pending[:begun])
                pending = pending[begun:]
            yield from self._close(done)
            self._open = rest
        if pending:
            yield self._say(pending)

    def _over(self) -> int | None:
        """Return where the open sentence ends, when what follows it has begun."""
        stripped = len(self._open) - len(self._open.lstrip())
        line = _LINE_END.search(self._open, stripped)
        ends = [end for end in self._ends(self._open) if end > stripped and self._open[end:].strip()]
        found = [*ends[:1], *([line.start()] if line and self._open[line.end() :].strip() else [])]
        if found:
            return min(found)
        return len(self._open) if len(self._open) > MAX_SENTENCE_LENGTH else None

    def _say(self, text: str) -> ChunkEvent:
        self.text += text
        return ChunkEvent(text)

    def _close(self, sentence: str) -> Iterator[ChunkEvent | CitationEvent]:
        """Check a sentence that stands at the text's end, and cite what supports it."""
        self._open = ""
        shown = sentence.strip()
        if not shown:
            return
        start = len(self.text) - len(sentence.lstrip())
        hints, self._hints = tuple(self._hints), []
        finding = NOTHING if is_refusal(shown) else self._checker.check(shown, hints)
        made = AnswerSentence(shown, start, start + len(shown), (), round(finding.support, 4), finding.supported)
        spans = [finding.span] if finding.supported and finding.span is not None else []
        spans += [span for address in sorted(addresses_in(shown)) if (span := self._holds(address)) is not None]
        if finding.supported is False and self._flag:
            yield self._say(FLAG)
        cited: list[int] = []
        for span in spans:
            index, is_new = self._cite(span)
            number = self.citations[index].number
            if number not in {self.citations[one].number for one in cited}:
                yield self._say(f" [{number}]")
            if index not in cited:
                cited.append(index)
            if is_new:
                yield CitationEvent(index, self.citations[index])
        self.sentences.append(replace(made, citations=tuple(cited)))

    def _cite(self, span: Span) -> tuple[int, bool]:
        """Return the place of a span's citation in the list, and whether it is new there."""
        citation = citation_of(self._sources[span.source], span.start, span.end)
        if citation in self.citations:
            return self.citations.index(citation), False
        self.citations.append(citation)
        return len(self.citations) - 1, True

    def _holds(self, address: str) -> Span | None:
        """Find the address in the sources: what is shown has to show its origin."""
        for source in self._sources.values():
            for part in source.parts:
                text = source.text[part.at : part.at + part.end - part.start]
                at = text.find(address)
                if at >= 0:
                    start = part.start + at
                    return Span(source.number, start, start + len(address), address)
        return None

"""Extracting: an answer of the documents' own sentences, each with its citation."""

from dataclasses import dataclass, replace

from twofold.answer.events import ChunkEvent, CitationEvent
from twofold.answer.extract import Chosen, extract
from twofold.answer.guard import Guard, addresses_in
from twofold.answer.types import AnswerSentence, Citation, Reading, Source, citation_of
from twofold.domain.errors import ModelError
from twofold.pipeline.answering import AnswerPlan, Question
from twofold.pipeline.gathering import weights_of
from twofold.pipeline.results import SearchResult

APART = "\n\n"
_NEAR = 2


@dataclass(frozen=True, slots=True)
class Extracts:
    """What was extracted, and how to tell it."""

    text: str
    sentences: tuple[AnswerSentence, ...]
    citations: tuple[Citation, ...]
    events: tuple[ChunkEvent | CitationEvent, ...]
    degraded: tuple[str, ...] = ()


def extracted(
    question: Question, plan: AnswerPlan, found: SearchResult, sources: tuple[Source, ...], reading: Reading
) -> Extracts:
    """Extract; where the model fails, by words alone, which `degraded` then says."""
    weights = weights_of(found.hits, question.terms)
    try:
        return _laid_out(extract(question.meant or question.text, weights, sources, reading, plan.sentences), sources)
    except ModelError as error:
        by_words = replace(reading, embed=None, embed_question=None)
        made = _laid_out(extract(question.meant or question.text, weights, sources, by_words, plan.sentences), sources)
        return replace(made, degraded=(f"extract: {error.message}",))


def _laid_out(chosen: tuple[Chosen, ...], sources: tuple[Source, ...]) -> Extracts:
    """Put sentences behind one another, those of another passage apart, each with its marker."""
    by_number = {one.number: one for one in sources}
    text, before = "", None
    sentences: list[AnswerSentence] = []
    citations: list[Citation] = []
    events: list[ChunkEvent | CitationEvent] = []
    for one in chosen:
        unit = one.unit
        citation = citation_of(by_number[unit.source], unit.start, unit.end)
        shown = _shown(citation)
        if not shown:
            continue
        if before is not None:
            near = before.number == citation.number and 0 <= citation.start - before.end <= _NEAR
            text += " " if near else " … " if before.number == citation.number else APART
        start = len(text)
        text += f"{shown} [{citation.number}]"
        sentences.append(AnswerSentence(shown, start, start + len(shown), (len(citations),), 1.0, supported=True))
        events += [
            ChunkEvent(text[sum(len(each.content) for each in events if isinstance(each, ChunkEvent)) :]),
            CitationEvent(len(citations), citation),
        ]
        citations.append(citation)
        before = citation
    return Extracts(text, tuple(sentences), tuple(citations), tuple(events))


def _shown(citation: Citation) -> str:
    """Give a quotation as it may be shown: no markers, pictures or tags of the document's, on one line."""
    own = addresses_in(citation.quote)
    guard = Guard(lambda _: (), own.__contains__)
    parts = [*guard.feed(citation.quote), *guard.finish()]
    return " ".join("".join(part for part in parts if isinstance(part, str)).split())

"""The nouns of an answer: sources, citations, sentences, and what is handed back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, Self

from twofold.answer.certainty import DOUBTFUL, Evidence
from twofold.domain.dataclass import dataclass
from twofold.domain.types import Metadata, Scores, Vectors, shortened
from twofold.domain.warning import StageWarning, is_degraded
from twofold.search.result import CacheInfo

REFUSAL = "I could not find that information in the provided documents."
"""What is answered where the documents do not hold an answer (checklist 62), word for word."""

Where = Literal["question", "sentence", "passage"]

Mode = Literal["extractive", "generated", "ungrounded"]
"""Sentences of the documents, a model's words held against them, or a model's words and nothing behind them."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a source that one passage gave: `document_text[start:end] == source.text[at : at + end - start]`.

    `header` is the header row of the table that it is a later part of.
    """

    start: int
    end: int
    at: int
    chunk_id: str
    page: int | None = None
    place: str = ""
    heading: tuple[str, ...] = ()
    header: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer may rest on, with its neighbors where some were joined to it.

    `number` counts from 1 and is what a marker such as `[1]` means. `kind` says where the document came from: the
    last value of its field `source_type`, else `local_file`. `given` is false for one that the budget left no room for.
    """

    number: int
    text: str
    parts: tuple[Part, ...]
    document: str
    source: str
    title: str = ""
    kind: str = ""
    score: float = 0.0
    metadata: Metadata = field(default_factory=dict, hash=False)
    collection: str = ""
    given: bool = True

    @property
    def filename(self) -> str:
        """The last part of the source's path: `report.pdf`."""
        return self.source.rstrip("/").rpartition("/")[2] or self.source

    @property
    def first(self) -> Part:
        """The part that begins the text."""
        return self.parts[0]


@dataclass(frozen=True, slots=True)
class Citation:
    """What a sentence rests on: `document_text[start:end] == quote`, always; `number` is the source's."""

    number: int
    document: str
    source: str
    title: str
    chunk_id: str
    page: int | None
    place: str
    heading: tuple[str, ...]
    start: int
    end: int
    quote: str
    collection: str = ""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer: `answer.text[start:end] == text`; `citations` are places in the answer's own list.

    `support` in [0, 1] says how much of it its best span bears out. `supported` is None for what claims nothing: a
    heading, a line that leads in a list. `cells` are those of rows of a table, the header row first; each row has as
    many.
    """

    text: str
    start: int
    end: int
    citations: tuple[int, ...] = ()
    support: float = 0.0
    supported: bool | None = None
    cells: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken out of a model's reply: markers that point nowhere, addresses, pictures, tags."""

    markers: int = 0
    links: int = 0
    images: int = 0
    tags: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model was given and gave, in tokens by the approximation of `approximate_tokens`."""

    model: str
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class Round:
    """A further search for what the sentences before left open.

    `found` counts its passages, `added` is the sentence that it added, empty for none, and `logit` is what the
    cross-encoder made of the best one, None where nothing else was found. `by` says who wrote the query: a rule from
    the words left open, or the language model.
    """

    query: str
    found: int
    added: str = ""
    logit: float | None = None
    by: Literal["words", "model"] = "words"


@dataclass(frozen=True, slots=True)
class Link:
    """A document that a sentence was taken of because its title is named.

    `where` says what names it: the question, the sentence shown first, or its passage.
    """

    title: str
    document: str
    where: Where


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, and all that it rests on.

    `sources` are the passages found, best first, also where the answer is a refusal or a model failed. `refused` says
    that `text` is the refusal. `confidence` and `p_answerable` are the search's; `p_correct` is the chance that this
    answer is correct, from its own `evidence`, None where that was never measured. `degraded` says that it is less than
    what was asked for, and `warnings` why. `removed` is what a model wrote and nobody gets to see. `session` names the
    conversation it is kept in. `cache` says whether it was made for an earlier question. `rounds` are the further
    searches that the effort allowed, `links` the documents cited because they are named.
    """

    question: str
    text: str
    mode: Mode
    sources: tuple[Source, ...] = ()
    citations: tuple[Citation, ...] = ()
    sentences: tuple[AnswerSentence, ...] = ()
    refused: bool = False
    confidence: float | None = None
    p_answerable: float | None = None
    p_correct: float | None = None
    evidence: Evidence | None = None
    threshold: float = 0.0
    degraded: bool = False
    warnings: tuple[StageWarning, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    usage: Usage | None = None
    removed: Removed = field(default_factory=Removed)
    session: str = ""
    cache: CacheInfo = CacheInfo()
    short: str = ""
    rounds: tuple[Round, ...] = ()
    links: tuple[Link, ...] = ()

    def __repr__(self) -> str:
        what = "refused" if self.refused else f"{len(self.citations)} citations"
        return f"Answer({shortened(self.text)!r}, {self.mode!r}, {what})"

    def with_warnings(self, warnings: Iterable[StageWarning]) -> Self:
        """Return the same answer with other warnings."""
        told = tuple(warnings)
        return replace(self, degraded=is_degraded(told), warnings=told)

    @property
    def doubtful(self) -> bool:
        """Whether it is shown though it is more likely wrong than right: the documents may say this."""
        return not self.refused and self.p_correct is not None and self.p_correct < DOUBTFUL

    @property
    def unsupported(self) -> tuple[AnswerSentence, ...]:
        """The sentences that nothing in the sources bears out."""
        return tuple(one for one in self.sentences if one.supported is False)


@dataclass(frozen=True, slots=True)
class TextTools:
    """How texts are read: where sentences end, which terms a text has and how often, and what texts mean.

    `embed` gives unit vectors (len(texts), dimensions) of texts, `embed_question` of questions; both are None where
    there is no model to ask, and raise ModelError where it fails. `relevance` gives logits (len(texts),) of how well
    texts answer a question, None where no cross-encoder is at hand, and raises ModelError too; `reader` is
    that one's name, and `warnings` say that there should be one.
    """

    sentence_ends: Callable[[str], Sequence[int]]
    terms: Callable[[str], Mapping[str, int]]
    embed: Callable[[Sequence[str]], Vectors] | None = None
    embed_question: Callable[[Sequence[str]], Vectors] | None = None
    relevance: Callable[[str, Sequence[str]], Scores] | None = None
    reader: str = ""
    warnings: tuple[StageWarning, ...] = ()

    def by_words(self) -> Self:
        """Return the same without any model."""
        return replace(self, embed=None, embed_question=None, relevance=None, reader="", warnings=())


def citation_of(source: Source, start: int, end: int) -> Citation:
    """Cite `document_text[start:end]`, which must lie within one part of the source.

    Raises ValueError where it does not.
    """
    for part in source.parts:
        if part.start <= start <= end <= part.end:
            begin = part.at + start - part.start
            return Citation(
                number=source.number,
                document=source.document,
                source=source.source,
                title=source.title,
                chunk_id=part.chunk_id,
                page=part.page,
                place=part.place,
                heading=part.heading,
                start=start,
                end=end,
                quote=source.text[begin : begin + end - start],
                collection=source.collection,
            )
    message = f"characters {start} to {end} are not of source {source.number}"
    raise ValueError(message)

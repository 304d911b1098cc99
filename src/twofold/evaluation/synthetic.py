"""Questions made from documents without a model: headings, key words, sentences, each taken out of what is searched.

A question that stood in the text would be answered by its own words. So what it was made of is cut out of its document
first, and the document without it has to be found: the inverse cloze task of Lee, Chang, Toutanova, "Latent retrieval
for weakly supervised open domain question answering", 2019, here for measuring. What stays too optimistic: such
questions use the words of the document, and no other document counts as an answer.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice, pairwise
from math import log
from random import Random
from typing import Final, NamedTuple, Protocol

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import BlockKind, Document
from twofold.evaluation.dataset import JudgedCollection, Question
from twofold.evaluation.masking import Span, masked, merged, occurrences
from twofold.ingest.chunking.sentences import sentence_ends
from twofold.text.analyzer import Token
from twofold.text.tokenizer import Kind

KINDS: Final = ("heading", "keywords", "sentence")
KEYWORDS: Final = 4
MIN_LEFT: Final = 200
"""Characters that a document must keep: with less of it there is nothing to find."""

_WORDS: Final = frozenset({Kind.WORD, Kind.BIGRAM})
_MIN_OF_HEADING, _MIN_OF_SENTENCE, _MAX_OF_SENTENCE = 2, 6, 40
_A_SENTENCE: Final = 5
"""A heading of this many words that is found again in the text is a repetition; a shorter one is its subject."""

_COMMON: Final = 0.1
_ROUNDS: Final = 30


class Words(Protocol):
    """What finds words in a text: the collection's own analyzer."""

    def tokens(self, text: str) -> Iterator[Token]:
        """Return every term with its place."""


Frequencies = Callable[[tuple[str, ...]], Mapping[str, int]]
"""Counts the passages of the collection that hold each term."""


class Candidate(NamedTuple):
    """A question that a document offers, what of its text must go for it, and the heading that must go."""

    kind: str
    text: str
    cuts: tuple[Span, ...]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class PseudoQuestions:
    """Questions, each judged to be answered by the one document it was made from, and all documents to search.

    `documents` are those given, without what questions were made of. `kinds` counts the questions of each kind.
    """

    judged: JudgedCollection
    documents: tuple[Document, ...]
    kinds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Making:
    """What questions are made with: the words of a text, how common they are among all passages, and a seed."""

    words: Words
    frequencies: Frequencies
    passages: int
    seed: int = 0


def pseudo_questions(documents: Sequence[Document], most: int, making: Making) -> PseudoQuestions:
    """Make at most `number` questions, from as many documents as possible, the kinds in turn.

    The same documents and seed give the same questions. Raises InvalidInputError when not one can be made.
    """
    random = Random(making.seed)  # noqa: S311  # a lot, no secret
    drawn = sorted(documents, key=lambda document: document.id)
    random.shuffle(drawn)
    chosen: defaultdict[str, list[Candidate]] = defaultdict(list)
    offers = {document.id: list(_offers(document, making, random)) for document in drawn[: most * 2]}
    wanted = cycle(KINDS)
    places = (document for _ in range(_ROUNDS) for document in drawn[: most * 2])
    made = islice(_round_robin(places, offers, chosen, wanted), most)
    questions = [(Question(f"p{number}", one.text), name, one.kind) for number, (name, one) in enumerate(made, start=1)]
    if not questions:
        raise InvalidInputError(
            "No questions can be made from these documents.", "They are too short; judge some of your own instead."
        )
    kinds = [kind for _, _, kind in questions]
    return PseudoQuestions(
        judged=JudgedCollection(
            name="questions made from documents",
            split="",
            documents=(),
            queries=tuple(question for question, _, _ in questions),
            grades={question.id: {name: 1} for question, name, _ in questions},
        ),
        documents=tuple(_without(document, chosen.get(document.id, ())) for document in documents),
        kinds={kind: kinds.count(kind) for kind in KINDS},
    )


def _round_robin(
    places: Iterator[Document],
    offers: Mapping[str, list[Candidate]],
    chosen: defaultdict[str, list[Candidate]],
    wanted: Iterator[str],
) -> Iterator[tuple[str, Candidate]]:
    """Go round the documents and take one question from each, of the kind whose turn it is if there is one."""
    for document in places:
        left = offers[document.id]
        if not left:
            continue
        kind = next(wanted)
        one = next((offer for offer in left if offer.kind == kind), left[0])
        left.remove(one)
        if _may_go(document, [*chosen[document.id], one]):
            chosen[document.id].append(one)
            yield document.id, one


def _may_go(document: Document, some: Sequence[Candidate]) -> bool:
    """Return whether enough is left, and no question's words are cut by another's."""
    spans = sorted(span for one in some for span in one.cuts)
    apart = all(left.end <= right.start for left, right in pairwise(spans))
    gone = sum(span.end - span.start for span in spans)
    return apart and len(document.text) - gone >= max(MIN_LEFT, gone)


def _without(document: Document, some: Sequence[Candidate]) -> Document:
    if not some:
        return document
    return masked(document, (span for one in some for span in one.cuts), [one.heading for one in some if one.heading])


def _offers(document: Document, making: Making, random: Random) -> Iterator[Candidate]:
    found = [*_headings(document, making.words), *_sentences(document, making)]
    random.shuffle(found)
    return iter(found)


def _headings(document: Document, words: Words) -> Iterator[Candidate]:
    """Offer the title and the headings, as paths name them; their own lines are cut, and so are long repetitions."""
    lines = {
        Span(block.start, block.end): _bare(document.text[block.start : block.end])
        for block in document.blocks
        if block.kind is BlockKind.HEADING
    }
    paths = (heading for block in document.blocks for heading in block.heading)
    for heading in dict.fromkeys((" ".join(document.title.split()), *paths)):
        known = sum(token.kind in _WORDS for token in words.tokens(heading))
        if _MIN_OF_HEADING <= known <= _MAX_OF_SENTENCE:
            own = [span for span, text in lines.items() if text == _bare(heading)]
            repeated = occurrences(document.text, heading) if known >= _A_SENTENCE else ()
            yield Candidate("heading", heading, merged((*own, *repeated)), heading)


def _bare(line: str) -> str:
    """Take away what marks a line as a heading, and case.

    >>> _bare("## Exit  codes")
    'exit codes'
    """
    return " ".join(line.split()).strip("#=* ").casefold()


def _sentences(document: Document, making: Making) -> Iterator[Candidate]:
    for span in _spans_of_sentences(document):
        text = document.text[span.start : span.end]
        tokens = [token for token in making.words.tokens(text) if token.kind in _WORDS]
        if _MIN_OF_SENTENCE <= len(tokens) <= _MAX_OF_SENTENCE:
            cuts = occurrences(document.text, text) or (span,)
            yield Candidate("sentence", " ".join(text.split()), cuts)
            keywords = _keywords(text, tokens, making)
            if keywords:
                yield Candidate("keywords", keywords, cuts)


def _spans_of_sentences(document: Document) -> Iterator[Span]:
    """Return the sentences of running text, at most a hundred, without white space around them."""
    paragraphs = [Span(b.start, b.end) for b in document.blocks if b.kind is BlockKind.PARAGRAPH]
    whole = [] if document.blocks else [Span(0, len(document.text))]
    spans = (span for paragraph in (*paragraphs, *whole) for span in _parted(document.text, paragraph))
    return islice(spans, 100)


def _parted(text: str, within: Span) -> Iterator[Span]:
    part = text[within.start : within.end]
    at = 0
    for end in (*sentence_ends(part), len(part)):
        sentence = part[at:end]
        start = at + len(sentence) - len(sentence.lstrip())
        if sentence.strip():
            yield Span(within.start + start, within.start + start + len(sentence.strip()))
        at = end


def _keywords(text: str, tokens: Sequence[Token], making: Making) -> str:
    """Return the rarest words that are not this sentence's alone, in its order; empty when too few stand out.

    Rarity is `ln(passages / frequency)`; a word that only one passage holds is no use, a tenth of all is too common.
    """
    known = making.frequencies(tuple(dict.fromkeys(token.term for token in tokens)))
    rarity = {
        term: log(making.passages / count)
        for term, count in known.items()
        if 1 < count <= max(2, making.passages * _COMMON)
    }
    rarest = sorted(rarity, key=lambda term: (-rarity[term], term))[:KEYWORDS]
    if len(rarest) < KEYWORDS - 1:
        return ""
    first = {token.term: text[token.start : token.end] for token in reversed(tokens) if token.term in rarest}
    order = dict.fromkeys(token.term for token in tokens if token.term in rarest)
    return " ".join(first[term] for term in order)

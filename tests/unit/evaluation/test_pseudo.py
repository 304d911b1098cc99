"""Questions made from documents: of their own words, the same every time, never answered by what they were made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Block, BlockKind, Document, document_id
from twofold.evaluation.masking import Span, masked, merged, occurrences
from twofold.evaluation.synthetic import Making, PseudoQuestions, pseudo_questions
from twofold.ingest.chunking.sentences import sentence_ends
from twofold.text.analyzers import analyzer_for

SIMPLE = analyzer_for("simple")
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def sentence(random: Random, words: int = 9) -> str:
    made = ["".join(random.choices(SYLLABLES, k=2)) for _ in range(words)]
    return " ".join(made).capitalize() + "."


def document(number: int, sections: int = 2) -> Document:
    random = Random(number)  # noqa: S311  # no secret
    name = f"{number:03d}.md"
    text, blocks = "", []
    for place in range(sections):
        heading = f"Number {number} part {place} of all"
        for kind, part in (
            (BlockKind.HEADING, f"## {heading}"),
            (BlockKind.PARAGRAPH, " ".join(sentence(random) for _ in range(6))),
        ):
            path = () if kind is BlockKind.HEADING else (heading,)
            blocks.append(Block(kind, len(text), len(text) + len(part), path))
            text += part + "\n\n"
    return Document(document_id(name), name, text, title="", blocks=tuple(blocks))


def making(documents: Sequence[Document], seed: int = 0) -> Making:
    counted = Counter(term for one in documents for term in SIMPLE.counts(one.text).counts)

    def frequencies(terms: Sequence[str]) -> Mapping[str, int]:
        return {term: counted[term] for term in terms}

    return Making(SIMPLE, frequencies, len(documents) * 4, seed)


def made_of(documents: Sequence[Document], most: int = 30, seed: int = 0) -> PseudoQuestions:
    return pseudo_questions(documents, most, making(documents, seed))


def test_each_question_comes_from_the_document_that_it_is_judged_by() -> None:
    documents = {one.id: one for one in map(document, range(20))}
    made = made_of(list(documents.values()))

    assert len(made.judged.queries) == 30
    for question in made.judged.queries:
        (name,) = made.judged.grades[question.id]
        words = set(documents[name].text.casefold().replace(".", " ").split())
        assert set(question.text.casefold().replace(".", " ").split()) <= words


def test_no_heading_and_no_sentence_that_is_asked_stands_in_what_is_searched() -> None:
    made = made_of([document(number) for number in range(20)])
    kept = {one.id: one for one in made.documents}
    whole = [question for question in made.judged.queries if len(question.text.split()) > 4]

    assert whole
    for question in whole:
        (name,) = made.judged.grades[question.id]
        assert question.text.casefold() not in kept[name].text.casefold()
        assert all(question.text not in block.heading for block in kept[name].blocks)


def test_key_words_are_those_of_a_sentence_that_is_gone() -> None:
    originals = {one.id: one for one in map(document, range(20))}
    made = made_of(list(originals.values()))
    kept = {one.id: one.text for one in made.documents}
    asked = [question for question in made.judged.queries if 3 <= len(question.text.split()) <= 4]

    assert len(asked) == made.kinds["keywords"] > 0
    for question in asked:
        (name,) = made.judged.grades[question.id]
        text = originals[name].text
        ends = [0, *sentence_ends(text), len(text)]
        sentences = [text[a:b] for a, b in pairwise(ends)]
        holding = [one.strip() for one in sentences if set(question.text.split()) <= set(one.replace(".", " ").split())]
        assert any(one.rpartition("\n")[2] not in kept[name] for one in holding)


def test_the_kinds_take_turns() -> None:
    assert made_of([document(number) for number in range(20)]).kinds == {"heading": 10, "keywords": 10, "sentence": 10}


def test_the_same_seed_makes_the_same_questions_and_another_one_others() -> None:
    documents = [document(number) for number in range(20)]

    assert made_of(documents) == made_of(documents)
    assert {one.text for one in made_of(documents[::-1]).judged.queries} == {
        one.text for one in made_of(documents).judged.queries
    }
    assert made_of(documents, seed=1).judged.queries != made_of(documents).judged.queries


def test_few_documents_give_several_questions_each_and_keep_most_of_their_text() -> None:
    documents = [document(number) for number in range(3)]
    made = made_of(documents)

    assert 3 < len(made.judged.queries) <= 30
    for before, after in zip(documents, made.documents, strict=True):
        assert len(after.text) * 2 >= len(before.text)


@pytest.mark.parametrize("text", ["", "Short.", "One. Two. Three. " * 3])
def test_documents_that_are_too_short_are_said_to_be(text: str) -> None:
    with pytest.raises(InvalidInputError, match="No questions"):
        made_of([Document(document_id("a"), "a", text)])


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 15)).map(lambda one: Span(one[0], one[0] + one[1])))


@given(st.text(min_size=60, max_size=60), SPANS, st.lists(st.integers(0, 60), max_size=6))
def test_what_is_masked_is_gone_and_blocks_keep_the_rest_of_theirs(
    text: str, cuts: list[Span], edges: list[int]
) -> None:
    bounds = sorted({0, *edges, 60})
    blocks = tuple(Block(BlockKind.PARAGRAPH, a, b) for a, b in pairwise(bounds))
    gone = {place for cut in cuts for place in range(cut.start, cut.end)}

    def left(start: int, end: int) -> str:
        return "".join(text[place] for place in range(start, end) if place not in gone)

    done = masked(Document("a", "a", text, blocks=blocks), cuts)

    assert done.text == left(0, 60)
    assert [done.text[one.start : one.end] for one in done.blocks] == [
        rest for one in blocks if (rest := left(one.start, one.end))
    ]


@given(SPANS)
def test_merged_spans_are_apart_in_order_and_cover_the_same(spans: list[Span]) -> None:
    done = merged(spans)

    assert all(one.end < other.start for one, other in pairwise(done))
    assert {place for one in done for place in range(*one)} == {place for one in spans for place in range(*one)}


@given(st.text(max_size=30), st.text(max_size=8))
def test_whatever_a_document_holds_is_sought_as_it_stands(text: str, sought: str) -> None:
    found = occurrences(text + sought + text, sought)

    assert bool(found) == bool(sought.split())


def test_headings_and_title_vanish_from_every_path() -> None:
    blocks = (Block(BlockKind.PARAGRAPH, 0, 4, ("Title", "Big  Part")),)
    done = masked(Document("a", "a", "text", title="title", blocks=blocks), (), ["big part", "TITLE"])

    assert (done.title, done.blocks[0].heading) == ("", ())

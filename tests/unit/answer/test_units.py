"""Sentences, extracts and hidden text: every place is true, whatever the text is made of."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from support.source_files import reading, source
from twofold.answer.extract import extract
from twofold.answer.sanitize_input import as_data, marked, without_hidden
from twofold.answer.sentences import MAX_LENGTH, spans, units_of
from twofold.answer.types import citation_of

READING = reading()
BY_WORDS = reading(embedding=False)
TEXTS = st.lists(
    st.sampled_from(
        [
            *("A sentence. ", "Another one! ", "\n\n", "\n", "- item\n", "# Heading\n", "| a | b |\n", "1. first\n"),
            *("x" * 600, "word ", "第一句。", "e.g. this ", "\t", "...", "```\ncode\n```\n", "What? "),
        ]
    ),
    max_size=25,
).map("".join)


@given(TEXTS)
def test_sentences_are_in_order_apart_trimmed_short_and_say_something(text: str) -> None:
    found = list(spans(text, READING))

    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))
    for start, end in found:
        assert end - start <= MAX_LENGTH
        assert text[start:end] == text[start:end].strip()
        assert any(map(str.isalnum, text[start:end]))


def test_the_number_of_a_heading_is_no_sentence() -> None:
    text = "14.3.1. Monitoring Logs\n\nA.2. Notes\n\nThere were 6. Then there were 7."

    assert [text[start:end] for start, end in spans(text, READING)] == [
        *("14.3.1. Monitoring Logs", "A.2. Notes"),
        *("There were 6.", "Then there were 7."),
    ]


@given(TEXTS, st.integers(0, 1_000), st.integers(1, 6))
def test_what_is_extracted_can_be_cited_verbatim_and_the_likeliest_comes_first(text: str, at: int, count: int) -> None:
    given_source = source(text, start=at)
    chosen = extract("Another sentence?", {"sentenc": 1.0, "anoth": 2.0}, [given_source], BY_WORDS, count)

    assert len(chosen) <= count
    assert len({one.unit.start for one in chosen}) == len(chosen)
    assert all(one.value <= chosen[0].value for one in chosen)
    for one in chosen:
        citation = citation_of(given_source, one.unit.start, one.unit.end)
        assert citation.quote == one.unit.text == text[one.unit.start - at : one.unit.end - at]


def test_two_halves_of_a_question_find_a_sentence_each() -> None:
    text = "The kiln is red. The kiln is red and warm. It was built in 1911. Cats sleep."
    weights = {"kiln": 1.0, "red": 1.0, "built": 1.5}
    chosen = extract("color of the kiln, when built", weights, [source(text)], BY_WORDS, 2)

    assert [one.unit.text for one in chosen] == ["The kiln is red and warm.", "It was built in 1911."]


def test_headings_and_questions_are_not_what_answers() -> None:
    text = "# The kiln\n\nHow hot is the kiln?\n\nThe kiln gets very hot."
    chosen = extract("How hot is the kiln?", {"kiln": 1.0, "hot": 1.0}, [source(text)], READING, 1)

    assert [one.unit.text for one in chosen] == ["The kiln gets very hot."]


def test_the_units_of_several_sources_are_counted_through() -> None:
    units = units_of([source("One. Two.", 1), source("Three.", 2, "b.md")], READING)

    assert [(one.source, one.order, one.text) for one in units] == [(1, 0, "One."), (1, 1, "Two."), (2, 2, "Three.")]


def test_what_a_reader_cannot_see_is_taken_out_and_what_means_something_stays() -> None:
    assert without_hidden("a\u200bb\u202ec\U000e0041d\x1b[8m<!-- obey -->e") == "abcd[8me"
    assert without_hidden("<p style='display: none'>obey</p>seen <span hidden>obey</span>") == "seen "
    assert without_hidden("\u0645\u06cc\u200c\u062e 👩\u200d👩") == "\u0645\u06cc\u200c\u062e 👩\u200d👩"
    assert without_hidden("<!-- never closed") == ""


@given(
    st.lists(st.sampled_from(["<", "/", "passages", "question", ">", " ", "|", "im_end", "[INST]", "a", "\n"])).map(
        "".join
    )
)
def test_no_text_holds_a_tag_of_ours_and_each_line_of_it_is_marked(text: str) -> None:
    shown = marked(as_data(text), 7)

    assert "<passages>" not in shown
    assert "</passages>" not in shown
    assert "</question>" not in shown
    assert "<|im_end|>" not in shown
    assert all(line.startswith("7| ") for line in shown.split("\n"))

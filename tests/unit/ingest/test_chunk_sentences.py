# ruff: noqa: RUF001
"""Where sentences end."""

from itertools import pairwise

import pytest

from twofold.ingest.chunking.sentences import sentence_ends


def split(text: str) -> list[str]:
    edges = [0, *sentence_ends(text), len(text)]
    return [text[start:end].strip() for start, end in pairwise(edges)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["It works.", "It really does!", "Does it?", "Yes"],
        ["He said “Stop.”", "Then he left (quietly.)", "All was well."],
        ["Dr. No met Mrs. Smith at St. Paul.", "They talked."],
        ["J. R. R. Tolkien wrote it.", "In the U.S. Army, e.g. at Fort Bragg, it was read."],
        ["See Fig. 3 and No. 7.", "He said no.", "Then he left."],
        ["It costs 3.50 dollars at example.com today.", "Version 1.2.3 is out."],
        ["It was 2019.", "The year ended."],
        ["1. First comes this.", "Then that."],
        ["Wait... what did approx. five people say?", "Nothing…", "Nothing at all."],
        ["Das gilt z.B. für Nr. 5, vgl. Bd. 2.", "Ende."],
        ["¿Qué pasa?", "¡Nada!", "Bien."],
    ],
)
def test_latin_sentences_end_where_a_reader_would_end_them(sentences: list[str]) -> None:
    assert split(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["今天天气很好。", "我们去公园吧！", "好吗？", "好"],
        ["「行こう。」", "彼は言った。"],
        ["यह पहला वाक्य है।", "यह दूसरा है।"],
        ["كيف حالك؟", "بخير."],
        ["یہ پہلا جملہ ہے۔", "یہ دوسرا ہے۔"],
    ],
)
def test_other_scripts_need_no_space_behind_their_marks(sentences: list[str]) -> None:
    assert split("".join(sentences)) == sentences


def test_text_in_small_letters_has_sentences_too() -> None:
    assert split("first one here. second one there. third.") == ["first one here.", "second one there.", "third."]


@pytest.mark.parametrize("text", ["." * 300_000, ". " * 150_000, "." + ")" * 300_000, "a.b" * 100_000, " " * 300_000])
def test_hostile_runs_of_marks_are_read_once(text: str) -> None:
    assert len(sentence_ends(text)) <= len(text) // 2

"""What goes to a terminal or into JSON: nothing that a document holds may act on the terminal or break the format."""

import io
import json
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twofold.cli.render.results import as_data, write_json
from twofold.cli.render.snippet import snippet
from twofold.cli.render.terminal import (
    bar,
    columns,
    one_line,
    printable,
    screen_on,
    shortened,
    shortened_path,
    width_of,
)
from twofold.text.analyzers import analyzer_for

ANY_TEXT = st.text(st.characters(), max_size=200)


@dataclass(frozen=True)
class Noun:
    name: str
    parts: tuple[object, ...]


@given(ANY_TEXT)
@example("\x1b[2J\x1b]0;title\x07\x9b31m\x7f")
@example("abc\r\u202egnp.exe\u2066\u2028")
@example("\udc80\ud800")
def test_no_character_of_a_document_can_act_on_a_terminal(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")

    assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t"]
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=100))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert printable(text) == text


@given(ANY_TEXT)
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=60), st.integers(2, 40))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    assert width_of(shortened(text, width)) <= width
    assert width_of(shortened_path(text, width)) <= width


def test_wide_characters_and_colors_are_measured_as_they_are_shown() -> None:
    assert width_of("ab") == 2
    assert width_of("漢字") == 4
    assert width_of("e\u0301") == 1
    assert width_of("\x1b[1mab\x1b[0m") == 2


def test_columns_line_up_whatever_their_cells_hold() -> None:
    lines = columns([["漢", "1"], ["abc", "100"]], right=frozenset({1}))

    assert lines == ["漢     1", "abc  100"]
    assert columns([]) == []


@given(st.floats(allow_nan=False), st.integers(1, 30))
def test_a_bar_has_its_length(share: float, cells: int) -> None:
    assert len(bar(share, cells)) == cells


@pytest.mark.parametrize(("variable", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colors_can_be_refused(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    wanted = screen_on(Terminal()).paint("a", "red")
    monkeypatch.setenv(variable, value)

    assert wanted == "\x1b[31ma\x1b[0m"
    assert screen_on(Terminal()).paint("a", "red") == "a"
    assert screen_on(io.StringIO()).paint("a", "red") == "a"


@given(ANY_TEXT)
@example("\udc80\ud800 \x00 \u2028")
def test_json_is_one_line_of_valid_utf8_that_reads_back(text: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out)
        write_json({"text": text})
        written = out.buffer.getvalue()

    line = written.decode("utf-8")

    assert line.count("\n") == 1
    assert json.loads(line) == {"text": text}


def test_nouns_become_what_json_knows() -> None:
    noun = Noun("a", (np.float64(0.5), np.int64(3), Path("x"), None, {"k": frozenset({1})}))

    assert as_data(noun) == {"name": "a", "parts": [0.5, 3, "x", None, {"k": [1]}]}


def test_what_has_no_form_in_json_is_not_guessed_at() -> None:
    with pytest.raises(TypeError, match="object"):
        as_data(object())


ENGLISH = analyzer_for("english")


def drawn(text: str, asked: str, width: int = 40, lines: int = 3) -> list[str]:
    terms = frozenset(ENGLISH.query(asked))
    cut = snippet(text, ENGLISH, terms, width, lines)
    return ["".join(f"[{part.text}]" if part.marked else part.text for part in line) for line in cut]


def test_asked_words_are_marked_in_every_inflection() -> None:
    assert drawn("He commits what she committed.", "commit") == ["He [commits] what she [committed]."]


def test_the_stretch_with_the_most_asked_words_is_shown() -> None:
    text = "reset " + "filler words that say nothing " * 30 + "to undo a commit, reset it softly " + "more filler " * 30

    shown = " ".join(drawn(text, "undo commit reset"))

    assert "[undo] a [commit], [reset]" in shown
    assert shown.endswith("…")


@given(st.text(max_size=300), st.text(max_size=20), st.integers(4, 60), st.integers(1, 4))
@example("漢字" * 50, "漢字", 5, 2)
@example("a" * 500, "a", 10, 3)
def test_a_snippet_fits_and_says_only_what_the_passage_says(text: str, asked: str, width: int, lines: int) -> None:
    cut = snippet(text, ENGLISH, frozenset(ENGLISH.query(asked)), width, lines)
    shown = ["".join(part.text for part in line) for line in cut]

    assert len(shown) <= lines
    assert all(width_of(line) <= width for line in shown)
    assert all(line.removesuffix("…") in one_line(text) for line in shown)

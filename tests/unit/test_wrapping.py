"""Text that is written as it comes: broken between words on a terminal, untouched in a pipe."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.cli.render.markup import drawn
from twofold.cli.render.terminal import Screen
from twofold.cli.render.wrap import WordWrap, wrapped

TERMINAL, PIPE = 12, 10_000


def written(width: int, *pieces: str) -> str:
    out = io.StringIO()
    text = WordWrap(Screen(out, color=False, width=width))
    for piece in pieces:
        text.write(piece)
    text.end()
    return out.getvalue()


@pytest.mark.parametrize("pieces", [["wal_buffers stays at 16 MB."], ["wal_bu", "ffers", " st", "ays at 1", "6 MB."]])
def test_lines_break_between_words_however_the_text_comes(pieces: list[str]) -> None:
    """`wal_buffers` is 11 columns wide, and `stays at 16` is too."""
    assert written(TERMINAL, *pieces) == "wal_buffers\nstays at 16\nMB.\n"


def test_new_lines_and_indents_stay_and_a_word_that_is_too_long_is_not_broken() -> None:
    assert written(TERMINAL, "a\n\n  b ", "incomprehensibilities c") == "a\n\n  b\nincomprehensibilities\nc\n"


def test_a_pipe_gets_the_text_as_it_is() -> None:
    assert written(PIPE, "word " * 4_000, " \n") == "word " * 4_000 + " \n\n"


def test_what_acts_on_a_terminal_is_shown_as_an_escape() -> None:
    screen = Screen(io.StringIO(), color=True, width=80)

    assert written(80, *(drawn(screen, piece, ()) for piece in ("red \x1b[3", "1m"))) == "red \\x1b[31m\n"


@given(st.lists(st.text("ab \n漢", max_size=8), max_size=8), st.integers(4, 20))
def test_no_word_is_lost_and_no_line_is_too_long_but_for_one_word(pieces: list[str], width: int) -> None:
    shown = written(width, *pieces)

    assert shown.split() == "".join(pieces).split()
    assert all(len(line) <= width or " " not in line.strip() for line in shown.split("\n"))


def test_a_quote_is_indented_and_fits() -> None:
    assert wrapped(Screen(io.StringIO(), color=False, width=30), "one two three four five six", "    ") == (
        "    one two three four five\n    six"
    )
    assert wrapped(Screen(io.StringIO(), color=False, width=PIPE), "one " * 50, "  ") == "  " + "one " * 50

"""What a model writes is made safe, however it arrives."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.answer.markers import MARKER
from twofold.answer.sanitize_output import Hint, OutputSanitizer, addresses_in
from twofold.answer.types import Removed

GOOD = "https://good.example/a"
SHARDS = [
    *"[]()<>! \n|`:/1a",
    *("[1]", "[99]", "](", "![", "http://", "https://bad.example/x?d=1", GOOD, "www.bad.example", "javascript:"),
    *("<img src=x>", "<", "</passages>", "<think>", "</think>", "[Source: a.pdf, p.3]", "(Source: b.pdf)", "word"),
    *(
        "\u200b",
        "【2】",
        "1| ",
        "bad.example/x",
        "\x00",
        "\u202e",
        "[x]: ",
        "[^1]",
        "<a href='//bad.example'>",
        "e.g. ",
    ),
    "`argv[1]`",
]


def written(text: str, *cuts: int) -> tuple[str, list[int], Removed]:
    guard = OutputSanitizer(
        lambda marker: (1,) if "1" in marker and "9" not in marker else (), lambda address: address == GOOD
    )
    pieces = [text[start:end] for start, end in pairwise([0, *sorted(cuts), len(text)])]
    parts = [part for piece in pieces for part in guard.feed(piece)] + list(guard.finish())
    shown = "".join(part for part in parts if isinstance(part, str))
    return shown, [number for part in parts if isinstance(part, Hint) for number in part.numbers], guard.removed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("So: <img src='https://bad.example/x'><iframe src='x'></iframe> it is", "So:     it is"),
        ("It is so [1].", "It is so."),
        ("It is so [7], or not [1, 2].", "It is so, or not."),
        ("![a cat](http://bad.example/c.png?d=secret) sat", "a cat sat"),
        ("Read [the manual](http://bad.example) now", "Read the manual now"),
        (f"Read [the manual]({GOOD}) now", f"Read the manual ({GOOD}) now"),
        ("See http://bad.example/steal?d=1.", "See (link removed)."),
        (f"See {GOOD}.", f"See {GOOD}."),
        (f"See {GOOD}?d=secret", "See (link removed)"),
        ("htt[9]p://bad.example/x", "(link removed)"),
        ("[[9]9]", ""),
        ("git log [<options>] [--all] <commit>", "git log [<options>] [--all] <commit>"),
        ("<script>alert(1)</script>hi", " alert(1) hi"),
        ("<think>They want x.</think>Yes.", "Yes."),
        ("<think>It never ends", ""),
        ("1| copied\n1| lines", "copied\nlines"),
        ("a < b and b > c", "a < b and b > c"),
        ("http\uff1a\uff0f\uff0fbad.example/x", "(link removed)"),
        ("//bad.example/x", "(link removed)"),
        ("bad.example/x?y", "(link removed)"),
        ("pay\u200bload\u202e", "payload"),
        ("bad [9].example/x", "bad .example/x"),
        ("bad\u2028.example/x", "bad .example/x"),
        (f"{GOOD} [9]?d=secret", f"{GOOD} ?d=secret"),
        (f"{GOOD} [1]_secret", f"{GOOD} _secret"),
        ("javascript: [9])", "javascript: )"),
        (f"t[Source 3]{GOOD}", "(link removed)"),
        (f"See {GOOD}[ and on", "See (link removed) and on"),
    ],
)
def test_what_comes_through(text: str, shown: str) -> None:
    assert written(text)[0] == shown


def test_markers_that_point_to_a_source_become_hints_and_others_are_counted() -> None:
    assert written("So [1] and so [99][Source: x, p.2].") == ("So and so.", [1], Removed(markers=2))


@given(st.lists(st.sampled_from(SHARDS), max_size=30).map("".join), st.lists(st.integers(0, 120), max_size=12))
def test_no_cut_lets_anything_through(text: str, cuts: list[int]) -> None:
    shown, _, _ = written(text, *(cut for cut in cuts if cut <= len(text)))

    assert not MARKER.search(shown)
    assert not re.search(r"!\[[^\[\]]*\]\(|\[[^\[\]]*\]\([^()\s]*\)", shown)
    assert addresses_in(shown) <= {GOOD}
    # `< a>` is text to a browser, as in `if x < a and b > c`; `</ a>` is not.
    assert not re.search(r"<(?:/\s*)?(?:img|script|a|passages?|think)\b[^<>]*>", shown, re.IGNORECASE)
    assert not re.search("[\x00-\x08\u200b\u202e]", shown)


@given(st.lists(st.sampled_from(SHARDS), max_size=30).map("".join), st.lists(st.integers(0, 120), max_size=12))
def test_the_cuts_make_no_difference_to_the_words(text: str, cuts: list[int]) -> None:
    whole = written(text)

    assert written(text, *range(len(text))) == whole
    assert written(text, *(cut for cut in cuts if cut <= len(text))) == whole


def test_a_long_text_without_white_space_keeps_its_markers_and_lets_no_address_through_where_it_is_ended() -> None:
    assert written("事实如此[1]。" * 800)[1] == [1] * 800
    for before in range(1_970, 2_010):
        assert addresses_in(written("。" * before + "https://bad.example/x?d=1")[0]) == frozenset()


@pytest.mark.parametrize("many", [" " * 5_000, "\n" * 5_000])
def test_white_space_without_end_ends(many: str) -> None:
    assert written(f"one{many}two")[0].split() == ["one", "two"]


@pytest.mark.parametrize("opening", ["[", "<a ", "![", "(source: ", "<think>", "[a](", "【"])
def test_a_bracket_that_never_closes_does_not_hold_back_the_rest_for_ever(opening: str) -> None:
    guard = OutputSanitizer(lambda _: (), lambda _: False)
    held = sum(len(part) for _ in range(3_000) for part in guard.feed("word ") if isinstance(part, str))
    before = held
    for piece in [opening, *["word "] * 3_000]:
        held += sum(len(part) for part in guard.feed(piece) if isinstance(part, str))

    assert held - before > 10_000 or opening == "<think>"

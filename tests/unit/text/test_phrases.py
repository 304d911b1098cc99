import pytest

from twofold.text.phrases import occurrences, occurs


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("reset  --hard", "Git Reset --HARD."),
        ("soft reset", "a soft\n\treset"),
        ("stra\u00dfe", "IN DER STRASSE"),
        ("caf\u00e9", "cafe\u0301s are not, but a cafe\u0301 is"),
        ("example", "an ex\u00adample"),
        ("don't", "I don\u2019t"),
        ("git", "git-reset"),
        ("C++", "(C++)"),
        ("水道", "自来水道路"),
        ("git", "使用git命令"),
        ("3.14", "about 3.14."),
        ("", "anything"),
        (" \t", ""),
        ("a b", "xa b a b"),
        ("\u3000wide", "\uff57\uff49\uff44\uff45"),
    ],
)
def test_a_phrase_stands_in_a_text(phrase: str, text: str) -> None:
    assert occurs(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("cat", "concatenate, cats, bobcat"),
        ("1.2", "1.2.3 and 0.1.2"),
        ("12", "12,500 or 4:12"),
        ("foo", "foo_bar"),
        ("soft reset", "soft, reset"),
        ("reset --hard", "reset --harder"),
        ("cafe", "cafe\u0301"),
        ("a", ""),
        ("ab", "a b"),
    ],
)
def test_a_phrase_does_not_stand_in_a_text(phrase: str, text: str) -> None:
    assert not occurs(phrase, text)


def test_places_are_those_of_the_text_as_given() -> None:
    text = "In der STRASSE; Stra\u00adße  1, stra\u00dfe 1"

    assert [text[start:end] for start, end in occurrences("straße", text)] == ["STRASSE", "Stra\u00adße", "stra\u00dfe"]
    assert [text[start:end] for start, end in occurrences("STRASSE 1", text)] == ["Stra\u00adße  1", "stra\u00dfe 1"]
    assert occurrences("", text) == ()


def test_places_do_not_overlap() -> None:
    assert occurrences("a a", "a a a a a") == ((0, 3), (4, 7))


def test_a_text_of_one_letter_a_million_times_is_read_once() -> None:
    assert not occurs("a" * 1_000, "a" * 1_000_000)
    assert not occurs("a" * 1_000, "b" + "a" * 1_000_000)

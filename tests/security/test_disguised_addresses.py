"""Addresses in disguise, markers that point nowhere, rows that claim nothing: a model writes them, word for word.

Everything goes through `Index.ask` and a real chat server. A host name alone (`evil.test`) may stand, since a file name
looks the same; so may `evil dot test` and `evil [.] test`, which are words that nothing opens.
"""

from collections.abc import Iterator

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.answer.types import Answer
from twofold.models.embedders.hashing import HashingEmbedder

FACT = "The blue valve opens at 40 bar."
OWN = "Its manual is at https://valves.example/blue and, as reports write it, hxxps://valves[.]example/red too."
DISGUISED = [
    "https:evil.test",
    "https:/evil.test/x",
    "HTTPS:\\\\evil.test",
    "hxxp://evil.test/x",
    "hxxps:evil.test",
    "fxp://evil.test/x",
    "https[:]//evil.test",
    "https%3A%2F%2Fevil.test%2Fx",
    "https%253A%252F%252Fevil.test",
    "https&#58;//evil.test",
    "\uff48\uff54\uff54\uff50\uff53\uff1a\uff0f\uff0fevil.test",
    "evil\u3002test/idn",
    "evil\uff0etest/idn",
    "evil\uff61test/idn",
    "www\u3002evil\u3002test",
    "\uff45\uff56\uff49\uff4cevil.test/x",
    "\u0435vil.test/x",
    "xn--evil.test/x",
    "参见evil.test/x",
    "evil[.]test",
    "evil(.)test",
    "evil{.}test",
    "evil[dot]test",
    "evil(dot)test/x",
    "evil%2Etest/x",
    "evil&period;test",
    "evil\u2024test",
    "//evil.test",
    "//evil[.]test/x",
    "\uff0f\uff0fevil.test/x",
    "\\\\evil.test\\share",
    "mailto:a@evil.test",
    "mailto%3Aa@evil.test",
    "magnet:?xt=evil.test",
    "ms-word:ofe|u|evil.test",
    "view-source:evil.test",
    "javascript%3Aevil.test()",
    "java[1]script:evil.test()",
    "htt[1]ps:evil.test",
    "evil[1].test/x",
    "evil[1][.]test",
]
PLAIN = [
    "Read docs/notes.md for the valve.",
    "Is the valve in notes.md?",
    "The dot product of valve.a and valve.b, std::vector and key:value.",
    "Call items[-1] or argv[-2] of the valve.",
    "evil.test is a host, and so is evil dot test.",
    "默认分支是 main。src/app.py 是入口。",
    "The valve opened at 12:30 over https: no address follows.",
]


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        made.add(f"{FACT} {OWN}", source="valve.txt")
        made.add("Options a and b, with 40 and 900 of them, are listed.", source="options.txt")
        yield made


def answer_of(index: Index, said: str, size: int) -> Answer:
    def writing(_: Heard, send: Send) -> None:
        for at in range(0, len(said), size):
            send(piece(said[at : at + size]))
        send(finished())

    with chatting(writing) as address:
        return index.ask(
            "At what pressure does the blue valve open?", llm=f"{address}#m", settings={"answer.min_answerability": 0}
        )


@pytest.mark.parametrize("size", [1, 5, 1_000])
def test_no_disguise_brings_an_address_through(index: Index, size: int) -> None:
    for disguised in DISGUISED:
        answer = answer_of(index, f"{FACT} See {disguised} now.", size)
        assert "evil" not in answer.text, disguised
        assert "(link removed)" in answer.text, disguised
        assert answer.text.endswith("now."), disguised
        assert answer.removed.links == 1, disguised


def test_what_is_no_address_stands(index: Index) -> None:
    for plain in PLAIN:
        answer = answer_of(index, plain, 4)
        assert plain in answer.text
        assert answer.removed.links == 0


def test_an_address_in_disguise_that_a_passage_holds_stands_with_its_citation(index: Index) -> None:
    answer = answer_of(index, "The manual is at hxxps://valves[.]example/red now.", 3)

    assert "hxxps://valves[.]example/red" in answer.text
    assert answer.sentences[0].citations


@pytest.mark.parametrize("marker", ["[-1]", "[+1]", "[\u22121]", "[1, -2]", "[0]", "[ -7 ]"])
def test_a_marker_with_a_sign_is_a_marker(index: Index, marker: str) -> None:
    answer = answer_of(index, f"{FACT} {marker} More.", 2)

    assert marker not in answer.text
    assert answer.text == f"{FACT} [1] More."


@pytest.mark.parametrize("row", ["| a | b |", "| 40 | 900 |", "| a | 40 |"])
def test_a_row_of_letters_and_numbers_alone_claims_nothing(index: Index, row: str) -> None:
    answer = answer_of(index, f"{FACT}\n\n{row}\n", 4)

    assert [one.supported for one in answer.sentences] == [True, None]
    assert answer.sentences[1].citations == ()


def test_a_row_of_words_is_still_held_against_the_passages(index: Index) -> None:
    answer = answer_of(index, "| blue valve | opens at 40 bar |\n| red valve | opens at 77 bar |", 4)

    assert [one.supported for one in answer.sentences] == [True, False]

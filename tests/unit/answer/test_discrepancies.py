"""A sentence that is nearly a copy of a passage, and says otherwise: through a model's answer, and one by one."""

import doctest

import pytest

from support.fake_llm_server import chatting, saying
from twofold import Index
from twofold.answer import discrepancies
from twofold.answer.discrepancies import discrepancy
from twofold.models.embedders.hashing import HashingEmbedder

TEXT = (
    "The cache takes 25 % of the memory and is emptied every 7 days. The spare cache takes 40 % of the disk. "
    "Rents in the northern district rose before the strike of March 1921. The valve must not be opened by hand."
)
TRUE = (
    "The cache takes 25 % of the memory and is emptied every 7 days.",
    "The cache takes 25 % of the memory.",
    "Rents in the northern district rose before the strike.",
    "The valve must not be opened by hand.",
)
EDITED = (
    "The cache takes 40 % of the memory and is emptied every 7 days.",
    "The cache takes 25 % of the memory and is emptied every 7 hours.",
    "The cache takes 25 % of the memory and is not emptied every 7 days.",
    "Rents in the northern district fell before the strike of March 1921.",
    "Rents in the northern district rose after the strike of March 1921.",
    "Rents in the southern district rose before the strike of March 1921.",
    "Rents in the northern district rose before the strike of April 1921.",
    "The valve must be opened by hand.",
)


def test_the_worked_examples_hold() -> None:
    outcome = doctest.testmod(discrepancies)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize(("said", "supported"), [*((text, True) for text in TRUE), *((text, False) for text in EDITED)])
def test_what_a_model_changes_is_not_supported(said: str, supported: bool) -> None:  # noqa: FBT001
    with Index(":memory:", embedder=HashingEmbedder()) as index, chatting(saying(lambda _: f"{said} [1]")) as address:
        index.add(TEXT, source="notes.txt")
        answer = index.ask("What is said?", llm=f"{address}#m", settings={"answer.min_answerability": 0.0})
    assert [one.supported for one in answer.sentences] == [supported]


@pytest.mark.parametrize(
    ("sentence", "span"),
    [
        ("Ada wrote the first program in 1843.", "She wrote the first program in 1843."),  # a name for a pronoun
        ("It runs on Linux.", "It runs on Linux and, since 2019, on Windows."),  # the rest is left out
        ("The lock is held until the write ends.", "The lock is held, without exception, until the write ends."),
        ("Files of more than 2 MB are skipped.", "Files of more than 2 megabytes are skipped."),
    ],
)
def test_what_says_the_same_is_let_through(sentence: str, span: str) -> None:
    assert discrepancy(sentence, span) == ""


@pytest.mark.parametrize(
    ("sentence", "span", "what"),
    [
        ("Berlin beat Vienna by 3 to 1.", "Vienna beat Berlin by 3 to 1.", "berlin"),
        ("The limit is 512 MB.", "The limit is 512 GB.", "unit mb"),
        ("They never close the gate.", "They close the gate.", "negation"),
    ],
)
def test_what_differs_is_named(sentence: str, span: str, what: str) -> None:
    assert what in discrepancy(sentence, span).casefold()

"""A question that asks for more than one fact is answered with more of the paragraphs, another one with a sentence."""

import pytest

from support.scripted_reranker import Dictated
from twofold import Index
from twofold.answer.types import Answer
from twofold.domain.ports import Scale
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins
from twofold.query.broad import is_broad

BEFORE = "Every city is short of land."
FUNDS = "Bonds are sold to fund parks."
TAXES = "A tax on parking pays for the rest of the parks."
ELSEWHERE = "Trees shade the river."
OTHER = "The parks were funded from donations in the year of the flood."
TEXT = f"{BEFORE} {FUNDS} {TAXES}\n\n{ELSEWHERE}"
BROAD = "What strategies does the city use to fund its parks?"
NARROW = "Which bonds fund the parks?"


def asked(question: str, text: str = TEXT, **scores: float) -> Answer:
    """Ask a document; the model reads 8 into the sentence about bonds, 1 into that about taxes, -9 into others."""
    reads = Dictated({**scores, "tax": 1.0, "Bonds": 8.0, "": -9.0}, Scale.LOGIT)
    settings = {"answer.min_answerability": 0.0, "rerank.model": "own"}
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        index.add(text, source="city.md")
        return index.ask(question, settings=settings)


def test_a_broad_question_gets_the_paragraph_around_the_sentence_and_no_other() -> None:
    broad, narrow = asked(BROAD), asked(NARROW)

    assert [one.text for one in broad.sentences] == [f"{BEFORE} {FUNDS} {TAXES}"]
    assert [one.quote for one in broad.citations] == [f"{BEFORE} {FUNDS} {TAXES}"]
    assert TAXES not in narrow.text


def test_the_sentence_grows_to_400_characters_by_the_neighbor_that_answers_likelier() -> None:
    """Of two neighbors, of 212 and 180 characters, one has room beside the 29: the one about a tax."""
    before, after = f"{'Land is short and dear ' * 9}here.", f"{'A tax on parking pays ' * 8}too."

    answer = asked(BROAD, f"{before} {FUNDS} {after}")

    assert [one.text for one in answer.sentences] == [f"{FUNDS} {after}"]


def test_rows_and_items_are_shown_as_they_are() -> None:
    text = f"The city does this:\n\n- {FUNDS}\n- {ELSEWHERE}"

    answer = asked(BROAD, text)

    assert FUNDS in answer.text
    assert ELSEWHERE not in answer.text


def test_another_sentence_may_be_less_likely_where_a_question_is_broad() -> None:
    """It has half of 8 - 4.6 less in log-odds, 1.7, but for the little that its words add; 1 is the most else."""
    text = f"{FUNDS}\n\n{OTHER}"

    broad, narrow = asked(BROAD, text, donations=4.6), asked(NARROW, text, donations=4.6)

    assert [one.text for one in broad.sentences] == [FUNDS, OTHER]
    assert [one.text for one in narrow.sentences] == [FUNDS]


def test_two_sentences_of_one_long_paragraph_are_not_shown_twice() -> None:
    filler = "Streets are swept and bins are emptied on every day of the week but Sunday, as they always were. " * 2
    text = f"{FUNDS} {filler}{OTHER} {filler}"

    answer = asked(BROAD, text, donations=7.9)

    assert answer.text.count(FUNDS) == answer.text.count(OTHER) == 1


@pytest.mark.parametrize(
    ("question", "broad"),
    [
        ("What are the differences between the two?", True),
        ("Which specific measures did the council propose?", True),
        ("What role does the tax play in the plan?", True),
        ("How did the plan for the parks evolve over time?", True),
        ("Why was the arsenal built?", True),
        ("What did the mayor say about parking?", True),
        ("Summarize the plan.", True),
        ("How do I undo the last commit?", False),
        ("How many parks are there?", False),
        ("What is the default of shared_buffers?", False),
        ("Which key moves to the last entry of a menu?", False),
        ("What happens if no file matches?", False),
        ("When was the tower finished?", False),
    ],
)
def test_how_a_question_is_written_tells_whether_it_is_broad(question: str, *, broad: bool) -> None:
    assert is_broad(question) is broad

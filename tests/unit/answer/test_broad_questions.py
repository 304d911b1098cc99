"""A question for a step, an account or more than one fact is answered with paragraphs, another one with a sentence."""

import pytest

from support.scripted_reranker import Dictated
from twofold import Index
from twofold.answer.types import Answer
from twofold.domain.ports import Scale
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins
from twofold.query.broad import is_broad, wants_paragraph

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


def test_a_question_for_a_step_gets_the_sentence_that_says_how_and_no_less_likely_one() -> None:
    """The sentence read as 8 is followed by one read as -9; another paragraph, read as 4.6, is 1.7 below it."""
    wish, means = "Some Bonds are sold by members of a group.", "This is done with the sell command."
    text = f"{wish} {means}\n\n{OTHER}"

    step = asked("How do I sell bonds?", text, donations=4.6, done=-9.0)
    fact = asked("Who sells bonds?", text, donations=4.6, done=-9.0)

    assert [one.text for one in step.sentences] == [f"{wish} {means}"]
    assert [one.text for one in fact.sentences] == [wish]


def test_a_name_that_the_question_does_not_hold_may_be_the_answer() -> None:
    """Feedback adds both words of the name to the search; they are no words of the question for that."""
    text = "The Handbook\n\nClara Bonds\n\nClara Bonds wrote of cities before. Clara Bonds lives by the river."

    answer = asked("Who wrote the handbook?", text, wrote=1.0, lives=1.0)

    assert answer.sentences[0].text == "Clara Bonds"


@pytest.mark.parametrize(
    ("question", "paragraph"),
    [
        ("How do I undo the last commit?", True),
        ("How can a user be added to a group?", True),
        ("Can I mount an archive?", True),
        ("What happens if no file matches?", True),
        ("What does git stash do?", True),
        ("What is a worktree?", True),
        ("Does prune free disk space right away?", True),
        ("What is the purpose of the lock file?", True),
        ("What is the default of work_mem?", False),
        ("How many parks are there?", False),
        ("How long does it keep trying?", False),
        ("Which option shows the date?", False),
        ("When was the tower finished?", False),
        ("Who wrote the handbook?", False),
        ("What is the default of the number of workers that clean up after others?", False),
    ],
)
def test_how_a_question_is_written_tells_whether_it_wants_a_paragraph(question: str, *, paragraph: bool) -> None:
    assert wants_paragraph(question) is paragraph


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

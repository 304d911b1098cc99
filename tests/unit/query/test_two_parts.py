"""Which questions are taken to have two parts."""

import pytest

from twofold.query.two_parts import has_two_parts


@pytest.mark.parametrize(
    "question",
    [
        "Which magazine was started first, Arthur's Magazine or First for Women?",
        "Are Medici and Senet both board games?",
        "Who directed the film that was shot in or around Leland in 1986?",
        "What do E. B. White and Dan Masterson have in common?",
        "At the 2011 census, what was the population of the city where Kerry Saxby-Junna was born?",
    ],
)
def test_comparisons_and_things_that_are_described_have_two_parts(question: str) -> None:
    assert has_two_parts(question)


@pytest.mark.parametrize(
    "question",
    [
        "What is the default of shared_buffers?",
        "How do I freeze a message so that it is not delivered?",
        "How do I leave a bisection and go back to where I started?",
        "How do I delete a branch that is not merged yet?",
        "What is the exit status of a command that is found but not executable?",
        "Does PostgreSQL support read or write locks?",
    ],
)
def test_other_questions_have_one(question: str) -> None:
    assert not has_two_parts(question)

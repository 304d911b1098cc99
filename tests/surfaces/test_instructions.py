"""Sentences that say how to answer count a quarter for BM25, and only these."""

import pytest

from twofold import Index
from twofold.ingest.document import document_of_text
from twofold.query.instructions import without_instructions


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "Answer the following question by using the balance sheet: what is the net debt of 2018? Answer in USD.",
            "what is the net debt of 2018?",
        ),
        ("What is the turnover? Give a response by relying on the details shown below.", "What is the turnover?"),
        ("What is the turnover (in USD millions) of 2018?", "What is the turnover of 2018?"),
        ("How high was the debt (in billions)? Answer in USD.", "How high was the debt?"),
        ("You are an analyst. Is it capital-intensive?", "Is it capital-intensive?"),
        ("Does the margin rise? If it is no useful metric, then please state that.", "Does the margin rise?"),
    ],
)
def test_what_tells_how_to_answer_is_left_out(question: str, asked: str) -> None:
    assert without_instructions(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Explain how to answer a call.",
        "Use git stash. What happens to untracked files?",
        "Articles on languages: Pascal, Ada, ALGOL 68. List any others that are often referred to.",
        "How do I reply to a message? Do you answer above or below?",
        "Give your answer in one word.",
        "What is the turnover (in Germany)?",
        "Which plants (in all) are closed?",
        "How many plants (in US) are closed?",
        "Note: the port is taken",
    ],
)
def test_what_is_sought_stays(question: str) -> None:
    assert without_instructions(question) == question


def test_words_of_instructions_decide_less_than_what_is_asked() -> None:
    with Index(":memory:") as index:
        texts = {
            "debt.txt": "The net debt of the group fell in spring after the plant was sold.",
            "form.txt": "Answer every question of the form by relying on the details shown in millions.",
        }
        index.add_many([document_of_text(text, name, "", {}, None) for name, text in texts.items()])
        asked = "How far fell the net debt? Answer the question by relying on the details shown. Answer in millions."
        found = index.search(asked, mode="bm25").hits
        weights = {one.term: one.weight for hit in found for one in hit.trace.terms}
    assert [hit.source for hit in found] == ["debt.txt", "form.txt"]
    assert weights["debt"] == 1.0
    assert weights["detail"] == 0.25

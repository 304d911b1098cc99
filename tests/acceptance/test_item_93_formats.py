"""Item 93: prelims and mains as forms of answers, for a model that writes; checked and cited like any other answer."""

from collections.abc import Iterator

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.answer.types import REFUSAL
from twofold.domain.errors import InvalidInputError
from twofold.models.embedders.hashing import HashingEmbedder

FACTS = ("The small kiln reaches 1060 degrees.", "It must cool to 90 degrees before the door is opened.")
QUESTION = "How hot does the small kiln get?"
PRELIMS = "\n".join(f"- {one}" for one in FACTS)
PARTS = (
    "Introduction\n\nThe question is about the small kiln.",
    f"Body\n\n{FACTS[0]} [1]",
    f"Conclusion\n\n{FACTS[1]} [1]",
)
MAINS = "\n\n".join(f"## {part}" for part in PARTS)


@pytest.fixture
def heard() -> list[Heard]:
    return []


@pytest.fixture
def model(heard: list[Heard]) -> Iterator[str]:
    def writing(asked: Heard, send: Send) -> None:
        heard.append(asked)
        rules = asked.body["messages"][0]["content"]
        send(piece(PRELIMS if "short facts" in rules else MAINS if "## Body" in rules else FACTS[0]) + finished())

    with chatting(writing) as address:
        yield f"{address}#m"


@pytest.fixture
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        made.add(" ".join(FACTS), source="kiln.md")
        yield made


def settings(form: str) -> dict[str, object]:
    return {"answer.min_answerability": 0.0, "answer.format": form}


def test_prelims_are_short_facts_each_cited(index: Index, model: str, heard: list[Heard]) -> None:
    answer = index.ask(QUESTION, llm=model, settings=settings("prelims"))
    rules = heard[0].body["messages"][0]["content"]

    assert "one a line" in rules
    assert REFUSAL in rules
    assert answer.text == "\n".join(f"- {one} [1]" for one in FACTS)
    assert [one.supported for one in answer.sentences] == [True, True]


def test_mains_have_three_parts_whose_headings_claim_nothing(index: Index, model: str, heard: list[Heard]) -> None:
    answer = index.ask(QUESTION, llm=model, settings=settings("mains"))
    rules = heard[0].body["messages"][0]["content"]

    assert [part for part in ("## Introduction", "## Body", "## Conclusion") if part in rules] == [
        line for line in answer.text.splitlines() if line.startswith("## ")
    ]
    headings = [one for one in answer.sentences if one.text.startswith("## ")]
    assert [one.supported for one in headings] == [None, None, None]
    assert {one.quote for one in answer.citations} >= set(FACTS)


def test_a_form_of_one_s_own_and_none(index: Index, model: str, heard: list[Heard]) -> None:
    index.ask(QUESTION, llm=model, settings=settings("Answer in one word."))
    index.ask(QUESTION, llm=model, settings=settings(""))
    own, none = (one.body["messages"][0]["content"] for one in heard)

    assert own == f"{none}\n\nAnswer in one word."


def test_a_form_that_is_too_long_is_refused(index: Index, model: str) -> None:
    with pytest.raises(InvalidInputError):
        index.ask(QUESTION, llm=model, settings=settings("x" * 4_001))


def test_each_form_is_an_answer_of_its_own_in_the_cache(index: Index, model: str, heard: list[Heard]) -> None:
    for form in ("prelims", "mains", "prelims"):
        index.ask(QUESTION, llm=model, settings={**settings(form), "cache": {"size": 10}})

    assert len(heard) == 2

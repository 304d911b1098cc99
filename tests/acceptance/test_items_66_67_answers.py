"""Checklist items 66 and 67, contradiction C14, in answers: what was said goes before context and question."""

from typing import Literal

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.history import Turn, question_with_history

ROLES: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
SAID = [Turn(role, f"{role} {number} " + "x" * 250) for number in range(4) for role in ROLES]


def conversation(profile: str) -> list[str]:
    """Give the lines of what was said before, as a model is told them."""
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(finished())

    settings = {
        "answer.min_answerability": 0.0,
        "search.default_filter": "()",
        "rerank.model": "none",
        "rerank.fallback": "",
    }
    with Index(":memory:", embedder=HashingEmbedder()) as index, chatting(noting) as address:
        index.add("The valve opens at 40 bar. It is made of brass.", source="valve.txt")
        index.ask("and of what is it made?", llm=f"{address}#m", history=SAID, profile=profile, settings=settings)
    return heard[-1].prompt.partition("<conversation>\n")[2].partition("\n</conversation>")[0].splitlines()


@pytest.mark.parametrize(("profile", "entries", "characters"), [("voicevault", 5, None), ("localgpt", 3, 200)])
def test_five_turns_whole_or_three_entries_of_200_characters(
    profile: str, entries: int, characters: int | None
) -> None:
    lines = conversation(profile)

    assert len(lines) == entries
    for line, turn in zip(lines, SAID[-entries:], strict=True):
        cut = turn.role == "assistant" and characters is not None
        text = f"{turn.text[:characters]}..." if cut else turn.text
        assert line == f"{'User' if turn.role == 'user' else 'Assistant'}: {text}"


def test_a_follow_up_is_searched_for_with_what_was_said_before() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("The valve opens at 40 bar.", source="valve.txt")
        history = [Turn("user", "What about the valve?")]
        found = index.search("and when?", history=history, settings={"query": {"follow_up": "prepend"}})
        carried = index.search("and when?", history=history)
        answer = index.ask("and when?", history=history, settings={"answer.min_answerability": 0.0})

    assert found.queries[1].split() == question_with_history("and when?", history).split()
    assert carried.queries == ("and when?", "What about the valve? when?")
    assert answer.citations[0].quote == "The valve opens at 40 bar."
    assert answer.question == "and when?"

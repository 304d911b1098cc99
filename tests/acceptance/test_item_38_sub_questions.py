"""Checklist item 38: a complex question is broken down into 2 to 4 sub-questions, read from a numbered list."""

import pytest

from support.fake_llm_server import chatting, saying
from support.indexes import GIT, indexed

QUESTION = "Which is older, git or mercurial, and who wrote them?"
FOUR = ["When was git first released?", "When was mercurial first released?", "Who wrote git?", "Who wrote mercurial?"]


def sub_questions(reply: str) -> list[str]:
    """Search with a model that gives this reply, and return what is asked beside the question."""
    with chatting(saying(lambda _: reply)) as address, indexed(GIT, {"generator": f"{address}#m"}) as index:
        found = index.search(QUESTION, settings={"query_expansion": {"decompose": True}})
    assert found.queries[0] == QUESTION
    (stage,) = (one for one in found.stages if one.name == "expand")
    assert stage.notes == tuple(f"sub_question: {text}" for text in found.queries[1:])
    return list(found.queries[1:])


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("form", ["{n}. {text}", "{n}) {text}", "- {text}", "{n}. **{text}**"])
def test_two_to_four_are_read_from_a_list(count: int, form: str) -> None:
    lines = [form.format(n=n, text=text) for n, text in enumerate(FOUR[:count], 1)]

    assert sub_questions("Sub-questions:\n" + "\n".join(lines)) == FOUR[:count]


def test_of_more_than_four_the_first_four_are_kept() -> None:
    assert sub_questions("\n".join(f"{n}. {text}" for n, text in enumerate([*FOUR, "What is hg?"], 1))) == FOUR


@pytest.mark.parametrize("reply", [f"1. {QUESTION}", "1. Only one?", "I cannot do that:"])
def test_fewer_than_two_are_none(reply: str) -> None:
    assert sub_questions(reply) == []

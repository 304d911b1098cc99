"""Checklist item 37: HyDE, a passage that a model invents as the answer, to be searched by its meaning."""

from support.fake_llm_server import Heard, Send, chatting, saying
from support.indexes import GIT, indexed

QUESTION = "How do I undo the last commit?"
PASSAGE = "To undo the last commit, run git reset. The changes stay in the working tree."


def test_a_passage_is_asked_for_beside_the_question_and_is_no_wording_of_it() -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        saying(lambda _: f"Hypothetical passage: {PASSAGE}\n")(asked, send)

    with chatting(noting) as address, indexed(GIT, {"generator": f"{address}#small"}) as index:
        found = index.search(QUESTION, settings={"query_expansion": {"hyde": True}})

    assert found.queries == (QUESTION,)
    assert found.warnings == ()
    assert len(heard) == 1
    assert "hypothetical passage" in heard[0].body["messages"][0]["content"]
    assert heard[0].body["model"] == "small"
    assert QUESTION in heard[0].prompt


def test_a_model_that_says_nothing_leaves_the_question_and_is_told_of() -> None:
    with chatting(saying(lambda _: " ")) as address, indexed(GIT, {"generator": f"{address}#small"}) as index:
        found = index.search(QUESTION, settings={"query_expansion": {"hyde": True}})
        plain = index.search(QUESTION)

    assert [hit.chunk_id for hit in found.hits] == [hit.chunk_id for hit in plain.hits]
    assert tuple(map(str, found.warnings)) == ("expand no result: the model gave no hypothetical.",)

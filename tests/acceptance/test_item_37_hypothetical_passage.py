"""Checklist item 37: HyDE, a passage that a model invents as the answer, to be searched by its meaning."""

from chatting import Heard, Send, chatting, saying
from twofold.models.generator_endpoint import ChatEndpoint, EndpointGenerator
from twofold.pipeline.rewrite_plan import RewritePlan
from twofold.pipeline.rewriting import Wording, rewrite

QUESTION = "How do I undo the last commit?"
PASSAGE = "To undo the last commit, run git reset. The changes stay in the working tree."


def test_a_passage_is_given_beside_the_question_and_is_no_wording_of_it() -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        saying(lambda _: f"Hypothetical passage: {PASSAGE}\n")(asked, send)

    with chatting(noting) as address:
        found = rewrite(QUESTION, [], RewritePlan(hyde=True), EndpointGenerator(ChatEndpoint(address, "small")))

    assert found.hypothetical == PASSAGE
    assert found.wordings == (Wording(QUESTION, "original"),)
    assert "hypothetical passage" in heard[0].body["messages"][0]["content"]
    assert heard[0].body["model"] == "small"


def test_a_model_that_says_nothing_gives_none() -> None:
    with chatting(saying(lambda _: " ")) as address:
        found = rewrite(QUESTION, [], RewritePlan(hyde=True), EndpointGenerator(ChatEndpoint(address, "small")))

    assert found.hypothetical is None
    assert found.degraded == ("rewrite gave nothing: hypothetical",)

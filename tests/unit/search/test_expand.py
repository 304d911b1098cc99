"""The stage around the prompts: what is kept, what is noted, and what a failing model leaves behind."""

from queue import Queue

import pytest

from support.fake_llm_server import NEVER, Heard, Send, chatting, finished, piece, saying
from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.generators import Generator
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator
from twofold.models.http import Timeouts
from twofold.query.history import Memory, Turn
from twofold.search.expand import GeneratedQuery, expand_query
from twofold.search.plan import QueryExpansionPlan

QUESTION = "How do I undo a commit?"
ORIGINAL = (GeneratedQuery(QUESTION, "original"),)
MATCH_ALL = QueryExpansionPlan(multi_query=3, hyde=True, decompose=True, keywords=5, follow_up="standalone")
HISTORY = [Turn("user", "What is git?"), Turn("assistant", "A tool.")]


def generator_at(address: str) -> Generator:
    return EndpointGenerator(ChatEndpoint(address, "scripted"), Timeouts(silence=10.0))


def test_a_plan_that_asks_for_nothing_asks_nobody() -> None:
    def refuse(_: Heard, __: Send) -> None:
        raise AssertionError

    with chatting(refuse) as address:
        found = expand_query(QUESTION, HISTORY, QueryExpansionPlan(), generator_at(address))

    assert found.queries == ORIGINAL
    assert found.question == QUESTION
    assert found.hypothetical is None
    assert found.warnings == ()
    assert found.summary.generator == ""
    assert found.summary.steps == ()


def test_without_a_generator_the_original_stands_and_one_note_says_why() -> None:
    found = expand_query(QUESTION, HISTORY, MATCH_ALL, None)

    assert found.queries[:1] == ORIGINAL
    assert {one.kind for one in found.queries[1:]} == {"variant"}
    assert found.hypothetical is None
    assert tuple(map(str, found.warnings)) == ("expand skipped: no generator is set.",)


def test_a_model_that_fails_is_asked_once_and_the_original_stands() -> None:
    asked: Queue[str] = Queue()

    def failing(heard: Heard, _: Send) -> None:
        asked.put(heard.prompt)

    with chatting(failing, 500) as address:
        found = expand_query(QUESTION, [], MATCH_ALL, generator_at(address))

    assert found.queries == ORIGINAL
    assert tuple(map(str, found.warnings)) == (
        f"expand unavailable: {address.removesuffix('/v1')} answered 500. " + LOG,
    )
    assert asked.get(timeout=60)  # the status comes before the server notes what was asked
    assert asked.empty()


LOG = "Look at the server's own log."


def test_what_was_made_before_a_model_failed_is_kept() -> None:
    def failing_later(heard: Heard, send: Send) -> None:
        if "wordings" in heard.body["messages"][0]["content"]:
            send(piece("1. Reverting commits") + finished())

    with chatting(failing_later) as address:
        found = expand_query(QUESTION, [], QueryExpansionPlan(multi_query=2, hyde=True), generator_at(address))

    assert found.queries == (*ORIGINAL, GeneratedQuery("Reverting commits", "variant"))
    assert found.hypothetical is None
    assert ["broke off" in note for note in map(str, found.warnings)] == [True]


def test_a_model_that_takes_too_long_is_given_up_for_all_parts_together() -> None:
    def hanging(_: Heard, __: Send) -> None:
        NEVER.wait(5)

    plan = QueryExpansionPlan(multi_query=3, hyde=True, decompose=True, seconds=0.2)
    with chatting(hanging) as address:
        found = expand_query(QUESTION, [], plan, generator_at(address))

    assert found.queries == ORIGINAL
    assert len(found.warnings) == 1
    assert "was not done after" in str(found.warnings[0])


@pytest.mark.parametrize("reply", ["", "Here you are:", QUESTION, f"1. {QUESTION}\n2. how do I undo a commit"])
def test_a_reply_with_nothing_in_it_is_noted(reply: str) -> None:
    with chatting(saying(lambda _: reply)) as address:
        found = expand_query(QUESTION, [], QueryExpansionPlan(multi_query=3), generator_at(address))

    assert found.queries == ORIGINAL
    assert tuple(map(str, found.warnings)) == ("expand no result: the model gave no variants.",)


def test_a_text_is_searched_once_however_often_it_is_made() -> None:
    with chatting(saying(lambda _: "1. Undoing\n2. Reverting")) as address:
        found = expand_query(QUESTION, [], QueryExpansionPlan(multi_query=3, decompose=True), generator_at(address))

    assert found.queries == (*ORIGINAL, GeneratedQuery("Undoing", "variant"), GeneratedQuery("Reverting", "variant"))
    assert [(step.name, step.gave) for step in found.summary.steps] == [("variants", 2), ("sub_questions", 2)]
    assert found.summary.generator == "scripted"


class Failing:
    def transform(self, query: str, context: object) -> str:
        del query, context
        raise ModelError("the graph is gone.", "Bring it back.")


class Silent:
    def transform(self, query: str, context: object) -> str:
        del query, context
        return "  "


def test_a_transformer_that_fails_is_noted_and_one_that_has_nothing_is_not() -> None:
    found = expand_query(QUESTION, [], QueryExpansionPlan(), None, [Failing(), Silent()])

    assert found.queries == ORIGINAL
    assert tuple(map(str, found.warnings)) == ("expand unavailable: the graph is gone. Bring it back.",)


@pytest.mark.parametrize(
    "plan",
    [
        QueryExpansionPlan(multi_query=-1),
        QueryExpansionPlan(multi_query=11),
        QueryExpansionPlan(keywords=21),
        QueryExpansionPlan(follow_up="guess"),
        QueryExpansionPlan(merge="worst"),
        QueryExpansionPlan(seconds=0),
        QueryExpansionPlan(seconds=float("nan")),
    ],
)
def test_a_plan_that_cannot_be_is_refused(plan: QueryExpansionPlan) -> None:
    with pytest.raises(InvalidInputError):
        expand_query(QUESTION, [], plan, None)


def test_a_memory_that_cannot_be_is_refused() -> None:
    for turns, characters in ((-1, None), (101, None), (3, -1)):
        with pytest.raises(InvalidInputError):
            Memory(turns, characters)


def test_a_plan_says_whether_it_needs_a_generator() -> None:
    assert not QueryExpansionPlan(multi_query=1, follow_up="prepend").needs_generator
    for plan in (
        QueryExpansionPlan(multi_query=2),
        QueryExpansionPlan(hyde=True),
        QueryExpansionPlan(follow_up="standalone"),
    ):
        assert plan.needs_generator

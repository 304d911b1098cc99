"""A question becomes three, [q1, q2, q3]; and a list of keywords widens it. A model writes both."""

import pytest

from support.fake_llm_server import Heard, Send, chatting, saying
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator
from twofold.search.expand import GeneratedQuery, expand_query
from twofold.search.plan import QueryExpansionPlan

QUESTION = "How do I undo the last commit?"
REPLY = "Sure! Other wordings:\n\n1. Reverting the most recent commit\n2. **Take back a commit**\n3. One more"


def test_a_question_becomes_three_with_the_original_first() -> None:
    with chatting(saying(lambda _: REPLY)) as address:
        found = expand_query(
            QUESTION, [], QueryExpansionPlan(multi_query=3), EndpointGenerator(ChatEndpoint(address, "m"))
        )

    assert found.queries == (
        GeneratedQuery(QUESTION, "original"),
        GeneratedQuery("Reverting the most recent commit", "variant"),
        GeneratedQuery("Take back a commit", "variant"),
    )
    assert found.warnings == ()


def test_keywords_stand_behind_the_question() -> None:
    with chatting(saying(lambda _: "1. revert\n2. git reset\n3. git reset\n4. HEAD~1")) as address:
        found = expand_query(
            QUESTION, [], QueryExpansionPlan(keywords=5), EndpointGenerator(ChatEndpoint(address, "m"))
        )

    assert [query_index.text for query_index in found.queries] == [QUESTION, f"{QUESTION} revert git reset HEAD~1"]
    assert found.queries[1].kind == "keywords"


@pytest.mark.parametrize("plan", [QueryExpansionPlan(multi_query=3), QueryExpansionPlan(keywords=5)])
def test_the_model_is_asked_at_temperature_0_and_the_question_stands_between_its_tags(plan: QueryExpansionPlan) -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        saying(lambda _: "1. a\n2. b")(asked, send)

    with chatting(noting) as address:
        expand_query(QUESTION, [], plan, EndpointGenerator(ChatEndpoint(address, "m")))

    assert heard[0].body["temperature"] == 0.0
    assert heard[0].prompt == f"<question>\n{QUESTION}\n</question>"


def test_without_a_model_the_question_stands_and_says_so() -> None:
    found = expand_query(QUESTION, [], QueryExpansionPlan(keywords=5), None)

    assert found.queries == (GeneratedQuery(QUESTION, "original"),)
    assert tuple(map(str, found.warnings)) == ("expand skipped: no generator is set.",)

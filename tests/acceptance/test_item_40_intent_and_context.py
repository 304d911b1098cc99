"""Checklist item 40: a question is rewritten with its conversation, and its intent may narrow what is searched."""

import pytest

from support.fake_llm_server import Heard, Send, chatting, saying
from twofold import Index
from twofold.domain.filters import Condition, Operator
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator
from twofold.query.history import Memory, Turn
from twofold.query.intent import DEFINITION, intent_of
from twofold.search.expand import GeneratedQuery, expand_query
from twofold.search.plan import QueryExpansionPlan

HISTORY = [
    Turn("user", "How do I make a branch in git?"),
    Turn("assistant", "With git branch NAME."),
]
COMPLETE = "How do I delete a branch in git?"


def test_a_follow_up_is_completed_from_its_conversation() -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        saying(lambda _: f"Standalone question: {COMPLETE}")(asked, send)

    plan = QueryExpansionPlan(follow_up="standalone")
    with chatting(noting) as address:
        found = expand_query("And delete one?", HISTORY, plan, EndpointGenerator(ChatEndpoint(address, "m")))

    assert found.queries == (GeneratedQuery("And delete one?", "original"), GeneratedQuery(COMPLETE, "follow_up"))
    assert found.question == COMPLETE
    assert heard[0].prompt == (
        "<conversation>\nuser: How do I make a branch in git?\nassistant: With git branch NAME.\n</conversation>\n"
        "<question>\nAnd delete one?\n</question>"
    )


def test_other_wordings_are_made_of_the_completed_question() -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return COMPLETE if "<conversation>" in prompt else "1. Removing branches"

    plan = QueryExpansionPlan(multi_query=2, follow_up="standalone")
    with chatting(saying(answer)) as address:
        found = expand_query("And delete one?", HISTORY, plan, EndpointGenerator(ChatEndpoint(address, "m")))

    assert [query_index.kind for query_index in found.queries] == ["original", "follow_up", "variant"]
    assert prompts[1] == f"<question>\n{COMPLETE}\n</question>"


@pytest.mark.parametrize(("history", "turns"), [([], 5), (HISTORY, 0)])
def test_a_question_without_a_conversation_asks_no_model(history: list[Turn], turns: int) -> None:
    found = expand_query(
        "What is git?", history, QueryExpansionPlan(follow_up="standalone", memory=Memory(turns)), None
    )

    assert found.queries == (GeneratedQuery("What is git?", "original"),)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("define detached HEAD", "definition"),
        ("Define: rebase", "definition"),
        ("What is a detached HEAD?", "definition"),
        ("What\u2019s the index?", "definition"),
        ("what is the meaning of fast-forward", "definition"),
        ("What is the fastest way to undo the last commit?", None),
        ("What is", None),
        ("define", None),
        ("How is a detached HEAD defined?", None),
        ("whatis git", None),
        ("rainfall in Kerala from government data", "government data"),
        ("official statistics of Kerala", "government data"),
        ("unofficial statistics of Kerala", None),
        ("", None),
    ],
)
def test_intents_are_read_by_rule(question: str, intent: str | None) -> None:
    found = intent_of(question)

    assert (None if found is None else found.name) == intent


def test_rules_are_data() -> None:
    assert DEFINITION.condition == Condition("semantic_type_primary", Operator.EQ, "definition")


def test_define_finds_definitions_alone() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for source, kind in (("a.md", "definition"), ("b.md", "narrative")):
            index.add("HEAD is where you are.", source=source, metadata={"semantic_type_primary": kind})
        intent = intent_of("define HEAD")

        assert intent is not None
        assert [hit.source for hit in index.search("define HEAD", filter=intent.condition).hits] == ["a.md"]
        assert len(index.search("define HEAD").hits) == 2

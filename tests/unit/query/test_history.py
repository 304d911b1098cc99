"""Two ways to put a conversation beside a question without a model."""

from twofold.query.history import LAST_FIVE, LAST_THREE, Memory, Turn, prepend_turns, question_with_history
from twofold.search.expand import GeneratedQuery, expand_query
from twofold.search.plan import QueryExpansionPlan

LONG = "It moves HEAD. " * 20
HISTORY = [
    Turn("user", "first"),
    Turn("assistant", "second"),
    Turn("user", "third"),
    Turn("assistant", "fourth"),
    Turn("user", "fifth"),
    Turn("assistant", LONG),
]


def test_item_66_the_last_five_turns_stand_before_the_context() -> None:
    context = "[Source: git.md, p.1]\nUse git reset."

    assert prepend_turns(HISTORY, context) == (
        "Assistant: second\nUser: third\nAssistant: fourth\nUser: fifth\n" + f"Assistant: {LONG}\n\n{context}"
    )
    assert prepend_turns([], context) == context


def test_item_67_the_last_three_entries_stand_before_the_question() -> None:
    assert question_with_history("and undo it?", HISTORY) == (
        "Previous context: fourth...\n"
        "Previous question: fifth\n"
        f"Previous context: {LONG[:200]}...\n"
        "\n"
        "Current question: and undo it?"
    )
    assert len(LONG) > 200
    assert question_with_history("and undo it?", []) == "and undo it?"


def test_item_67_is_what_a_search_is_rewritten_to_without_a_model() -> None:
    found = expand_query("and undo it?", HISTORY, QueryExpansionPlan(follow_up="prepend", memory=LAST_THREE), None)
    expected = question_with_history("and undo it?", HISTORY)

    assert found.queries == (GeneratedQuery("and undo it?", "original"), GeneratedQuery(expected, "follow_up"))
    assert found.question == expected
    assert found.warnings == ()


def test_c14_both_readings_are_two_values_of_the_same_settings() -> None:
    assert Memory(turns=5, assistant_chars=None) == LAST_FIVE
    assert Memory(turns=3, assistant_chars=200) == LAST_THREE
    assert (
        prepend_turns(HISTORY, "x", LAST_THREE) == f"Assistant: fourth...\nUser: fifth\nAssistant: {LONG[:200]}...\n\nx"
    )
    assert question_with_history("q", HISTORY[:2], Memory(1, 3)) == "Previous context: sec...\n\nCurrent question: q"
    assert question_with_history("q", HISTORY, Memory(0)) == "q"


def test_a_conversation_of_megabytes_leaves_the_question_at_the_end() -> None:
    history = [Turn("assistant", "x" * 1_000_000)]
    found = expand_query("and undo it?", history, QueryExpansionPlan(follow_up="prepend"), None)

    assert len(found.question) <= 8_000
    assert found.question.endswith("\n\nCurrent question: and undo it?")

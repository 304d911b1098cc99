"""Checklist item 39: a question translated for a graph; the translator is an extension, `transform(query, context)`."""

from collections.abc import Mapping

from twofold.domain.ports import QueryTransformer
from twofold.pipeline.rewrite_plan import RewritePlan
from twofold.pipeline.rewriting import Wording, rewrite
from twofold.query.history import Turn


class GraphQueryTranslator:
    """Writes the two ends of a relation as a pattern of a graph."""

    def __init__(self) -> None:
        self.contexts: list[Mapping[str, str] | None] = []

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        self.contexts.append(context)
        subject, _, thing = query.rstrip("?").removeprefix("Who ").partition(" ")
        return f"(person)-[{subject}]->({thing})"


def test_what_a_translator_gives_is_searched_beside_the_question() -> None:
    translator = GraphQueryTranslator()
    transformers: list[QueryTransformer] = [translator]

    found = rewrite("Who wrote git?", [], RewritePlan(), None, transformers)

    assert found.wordings == (
        Wording("Who wrote git?", "original"),
        Wording("(person)-[wrote]->(git)", "transformed"),
    )
    assert found.degraded == ()
    assert translator.contexts == [None]


def test_a_translator_is_told_what_was_said_before() -> None:
    translator = GraphQueryTranslator()

    rewrite("Who wrote it?", [Turn("user", "What is git?")], RewritePlan(), None, [translator])

    assert translator.contexts == [{"history": "User: What is git?"}]

"""Checklist item 39: a question translated for a graph; the translator is an extension, `transform(query, context)`."""

from collections.abc import Mapping

from support.indexes import GIT
from twofold import Index
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins
from twofold.query.history import Turn


class GraphQueryTranslator:
    """Writes the two ends of a relation as a pattern of a graph."""

    def __init__(self) -> None:
        self.contexts: list[Mapping[str, str] | None] = []

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        self.contexts.append(context)
        subject, _, thing = query.rstrip("?").removeprefix("Who ").partition(" ")
        return f"(person)-[{subject}]->({thing})"


def filled(translator: GraphQueryTranslator) -> Index:
    own = Plugins(transformers={"graph": translator})
    index = Index(":memory:", embedder=HashingEmbedder(), plugins=own)
    for source, text in GIT.items():
        index.add(text, source=source)
    return index


def test_what_a_translator_gives_is_searched_beside_the_question() -> None:
    translator = GraphQueryTranslator()
    with filled(translator) as index:
        found = index.search("Who merges branches?")

    assert found.queries == ("Who merges branches?", "(person)-[merges]->(branches)")
    assert found.hits[0].source == "merge.md"
    assert found.warnings == ()
    assert translator.contexts == [None]


def test_a_translator_is_told_what_was_said_before() -> None:
    translator = GraphQueryTranslator()
    with filled(translator) as index:
        index.search("Who wrote it?", history=[Turn("user", "What is git?")])

    assert translator.contexts == [{"history": "User: What is git?"}]

"""Checklist 37, 39 and 40: a made-up passage, a translator of one's own, a conversation and an intent, in a search."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from support.fake_llm_server import Heard, Send, chatting, saying
from support.indexes import GIT, Counted, indexed, sources
from twofold import Index
from twofold.config.load import Settings
from twofold.domain.errors import ModelError
from twofold.domain.types import document_id
from twofold.factory.indexing import indexing_components
from twofold.factory.plan import plan_of
from twofold.indexing.components import IndexingComponents
from twofold.indexing.prepare import prepare
from twofold.ingest.document import document_of_text
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.history import Turn
from twofold.search.pipeline import search
from twofold.stores.memory import MemoryStore

INVENTED = "A merge commit joins two branches and has two parents."
HISTORY = [Turn("user", "How do I put my changes aside?"), Turn("assistant", "With git stash.")]


def test_item_37_the_passage_is_embedded_as_a_passage_and_searched_by_its_meaning_alone() -> None:
    with chatting(saying(lambda _: INVENTED)) as address, indexed(GIT, {"generator": f"{address}#m"}) as index:
        plain = index.search("joining", settings={"query_expansion": {"hyde": False}}, mode="vector")
        result = index.search("joining", settings={"query_expansion": {"hyde": True}}, mode="vector", k=9)
        by_words = index.search("joining", settings={"query_expansion": {"hyde": True}}, mode="bm25")

    model = HashingEmbedder()
    cosines = model.embed_passages([result.hits[0].text, INVENTED])
    assert result.hits[0].source == "merge.md"
    assert result.hits[0].score == pytest.approx(float(np.dot(*cosines)), abs=5e-4)
    assert result.hits[0].score > plain.hits[0].score
    assert result.queries == ("joining",)
    assert {hit.source for hit in by_words.hits} <= {"merge.md"}


class Translator:
    def __init__(self, query_index: str | None) -> None:
        self.query_index = query_index
        self.asked: list[tuple[str, Mapping[str, str] | None]] = []

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        self.asked.append((query, context))
        if self.query_index is None:
            raise ModelError("the graph is gone.", "Bring it back.")
        return self.query_index


@pytest.fixture(scope="module")
def parts() -> IndexingComponents:
    made = indexing_components(MemoryStore(), Settings(), HashingEmbedder())
    documents = [document_of_text(text, source, "", {}, None) for source, text in GIT.items()]
    made.store.ensure_fingerprint(made.fingerprint)
    with made.store.view() as view:
        made.store.upsert(prepare(documents, made, view, lambda _: None).entries)
    assert {document.id for document in documents} == {document_id(source) for source in GIT}
    return made


def test_item_39_what_a_translator_gives_is_searched_beside_the_question(parts: IndexingComponents) -> None:
    translator = Translator("merge commit parents")
    own = replace(parts, models=replace(parts.models, transformers=(translator,)))
    result = search(own, "wedding of histories", plan_of(Settings()), HISTORY)

    assert result.queries[-1] == "merge commit parents"
    assert result.hits[0].source == "merge.md"
    ((_, context),) = translator.asked
    assert context is not None
    assert "With git stash." in context["history"]


def test_item_39_a_translator_that_fails_is_told_and_the_question_searched(parts: IndexingComponents) -> None:
    own = replace(parts, models=replace(parts.models, transformers=(Translator(None),)))
    result = search(own, "merge", plan_of(Settings()))

    assert tuple(map(str, result.warnings)) == ("expand unavailable: the graph is gone. Bring it back.",)
    assert result.hits[0].source == "merge.md"


def test_item_40_a_follow_up_is_searched_with_what_was_said_before() -> None:
    embedder = Counted()
    result = indexed(GIT, embedder=embedder).search("And how do I take them back?", history=HISTORY)

    assert len(result.queries) == 2
    assert "put my changes aside" in result.queries[1]
    assert result.hits[0].source == "stash.md"
    assert result.query == "And how do I take them back?"


def test_item_40_a_model_completes_it_where_that_is_set_and_the_reranker_reads_the_whole_question() -> None:
    told: list[str] = []

    def completing(heard: Heard, send: Send) -> None:
        told.append(heard.prompt)
        saying(lambda _: "How do I take stashed changes back?")(heard, send)

    with chatting(completing) as address, indexed(GIT, {"generator": f"{address}#m"}) as index:
        settings = {"query": {"follow_up": "standalone"}}
        result = index.search("And back?", history=HISTORY, settings=settings)

    assert result.queries == ("And back?", "How do I take stashed changes back?")
    assert "With git stash." in told[0]
    assert result.hits[0].source == "stash.md"


def test_item_40_a_conversation_can_be_left_out() -> None:
    settings = {"query": {"follow_up": "none"}}

    assert indexed(GIT).search("merge", history=HISTORY, settings=settings).queries == ("merge",)


@pytest.fixture
def kinds() -> Index:
    index = indexed({})
    index.add("HEAD is the name of where you are.", source="a", metadata={"semantic_type_primary": "definition"})
    index.add("HEAD moved, HEAD HEAD HEAD.", source="b", metadata={"semantic_type_primary": "narrative"})
    return index


def test_item_40_define_narrows_to_definitions_where_there_are_any(kinds: Index) -> None:
    narrowed = {"query": {"intent_filter": True}}

    assert set(sources(kinds.search("define HEAD"))) == {"a", "b"}
    assert sources(kinds.search("define HEAD", settings=narrowed)) == ["a"]
    assert set(sources(kinds.search("HEAD moved", settings=narrowed))) == {"a", "b"}
    kinds.delete("a")
    assert sources(kinds.search("define HEAD", settings=narrowed)) == ["b"]

"""The retriever and the reranker as LlamaIndex calls them: scores are never None, ids stay, k may exceed the corpus."""

import asyncio

import pytest
from llama_index.core.schema import MetadataMode, QueryBundle

from twofold import Index
from twofold.adapters.llama_index import TwofoldRerank, TwofoldRetriever
from twofold.models.embedders.hashing import HashingEmbedder

TEXTS = {
    "tower.txt": "The Eiffel tower stands in Paris.",
    "cat.txt": "The cat sat on the mat.",
    "dog.txt": "The dog slept in the yard.",
}


@pytest.fixture
def index() -> Index:
    made = Index(":memory:", embedder=HashingEmbedder())
    for source, text in TEXTS.items():
        made.add(text, source=source, metadata={"kind": "note"})
    return made


def test_every_node_has_a_score_and_a_stable_id(index: Index) -> None:
    retriever = TwofoldRetriever(index, k=50)
    nodes, again = retriever.retrieve("Eiffel tower"), retriever.retrieve("Eiffel tower")

    assert [(one.node_id, one.score) for one in nodes] == [(one.node_id, one.score) for one in again]
    assert all(one.score is not None for one in nodes)
    assert nodes[0].metadata["source"] == "tower.txt"
    assert nodes[0].node.ref_doc_id == index.document("tower.txt").id
    assert index.document("tower.txt").text[nodes[0].node.start_char_idx : nodes[0].node.end_char_idx] == nodes[0].text
    parts = [nodes[0].metadata[f"twofold_{name}"] for name in ("bm25", "vector")]
    assert sum(parts) == nodes[0].score
    assert "twofold_" not in nodes[0].node.get_content(MetadataMode.LLM)


def test_retrieving_without_blocking_gives_the_same(index: Index) -> None:
    retriever = TwofoldRetriever(index, k=2, mode="bm25", filter="kind == note")
    nodes = asyncio.run(retriever.aretrieve("cat dog"))

    assert {one.metadata["source"] for one in nodes} == {"cat.txt", "dog.txt"}
    assert [one.node_id for one in nodes] == [one.node_id for one in retriever.retrieve("cat dog")]


def test_nodes_are_reranked(index: Index) -> None:
    nodes = TwofoldRetriever(index, k=3).retrieve("tower cat")
    kept = TwofoldRerank(model="word-overlap", top_n=1).postprocess_nodes(nodes, QueryBundle("cat sat mat"))

    assert [one.metadata["source"] for one in kept] == ["cat.txt"]
    assert 0.0 < (kept[0].score or 0.0) <= 1.0
    assert TwofoldRerank(model="word-overlap").postprocess_nodes([], QueryBundle("cat")) == []

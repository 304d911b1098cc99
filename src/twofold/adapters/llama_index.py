"""LlamaIndex: a retriever over an index, and a postprocessor that reranks. `pip install 'twofold[llama-index]'`.

from twofold import Index
from twofold.adapters.llama_index import TwofoldRetriever

nodes = TwofoldRetriever(Index("notes"), k=5).retrieve("When does the tower close?")
"""

import asyncio
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode

from twofold.adapters.records import plain_fields
from twofold.adapters.reranking import DEFAULT_RERANKER, relevances, reranker_named
from twofold.domain.ports import Reranker
from twofold.index import Index
from twofold.search.result import Hit


class TwofoldRetriever(BaseRetriever):
    """Retrieves passages of an index as nodes with scores; options are those of `Index.search`."""

    def __init__(self, index: Index, k: int = 10, **options: Any) -> None:  # noqa: ANN401
        super().__init__()
        self._twofold = index
        self._k = k
        self._options = options

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._twofold.search(query_bundle.query_str, k=self._k, **self._options)
        return [NodeWithScore(node=_node(hit), score=hit.score) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(hit: Hit) -> TextNode:
    place = {"source": hit.source, "title": hit.title, "page": hit.page, "section": " › ".join(hit.heading)}
    said = {name: value for name, value in place.items() if value}
    parts = {f"twofold_{one.retriever}": one.part for one in hit.trace.retrievers}
    node = TextNode(
        id_=hit.chunk_id,
        text=hit.text,
        metadata={**plain_fields(hit.metadata), **said, **parts},
        start_char_idx=hit.start,
        end_char_idx=hit.end,
        excluded_embed_metadata_keys=list(parts),
        excluded_llm_metadata_keys=list(parts),
    )
    node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id=hit.document)
    return node


class TwofoldRerank(BaseNodePostprocessor):
    """Orders nodes by a cross-encoder of twofold's catalog; their scores become the relevance in [0, 1]."""

    model: str = Field(default=DEFAULT_RERANKER, description="A reranker of `twofold models list`.")
    top_n: int = Field(default=10, ge=1, description="How many nodes are kept.")
    _reranker: Reranker | None = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serializes it by."""
        return "TwofoldRerank"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            message = "Reranking needs the query."
            raise ValueError(message)
        if not nodes:
            return []
        if self._reranker is None:
            self._reranker = reranker_named(self.model)
        scores = relevances(self._reranker, query_bundle.query_str, [one.node.get_content() for one in nodes])
        made = [NodeWithScore(node=one.node, score=score) for one, score in zip(nodes, scores, strict=True)]
        return sorted(made, key=lambda one: -(one.score or 0.0))[: self.top_n]

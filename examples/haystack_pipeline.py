"""A Haystack pipeline that finds documents by words and vectors: `pip install 'twofold[haystack]'`."""

from haystack import Document, Pipeline

from twofold.adapters.haystack import TwofoldDocumentStore, TwofoldHybridRetriever

store = TwofoldDocumentStore(":memory:")
store.write_documents([Document(content="The tower closes at 23:45."), Document(content="The lift costs 36 euros.")])
pipeline = Pipeline()
pipeline.add_component("find", TwofoldHybridRetriever(store, top_k=1))
for document in pipeline.run({"find": {"query": "When does the tower close?"}})["find"]["documents"]:
    print(round(document.score, 2), document.content)

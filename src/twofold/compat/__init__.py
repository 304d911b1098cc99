"""Thin adapters with the names and the result shapes of five earlier systems, each over an ordinary `Index`.

`modes` has RAGPipeline, `voicevault` HybridRetriever and ContextBuilder, `orchestrator` RAGOrchestrator, `localgpt`
RetrievalPipeline and its extension points. Results are dictionaries here, since theirs were; docs/compat.md maps names.
"""

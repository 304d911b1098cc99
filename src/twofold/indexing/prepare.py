"""Documents in, entries out: cut, enrich, analyze, embed. What was embedded before is not embedded again."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from twofold.domain.filters import values_of
from twofold.domain.ports import Embedder, Snapshot
from twofold.domain.types import Chunk, Document, Entry, IndexedChunk, Vector
from twofold.indexing.components import IndexingComponents
from twofold.indexing.spread import Prepared
from twofold.text.language_detection import language_of_text

LANGUAGE = "language"
SPECIAL_TOKENS = 2  # the first and the last token of BERT-like models

MAX_KEYWORDS = 5  # twenty made words match what a passage only touches on

OnEmbedded = Callable[[int], None]
"""Called with how many passages more are embedded."""


def prepare(
    documents: Sequence[Document],
    parts: IndexingComponents,
    view: Snapshot | None,
    on_embedded: OnEmbedded,
    *,
    embed: bool = True,
) -> Prepared:
    """Make entries of documents. Vectors that `view` knows for the same indexed text are used again.

    Without `embed` what is new has no vector yet: see `twofold.indexing.embed`. Raises ModelError when the embedder
    cannot be run.
    """
    cut = [parts.chunker(document) for document in documents]
    texts = list(dict.fromkeys(chunk.indexed_text for chunks in cut for chunk in chunks))
    vectors: dict[str, Vector] = dict(view.vectors_for(texts)) if view is not None else {}
    fresh = [text for text in texts if text not in vectors] if embed else []
    for first in range(0, len(fresh), parts.batch):
        some = fresh[first : first + parts.batch]
        for text, vector in zip(some, parts.embed_passages(some), strict=True):
            vectors[text] = np.asarray(vector)
        on_embedded(len(some))
        parts.models.memory.look()
    named = [with_language(document) for document in documents]
    entries = tuple(
        Entry(document, tuple(_indexed(document, chunk, parts, vectors) for chunk in chunks))
        for document, chunks in zip(named, cut, strict=True)
    )
    return Prepared(entries, len(fresh), count_truncated(parts.embedder, fresh))


def with_language(document: Document) -> Document:
    """Return a document with the field `language`, an ISO 639-1 code, where its text tells and it has none itself."""
    if LANGUAGE in document.metadata:
        return document
    code = language_of_text(document.text)
    return replace(document, metadata={**document.metadata, LANGUAGE: code}) if code else document


def count_truncated(embedder: Embedder, texts: Sequence[str]) -> int:
    """Count the passages whose end `embedder` will not see, since they are longer than its model reads.

    A passage is cut when its tokens, the prefix's and two special ones exceed `identity.max_tokens`.
    """
    identity = embedder.identity
    room = identity.max_tokens - SPECIAL_TOKENS - sum(embedder.count_tokens([identity.passage_prefix]))
    return sum(tokens > room for tokens in embedder.count_tokens(texts))


def _indexed(document: Document, chunk: Chunk, parts: IndexingComponents, vectors: dict[str, Vector]) -> IndexedChunk:
    text = chunk.indexed_text
    made = enriched(document, chunk, parts)
    language = document.metadata.get(LANGUAGE, "")
    counts = parts.analyzer.counts(with_keywords(text, document, made, parts), str(language))
    return IndexedChunk(made, counts, vectors.get(text))


def with_keywords(text: str, document: Document, chunk: Chunk, parts: IndexingComponents) -> str:
    """Return what words match of a passage: its indexed text and, where the enricher asks for it, its keywords below.

    At most five keywords, the passage's own before its document's; what is embedded does not change.
    """
    if not parts.enriching.keywords:
        return text
    held = chunk.metadata.get("keywords", document.metadata.get("keywords", ()))
    words = [str(one) for one in values_of(held)[:MAX_KEYWORDS]]
    return "\n".join((text, *words))


def enriched(document: Document, chunk: Chunk, parts: IndexingComponents) -> Chunk:
    """Return a passage with what the enricher says of it, but for fields that it or its document has itself.

    So a document, or a record, that comes with a `chunk_quality` of its own is judged by that one alone.
    """
    said = parts.enriching.enrich(chunk)
    own = {name: value for name, value in said.items() if name not in document.metadata and name not in chunk.metadata}
    return replace(chunk, metadata={**chunk.metadata, **own}) if own else chunk

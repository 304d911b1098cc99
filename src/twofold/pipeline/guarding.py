"""Parts of the user's own, held to what their ports promise: whatever else they do becomes a ModelError with a name.

So a search can go on without them, as it does without a model that fails, and says which one it was.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Self

import numpy as np

from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.generators import Generator, GeneratorIdentity, Message, TextStream
from twofold.domain.ports import (
    Chunker,
    Embedder,
    EmbedderIdentity,
    Enricher,
    QueryTransformer,
    Reranker,
    RerankerIdentity,
    Retrieved,
    Retriever,
    SentencePruner,
)
from twofold.domain.types import Chunk, Document, Metadata, Scores, Vectors
from twofold.ingest.reading import clean_metadata

LONGEST_REASON = 200
LENGTH_TOLERANCE = 1e-3  # how far a vector's length may be from 1


@contextmanager
def blamed(what: str, name: str) -> Iterator[None]:
    """Make a ModelError of whatever a part raises; a ModelError of its own, or a refusal, goes through as it is."""
    try:
        yield
    except (ModelError, InvalidInputError):
        raise
    except Exception as error:  # the door to code of others, which may raise anything
        reason = " ".join(str(error).split())[:LONGEST_REASON]
        said = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        raise ModelError(f"The {what} {name!r} failed: {said}.", f"Mend the {what}, or leave it out.") from error


class GuardedRetriever:
    """A retriever of the user's own: at most k passages with finite scores, the best ones where it gave more."""

    def __init__(self, name: str, retriever: Retriever) -> None:
        self._name = name
        self._retriever = retriever

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        """Give what it found, best first. Raises ModelError."""
        with blamed("retriever", self._name):
            found = [Retrieved(str(one.chunk_id), float(one.score)) for one in self._retriever.search(query, k)]
        if not all(math.isfinite(one.score) for one in found):
            raise _wrong("retriever", self._name, "a score that is no number")
        return sorted(found, key=lambda one: (-one.score, one.chunk_id))[:k]


class GuardedTransformer:
    """A transformer of the user's own: text, and nothing else."""

    def __init__(self, name: str, transformer: QueryTransformer) -> None:
        self._name = name
        self._transformer = transformer

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        """Give its wording. Raises ModelError."""
        with blamed("transformer", self._name):
            made = self._transformer.transform(query, context)
        if not isinstance(made, str):
            raise _wrong("transformer", self._name, f"a {type(made).__name__} instead of text")
        return made


class GuardedPruner:
    """A pruner of the user's own: a finite score from 0 up for each sentence."""

    def __init__(self, pruner: SentencePruner) -> None:
        self._pruner = pruner

    def score(self, question: str, sentences: Sequence[str]) -> Scores:
        """Return its scores. Raises ModelError."""
        name = type(self._pruner).__name__
        with blamed("pruner", name):
            scores = np.asarray(self._pruner.score(question, sentences), dtype=np.float64)
        if scores.shape != (len(sentences),) or not np.isfinite(scores).all() or (scores < 0.0).any():
            raise _wrong("pruner", name, "scores that are not one number from 0 up for each sentence")
        return scores


class GuardedEmbedder:
    """An embedder of the user's own: unit vectors of the width that it promises. `close` is its owner's business."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._identity = embedder.identity

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages. Raises ModelError."""
        return self._checked(self._embedder.embed_passages, texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions. Raises ModelError."""
        return self._checked(self._embedder.embed_queries, texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens. Raises ModelError."""
        with blamed("embedder", self._identity.name):
            counts = list(self._embedder.count_tokens(texts))
        if len(counts) != len(texts):
            raise _wrong("embedder", self._identity.name, f"{len(counts)} counts of tokens for {len(texts)} texts")
        return counts

    def close(self) -> None:
        """Do nothing: whoever made the embedder closes it."""

    def _checked(self, embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
        wanted = (len(texts), self._identity.dimensions)
        with blamed("embedder", self._identity.name):
            made = np.asarray(embed(texts), dtype=np.float32)
        if made.shape != wanted:
            raise _wrong("embedder", self._identity.name, f"vectors of shape {made.shape} instead of {wanted}")
        lengths = np.sqrt((made * made).sum(axis=1))
        if not (np.abs(lengths - 1.0) <= LENGTH_TOLERANCE).all():
            raise _wrong("embedder", self._identity.name, "a vector whose length is not 1")
        return made


class GuardedReranker:
    """A reranker of the user's own; the stage checks its scores. `close` is its owner's business."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._identity = reranker.identity

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on."""
        return self._identity

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text. Raises ModelError."""
        with blamed("reranker", self._identity.name):
            return np.asarray(self._reranker.score(query, texts), dtype=np.float64)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1]. Raises ModelError."""
        with blamed("reranker", self._identity.name):
            return np.asarray(self._reranker.relevance(raw), dtype=np.float64)

    def close(self) -> None:
        """Do nothing: whoever made the reranker closes it."""


class GuardedStream:
    """A reply of a generator of the user's own."""

    def __init__(self, name: str, stream: TextStream) -> None:
        self._name = name
        self._stream = stream

    def __iter__(self) -> Self:
        """Give itself: a reply is read once."""
        return self

    def __next__(self) -> str:
        """Give the next piece. Raises ModelError."""
        with blamed("generator", self._name):
            piece = next(self._stream, None)
        if piece is None:
            raise StopIteration
        return piece

    def close(self) -> None:
        """Stop the model."""
        self._stream.close()


class GuardedGenerator:
    """A generator of the user's own. `close` is its owner's business."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    @property
    def identity(self) -> GeneratorIdentity:
        """Which model answers."""
        return self._generator.identity

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
        seconds: float = 120.0,
    ) -> TextStream:
        """Begin a reply; see `Generator.stream`."""
        with blamed("generator", self._generator.identity.name):
            reply = self._generator.stream(
                messages, max_tokens=max_tokens, temperature=temperature, stop=stop, seconds=seconds
            )
        return GuardedStream(self._generator.identity.name, reply)

    def close(self) -> None:
        """Do nothing: whoever made the generator closes it."""


def guarded_chunker(name: str, chunker: Chunker) -> Chunker:
    """Hold a chunker to its promise: stretches of the document's own text, numbered from 0."""

    def cut(document: Document) -> tuple[Chunk, ...]:
        with blamed("chunker", name):
            chunks = tuple(chunker(document))
        for ordinal, chunk in enumerate(chunks):
            told = (chunk.document, chunk.ordinal, chunk.text)
            if told != (document.id, ordinal, document.text[chunk.start : chunk.end]) or chunk.start < 0:
                raise _wrong("chunker", name, f"a passage {ordinal} that is no stretch of its document")
        return chunks

    return cut


def guarded_enricher(name: str, enricher: Enricher) -> Enricher:
    """Hold an enricher to its promise: fields that can be stored."""

    def enrich(chunk: Chunk) -> Metadata:
        with blamed("enricher", name):
            return clean_metadata(enricher(chunk))

    return enrich


def _wrong(what: str, name: str, gave: str) -> ModelError:
    return ModelError(f"The {what} {name!r} gave {gave}.", "Try it with its suite in `twofold.testing`.")

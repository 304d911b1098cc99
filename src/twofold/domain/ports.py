"""What is asked of the world, each port as narrow as its callers; the contracts are suites in `tests/contracts`."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from enum import StrEnum
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from twofold.domain.access import Readers, Viewer
from twofold.domain.dataclass import dataclass
from twofold.domain.filters import MATCH_ALL, Filter, Label
from twofold.domain.types import (
    Chunk,
    ChunkKeys,
    Clause,
    Document,
    DocumentInfo,
    Entry,
    FeedbackGains,
    IndexedChunk,
    Metadata,
    PassageTerms,
    Ranking,
    Scores,
    Sizes,
    Statistics,
    TermCounts,
    TermIds,
    TermQuery,
    TermTable,
    Vector,
    Vectors,
    Vocabulary,
)


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What vectors depend on. Two embedders with equal identities give interchangeable vectors."""

    name: str
    revision: str
    dimensions: int
    pooling: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 512


class Embedder(Protocol):
    """Turns text into unit vectors. Safe to use from several threads."""

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (len(texts), dimensions) float32, rows of length 1, in the order given.

        Raises ModelError when the model cannot be run.
        """

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: as `embed_passages`, with the model's query prefix."""

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens as the model sees them, without prefix, special tokens or truncation."""

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more."""


class Remembering(Protocol):
    """An embedder that knows which vectors it can give at once; those are waited for without a limit of time."""

    def at_hand(self, texts: Sequence[str]) -> bool:
        """Return whether the vectors of all of these questions are there without a model being asked."""


class Scale(StrEnum):
    """What a model's scores mean.

    Cosines in [-1, 1]; logits, unbounded, where 0 is as likely as not; or relevance, in [0, 1] as it is.
    """

    COSINE = "cosine"
    LOGIT = "logit"
    RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True)
class RerankerIdentity:
    """What a reranker's scores depend on, and the scale that they are on."""

    name: str
    revision: str
    scale: Scale


class Reranker(Protocol):
    """Reads a question and a passage together, and says how well they fit. Safe to use from several threads."""

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on; nothing is loaded to tell."""

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text raw, on `identity.scale`: (len(texts),) finite, higher is better, in the order given.

        Raises ModelError when the model cannot be run.
        """

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1] without turning two of them round; thresholds are meant for this scale alone."""

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more."""


Measure = Callable[[Sequence[str]], Sequence[int]]
"""Counts tokens: `Embedder.count_tokens` as a plain function, for chunkers."""

Chunker = Callable[[Document], tuple[Chunk, ...]]
"""Cuts a document into passages, in reading order, with ordinals from 0."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One passage that a retriever found, by its public name; `score` is on its own scale, higher is better."""

    chunk_id: str
    score: float


class Retriever(Protocol):
    """Finds passages of a collection by a way of its own. Safe to use from several threads."""

    def search(self, query: str, k: int) -> Sequence[Retrieved]:
        """Return at most k passages, in any order; what the collection does not hold is left out by the caller."""


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """A look-up in a property graph: the passages that mention `names`, or with `next_to` their neighbors too."""

    names: tuple[str, ...]
    relation: Literal["mentions", "next_to"] = "mentions"


class GraphQueryTranslator(Protocol):
    """Translates a question into a look-up of a graph."""

    def translate(self, question: str) -> GraphQuery | None:
        """Return the look-up, None for a question that a graph cannot answer."""


@runtime_checkable
class Translating(Protocol):
    """A retriever that asks a question in another language, and can say how it put it."""

    def translation(self, query: str) -> str:
        """Return the question as it was put, for the trace; empty where it was not."""


class QueryTransformer(Protocol):
    """Puts a question in other words, or into another language such as a graph's."""

    def transform(self, query: str, context: Mapping[str, str] | None) -> str:
        """Return one other query, "" for none; `context` is what else is known, or None. Raises a TwofoldError."""


class SentencePruner(Protocol):
    """Chooses the sentences of passages that are about a question, before a model reads them."""

    def score(self, question: str, sentences: Sequence[str]) -> Scores:
        """Return how much each sentence says, from 0 up, (len(sentences),). Raises ModelError."""


Enricher = Callable[[Chunk], Metadata]
"""Says more of a passage, for filters: a pure function of it. What is embedded and analyzed does not change by it."""


@dataclass(frozen=True, slots=True)
class IndexFingerprint:
    """Everything the derived data of a collection depends on, as canonical text; equal text, equal meaning.

    `enricher` is empty where passages are not enriched. `settings` are those it was made with, by name, so that it can
    be opened as it was made; they are not compared.
    """

    embedder: EmbedderIdentity
    analyzer: str
    chunker: str
    enricher: str = ""
    settings: tuple[tuple[str, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """What of a view may be found at all: a filter and the question's operators, *before* the cut at k.

    The third condition, who asks, is the view's own: `Store.view(viewer)` gives one in which nothing stands that they
    may not read. So whatever ranks, counts, lists, completes or suggests must do it from a view and a scope, and from
    nothing that is kept of a store as a whole; what it keeps, it keeps under `Snapshot.viewer_key`.
    """

    filter: Filter = MATCH_ALL
    required: tuple[Clause, ...] = ()
    excluded: tuple[Clause, ...] = ()


ALL = Scope()

Remake = Callable[[Sequence[Document]], Sequence[tuple[IndexedChunk, ...]]]
"""Makes the passages of some documents, one tuple a document, in the order given."""


class FetchedPassage(Protocol):
    """A passage with what names its document, as it was when it was fetched.

    Reading a property may raise CorruptError, where what was stored is malformed.
    """

    @property
    def chunk(self) -> Chunk:
        """The passage."""

    @property
    def source(self) -> str:
        """The document's path or address."""

    @property
    def title(self) -> str:
        """The document's title."""

    @property
    def metadata(self) -> Metadata:
        """The document's fields."""


class Snapshot(Protocol):
    """One consistent state of a collection, for the length of one question, as one viewer may see it.

    Passages and documents that the viewer may not read are not there: no method finds, counts, fetches or names them.
    """

    @property
    def viewer_key(self) -> str:
        """What tells viewers apart, empty for the owner: part of each key under which something of the view is kept."""

    @property
    def missing(self) -> Sequence[str]:
        """Names the parts that cannot be searched now, one sentence for each: nothing of them is in any answer."""

    def sizes(self) -> Sizes:
        """Count the documents and the passages."""

    @property
    def generation(self) -> int:
        """Counts changes; it never goes back."""

    @property
    def fingerprint(self) -> IndexFingerprint | None:
        """What the passages were made by; None for a collection that never held a document."""

    @property
    def synonyms(self) -> str:
        """The rules of the collection's synonyms, one a line as they were written; empty for none."""

    @property
    def pending(self) -> int:
        """Counts the passages that have no vector yet."""

    def search_bm25(self, query: TermQuery, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k best passages by BM25; passages without any of the terms are not in it."""

    def search_vectors(self, vector: Vector, k: int, scope: Scope = ALL) -> Ranking:
        """Rank the k nearest passages by cosine, in [-1, 1] but for what storing in float16 rounds: about 0.001.

        Passages without a vector are not in it.
        """

    def score_terms(self, query: TermQuery, keys: ChunkKeys) -> Scores:
        """Return the true BM25 score of each key, 0.0 where no term occurs. An unknown key scores 0.0."""

    def score_vector(self, vector: Vector, keys: ChunkKeys) -> Scores:
        """Return the true cosine of each key. An unknown key, or one without a vector, scores 0.0."""

    def without_vector(self, keys: ChunkKeys) -> ChunkKeys:
        """Return those of the keys, in their order, whose passages are there and have no vector yet."""

    def explain_terms(self, query: TermQuery, keys: Sequence[int]) -> TermTable:
        """Return what each term adds to the scores of some passages, in the order asked; an unknown key has no part.

        What is returned needs neither the view nor the store any more.
        """

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Count live passages, their words, and in how many of them each term occurs."""

    def count_within(self, scope: Scope, narrower: Sequence[Scope]) -> Sequence[int]:
        """Count for each of the narrower scopes the passages that are in it and in `scope`."""

    def count_holding(self, scope: Scope, clauses: Sequence[Clause]) -> Sequence[int]:
        """Count for each clause the passages of a scope that hold all of its terms; 0 where none holds its words.

        A clause is terms and what is verbatim, no more. That its words stand there as they are is made sure of for one
        passage of the scope, and counted where the passages are few.
        """

    def vocabularies(self) -> Sequence[Vocabulary]:
        """Return the words of the collection part by part; what was deleted of late may still be among them.

        To a viewer they are the words, titles and fields of what they may read, counted as if there were nothing else.
        """

    def within(self, keys: ChunkKeys, scope: Scope) -> ChunkKeys:
        """Return those of the keys, in their order, whose passages are there and may be found at all."""

    def chunks(self, keys: Sequence[int]) -> Sequence[Chunk]:
        """Fetch passages in the order asked. Raises NotFoundError for a key that is not there."""

    def fetch(self, keys: Sequence[int]) -> Sequence[FetchedPassage]:
        """Fetch passages with their documents' names, in the order asked, at once; read when they are looked at.

        What is returned needs neither the view nor the store any more. Raises NotFoundError for a key that is not
        there.
        """

    def term_counts(self, keys: Sequence[int]) -> Sequence[TermCounts]:
        """Return what the analyzer made of passages when they were put, in the order asked.

        Raises NotFoundError for a key that is not there.
        """

    def passage_terms(self, keys: Sequence[int]) -> PassageTerms:
        """Return the same as arrays. Raises NotFoundError for a key that is not there."""

    def feedback_gains(self, query: TermQuery, keys: Sequence[int], shares: Scores, terms: int) -> FeedbackGains | None:
        """Return what terms gain by passages that count `shares`, by the formula of `twofold.ranking.prf`.

        None where the view leaves that to who asks, who then reads `passage_terms`.
        """

    def document_frequencies(self, ids: TermIds) -> NDArray[np.int64]:
        """Count in how many live passages each term occurs, of those that `passage_terms` of this view numbers."""

    def term_texts(self, ids: TermIds) -> Sequence[str]:
        """Return the terms that `passage_terms` of this view numbers, in the order asked."""

    def may_expand(self, ids: TermIds) -> NDArray[np.bool_]:
        """Mark the terms, of those that `passage_terms` of this view numbers, that feedback may add to a question."""

    def document(self, document: str) -> Document | None:
        """Fetch one document by id, whole."""

    def describe(self, documents: Sequence[str]) -> Mapping[str, DocumentInfo]:
        """Describe documents by id; those unknown are not in the answer."""

    def documents(self) -> Iterator[DocumentInfo]:
        """List all documents by rising source, then id."""

    def chunks_of(self, document: str) -> Sequence[Chunk]:
        """Fetch a document's passages in reading order; none for an unknown document."""

    def stretch(self, document: str, first: int, last: int) -> Sequence[Chunk]:
        """Fetch a document's passages with ordinals from `first` to `last`, both included, in reading order.

        Those that are not there are left out: of passages 0 to 7, `stretch(document, -3, 2)` gives 0, 1 and 2.
        """

    def vectors_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the stored vectors of passages with exactly these indexed texts, so that none is embedded twice."""

    def pending_texts(self, most: int) -> Sequence[str]:
        """Return indexed texts of passages without a vector, at most `most`, each once, in the order of writing."""

    def count_documents(self, keys: ChunkKeys, field: str, label: Label) -> Mapping[Hashable, int]:
        """Count for each label of a field's values the documents of these passages that hold such a value.

        A value labelled None counts for nothing; an unknown key is passed over. Of two passages of one document, with
        `tag` "a" and ("a", "b"), "a" and "b" are held by one document each.
        """


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `verify` found wrong: where, what, and whether twofold can repair it without loss."""

    where: str
    what: str
    repairable: bool


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A collection's size and shape. `fingerprint` is None for a collection that never held a document.

    `roots` are the files and folders it was synced from, with the time of the last sync that changed something, in
    nanoseconds since 1970. `pending` counts the passages that have no vector yet.
    """

    fingerprint: IndexFingerprint | None
    documents: int
    chunks: int
    generation: int
    segments: int
    bytes_on_disk: int
    roots: Mapping[str, int] = field(default_factory=dict)
    pending: int = 0


class Store(Protocol):
    """Keeps a collection. One writer at a time, any number of views; readers never see half a document."""

    def view(self, viewer: Viewer | None = None, *, rows_only: bool = False) -> AbstractContextManager[Snapshot]:
        """Open one consistent state; close it soon.

        With a viewer, nothing that they may not read is in it; None is the owner, who may read everything.
        `rows_only` says that no search is asked of it, but documents, passages and vectors as they are stored: a sync
        opens one for each batch, and what searches need of the newest passages is not made for it then.
        """

    def ensure_fingerprint(self, fingerprint: IndexFingerprint) -> None:
        """Record the recipe of the passages. Raises MismatchError when the collection was made by another one."""

    def upsert(self, entries: Sequence[Entry]) -> None:
        """Add or replace documents whole, all of the entries or none, durable when it returns.

        A document that names no readers keeps those it had. Passages may come without a vector. Raises MismatchError
        when the vectors have another width, WriterBusyError, StorageFullError.
        """

    def update_vectors(self, embedder: EmbedderIdentity, vectors: Mapping[str, Vector]) -> int:
        """Store for each passage without a vector the one of exactly its indexed text; count those that got one.

        All of them or none, durable when it returns; nothing else of a document changes. A text that no passage waits
        for is passed over: its document was replaced or deleted. Raises MismatchError when the passages are made with
        another embedder or a vector has another width, InvalidInputError for one that is no unit vector,
        WriterBusyError, StorageFullError.
        """

    def set_metadata(self, changes: Mapping[str, Metadata]) -> None:
        """Replace the metadata of documents, by id, all of them or none; passages, words and vectors stay.

        Ids of documents that are not there are passed over.
        """

    def set_readers(self, changes: Mapping[str, Readers | None]) -> None:
        """Set who may read documents, by id, all of them or none; None is the index's default.

        It holds from the next view on. Passages, words and vectors stay. Ids of documents that are not there are passed
        over.
        """

    def delete(self, documents: Sequence[str]) -> int:
        """Delete documents by id, all or none; give how many there were."""

    def rebuild(self, fingerprint: IndexFingerprint, remake: Remake) -> None:
        """Make all passages again by another recipe, next to the old ones, and switch over when all are there.

        Searches see the old passages until then. Interrupted, it goes on where it stopped when called again with the
        same recipe.
        """

    def info(self) -> StoreInfo:
        """Describe the collection."""

    def fingerprint(self) -> IndexFingerprint | None:
        """Return `info().fingerprint`, without a look at the documents: they may be damaged."""

    def verify(self) -> Sequence[Finding]:
        """Recompute every checksum and cross-check both retrievers; an empty answer means all is well."""

    def get_settings(self) -> Mapping[str, str]:
        """Return the collection's own settings by their dotted names, as text; they are no part of its recipe."""

    def set_settings(self, values: Mapping[str, str]) -> None:
        """Replace the collection's own settings, all of them or none, durable when it returns.

        At most 256, names of 1 to 128 characters, values of up to 16,384, 65,536 characters in all. Raises
        InvalidInputError beyond that or for text that is not Unicode, WriterBusyError, StorageFullError.
        """

    def set_synonyms(self, rules: str) -> None:
        """Replace the rules of the collection's synonyms, durable when it returns; a change like any other."""

    def note_roots(self, roots: Mapping[str, int]) -> None:
        """Record what the collection was synced from and when, and keep earlier records; see `StoreInfo.roots`."""

    def compact(self) -> None:
        """Merge what can be merged and give back space. Rankings do not change."""

    def close(self) -> None:
        """Close. Calling it twice does nothing more."""

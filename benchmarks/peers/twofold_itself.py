"""twofold as the others are measured: a local store and the whole search pipeline, explained where it is looked at."""

from collections.abc import Mapping
from pathlib import Path

from given import PrecomputedVectors
from material import PASSAGES_OF_A_DOCUMENT, Asked, Batch, entries_of

import twofold
from peers.engine import Hits, K, Rows, Task
from twofold.domain.filters import MATCH_ALL, Condition, Filter, Operator
from twofold.domain.ports import IndexFingerprint
from twofold.domain.types import Chunk, Document, Entry, IndexedChunk, document_id
from twofold.indexing.components import IndexingComponents
from twofold.search.pipeline import search
from twofold.search.plan import SearchPlan
from twofold.stores.local.store import LocalStore
from twofold.text.analyzers import analyzer_for


class Twofold:
    """An index in a folder, filled with vectors that are ready."""

    def __init__(self, folder: Path, *, built: bool) -> None:
        self.version = twofold.__version__
        self._analyzer = analyzer_for("english")
        self._store = LocalStore(folder, create=not built)
        self._store.ensure_fingerprint(
            IndexFingerprint(PrecomputedVectors.identity, self._analyzer.describe(), "stitched")
        )

    def add(self, rows: Rows) -> None:
        """Analyze and store, durably."""
        texts = list(rows.texts)
        if len(texts) > 1:
            documents = [texts[at : at + PASSAGES_OF_A_DOCUMENT] for at in range(0, len(texts), PASSAGES_OF_A_DOCUMENT)]
            batch = Batch(rows.first // PASSAGES_OF_A_DOCUMENT, documents, rows.vectors)
            self._store.upsert(entries_of(batch, self._analyzer))
            return
        name, text = f"note {rows.first}", texts[0]
        chunk = Chunk(document_id(name), 0, text, 0, len(text))
        indexed = IndexedChunk(chunk, self._analyzer.counts(text), rows.vectors[0])
        self._store.upsert([Entry(Document(chunk.document, name, text), (indexed,))])

    def ready(self) -> None:
        """Do nothing: every document is found when it is stored."""

    def tasks(self, asked: Asked) -> Mapping[str, Task]:
        """Give all modes; the default hybrid search, with feedback and fusion by scores."""
        given = PrecomputedVectors(asked)
        parts = IndexingComponents(self._store, given, self._analyzer, lambda _: (), "stitched")

        plain = [text.replace('"', " ").replace("(", " ") for text in asked.texts]  # no operators: the others have none

        def ask(mode: str, condition: Filter = MATCH_ALL, *, explained: bool = False) -> Task:
            plan = SearchPlan(k=K, mode=mode, filter=condition)

            def task(at: int) -> Hits:
                result = search(parts, plain[at], plan)
                hits = result.trace.hits and result.hits if explained else result.hits  # the trace is made when read
                return [(number_of(hit.chunk_id, hit.source), hit.text) for hit in hits]

            return task

        return {
            "bm25": ask("bm25"),
            "vector": ask("vector"),
            "hybrid": ask("hybrid"),
            "hybrid, explained": ask("hybrid", explained=True),
            "filter 1 %": ask("hybrid", Condition("shelf", Operator.EQ, 7)),
            "filter 50 %": ask("hybrid", Condition("half", Operator.EQ, value=True)),
        }

    def close(self) -> None:
        """Close the store."""
        self._store.close()


def number_of(chunk: str, source: str) -> int:
    """Give the number of a passage; of a note that was added, its own."""
    name = source.removesuffix(".txt").removeprefix("note ")
    place = int(chunk.rpartition("_")[2])
    return int(name) if source.startswith("note ") else int(name) * PASSAGES_OF_A_DOCUMENT + place

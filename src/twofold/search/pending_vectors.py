"""Passages that have no vector yet: what queries embed on the spot, and what they hand to the writer."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import Embedder, Snapshot
from twofold.domain.types import ChunkKeys, Ranking, Scores, Vector
from twofold.vectors.scan import exact_scores

CANDIDATES = 20
"""How many of the best passages by BM25 a query may embed."""
BATCH_SIZE = 4  # passages between two looks at the clock
MAX_VECTORS = 4_096
MAX_WANTED = 4_096


class PendingVectors:
    """Keeps what queries made and wanted until a sync of this process takes it. Safe to use from several threads.

    Where nothing in this process writes, it saves the next query the work; the oldest are dropped.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._made: OrderedDict[str, Vector] = OrderedDict()
        self._wanted: OrderedDict[str, None] = OrderedDict()

    def made_for(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors that are here for some indexed texts."""
        with self._turn:
            return {text: self._made[text] for text in texts if text in self._made}

    def add(self, vectors: Mapping[str, Vector]) -> None:
        """Keep vectors by their indexed texts."""
        with self._turn:
            self._made.update(vectors)
            for text in vectors:
                self._wanted.pop(text, None)
            while len(self._made) > MAX_VECTORS:
                self._made.popitem(last=False)

    def want(self, texts: Iterable[str]) -> None:
        """Ask that these texts are embedded before others."""
        with self._turn:
            self._wanted.update((text, None) for text in texts if text not in self._made)
            while len(self._wanted) > MAX_WANTED:
                self._wanted.popitem(last=False)

    def has_made(self) -> bool:
        """Return whether there are vectors to be stored."""
        return bool(self._made)

    def take_made(self) -> Mapping[str, Vector]:
        """Return all vectors, to be stored; they are forgotten here."""
        with self._turn:
            taken, self._made = self._made, OrderedDict()
            return taken

    def take_requested(self, most: int) -> Sequence[str]:
        """Return at most `most` of the texts that were wanted, the first first; they are forgotten here."""
        with self._turn:
            return [self._wanted.popitem(last=False)[0] for _ in range(min(most, len(self._wanted)))]


@dataclass(frozen=True, slots=True)
class OnTheSpot:
    """What embeds candidates without a vector, for `seconds` at the most; 0 for not at all."""

    embedder: Embedder
    vectors: PendingVectors
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class FreshVectors:
    """Vectors that one query made, as a store would keep them: float16 (m, d), by rising keys (m,)."""

    keys: ChunkKeys
    vectors: NDArray[np.float16]

    def ranking(self, vector: Vector, stored: Ranking, depth: int) -> Ranking:
        """Return the `depth` nearest of the passages that have a vector and of those here."""
        keys = np.concatenate((stored.keys, self.keys))
        return Ranking.of(keys, np.concatenate((stored.scores, exact_scores(vector, self.vectors))), depth)

    def score(self, vector: Vector, score: Callable[[Vector, ChunkKeys], Scores], keys: ChunkKeys) -> Scores:
        """Return the cosine of each key, of those here as of those that `score` knows."""
        found = score(vector, keys).copy()
        places = np.flatnonzero(np.isin(keys, self.keys))
        found[places] = exact_scores(vector, self.vectors)[self.keys.searchsorted(keys[places])]
        return found


def embed_candidates(view: Snapshot, bm25: Ranking, spot: OnTheSpot) -> FreshVectors | None:
    """Embed the best candidates by BM25 that have no vector, while there is time; None where all have theirs.

    The writer of this process stores them, and embeds the other candidates before the rest of the collection. A model
    that fails leaves them as they were.
    """
    waiting = view.without_vector(bm25.keys)
    if not len(waiting):
        return None
    texts = [chunk.indexed_text for chunk in view.chunks(waiting.tolist())]
    near = np.isin(waiting, bm25.keys[:CANDIDATES])
    first = {text: None for text, wanted in zip(texts, near.tolist(), strict=True) if wanted}
    held = dict(spot.vectors.made_for(texts))
    made = _embedded([text for text in first if text not in held], spot)
    spot.vectors.add(made)
    spot.vectors.want(text for text in texts if text not in made)
    held |= made
    known = [place for place, text in enumerate(texts) if text in held]
    if not known:
        return None
    keys = waiting[known]
    order = np.argsort(keys)
    vectors = np.stack([held[texts[place]] for place in known]).astype(np.float16)
    return FreshVectors(keys[order], vectors[order])


def _embedded(texts: Sequence[str], spot: OnTheSpot) -> dict[str, Vector]:
    """Embed texts a few at a time, as many as there is time for by the time that the last few took."""
    started = time.monotonic()
    made: dict[str, Vector] = {}
    spent = step = 0.0
    for at in range(0, len(texts), BATCH_SIZE):
        if spent + step >= spot.seconds:
            break
        some = texts[at : at + BATCH_SIZE]
        try:
            vectors = spot.embedder.embed_passages(some)
        except ModelError:
            break
        made.update((text, np.asarray(vector)) for text, vector in zip(some, vectors, strict=True))
        now = time.monotonic() - started
        spent, step = now, now - spent
    return made

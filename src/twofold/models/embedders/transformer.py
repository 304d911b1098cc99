"""An embedder around a transformer whose files are in the cache; it does not know which runtime runs it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vectors
from twofold.models.catalog.types import TOKENIZER, ModelEntry
from twofold.models.embedders.batching import DynamicBatcher, length_sorted, pool, unit_rows
from twofold.models.tokens import count, encode, load_tokenizer

MAX_TEXTS = 16
TOKEN_BUDGET = 2048
LENGTH_STEP = 8  # the runtime plans again for every new length, so lengths are rounded up to few

Forward = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
"""Token numbers and mask, both (texts, tokens), to hidden states (texts, tokens, dimensions).

The result may be the runtime's own memory: it is valid until the next call.
"""

Load = Callable[[ModelEntry, Path], Forward]
"""Maps a model's weights from its folder. Raises ModelError."""


class TransformerEmbedder:
    """Embeds with a model of the catalog. Weights are mapped on the first call; safe to use from several threads.

    `most_texts` is how many run together; 1 where a text's vector would depend on its company.
    """

    def __init__(
        self, entry: ModelEntry, identity: EmbedderIdentity, folder: Path, load: Load, most_texts: int = MAX_TEXTS
    ) -> None:
        self._entry = entry
        self._identity = identity
        self._folder = folder
        self._load = load
        self._most_texts = most_texts
        self._mapping = threading.Lock()
        self._computing = threading.Lock()  # a mapped model serves one thread at a time
        self._tokenizer: Any = None
        self._forward: Forward | None = None
        self._closed = False
        self._embed = DynamicBatcher(self._run)

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on; nothing is loaded to tell."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (len(texts), dimensions) float32, rows of length 1, in the order given."""
        return self._embed([self._identity.passage_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, with the model's query prefix."""
        return self._embed([self._identity.query_prefix + text for text in texts])

    def embed_tokens(self, texts: Sequence[str], max_tokens: int) -> Sequence[Vectors]:
        """Embed each token: for each text (tokens, dimensions) float32, rows of length 1, without the special tokens.

        At most `max_tokens` of a text are read, special ones included; no prefix is put before it.
        """
        ids = encode(self._mapped_tokenizer(), texts, min(max_tokens, self._identity.max_tokens))
        made: dict[int, Vectors] = {}
        with self._computing:
            for group, _, hidden in self._computed(ids):
                for row, place in enumerate(group):
                    made[place] = _unit_tokens(hidden[row, 1 : len(ids[place]) - 1])
        return [made[place] for place in range(len(texts))]

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's tokens, without prefix, special tokens or truncation. It does not map the weights."""
        return count(self._mapped_tokenizer(), texts)

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more; embedding after it raises ModelError."""
        with self._mapping:
            self._closed = True
            self._tokenizer = None
            self._forward = None

    def _run(self, texts: Sequence[str]) -> Vectors:
        with self._computing:
            self._map_both()
            return self._pooled(texts)

    def _pooled(self, texts: Sequence[str]) -> Vectors:
        ids = encode(self._mapped_tokenizer(), texts, self._identity.max_tokens)
        vectors = np.empty((len(texts), self._identity.dimensions), dtype=np.float32)
        for group, mask, hidden in self._computed(ids):
            pooled = pool(hidden, mask, self._entry.pooling)
            vectors[group] = unit_rows(pooled, len(group), self._identity.dimensions, self._identity.name)
        return vectors

    def _computed(
        self, ids: Sequence[Sequence[int]]
    ) -> Iterator[tuple[list[int], NDArray[np.int64], NDArray[np.float32]]]:
        """Yield positions of texts that ran together, their mask, and hidden states that the next step overwrites."""
        forward = self._mapped_forward()
        lengths = [-(-len(one) // LENGTH_STEP) * LENGTH_STEP for one in ids]
        for group in length_sorted(lengths, self._most_texts, TOKEN_BUDGET):
            width = min(lengths[group[-1]], self._identity.max_tokens)
            numbers, mask = _padded([ids[place] for place in group], width)
            yield group, mask, forward(numbers, mask)

    def _map_both(self) -> None:
        """Map the weights in a thread while the tokenizer is read here, where neither is there yet.

        The runtime maps without the interpreter's lock, so where a core is free a cold search waits for one of the two.
        """
        with self._mapping:
            self._refuse_when_closed()
            if self._tokenizer is not None or self._forward is not None:
                return
            mapped: Future[Forward] = Future()
            thread = threading.Thread(target=self._map_into, args=(mapped,), name="twofold-weights")
            thread.start()
            try:
                self._tokenizer = self._read_tokenizer()
            finally:
                thread.join()
            self._forward = mapped.result()

    def _map_into(self, mapped: "Future[Forward]") -> None:
        try:
            mapped.set_result(self._load(self._entry, self._folder))
        except BaseException as error:  # noqa: BLE001  # raised in the thread that waits
            mapped.set_exception(error)

    def _read_tokenizer(self) -> Any:  # noqa: ANN401 - tokenizers.Tokenizer has no types
        return load_tokenizer(self._folder / TOKENIZER, self._entry.tokenizer_sha256, self._entry.hint)

    def _mapped_tokenizer(self) -> Any:  # noqa: ANN401 - tokenizers.Tokenizer has no types
        with self._mapping:
            self._refuse_when_closed()
            if self._tokenizer is None:
                self._tokenizer = self._read_tokenizer()
            return self._tokenizer

    def _mapped_forward(self) -> Forward:
        with self._mapping:
            self._refuse_when_closed()
            if self._forward is None:
                self._forward = self._load(self._entry, self._folder)
            return self._forward

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ModelError(f"The embedder {self._identity.name} was closed.", "Open it again.")


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """The token vectors of an embedder that reads at most `max_tokens` of a text."""

    embedder: TransformerEmbedder
    max_tokens: int

    def embed_tokens(self, texts: Sequence[str]) -> Sequence[Vectors]:
        """Embed each token; see `TransformerEmbedder.embed_tokens`."""
        return self.embedder.embed_tokens(texts, self.max_tokens)

    def close(self) -> None:
        """Free the embedder."""
        self.embedder.close()


def _unit_tokens(rows: NDArray[np.float32]) -> Vectors:
    """Copy token vectors out of the runtime's memory, each brought to length 1; one of zeros stays so."""
    lengths = np.sqrt(np.square(rows, dtype=np.float32).sum(axis=1, keepdims=True))
    made: Vectors = (rows / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float32)
    return made


def _padded(ids: Sequence[Sequence[int]], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lay token numbers into one array of zeros, and mark the real ones."""
    numbers = np.zeros((len(ids), width), dtype=np.int64)
    mask = np.zeros((len(ids), width), dtype=np.int64)
    for row, one in enumerate(ids):
        numbers[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return numbers, mask

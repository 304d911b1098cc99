"""A cross-encoder of the catalog, on OpenVINO: question and passage go through the model together, as one pair."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from twofold.domain.errors import InvalidInputError, ModelError
from twofold.domain.ports import RerankerIdentity
from twofold.domain.types import Scores
from twofold.models.catalog.types import TOKENIZER, ModelEntry
from twofold.models.embedders.batching import length_sorted
from twofold.models.embedders.openvino import load_session
from twofold.models.score_scale import relevance_of
from twofold.models.tokens import encode_pairs, load_pair_tokenizer

MAX_PAIRS = 5  # measured: batches of about five, sorted by length, beat one large batch
LENGTH_STEP = 8  # the runtime plans again for every new length, so lengths are rounded up to few
MIN_TOKENS = 16

PairForward = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
"""Token numbers, mask and token types, (pairs, tokens) each, to logits (pairs, 1), valid until the next call."""


class CrossEncoder:
    """Scores pairs with a model of the catalog, one caller at a time. Weights are mapped on the first call.

    `max_tokens` is how much of a pair is read, special tokens included; of the longer text, the end is cut first.
    Raises InvalidInputError for a length that the model cannot read.
    """

    def __init__(
        self,
        entry: ModelEntry,
        folder: Path,
        max_tokens: int = 256,
        load: Callable[[ModelEntry, Path], PairForward] = load_session,
    ) -> None:
        if not MIN_TOKENS <= max_tokens <= entry.max_tokens:
            raise InvalidInputError(
                f"{entry.name} cannot read {max_tokens} tokens of a pair.",
                f"Choose {MIN_TOKENS} to {entry.max_tokens}.",
            )
        self._entry = entry
        self._folder = folder
        self._max_tokens = max_tokens
        self._load = load
        self._turn = threading.Lock()
        self._tokenizer: Any = None
        self._forward: PairForward | None = None
        self._closed = False

    @property
    def identity(self) -> RerankerIdentity:
        """What the scores depend on; nothing is loaded to tell."""
        return self._entry.reranker_identity(self._max_tokens)

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Score each text raw: (len(texts),) logits in the order given. Raises ModelError."""
        with self._turn:
            if self._closed:
                raise ModelError(f"The reranker {self._entry.name} was closed.", "Open it again.")
            return self._run(query, texts)

    def relevance(self, raw: Scores) -> Scores:
        """Bring raw scores onto [0, 1]: `1 / (1 + exp(-logit))`."""
        return relevance_of(raw, self._entry.scale)

    def close(self) -> None:
        """Free the model. Calling it twice does nothing more; scoring after it raises ModelError."""
        with self._turn:
            self._closed = True
            self._tokenizer = None
            self._forward = None

    def _run(self, query: str, texts: Sequence[str]) -> Scores:
        scores = np.empty(len(texts), dtype=np.float64)
        if not texts:
            return scores
        forward = self._mapped()
        pairs = encode_pairs(self._tokenizer, query, texts)
        lengths = [-(-len(pair.ids) // LENGTH_STEP) * LENGTH_STEP for pair in pairs]
        for group in length_sorted(lengths, MAX_PAIRS, MAX_PAIRS * self._entry.max_tokens):
            shape = (len(group), min(lengths[group[-1]], self._entry.max_tokens))
            numbers, mask, kinds = (np.zeros(shape, dtype=np.int64) for _ in range(3))
            for row, pair in enumerate(pairs[place] for place in group):
                size = len(pair.ids)
                numbers[row, :size], mask[row, :size], kinds[row, :size] = pair.ids, 1, pair.kinds
            scores[group] = forward(numbers, mask, kinds)[:, 0]
        return scores

    def _mapped(self) -> PairForward:
        if self._forward is None:
            path, sha256 = self._folder / TOKENIZER, self._entry.tokenizer_sha256
            self._tokenizer = load_pair_tokenizer(path, sha256, self._entry.hint, self._max_tokens)
            self._forward = self._load(self._entry, self._folder)
        return self._forward

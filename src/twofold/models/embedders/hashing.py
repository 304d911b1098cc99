"""An embedder without a model: words and their pieces, hashed into buckets; for tests, and without a network.

It knows no meaning: texts are near each other when they share words or parts of words. The same text gives the same
vector on every machine and in every run, since XXH3 does.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import xxhash

from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import EmbedderIdentity
from twofold.domain.types import Vector, Vectors

WORD = re.compile(r"\w+")
NO_LIMIT = 2**31 - 1  # tokens; a text of any length is read whole
MIN_DIMENSIONS, MAX_DIMENSIONS = 8, 65_536
PIECE_LENGTHS = (3, 4)
PIECES_SHARE = 0.5
MAX_LETTERS = 64  # a longer "word" is no word; its beginning is enough
SIGN = 1 << 63

Feature = tuple[int, float]
"""A bucket and a signed weight."""


class HashingEmbedder:
    """Embeds by feature hashing (Weinberger et al. 2009) of words and of their runs of 3 and 4 letters.

    A word that occurs n times counts 1 + ln n. Its features have length 1 together: the whole word, and its pieces,
    which share half of the square. The sign of each bucket is hashed too, so that collisions cancel on average.
    """

    def __init__(self, dimensions: int = 256) -> None:
        if not MIN_DIMENSIONS <= dimensions <= MAX_DIMENSIONS:
            raise InvalidInputError(
                f"A hashing embedder cannot have {dimensions} dimensions.",
                f"Choose {MIN_DIMENSIONS} to {MAX_DIMENSIONS}.",
            )
        self._identity = EmbedderIdentity("hashing", "1", dimensions, max_tokens=NO_LIMIT)

    @property
    def identity(self) -> EmbedderIdentity:
        """What the vectors depend on."""
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed passages: (len(texts), dimensions) float32, rows of length 1, in the order given."""
        known: dict[str, tuple[Feature, ...]] = {}
        vectors = np.empty((len(texts), self._identity.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._embed(text, known)
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, exactly as passages."""
        return self.embed_passages(texts)

    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count each text's words."""
        return [count_words(text) for text in texts]

    def close(self) -> None:
        """Do nothing: there is nothing to free."""

    def _embed(self, text: str, known: dict[str, tuple[Feature, ...]]) -> Vector:
        total = np.zeros(self._identity.dimensions, dtype=np.float64)
        for word, count in Counter(words_of(text)).items():
            features = known.get(word) or known.setdefault(word, self._features(word))
            for bucket, weight in features:
                total[bucket] += weight * (1.0 + math.log(count))
        length = float(np.linalg.norm(total))
        if length == 0.0:  # no words, or all of them cancelled out
            total[0] = length = 1.0
        return (total / length).astype(np.float32)

    def _features(self, word: str) -> tuple[Feature, ...]:
        pieces = pieces_of(word)
        share = math.sqrt(PIECES_SHARE / len(pieces))
        whole = math.sqrt(1.0 - PIECES_SHARE)
        return (self._bucket(f"word {word}", whole), *(self._bucket(piece, share) for piece in pieces))

    def _bucket(self, feature: str, weight: float) -> Feature:
        number = xxhash.xxh3_64_intdigest(feature.encode("utf-8", "surrogatepass"))
        return number % self._identity.dimensions, weight if number & SIGN else -weight


def words_of(text: str) -> Iterator[str]:
    """Find a text's words: runs of letters, digits and underscores, after NFKC and case folding."""
    return (match.group() for match in WORD.finditer(unicodedata.normalize("NFKC", text).casefold()))


def count_words(text: str) -> int:
    """Count the words that `words_of` finds."""
    return len(WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def pieces_of(word: str) -> list[str]:
    """Cut a word into overlapping runs of letters, its ends marked: `to` gives ⟨to, to⟩ and ⟨to⟩."""
    marked = f"\u27e8{word[:MAX_LETTERS]}\u27e9"
    return [marked[at : at + size] for size in PIECE_LENGTHS for at in range(len(marked) - size + 1)]

"""The texts of a segment's terms: a term is found by its hash, and read by its place among the segment's terms."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.kernels import find_texts

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Hashes = NDArray[np.uint64]
Places = NDArray[np.uint32]


class EncodedTerms(NamedTuple):
    """Terms as they are looked up: their UTF-8 one after the other, where each begins and ends, and their hashes."""

    texts: Bytes
    offsets: Offsets
    hashes: Hashes

    @classmethod
    def of(cls, terms: Sequence[str]) -> Self:
        """Encode terms. Half a surrogate pair, which no catalog holds, becomes what no UTF-8 holds."""
        encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
        digests = b"".join(map(xxhash.xxh3_64_digest, encoded))
        hashes = np.frombuffer(digests, dtype=">u8").astype(np.uint64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), _offsets_of(list(map(len, encoded))), hashes)


@dataclass(frozen=True, slots=True, eq=False)
class TermDictionary:
    """T terms by place: `texts[offsets[i]:offsets[i + 1]]` is the UTF-8 of term i.

    `hashes` (T,), rising, are XXH3 of the texts, 64 bits, and `places` (T,) the term that each is of.
    """

    texts: Bytes
    offsets: Offsets
    hashes: Hashes
    places: Places

    @classmethod
    def of(cls, terms: Sequence[str]) -> Self:
        """Make the dictionary of terms, given by place."""
        return cls._of_encoded(EncodedTerms.of(terms))

    @classmethod
    def _of_encoded(cls, terms: EncodedTerms) -> Self:
        order = np.argsort(terms.hashes, kind="stable")
        return cls(terms.texts, terms.offsets, terms.hashes[order], order.astype(np.uint32))

    def find(self, asked: EncodedTerms) -> Places:
        """Return the place of each term, `NOWHERE` for one that is not there.

        Raises ValueError where what is looked up leads out of an array.
        """
        return find_texts(self.texts, self.offsets, self.hashes, self.places, *asked)

    def read(self, place: int) -> str:
        """Return one term's text. Raises LookupError or ValueError for a damaged one."""
        return self.texts[self.offsets[place] : self.offsets[place + 1]].tobytes().decode()

    def hash_of_places(self) -> Hashes:
        """Return each term's hash, by place."""
        hashes = np.zeros(len(self.places), dtype=np.uint64)
        hashes[self.places] = self.hashes
        return hashes


def merge_dictionaries(
    parts: Sequence[TermDictionary], ids: Sequence[NDArray[np.uint32]], kept: NDArray[np.uint32]
) -> TermDictionary:
    """Merge the dictionaries of segments: `ids` number the terms of each, by place, `kept` those that are left.

    All rise; a number stands for the same term in every part.
    """
    numbers = np.concatenate([np.empty(0, np.uint32), *ids])
    known, first = np.unique(numbers, return_index=True)
    chosen = first[np.searchsorted(known, kept)]
    texts = np.concatenate([np.empty(0, np.uint8), *(part.texts for part in parts)])
    ends = np.cumsum([0, *(len(part.texts) for part in parts)])
    starts = np.concatenate(
        [np.empty(0, np.int64), *(part.offsets[:-1] + end for part, end in zip(parts, ends[:-1], strict=True))]
    )
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(part.offsets) for part in parts)])
    hashes = np.concatenate([np.empty(0, np.uint64), *(part.hash_of_places() for part in parts)])
    offsets = _offsets_of(lengths[chosen])
    at = np.arange(offsets[-1]) + np.repeat(starts[chosen] - offsets[:-1], lengths[chosen])
    return TermDictionary._of_encoded(EncodedTerms(texts[at], offsets, hashes[chosen]))  # noqa: SLF001  # its own module


def is_sound_dictionary(held: TermDictionary, terms: int) -> bool:
    """Return whether the arrays fit that number of terms and nothing leads out of them."""
    offsets, places = held.offsets, held.places
    if offsets.shape != (terms + 1,) or held.hashes.shape != (terms,) or places.shape != (terms,):
        return False
    if offsets[0] != 0 or offsets[-1] != len(held.texts) or held.texts.ndim != 1:
        return False
    rising = bool((offsets[1:] >= offsets[:-1]).all()) and bool((held.hashes[1:] >= held.hashes[:-1]).all())
    return rising and (not terms or int(places.max()) < terms)


def _offsets_of(lengths: Sequence[int] | Offsets) -> Offsets:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets

"""What each term of a query adds to the scores of some passages, kept as arrays until it is read."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.dataclass import dataclass
from twofold.domain.types import Scores, TermQuery, TermScore
from twofold.text.bm25 import saturation


@dataclass(frozen=True, slots=True, eq=False)
class ScoredTerms:
    """Frequencies (passages, T) and norms (passages,) of the passages, idfs (T,) of the query's terms.

    Frequencies are whole numbers but for groups of terms and boosted fields. Under TF-IDF a norm is the lengths of
    passage and query multiplied.
    """

    query: TermQuery
    idfs: Sequence[float]
    frequencies: NDArray[np.uint16] | Scores
    norms: Scores

    def of(self, place: int) -> tuple[TermScore, ...]:
        """Return each occurring term's part of one passage's score, in the query's order."""
        norm, k1, is_bm25 = float(self.norms[place]), self.query.k1, self.query.scorer != "tfidf"
        weights, often = list(self.query.weights.items()), self.frequencies[place]
        occurring = np.flatnonzero(often).tolist()
        parts = []
        for at in occurring:
            (term, weight), idf, frequency = weights[at], self.idfs[at], often[at].item()
            part = saturation(frequency, norm, k1) if is_bm25 else frequency * idf / norm
            parts.append(TermScore(term, weight, idf, frequency, (weight * idf) * part))
        return tuple(parts)


def scored_terms(
    query: TermQuery, idfs: Sequence[float], passages: Sequence[Mapping[str, float]], norms: Iterable[float]
) -> ScoredTerms:
    """Make the table of passages whose terms are counted; one without terms stands for a passage that is not there."""
    rows = [[passage.get(term, 0) for term in query.weights] for passage in passages]
    frequencies = np.array(rows, dtype=np.float64) if query.groups else np.array(rows, dtype=np.uint16)
    return ScoredTerms(
        query, idfs, frequencies.reshape(len(passages), len(query.weights)), np.array(list(norms), dtype=np.float64)
    )

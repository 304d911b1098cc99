"""How far an index has the words of a question: of one in another language it has little but names and numbers.

No language has to be detected, which a short question does not allow: how rare its words are here, and which of them
BM25's best passage holds, has been looked up anyway. The same holds where an index has documents in several languages.
"""

from twofold.domain.dataclass import replace
from twofold.domain.ports import Snapshot
from twofold.domain.types import Ranking, TermQuery
from twofold.ranking.adaptive import KnownWords
from twofold.ranking.fusion import FusionPlan
from twofold.text.bm25 import inverse_document_frequency
from twofold.text.ngrams import NGRAM

FULL_WEIGHT = 1.0
"""Terms of less weight are another language's form of a word, or of instructions: not what is asked for."""
FIRST_IDEOGRAPH = "\u2e80"
PAIR = 0.25
"""What an unknown pair of ideographs counts: pairs overlap, and run from one word into the next."""


def known_words(view: Snapshot, terms: TermQuery, bm25: Ranking) -> KnownWords:
    """Return which share of a question's words the index has, and which BM25's best passage, of `bm25`, has.

    A term that no passage holds is one as rare as none can be. `bm25` must not be empty.
    """
    table = view.explain_terms(terms, bm25.keys[:1].tolist())
    held = terms.statistics or view.statistics(())
    rarest = inverse_document_frequency(held.chunks, 0)
    (often,) = table.frequencies.tolist()
    counted = indexed = total = together = 0.0
    for (term, weight), idf, count in zip(table.query.weights.items(), table.idfs, often, strict=True):
        if weight >= FULL_WEIGHT and not term.startswith(NGRAM):
            known = idf < rarest
            counts = 1.0 if known or not _is_pair(term) else PAIR
            counted += counts
            total += counts * weight * idf
            indexed += known
            together += weight * idf if count else 0.0
    return KnownWords(indexed / counted, together / total, held.words) if total else KnownWords(1.0, 1.0, held.words)


def with_known_words(fusion: FusionPlan, known: KnownWords) -> tuple[FusionPlan, float, tuple[str, ...]]:
    """Return the fusion with what is left of BM25's weight, which share that is, and a note where it is not all."""
    if known.share == 1.0:
        return fusion, 1.0, ()
    words = 1.0 - fusion.vector_weight
    note = (
        f"{known.indexed:.0%} of the question's words are indexed, {known.together:.0%} in one passage:"
        f" bm25 weight {words:g} × {known.share:.3f}, prf too"
    )
    return replace(fusion, vector_weight=1.0 - words * known.share), known.share, (note,)


def _is_pair(term: str) -> bool:
    return len(term) > 1 and min(term) >= FIRST_IDEOGRAPH

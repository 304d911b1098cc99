"""Checklist 34: each result keeps what each arm said of it, and the two make its score."""

from twofold import Index
from twofold.domain.types import Ranking
from twofold.models.hashing import HashingEmbedder
from twofold.ranking.fuse import normalised, weighted_sum
from twofold.ranking.normalise import clip, maximum


def test_a_hit_keeps_the_semantic_the_keyword_and_the_final_score() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        for text in ("git resets the index", "the index of a book", "water boils"):
            index.add(text, source=text)
        hits = index.search("git index").hits

    assert hits
    for hit in hits:
        assert hit.trace.lexical is not None
        assert hit.trace.dense is not None
        assert hit.score == hit.trace.lexical.part + hit.trace.dense.part == hit.trace.evaluate()
        assert -1.001 <= hit.trace.dense.raw <= 1.001
        assert (hit.trace.lexical.raw > 0.0) == ("git" in hit.source or "index" in hit.source)


def test_the_parts_that_a_fusion_adds_can_be_shown_beside_its_sum() -> None:
    bm25 = normalised(Ranking.of([1, 2], [17.673, 12.456]), maximum)
    dense = normalised(Ranking.of([2], [0.8734]), clip)
    parts = [{hit.key: weight * hit.score for hit in arm} for arm, weight in ((bm25, 0.5), (dense, 0.5))]

    for hit in weighted_sum([bm25, dense], [0.5, 0.5]):
        assert hit.score == parts[0].get(hit.key, 0.0) + parts[1].get(hit.key, 0.0)

"""Searching while some passages have no vector yet, through `Index`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.slow_embedder import SlowEmbedder
from twofold import Index, MultiIndex
from twofold.domain.types import Vectors
from twofold.domain.warning import WarningCode
from twofold.search.engine import SearchOptions

TEXTS = {
    "cat.txt": "The cat sat on the mat near the window.",
    "cats.txt": "Cats and a mat, and more cats on mats.",
    "dog.txt": "A dog ran home to its mat.",
    "fox.txt": "The quick brown fox jumps over a window.",
    "owl.txt": "An owl sleeps by day.",
}
AS_STORED = {"search.pending_seconds": 0}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """Return an index of five documents, none of which has a vector."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    with Index(tmp_path / "kb", embedder=SlowEmbedder(), overrides={"batch": {"embed": 2}}) as made:
        made.sync(folder, vectors="later")
        yield made


def names(index: Index, question: str, **options: object) -> list[str]:
    settings = {**AS_STORED, **dict(options.pop("settings", {}))}  # type: ignore[call-overload]
    return [Path(hit.source).name for hit in index.search(question, settings=settings, **options).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "method", ["adaptive", "convex", "rrf", "weighted_rrf", "linear", "additive", "dbsf", "log_odds"]
)
def test_without_any_vector_the_order_is_that_of_bm25(index: Index, method: str) -> None:
    by_words = names(index, "the cat on a mat", mode="bm25")

    assert len(by_words) == 3
    assert names(index, "the cat on a mat", settings={"fusion.method": method}) == by_words
    assert names(index, "the cat on a mat", mode="vector") == []


def test_a_result_says_how_many_passages_have_no_vector(index: Index) -> None:
    found = index.search("cat", settings=AS_STORED)

    (warning,) = found.warnings
    assert (warning.stage, warning.code) == ("vector", WarningCode.PENDING)
    assert warning.message == "5 of 5 passages have no vector yet; they are ranked by their words."
    assert found.degraded
    assert index.search("cat", mode="bm25").warnings == ()
    assert index.embed_pending() == 0
    assert index.search("cat", settings=AS_STORED).warnings == ()


def test_a_passage_without_a_vector_shows_none_and_its_score_can_be_recomputed(index: Index) -> None:
    index.add("A cat without a mat.", source="added.txt")
    found = index.search("cat mat", settings=AS_STORED)
    by_source = {Path(hit.source).name: hit for hit in found.hits}

    added, waiting = by_source["added.txt"], by_source["cat.txt"]
    assert added.trace.vector is not None
    assert added.trace.vector.raw is not None
    assert waiting.trace.vector is not None
    assert waiting.trace.vector.raw is None
    assert [hit.trace.recompute_score() for hit in found.hits] == [hit.score for hit in found.hits]
    notes = {stage.name: stage.notes for stage in found.stages}["vector"]
    assert notes == ("3 of 4 candidates have no vector yet",)


def test_meaning_counts_by_the_share_of_candidates_that_have_a_vector(index: Index) -> None:
    """Two of four candidates by words have a vector: half of the weight .6 of `convex`."""
    settings = {**AS_STORED, "fusion.method": "convex", "fusion.vector_weight": 0.6}
    index.embed_pending()
    whole = index.search("mat window", settings=settings)
    assert whole.constants["vector_weight"] == pytest.approx(0.6)
    for name in ("cat.txt", "dog.txt"):
        source = next(hit.source for hit in whole.hits if hit.source.endswith(name))
        Path(source).write_text(f"{TEXTS[name]} Again.")
    index.sync(Path(whole.hits[0].source).parent, vectors="later")

    assert index.search("mat window", settings=settings).constants["vector_weight"] == pytest.approx(0.3)


def test_a_query_embeds_its_best_candidates_on_the_spot_and_the_sync_stores_them(index: Index) -> None:
    embedder: SlowEmbedder = index._own_embedder  # type: ignore[assignment]
    found = index.search("quick fox", settings={"search.pending_seconds": 60})

    assert embedder.embedded == [TEXTS["fox.txt"]]
    best = found.hits[0]
    assert best.trace.vector is not None
    assert best.trace.vector.raw is not None
    assert best.trace.vector.rank == 1
    assert index.info().pending == 5, "a search does not write"
    index.search("quick fox", settings={"search.pending_seconds": 60})
    assert embedder.embedded == [TEXTS["fox.txt"]], "what was made once is kept"
    assert index.embed_pending() == 0
    assert sorted(embedder.embedded) == sorted(TEXTS.values())
    stored = index.search("quick fox").hits[0]
    assert stored.trace.vector is not None
    assert stored.trace.vector.raw == best.trace.vector.raw


def test_what_queries_find_is_embedded_before_the_rest(index: Index) -> None:
    embedder: SlowEmbedder = index._own_embedder  # type: ignore[assignment]
    index.search("owl", settings=AS_STORED)
    index.search("quick fox", settings=AS_STORED)
    index.embed_pending()

    assert set(embedder.embedded[:2]) == {TEXTS["owl.txt"], TEXTS["fox.txt"]}
    assert len(embedder.embedded) == len(TEXTS)


def test_a_model_that_fails_on_the_spot_leaves_the_words(tmp_path: Path) -> None:
    class Fails(SlowEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Vectors:
            self.most = 0
            return super().embed_passages(texts)

    (tmp_path / "fox.txt").write_text(TEXTS["fox.txt"])
    with Index(tmp_path / "kb", embedder=Fails()) as index:
        index.sync(tmp_path / "fox.txt", vectors="later")
        assert [Path(hit.source).name for hit in index.search("quick fox").hits] == ["fox.txt"]


def test_a_vector_that_arrives_makes_kept_results_stale(index: Index) -> None:
    settings = {**AS_STORED, "cache": {"scope": "shared", "size": 9}}
    index.embed_pending()
    first = index.search("the window", settings=settings)
    assert index.search("the window", settings=settings).cache.hit
    Path(first.hits[0].source).write_text("Nothing of the kind.")
    index.sync(Path(first.hits[0].source).parent, vectors="later")
    words = index.search("the window", settings=settings)
    assert words.warnings
    assert not index.search("the window", settings=settings).cache.hit, "less than was asked for is not kept"
    index.embed_pending()
    whole = index.search("the window", settings=settings)
    assert not whole.cache.hit
    assert whole.warnings == ()


def test_why_not_says_that_there_is_no_vector_yet(index: Index) -> None:
    missed = index.why_not("hedgehog", "owl.txt", SearchOptions(settings=AS_STORED))

    assert "for vector it has no vector yet" in missed.reason
    assert ("vectors", "1 of its 1 passages have none yet; `twofold sync` makes them") in [
        (one.name, one.detail) for one in missed.evidence
    ]


def test_figures_count_the_passages_that_wait(index: Index) -> None:
    assert index.metrics().pending == 5
    index.embed_pending()
    assert index.metrics().pending == 0


def test_several_indexes_say_together_what_waits(index: Index, tmp_path: Path) -> None:
    (tmp_path / "bird.txt").write_text("A bird sings by the window.")
    with Index(tmp_path / "other", embedder=SlowEmbedder()) as other:
        other.sync(tmp_path / "bird.txt")
        both = MultiIndex({"first": index, "second": other})
        found = both.search("window", SearchOptions(settings=AS_STORED))
        by_source = {Path(hit.source).name: hit for hit in found.hits}

        assert any("5 of 6 passages have no vector yet" in one.message for one in found.warnings)
        assert by_source["cat.txt"].trace.vector is not None
        assert by_source["cat.txt"].trace.vector.raw is None
        assert by_source["bird.txt"].trace.vector is not None
        assert by_source["bird.txt"].trace.vector.raw is not None
        index.embed_pending()
        assert both.search("window", SearchOptions(settings=AS_STORED)).warnings == ()


def test_while_candidates_have_no_vector_the_chance_of_an_answer_is_that_of_words(index: Index) -> None:
    """`bm25` has a calibration for any embedder, `hybrid` none for this one."""
    by_words = index.search("quick fox", mode="bm25").p_answerable
    assert by_words is not None
    assert index.search("quick fox", settings=AS_STORED).p_answerable == pytest.approx(by_words)
    index.embed_pending()
    assert index.search("quick fox", settings=AS_STORED).p_answerable is None

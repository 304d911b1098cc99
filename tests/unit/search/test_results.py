"""What is asked of results: facets, order, pages, boosts, age, formulas, novelty, pins; numbers worked out by hand."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from support.indexes import sources
from twofold import Index
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.domain.types import MetadataValue, Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import ResultOptions, SearchOptions
from twofold.search.result import SearchResult
from twofold.search.why_not import WhyNot

IDF_OF_ALL_TWO = math.log(1.2)  # both of two passages: ln(1 + 0.5 / 2.5)


def made(documents: Mapping[str, tuple[str, Mapping[str, MetadataValue]]]) -> Index:
    index = Index(":memory:", embedder=HashingEmbedder())
    for source, (text, metadata) in documents.items():
        index.add(text, source=source, metadata=metadata)
    return index


def catalog() -> Index:
    return made(
        {
            "plan.md": (
                "apple orchard\n\n" + "filler words " * 200 + "\n\napple harvest",
                {"author": ("Ada", "Bob"), "price": 5, "modified": "2024-03-01"},
            ),
            "tree.md": ("apple tree", {"author": "Ada", "price": 10, "modified": "2025-01-15"}),
            "old.txt": ("apple pie", {"price": 99.5, "modified": "2025-07-01T10:00:00+00:00"}),
            "car.txt": ("wheels", {"author": "Eve", "price": 3}),
        }
    )


def counts(found: SearchResult, field: str) -> dict[object, int]:
    (facet,) = [one for one in found.facets if one.field == field]
    return {one.value: one.count for one in facet.values}


def recomputed(found: SearchResult) -> bool:
    return found.trace.recompute_scores() == tuple(hit.score for hit in found.hits)


def test_a_facet_counts_documents_that_match_not_passages_and_not_pages() -> None:
    with catalog() as index:
        found = index.search(
            "apple", k=1, mode="bm25", settings={"search.candidates": 1}, facets=["author", "source", "nobody"]
        )

        assert len(found.hits) == 1
        assert counts(found, "author") == {"Ada": 2, "Bob": 1}
        assert counts(found, "source") == {"plan.md": 1, "tree.md": 1, "old.txt": 1}
        assert [(one.documents, one.missing, one.further) for one in found.facets] == [(3, 1, 0), (3, 0, 0), (3, 3, 0)]


def test_a_value_of_a_facet_is_a_filter_that_leaves_as_many_documents() -> None:
    with catalog() as index:
        asked = ["author:1", "price:5,50,100", "modified:year", "type"]
        found = index.search("apple", mode="bm25", facets=asked)

        assert counts(found, "price") == {"5 – 50": 2, "50 – 100": 1}
        assert counts(found, "modified") == {"2024": 1, "2025": 2}
        assert counts(found, "type") == {".md": 2, ".txt": 1}
        assert [(one.value, one.count) for one in found.facets[0].values] == [("Ada", 2)]
        assert found.facets[0].further == 1
        for value in (one for facet in found.facets for one in facet.values):
            left = index.search("apple", mode="bm25", filter=value.filter)
            assert len({hit.document for hit in left.hits}) == value.count


def test_facets_respect_the_filter_and_hidden_documents_and_what_the_question_excludes() -> None:
    with catalog() as index:
        assert counts(index.search("apple", facets=["author"], filter="price < 10"), "author") == {
            "Ada": 1,
            "Bob": 1,
            "Eve": 1,  # a candidate by its vector
        }
        assert counts(index.search("apple", mode="bm25", facets=["author"], hide=["plan.md"]), "author") == {"Ada": 1}
        assert counts(index.search("apple -tree", mode="bm25", facets=["price"]), "price") == {5: 1, 99.5: 1}


@pytest.mark.parametrize("facet", ["price:9,1", "price:1,b", "author:0", "", "  "])
def test_a_facet_that_cannot_be_is_refused(facet: str) -> None:
    with catalog() as index, pytest.raises(InvalidInputError):
        index.search("apple", facets=[facet])


def test_candidates_are_sorted_by_fields_and_what_has_no_value_comes_last() -> None:
    with catalog() as index:
        rising = sources(index.search("apple wheels", sort="modified", collapse=True))
        falling = sources(index.search("apple wheels", sort=["modified:desc"], collapse=True))
        by_author = sources(index.search("apple wheels", sort=["author", "price:desc"], collapse=True))

    assert rising == ["plan.md", "tree.md", "old.txt", "car.txt"]
    assert falling == ["old.txt", "tree.md", "plan.md", "car.txt"]
    assert by_author == ["tree.md", "plan.md", "car.txt", "old.txt"]  # Ada 10, Ada 5, Eve, no author


def test_sorting_changes_no_score_and_stands_in_the_trace() -> None:
    with catalog() as index:
        plain, found = index.search("apple"), index.search("apple", sort="modified:desc")

    assert {hit.chunk_id: hit.score for hit in found.hits} == {hit.chunk_id: hit.score for hit in plain.hits}
    assert recomputed(found)
    assert [(one.name, one.notes) for one in found.stages if one.name == "sort"] == [("sort", ("modified, falling",))]


def test_a_collapsed_document_is_shown_once_with_the_count_of_its_others() -> None:
    with catalog() as index:
        plain = index.search("apple", mode="bm25")
        found = index.search("apple", mode="bm25", collapse=True, k=2)

    assert sorted(sources(plain)) == ["old.txt", "plan.md", "plan.md", "tree.md"]
    assert (plain.counts.total, found.counts.total) == (4, 3)
    assert len(set(sources(found))) == 2
    whole = {hit.source: hit.more for hit in found.hits}
    assert all(more == (1 if source == "plan.md" else 0) for source, more in whole.items())
    best = {hit.source: hit.chunk_id for hit in reversed(plain.hits)}
    assert [hit.chunk_id for hit in found.hits] == [best[hit.source] for hit in found.hits]


def test_pages_by_cursor_are_cut_from_one_ranking() -> None:
    texts: dict[str, tuple[str, dict[str, str]]] = {
        f"{number:02}.txt": (f"apple {'pie ' * number}", {}) for number in range(12)
    }
    with made(texts) as index:
        settings = {"search.candidates": "2x"}  # the depth would grow with every page
        found, pages = index.search("apple pie", k=3, cursor="start", settings=settings), []
        first = found
        while True:
            pages.append(found)
            if not found.next_cursor:
                break
            found = index.search("apple pie", k=3, cursor=found.next_cursor, settings=settings)
        whole = index.search("apple pie", k=12, cursor="start", settings=settings)

    assert first.next_cursor
    assert [hit.rank for page in pages for hit in page.hits] == list(range(1, first.counts.total + 1))
    shown = [hit.chunk_id for page in pages for hit in page.hits]
    assert len(set(shown)) == len(shown) == first.counts.total
    assert {page.counts.total for page in pages} == {first.counts.total}
    assert whole.hits[0].chunk_id == shown[0]
    assert pages[-1].next_cursor == ""


def test_a_cursor_of_another_search_is_refused_and_a_changed_index_is_said() -> None:
    with catalog() as index:
        begun = index.search("apple", k=1, cursor="start")
        for other in ({"query": "apples"}, {"sort": "price"}, {"filter": "price > 1"}, {"cursor": "nonsense"}):
            asked = {"query": "apple", "cursor": begun.next_cursor, **other}
            with pytest.raises(InvalidInputError, match="not of this search"):
                index.search(k=1, **asked)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="not both"):
            index.search("apple", k=1, cursor=begun.next_cursor, offset=1)

        same = index.search("apple", k=1, cursor=begun.next_cursor)
        index.add("apple juice", source="new.txt")
        changed = index.search("apple", k=1, cursor=begun.next_cursor)

    assert not same.warnings
    assert [hit.rank for hit in same.hits] == [hit.rank for hit in changed.hits] == [2]
    assert [(one.stage, one.code, changed.degraded) for one in changed.warnings] == [("search", "changed", False)]


def titled() -> Index:
    index = Index(":memory:", embedder=HashingEmbedder())
    index.add("quota full letters", source="a.txt", title="disk")
    index.add("quota disk letters", source="b.txt", title="notes")
    return index


def test_words_of_the_title_count_as_often_as_their_boost_says() -> None:
    """Both passages have four words, one of them `disk`, so K = 1.2; title^3 makes 1 + 2 times of the first one's.

    ln 1.2 · 3 · 2.2 / (3 + 1.2) = 0.286505 against ln 1.2 · 1 · 2.2 / (1 + 1.2) = 0.182322.
    """
    with titled() as index:
        plain = index.search("disk", mode="bm25")
        boosted = index.search("disk", mode="bm25", boosts={"title": 3})
        fraction = index.search("disk", mode="bm25", boosts={"title": 1.5})

    assert [hit.score for hit in plain.hits] == [pytest.approx(IDF_OF_ALL_TWO)] * 2
    assert sources(boosted) == ["a.txt", "b.txt"]
    assert boosted.hits[0].score == pytest.approx(IDF_OF_ALL_TWO * 3 * 2.2 / 4.2)
    assert boosted.hits[1].score == pytest.approx(IDF_OF_ALL_TWO)
    assert fraction.hits[0].score == pytest.approx(IDF_OF_ALL_TWO * 1.5 * 2.2 / 2.7)
    (term,) = boosted.hits[0].trace.terms
    assert (term.frequency, term.score) == (3, boosted.hits[0].score)


def test_boosts_of_headings_act_in_hybrid_search_too_and_the_terms_still_add_up() -> None:
    with catalog() as index:
        index.add("# Apples\n\nred\n\n# Pears\n\napple in passing", source="fruit.md")
        found = index.search("apple red", boosts={"heading": 5, "title": 2})

    assert recomputed(found)
    for hit in found.hits:
        total = 0.0
        for term in hit.trace.terms:
            total += term.score
        assert hit.trace.bm25 is not None
        assert total == hit.trace.bm25.raw


@pytest.mark.parametrize("boosts", [{"title": 0.5}, {"title": 101}, {"body": 2}, {"title": True}])
def test_a_boost_that_cannot_be_is_refused(boosts: dict[str, float]) -> None:
    with titled() as index, pytest.raises(InvalidInputError, match="boost"):
        index.search("disk", boosts=boosts)


def test_scores_fall_by_half_of_a_half_with_each_half_life() -> None:
    """Weight ½ and 30 days: 1 - ½ + ½ · 2^-(30 / 30) = 0.75; after 60 days 0.625; without a date 1."""
    dated: dict[str, tuple[str, dict[str, str]]] = {
        name: ("same words", {"modified": day} if day else {})
        for name, day in {"new": "2026-01-31", "month": "2026-01-01", "two": "2025-12-02", "none": ""}.items()
    }
    with made(dated) as index:
        plain = {hit.source: hit.score for hit in index.search("same words", mode="bm25").hits}
        found = index.search("same words", mode="bm25", recency="modified:30d@2026-01-31")
        strong = index.search("same words", mode="bm25", recency="30d:1@2026-01-31")

    factors = {hit.source: hit.score / plain[hit.source] for hit in found.hits}
    assert factors == {"new": 1.0, "none": 1.0, "month": pytest.approx(0.75), "two": pytest.approx(0.625)}
    assert {hit.source: hit.score / plain[hit.source] for hit in strong.hits}["two"] == pytest.approx(0.25)
    assert sources(found)[-2:] == ["month", "two"]
    assert recomputed(found)


@pytest.mark.parametrize("recency", ["0d", "30", "d", "modified:30d:2", "modified:30d@tomorrow", "30d:0"])
def test_a_half_life_that_cannot_be_is_refused(recency: str) -> None:
    with titled() as index, pytest.raises(InvalidInputError, match="half-life"):
        index.search("disk", recency=recency)


def test_a_formula_makes_the_score() -> None:
    """`old.txt`: 2 · bm25 + max(99.5 / 10, 1) - ln(e) = 2 · bm25 + 8.95."""
    with catalog() as index:
        found = index.search("apple", mode="bm25", score="2 * bm25 + max(price / 10, 1) - log(exp(1))", collapse=True)

    by_source = {hit.source: hit for hit in found.hits}
    bm25 = {name: hit.trace.retrievers[0].raw or 0.0 for name, hit in by_source.items()}
    assert by_source["old.txt"].score == pytest.approx(2 * bm25["old.txt"] + 8.95)
    assert by_source["tree.md"].score == pytest.approx(2 * bm25["tree.md"])
    assert sources(found)[0] == "old.txt"
    assert recomputed(found)


def test_what_a_formula_cannot_compute_is_0_and_a_missing_field_too() -> None:
    with catalog() as index:
        for formula in ("1 / nothing", "log(0)", "exp(9999)", "age_days(nothing) * 2", "author"):
            found = index.search("wheels", mode="bm25", score=formula)
            assert [hit.score for hit in found.hits] == [0.0], formula
            assert recomputed(found)


def test_a_formula_knows_cosine_score_and_age() -> None:
    with catalog() as index:
        plain = {hit.chunk_id: hit for hit in index.search("apple tree").hits}
        found = index.search("apple tree", score="score * 2 + cosine")
        aged = index.search("apple tree", score="-age_days(modified)", collapse=True)

    for hit in found.hits:
        before = plain[hit.chunk_id]
        assert before.trace.vector is not None
        assert hit.score == pytest.approx(2 * before.score + (before.trace.vector.raw or 0.0))
    assert sources(aged) == ["car.txt", "old.txt", "tree.md", "plan.md"]  # no date is 0, then the newest
    assert recomputed(found)


@pytest.mark.parametrize(
    ("formula", "place"),
    [
        ("1 +", 4),
        ("foo(1)", 1),
        ("min(1)", 1),
        ("2 * (score", 11),
        ("score ; drop", 7),
        ("__import__('os')", 1),
        ("1 2", 3),
        ("log", 1),
        ("(" * 30 + "1" + ")" * 30, 21),
    ],
)
def test_a_formula_that_cannot_be_read_is_refused_with_its_place(formula: str, place: int) -> None:
    with titled() as index, pytest.raises(InvalidInputError, match=f"at character {place}\\."):
        index.search("disk", score=formula)


def test_a_formula_has_a_bounded_size() -> None:
    with titled() as index:
        for formula in ("1" + " + 1" * 120, " " * 600 + "1"):
            with pytest.raises(InvalidInputError):
                index.search("disk", score=formula)


DIRECTIONS = {"one": (0.96, 0.28), "two": (0.936, 0.352), "three": (0.8, -0.6), "four": (0.0, 1.0), "asked": (1.0, 0.0)}


class Directions(HashingEmbedder):
    """Gives each text the direction that a test chose, in the first two of eight dimensions."""

    def __init__(self) -> None:
        super().__init__(8)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([(*DIRECTIONS[text.split()[-1]], *[0.0] * 6) for text in texts], dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self.embed_passages(texts)


def test_mmr_prefers_what_is_unlike_the_passages_before() -> None:
    """Relevance is the cosine over .96: 1, .975, .833, 0. After `one`, with λ ½: two ½ · .975 - ½ · .997 < 0,
    three ½ · .833 - ½ · .6 = .117, four 0 - ½ · .28. Then two -.011 before four -.14."""
    with Index(":memory:", embedder=Directions()) as index:
        for name in ("one", "two", "three", "four"):
            index.add(name, source=name)
        plain = index.search("asked", mode="vector")
        found = index.search("asked", mode="vector", mmr=0.5)
        same = index.search("asked", mode="vector", mmr=1.0)

    assert sources(plain) == sources(same) == ["one", "two", "three", "four"]
    assert sources(found) == ["one", "three", "two", "four"]
    assert recomputed(found)


def test_mmr_and_a_sort_exclude_each_other() -> None:
    with catalog() as index, pytest.raises(InvalidInputError, match="both"):
        index.search("apple", mmr=0.5, sort="price")


def test_pinned_documents_and_passages_come_first_where_the_filter_lets_them() -> None:
    with catalog() as index:
        last = index.chunks("plan.md")[-1].id
        found = index.search("tree", mode="bm25", pin=[last, "car.txt", "not-there.md"])
        filtered = index.search("tree", mode="bm25", pin=["car.txt"], filter="type == .md")

    assert [hit.chunk_id for hit in found.hits][:1] == [last]
    assert sources(found) == ["plan.md", "car.txt", "tree.md"]
    assert [hit.score for hit in found.hits][:2] == [0.0, 0.0]
    assert recomputed(found)
    assert sources(filtered) == ["tree.md"]
    assert [one.notes for one in found.stages if one.name == "pin"] == [("2 pinned",)]


def test_a_pinned_document_is_shown_once_where_documents_are_collapsed() -> None:
    with catalog() as index:
        found = index.search("apple", pin=["plan.md"], collapse=True)

    assert sources(found)[0] == "plan.md"
    assert sorted(sources(found)) == ["car.txt", "old.txt", "plan.md", "tree.md"]


def test_hidden_documents_make_room_for_others() -> None:
    with catalog() as index:
        found = index.search("apple", mode="bm25", hide=["plan.md"], k=2, settings={"search.candidates": 2})
        passage = index.chunks("tree.md")[0].id
        without = index.search("apple", mode="bm25", hide=[passage])

    assert sorted(sources(found)) == ["old.txt", "tree.md"]
    assert "tree.md" not in sources(without)


def lost(index: Index, document: str, results: ResultOptions, query: str = "apple") -> WhyNot:
    return index.why_not(query, document, SearchOptions(mode="bm25", results=results))


def test_why_not_names_what_was_asked_of_the_results_and_undoes_it() -> None:
    with catalog() as index:
        hidden = lost(index, "plan.md", ResultOptions(hide=("plan.md",), facets=("author",)))
        passages = [chunk.id for chunk in index.chunks("plan.md") if "apple" in chunk.text]
        shown = index.search("apple", mode="bm25", collapse=True)
        (other,) = set(passages) - {hit.chunk_id for hit in shown.hits}
        collapsed = lost(index, other, ResultOptions(collapse=True))
        below = index.why_not(
            "apple", "plan.md", SearchOptions(k=1, mode="bm25", results=ResultOptions(sort=("source:desc",)))
        )

    assert (hidden.stage, hidden.fix and hidden.fix.without) == ("hide", ("hide",))
    assert hidden.rank_after_fix is not None
    assert (collapsed.stage, collapsed.fix and collapsed.fix.without) == ("collapse", ("collapse",))
    assert (below.stage, below.fix and below.fix.k) == ("top_k", 2)


def test_a_search_that_asks_nothing_of_its_results_has_no_such_stage() -> None:
    with catalog() as index:
        found = index.search("apple")

    assert {one.name for one in found.stages}.isdisjoint({"hide", "score", "recency", "collapse", "mmr", "sort", "pin"})
    assert (found.facets, found.next_cursor) == ((), "")


def test_arguments_of_a_wrong_kind_are_refused() -> None:
    with catalog() as index:
        for wrong in ({"facets": 3}, {"sort": [1]}, {"pin": [""]}, {"mmr": 2}, {"hide": ["x"] * 101}):
            with pytest.raises(TwofoldError):
                index.search("apple", **wrong)


def test_what_a_viewer_may_not_read_is_in_no_count_page_or_pin() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("tower one", source="a.md", metadata={"author": "Ada"}, readers=["user:ann"])
        index.add("tower two", source="b.md", metadata={"author": "Bob"})
        seen = index.as_principals(["user:bob"])
        found = seen.search("tower", k=1, facets=["author"], pin=["a.md"], sort="author", cursor="start")

    assert sources(found) == ["b.md"]
    assert (counts(found, "author"), found.facets[0].documents) == ({"Bob": 1}, 1)
    assert (found.counts.total, found.next_cursor) == (1, "")
    assert [one.notes for one in found.stages if one.name == "pin"] == [("0 pinned",)]

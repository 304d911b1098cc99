"""Checklist 46, 47, 59, 60: two passages of a page, none twice, and each with its neighbors, in a search."""

from collections import Counter
from pathlib import Path

import pytest

from support.indexes import indexed
from twofold import Document, Index
from twofold.compat.voicevault import HybridRetriever
from twofold.domain.types import Block, BlockKind, document_id
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import SearchOptions

SIZE = 16  # tokens, so that each sentence is a passage
LINES = [
    f"Passage number {number} tells more about the harbour and its lighthouse of old days." for number in range(12)
]


@pytest.fixture(scope="module")
def index() -> Index:
    made = indexed({}, {"chunk.size": SIZE})
    made.add("\n\n".join(LINES), source="harbour.txt")
    made.add("The harbour of another town has no lighthouse at all, say its old people.", source="town.txt")
    return made


@pytest.fixture(scope="module")
def paged() -> Index:
    """A document of two pages: five passages on the first, and as many on the second."""
    text = "\n\n".join(LINES[:10])
    ends = [text.index(LINES[at]) for at in range(10)]
    spans = zip(ends, [*(end - 2 for end in ends[1:]), len(text)], strict=True)
    blocks = tuple(Block(BlockKind.PARAGRAPH, start, end, page=1 + at // 5) for at, (start, end) in enumerate(spans))
    made = indexed({}, {"chunk.size": SIZE})
    made.add_many([Document(document_id("report.pdf"), "report.pdf", text, blocks=blocks)])
    return made


def test_item_46_of_five_passages_of_a_page_the_best_two_stay_in_their_order(paged: Index) -> None:
    plain = paged.search("passage number harbour", k=10)
    assert {hit.page for hit in plain.hits} == {1, 2}
    result = paged.search("passage number harbour", k=10, settings={"diversity": {"per_page": 2}})

    for page in (1, 2):
        on_page = [hit.chunk_id for hit in plain.hits if hit.page == page]
        assert len(on_page) == 5
        assert [hit.chunk_id for hit in result.hits if hit.page == page] == on_page[:2]
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


@pytest.mark.parametrize("suffix", [".md", ".txt", ".html"])
def test_item_46_a_file_without_pages_gives_two_under_the_profile_that_caps(suffix: str, tmp_path: Path) -> None:
    for name in ("one", "other"):
        text = "".join(f"<p>{line}</p>" if suffix == ".html" else f"{line}\n\n" for line in LINES)
        (tmp_path / f"{name}{suffix}").write_text(f"{name} {text}")
    with Index(":memory:", overrides={"chunk.size": SIZE}, embedder=HashingEmbedder()) as made:
        assert not made.sync(tmp_path).failed
        capped = made.search("harbour lighthouse", k=10, profile="voicevault", rerank="none")
        plain = made.search("harbour lighthouse", k=10, profile="modes")
        retriever = HybridRetriever({"kb": made}, {"rerank.model": "none"})
        from_retriever = retriever.retrieve("harbour lighthouse", 10)

    assert len(plain.hits) == 10
    assert Counter(Path(hit.source).name for hit in capped.hits) == {f"one{suffix}": 2, f"other{suffix}": 2}
    assert Counter(Path(one.source_file).name for one in from_retriever) == {f"one{suffix}": 2, f"other{suffix}": 2}
    (stage,) = [stage for stage in capped.stages if stage.name == "diversify"]
    assert all("page full" in said for said in stage.notes)


def test_item_59_60_every_result_has_its_neighbors_in_reading_order(index: Index) -> None:
    chunks = index.chunks("harbour.txt")
    assert len(chunks) == len(LINES)
    result = index.search("passage number 2", k=13, settings={"search.context_window": 5})
    hit = next(hit for hit in result.hits if hit.text == LINES[2])

    assert [neighbor.ordinal for neighbor in hit.context] == [0, 1, 3, 4, 5, 6, 7]
    assert [neighbor.text for neighbor in hit.context] == [LINES[at] for at in (0, 1, 3, 4, 5, 6, 7)]
    assert hit.joined is not None
    assert hit.joined.text.split("\n\n") == LINES[:8]
    for other in result.hits:
        assert [one.ordinal for one in other.context] == sorted(one.ordinal for one in other.context)


def test_item_60_the_list_is_there_and_empty_where_no_neighbors_are_asked_for(index: Index) -> None:
    assert all(hit.context == () and hit.joined is None for hit in index.search("harbour").hits)
    assert next(hit for hit in index.search("harbour", k=13, settings={"search.context_window": 3}).hits
                if hit.source == "town.txt").context == ()  # fmt: skip


def test_item_47_no_passage_comes_twice(index: Index) -> None:
    for result in index.search_many(["harbour lighthouse", "passage"], SearchOptions(k=13)):
        ids = [hit.chunk_id for hit in result.hits]
        assert len(ids) == len(set(ids))


def test_item_46_a_source_gives_as_many_as_it_may_and_the_trace_says_what_was_left_out(index: Index) -> None:
    plain = index.search("harbour", k=13)
    result = index.search("harbour", k=13, settings={"diversity": {"per_source": 2}})
    kept = [hit.chunk_id for hit in result.hits if hit.source == "harbour.txt"]

    assert kept == [hit.chunk_id for hit in plain.hits if hit.source == "harbour.txt"][:2]
    assert len(result.hits) == 3
    (stage,) = [stage for stage in result.stages if stage.name == "diversify"]
    assert len(stage.notes) == len(LINES) - 2
    assert all("source full" in said for said in stage.notes)

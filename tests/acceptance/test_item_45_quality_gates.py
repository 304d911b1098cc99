"""Checklist item 45: quality ok or high, entity density of at least 0.12, not omitted; in both retrievers, early."""

from collections.abc import Iterator

import pytest

from twofold import Index
from twofold.config.load import Settings
from twofold.config.profiles import QUALITY_GATES
from twofold.config.schema import ChunkSettings
from twofold.domain.filters import MATCH_ALL, Filter
from twofold.domain.types import MetadataValue
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.filter_syntax import parse_filter

GATES = parse_filter(QUALITY_GATES)  # what the profile `aanae` sets as `search.default_filter`
GOOD: dict[str, MetadataValue] = {"chunk_quality": "ok", "entity_density": 0.5, "omit_flag": False}


FILLING = ["glow", "over", "the", "river", "and", "warm", "every", "street", "of", "our", "town"]


def sentence(mentions: int, words: int) -> str:
    """A sentence about lanterns of so many words, so many of them years."""
    filling = (FILLING * words)[: words - mentions - 1]
    return " ".join(["lanterns", *["1949"] * mentions, *filling]) + "."


KEPT = sentence(3, 25)  # 3 / 25 = 0.12
DROPPED = sentence(32, 267)  # 32 / 267 = 0.1199
TEXTS = {
    "kept.md": KEPT,
    "dropped.md": DROPPED,
    "spelled.md": "l a n t e r n s and L A N T E R N S 1949 GDP NASA 1950 lanterns a b c d e f g",
    "contents.md": "# Contents\n\nLanterns in 1949 .... 3\n\nLanterns in 1950 .... 17\n\nLanterns in 1951 .... 21\n",
}
SPELLED = "lanterns a b c d e f g h i j k l m n o p q r s t u v w x y z"
GOOD_LINE = "Lanterns of NASA glow over Paris since 1949, over Bern since 1950, over Rome and Oslo since 1951."
MIXED = "\n\n".join([*[f"{SPELLED}\n" * 11] * 40, f"{GOOD_LINE}\n" * 10])


@pytest.fixture(scope="module", params=["memory", "folder"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Files that were read, cut and enriched on their way in; one has a good passage and forty poor ones."""
    folder = tmp_path_factory.mktemp("gates")
    for source, text in TEXTS.items():
        (folder / source).write_text(text, encoding="utf-8")
    where = ":memory:" if request.param == "memory" else tmp_path_factory.mktemp("index") / "kb"
    with Index(where, settings=Settings(chunk=ChunkSettings(size=320)), embedder=HashingEmbedder()) as made:
        assert not made.sync(folder).failed
        made.add(MIXED, source="mixed.md")
        yield made


def found(index: Index, mode: str, condition: Filter, k: int = 99) -> list[tuple[str, str]]:
    return [
        (hit.source.rpartition("/")[2], hit.text)
        for hit in index.search("lanterns", k=k, mode=mode, filter=condition).hits
    ]


def fields(index: Index, source: str) -> dict[str, MetadataValue]:
    (chunk,) = index.chunks(source)
    return dict(chunk.metadata)


def test_a_density_of_0_12_is_kept_and_of_0_1199_dropped(index: Index) -> None:
    assert fields(index, "kept.md")["entity_density"] == 0.12
    assert fields(index, "dropped.md")["entity_density"] == 0.1199
    for mode in ("hybrid", "bm25", "vector"):
        sources = {source for source, _ in found(index, mode, GATES)}
        assert "kept.md" in sources
        assert "dropped.md" not in sources


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_what_is_poor_or_omitted_is_never_visible(index: Index, mode: str) -> None:
    assert fields(index, "spelled.md")["chunk_quality"] == "poor"
    assert fields(index, "contents.md")["omit_flag"] is True
    everything = {source for source, _ in found(index, mode, MATCH_ALL)}
    gated = {source for source, _ in found(index, mode, GATES)}

    assert {"spelled.md", "contents.md"} <= everything
    assert gated == {"kept.md", "mixed.md"}


@pytest.mark.parametrize("mode", ["bm25", "vector"])
def test_the_gates_judge_passages_and_act_before_the_cut(index: Index, mode: str) -> None:
    kept = found(index, mode, GATES, k=2)

    assert {source for source, _ in kept} == {"kept.md", "mixed.md"}
    assert any("NASA" in text for _, text in kept)
    assert not any("a b c d e f" in text for _, text in kept)


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, True),
        ({"chunk_quality": "high"}, True),
        ({"chunk_quality": "poor"}, False),
        ({"chunk_quality": "poor", "entity_density": 1.0}, False),
        ({"entity_density": 0.12}, True),
        ({"entity_density": 0.1199}, False),
        ({"omit_flag": True}, False),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_a_document_judged_elsewhere_is_judged_by_that(
    changed: dict[str, MetadataValue], mode: str, *, kept: bool
) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("Article 370 is an article.", source="one", metadata={**GOOD, **changed})
        hits = index.search("Article 370", filter=GATES, mode=mode).hits

    assert bool(hits) is kept

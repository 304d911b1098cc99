"""Checklist 9: an index of 30,000 chunks answers, by words and by meaning. How fast is for the benchmarks to say."""

from collections.abc import Iterator

import pytest

from twofold import Index
from twofold.domain.types import Block, BlockKind, Document, document_id
from twofold.models.embedders.hashing import HashingEmbedder

DOCUMENTS, PAGES = 30, 1_000


def document(number: int) -> Document:
    """A document of a thousand pages, each with a note of its own."""
    notes = [
        f"Note {page} about harbor {page % 97} and ship {page * 7}."
        for page in range(number * PAGES, (number + 1) * PAGES)
    ]
    blocks, at = [], 0
    for page, note in enumerate(notes, 1):
        blocks.append(Block(BlockKind.PARAGRAPH, at, at + len(note), page=page))
        at += len(note) + 2
    name = f"log-{number}"
    return Document(document_id(name), name, "\n\n".join(notes), blocks=tuple(blocks))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    overrides = {"enricher": "none", "analyzer": "simple"}
    with Index(tmp_path_factory.mktemp("large") / "index", embedder=HashingEmbedder(16), overrides=overrides) as made:
        made.add_many([document(number) for number in range(DOCUMENTS)])
        yield made


@pytest.mark.parametrize("mode", ["hybrid", "bm25"])
def test_thirty_thousand_chunks_answer(index: Index, mode: str) -> None:
    assert index.info().chunks == DOCUMENTS * PAGES

    best = index.search("ship 140007", mode=mode).hits[0]

    assert (best.source, best.page) == ("log-20", 2)
    assert best.text == "Note 20001 about harbor 19 and ship 140007."


def test_their_nearest_neighbors_are_found_and_a_filter_leaves_as_many(index: Index) -> None:
    asked = "Note 12345 about harbor 26 and ship 86415."
    near = index.search(asked, mode="vector", k=5).hits
    on_page = index.search("ship", k=30, settings={"search.default_filter": "page == 500"}).hits

    assert asked in [hit.text for hit in near]
    assert {hit.source for hit in on_page} == {f"log-{number}" for number in range(DOCUMENTS)}

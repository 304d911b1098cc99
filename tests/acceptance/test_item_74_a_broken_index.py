"""Checklist 74: each hit says its index; **T** one broken index: the results of the others, and a warning."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.indexes import GIT, indexed
from support.scripted_reranker import Dictated
from twofold import Index, MultiIndex, TwofoldError, search_multi
from twofold.domain.errors import CorruptError, ModelError, NotFoundError
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import SearchOptions

ACROSS = ("global", "rrf", "rerank")
REREAD = SearchOptions(rerank=Dictated({"commit": 0.9}))


@pytest.fixture
def good() -> Iterator[Index]:
    with indexed(GIT) as index:
        yield index


def on_disk(where: Path, documents: int = 5) -> Index:
    return indexed({f"{number}.md": f"commit number {number} of many" for number in range(documents)}, where=where)


def damage(where: Path) -> None:
    """Overwrite the catalog of an index, as a failing disk may."""
    catalog = where / "catalog.sqlite3"
    catalog.write_bytes(b"\x55" * catalog.stat().st_size)


@pytest.mark.parametrize("across", ACROSS)
def test_an_index_that_is_broken_while_open_leaves_the_others_results_and_a_warning(
    good: Index, tmp_path: Path, across: str
) -> None:
    on_disk(tmp_path / "kb").close()
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as broken:
        damage(tmp_path / "kb")
        found = search_multi({"good": good, "broken": broken}, "undo the last commit", REREAD, across)

    assert found.hits
    assert {hit.collection for hit in found.hits} == {"good"}
    (warning,) = map(str, found.warnings)
    assert warning.startswith("broken: index unavailable: The index is damaged")


@pytest.mark.parametrize("across", ACROSS)
def test_an_index_that_cannot_be_opened_is_named(good: Index, tmp_path: Path, across: str) -> None:
    on_disk(tmp_path / "kb").close()
    damage(tmp_path / "kb")
    asked: dict[str, Index | Path] = {"good": good, "broken": tmp_path / "kb", "nowhere": tmp_path / "none"}
    with MultiIndex(asked) as several:
        found = several.search("undo the last commit", REREAD, across)

        assert [(lost.name, type(lost.error)) for lost in several.lost] == [
            ("broken", CorruptError),
            ("nowhere", NotFoundError),
        ]
    assert {hit.collection for hit in found.hits} == {"good"}
    assert [(one.collection, one.stage, one.code) for one in found.warnings] == [
        ("broken", "index", "unavailable"),
        ("nowhere", "index", "unavailable"),
    ]


@pytest.mark.parametrize("across", ACROSS)
def test_an_index_made_with_another_embedder_than_it_is_opened_with_is_left_out(
    good: Index, tmp_path: Path, across: str
) -> None:
    on_disk(tmp_path / "kb").close()
    with Index(tmp_path / "kb", embedder=HashingEmbedder(64)) as other:
        found = search_multi({"good": good, "other": other}, "undo the last commit", REREAD, across)

    assert {hit.collection for hit in found.hits} == {"good"}
    assert "made with the embedder" in str(found.warnings[0])


def test_an_index_whose_model_is_gone_is_left_out_of_those_that_are_searched_each_by_itself(good: Index) -> None:
    class Gone(HashingEmbedder):
        def embed_queries(self, texts: Sequence[str]) -> Vectors:
            del texts
            raise ModelError("the model is gone.", "Bring it back.")

    with indexed(GIT, embedder=Gone(64)) as other:
        asked = {"good": good, "other": other}
        found = search_multi(asked, "undo the last commit", SearchOptions(mode="vector"), "rrf")
        both = search_multi(asked, "undo the last commit", across="rrf")

    assert {hit.collection for hit in found.hits} == {"good"}
    assert tuple(map(str, found.warnings)) == ("other: index unavailable: the model is gone.",)
    assert {hit.collection for hit in both.hits} == {"good", "other"}
    assert tuple(map(str, both.warnings)) == ("other: vector unavailable: the model is gone.",)


@pytest.mark.parametrize("across", ACROSS)
def test_where_all_are_broken_the_last_error_is_raised(tmp_path: Path, across: str) -> None:
    with pytest.raises(TwofoldError, match="no index"):
        search_multi([tmp_path / "none", tmp_path / "nobody"], "commit", across=across)
    on_disk(tmp_path / "kb").close()
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as broken:
        damage(tmp_path / "kb")
        with pytest.raises(CorruptError, match="damaged"):
            search_multi([tmp_path / "none", broken], "commit", REREAD, across)


@pytest.mark.parametrize("across", ACROSS)
def test_a_broken_index_is_an_error_where_failures_are_to_be_raised(good: Index, tmp_path: Path, across: str) -> None:
    strict = SearchOptions(rerank=REREAD.rerank, settings={"search.on_failure": "raise"})
    with pytest.raises(NotFoundError):
        search_multi([good, tmp_path / "none"], "commit", strict, across)


def test_one_index_alone_is_searched_as_ever(good: Index) -> None:
    (found,) = [search_multi([good], "undo the last commit")]

    assert [(hit.source, hit.score) for hit in found.hits] == [
        (hit.source, hit.score) for hit in good.search("undo the last commit").hits
    ]
    assert {hit.collection for hit in found.hits} == {":memory:"}


def test_indexes_that_are_named_are_opened_and_closed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    for name in ("a", "b"):
        with Index(name) as index:
            index.add(f"a commit of {name}", source="same.txt")

    found = search_multi(["a", "b"], "commit", SearchOptions(mode="bm25"))

    assert [(hit.collection, hit.source) for hit in found.hits] == [("a", "same.txt"), ("b", "same.txt")]
    with Index("a") as index:
        index.drop()

"""The index as a Python program uses it."""

from pathlib import Path

import pytest

from twofold import Document, Index
from twofold.domain.errors import InvalidInputError, NotFoundError, ReadError
from twofold.models.embedders.hashing import HashingEmbedder


def opened(where: str | Path = ":memory:") -> Index:
    return Index(where, embedder=HashingEmbedder())


def test_a_name_lives_under_home_and_a_path_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    with opened("kb") as index:
        assert index.folder == tmp_path / "home" / "indexes" / "kb"
    monkeypatch.chdir(tmp_path)
    with opened("./here") as index:
        assert index.folder == tmp_path / "here"


@pytest.mark.parametrize("name", ["", "a b", "ümlaut", "x" * 65, "nul\0", "semi;colon"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="name"):
        opened(name)


def test_an_index_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no index"):
        Index(tmp_path / "none", embedder=HashingEmbedder(), create=False)
    assert list(tmp_path.iterdir()) == []


def test_documents_are_named_by_id_source_or_ending() -> None:
    with opened() as index:
        first = index.add("one", source="notes/deep/a.md")
        index.add("two", source="notes/b.md")
        index.add("three", source="other/b.md")
        for name in (first.id, "notes/deep/a.md", "deep/a.md", "a.md"):
            assert index.document(name).text == "one"
        with pytest.raises(InvalidInputError, match="2 documents end"):
            index.document("b.md")
        with pytest.raises(NotFoundError):
            index.document(".md")
        with pytest.raises(NotFoundError):
            index.delete("a.md", "nobody")
        assert len(index.documents()) == 3
        assert index.delete("a.md", "other/b.md") == 2


def test_the_same_source_replaces_the_document() -> None:
    with opened() as index:
        index.add("old", source="a")
        index.add("new", source="a")
        assert [index.document(info.id).text for info in index.documents()] == ["new"]


def test_passages_quote_their_document() -> None:
    text = "# Top\r\n\r\nFirst\x00 part.\r\n\r\n## Below\r\n\r\n" + "Many words. " * 500 + "\ud800 🎉"
    with opened() as index:
        index.add(text, source="a.md", title="A title")
        document = index.document("a.md")
        chunks = index.chunks("a.md")
        assert len(chunks) > 1
        assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
        assert index.verify() == []


def test_a_file_is_added_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<h1>Title</h1><p>Some words here.</p>")
    (tmp_path / "empty.txt").write_text("")
    with opened() as index:
        assert index.add_file(tmp_path / "a.html").media_type == "text/html"
        assert index.search("words").hits[0].heading == ("Title",)
        with pytest.raises(ReadError):
            index.add_file(tmp_path / "empty.txt")
        with pytest.raises(InvalidInputError, match="folder"):
            index.add_file(tmp_path)


def test_documents_of_ones_own_making_keep_their_ids() -> None:
    with opened() as index:
        index.add_many([Document("my-id", "mine", "Some words."), Document("other-id", "other", "More words.")])
        assert {info.id for info in index.documents()} == {"my-id", "other-id"}
        assert index.search("more").hits[0].chunk_id == "other-id_chunk_0"


def test_two_indexes_see_the_same_collection(tmp_path: Path) -> None:
    with opened(tmp_path / "kb") as writer, opened(tmp_path / "kb") as reader:
        writer.add("first words", source="a")
        assert [hit.source for hit in reader.search("words").hits] == ["a"]
        writer.add("second words", source="b")
        assert {hit.source for hit in reader.search("words").hits} == {"a", "b"}
        writer.delete("a")
        assert {hit.source for hit in reader.search("words").hits} == {"b"}


def test_a_dropped_index_is_gone(tmp_path: Path) -> None:
    index = opened(tmp_path / "kb")
    index.add("words", source="a")
    index.drop()
    assert not (tmp_path / "kb").exists()


def test_dropping_takes_nothing_else_along(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("Years of work.")
    index = opened(tmp_path)
    index.add("words", source="a")
    with pytest.raises(InvalidInputError, match=r"thesis\.txt"):
        index.drop()
    assert (tmp_path / "thesis.txt").read_text() == "Years of work."
    with opened(tmp_path) as again:
        assert again.search("words").hits

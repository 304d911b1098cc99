"""Checklist 5, 6 and 8: what was added is found at once, passages of another size, passages embedded in batches."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.indexes import sources
from twofold import Index
from twofold.cli.app import application
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder

SENTENCES = [f"The heron number{number} stands in the reeds and eats fish. " for number in range(40)]


def test_item_5_what_was_added_is_found_by_whoever_has_the_index_open(tmp_path: Path) -> None:
    said = {"embedder": "hashing", "home": str(tmp_path)}
    with Index("birds", overrides=said) as first:
        first.add("An otter lives by the river.", source="otter.txt")
    with Index("birds", overrides=said) as writer, Index("birds", overrides=said, create=False) as reader:
        assert not reader.search("heron", mode="bm25").hits
        writer.add("A heron stands in the reeds.", source="heron.txt")
        found = reader.search("heron", mode="bm25")
        writer.delete("heron.txt")
        gone = reader.search("heron", mode="bm25")

    assert sources(found) == ["heron.txt"]
    assert not gone.hits


def test_item_5_what_was_added_is_there_for_a_command_that_starts_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)
    for name in ("heron", "otter"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} lives by the river.")
        made = CliRunner().invoke(application(), ["sync", f"{name}.txt", "-i", "birds"], prog_name="twofold")
        found = CliRunner().invoke(application(), ["search", name, "-i", "birds", "-m", "bm25"], prog_name="twofold")

        assert (made.exit_code, found.exit_code) == (0, 0)
        assert f"{name}.txt" in found.stdout


def test_item_6_documents_are_cut_again_into_smaller_passages(tmp_path: Path) -> None:
    """Forty sentences of about 12 tokens: in passages of 256 tokens fewer than in passages of 64."""
    said = {"embedder": "hashing", "home": str(tmp_path)}
    with Index("birds", overrides={**said, "chunk.size": 256}) as index:
        index.add("".join(SENTENCES), source="herons.txt")
        before = index.chunks("herons.txt")
    with Index("birds", overrides={**said, "chunk.size": 64}) as index:
        index.reindex()
        after = index.chunks("herons.txt")
        (hit,) = index.search("number17", k=1).hits

    assert 2 <= len(before) < len(after) / 2
    assert " ".join(chunk.text for chunk in after).split() == "".join(SENTENCES).split()
    assert max(len(chunk.text.split()) for chunk in after) <= 64 < max(len(chunk.text.split()) for chunk in before)
    assert "number17 " in hit.text


def test_item_6_the_largest_passage_that_the_systems_name_is_within_the_limit() -> None:
    with Index(":memory:", overrides={"chunk.size": 2048}, embedder=HashingEmbedder()) as index:
        assert index.settings.chunk.size == 2048
    with pytest.raises(InvalidInputError, match=r"chunk\.size"):
        Index(":memory:", overrides={"chunk.size": 1_000_000})


class Batched(HashingEmbedder):
    """Keeps how many passages it was given, call by call."""

    def __init__(self) -> None:
        super().__init__(16)
        self.sizes: list[int] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        return super().embed_passages(texts)


def test_item_8_passages_reach_the_model_in_batches_of_the_size_that_is_set() -> None:
    """70 passages are 32, 32 and 6."""
    model = Batched()
    with Index(":memory:", overrides={"batch": {"embed": 32}, "chunk.size": 16}, embedder=model) as index:
        index.add("\n\n".join(f"Passage number{number} " + "about herons " * 6 for number in range(70)), source="a.txt")
        assert len(index.chunks("a.txt")) == 70

    assert model.sizes == [32, 32, 6]

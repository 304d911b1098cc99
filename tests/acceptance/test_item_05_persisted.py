"""Checklist 5: the lexical index is kept at ingest, and `reload()` reads it again after a new one."""

from pathlib import Path

import pytest

from support.indexes import GIT, indexed
from twofold import Index
from twofold.compat.knowledge_bases import KBManager
from twofold.compat.voicevault import BM25Retriever
from twofold.models.embedders.hashing import HashingEmbedder

WORDS = {"search.mode": "bm25", "prf": {"top_k": 0}}


def test_scores_are_the_same_after_the_index_is_closed_and_opened_again(tmp_path: Path) -> None:
    with indexed(GIT, where=tmp_path / "git") as index:
        before = [(hit.chunk_id, hit.score) for hit in index.search("undo the last commit", settings=WORDS).hits]
    with Index(tmp_path / "git", embedder=HashingEmbedder(), create=False) as index:
        after = [(hit.chunk_id, hit.score) for hit in index.search("undo the last commit", settings=WORDS).hits]

    assert before
    assert after == before


def test_a_retriever_sees_what_was_ingested_since_after_a_reload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "merge.md").write_text("# Merge\n\nJoin two branches.\n")
    retriever = BM25Retriever("papers")
    manager = KBManager()
    try:
        assert retriever.reload() is False
        assert retriever.search("branches") == []
        manager.ingest("papers", folder)
        assert retriever.reload() is True
        assert [Path(one.source_file).name for one in retriever.search("branches")] == ["merge.md"]

        (folder / "stash.md").write_text("# Stash\n\nPut branches aside for a while.\n")
        manager.ingest("papers", folder)
        assert retriever.reload() is True
        assert {Path(one.source_file).name for one in retriever.search("branches")} == {"merge.md", "stash.md"}
    finally:
        retriever.close()
        manager.close()

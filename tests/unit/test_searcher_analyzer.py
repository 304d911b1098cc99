"""Words are looked for by the analyzer that the passages were made by, or not at all."""

from pathlib import Path

import pytest

from twofold import Index
from twofold.domain.errors import MismatchError
from twofold.models.embedders.hashing import HashingEmbedder


def test_another_analyzer_than_the_indexs_own_is_refused_until_it_is_made_anew(tmp_path: Path) -> None:
    with Index(tmp_path / "kb", embedder=HashingEmbedder(), overrides={"analyzer": "simple"}) as index:
        index.add("Amending the last commit.", source="a.txt")
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as index:
        assert index.settings.analyzer == "simple"
        assert index.search("amending", mode="bm25").hits
    with Index(tmp_path / "kb", embedder=HashingEmbedder(), overrides={"analyzer": "german"}) as index:
        with pytest.raises(MismatchError, match="another analyzer than 'german'") as refused:
            index.search("amending", mode="bm25")
        assert "reindex" in refused.value.hint
        index.reindex()
        assert index.search("amending", mode="bm25").hits


def test_how_much_a_reranker_reads_may_differ_from_question_to_question() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add("Undo the last commit.", source="a.txt")
        for tokens in (64, 256):
            found = index.search("undo", rerank="word-overlap", settings={"rerank.tokens": tokens})
            assert found.rerank is not None

"""Checklist 89 and 90: no pickle, no name becomes a path, no text becomes a query; in memory as on disk."""

import ast
import pickletools
from contextlib import suppress
from pathlib import Path

import pytest

from support.indexes import GIT, indexed, sources
from twofold import Index
from twofold.domain.errors import InvalidInputError, TwofoldError
from twofold.models.embedders.hashing import HashingEmbedder

EVIL = (
    "'; DROP TABLE documents; --",
    '" OR 1=1 --',
    "x' UNION SELECT text FROM documents --",
    "NEAR(a b, 3) AND NOT *",
    "%_\\%",
    "\x00\x1b[31m",
    "${jndi:ldap://x}",
    "{{7*7}}",
)


@pytest.mark.parametrize(
    "name", ["", "a\\b", "%2e%2e", "a\x00b", "name with spaces", "x" * 65, "naïve", "C:", "a:b", "a\nb", "*", "~"]
)
def test_item_89_what_could_be_mistaken_for_a_path_is_no_name(name: str) -> None:
    with pytest.raises((InvalidInputError, TwofoldError)):
        Index(name, embedder=HashingEmbedder(), create=False)


@pytest.mark.parametrize("identity", ["../../etc/passwd", "/etc/passwd", "..", "a/b", "a\\b", "'; --", "\u202ex"])
def test_item_89_an_id_is_only_ever_looked_up(identity: str, tmp_path: Path) -> None:
    with Index(tmp_path / "kb", embedder=HashingEmbedder()) as index:
        before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "kb")}
        index.add("some words", id=identity, source=identity)
        assert index.search("words").hits[0].document == identity
        assert index.document(identity).text == "some words"
        index.delete(identity)
        assert {path for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "kb")} == before


@pytest.mark.parametrize("text", EVIL)
def test_item_89_a_question_is_never_part_of_a_query_to_a_database(text: str, tmp_path: Path) -> None:
    with indexed(GIT, where=tmp_path / "kb") as index:
        for mode in ("hybrid", "bm25", "vector"):
            with suppress(InvalidInputError):
                index.search(f"merge {text}", mode=mode)
        index.add(text + " words", source=text or "empty")
        assert len(index.documents()) == len(GIT) + 1
        assert index.verify() == []


def test_item_89_nothing_on_disk_is_a_pickle_and_no_module_reads_one(tmp_path: Path, repository: Path) -> None:
    with indexed(GIT, where=tmp_path / "kb") as index:
        index.compact()
    files = [path for path in (tmp_path / "kb").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert not is_pickle(path.read_bytes()), path

    for path in (repository / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {"pickle", "shelve", "marshal", "dill", "joblib"} & {name.partition(".")[0] for name in names}


def is_pickle(content: bytes) -> bool:
    if not content.endswith(b"."):
        return False
    try:
        return sum(1 for _ in pickletools.genops(content)) > 1
    except (ValueError, IndexError, UnicodeDecodeError):
        return False


def test_item_90_in_memory_and_on_disk_the_same_is_found_and_on_disk_it_stays(tmp_path: Path) -> None:
    with indexed(GIT) as memory, indexed(GIT, where=tmp_path / "kb") as folder:
        for question in ("undo a commit", "merge", "zyzzyva"):
            here, there = memory.search(question), folder.search(question)
            assert sources(here) == sources(there)
            assert [hit.score for hit in here.hits] == pytest.approx([hit.score for hit in there.hits], abs=5e-4)
        found = folder.search("undo a commit").hits

    with Index(tmp_path / "kb", embedder=HashingEmbedder(), create=False) as again:
        assert again.search("undo a commit").hits == found
        info = again.documents()[0]
        assert (info.source, bool(info.content_hash), info.chunks) == ("errors.md", True, 1)

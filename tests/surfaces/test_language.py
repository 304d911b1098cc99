"""The language of a document: told from its text, kept as a field, and filtered by."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.indexes import indexed, sources

GERMAN = (
    "Der Hund und die Katze sind in dem Haus, und sie haben nicht gewusst, dass es auf der Wiese regnet, "
    "weil sie den ganzen Tag auf dem Sofa geschlafen haben."
)
ENGLISH = (
    "The dog and the cat are in the house, and they did not know that it was raining on the meadow, "
    "because they had slept on the sofa for the whole day."
)
CHINESE = "狗和猫在房子里。他们不知道草地上正在下雨。因为他们整天都在沙发上睡觉。所以什么也没有看见。"
NAMES = (
    "PostgreSQL MySQL SQLite Oracle MariaDB DuckDB Redis Cassandra Neo4j Elasticsearch Lucene Solr Qdrant Milvus " * 3
)


@pytest.mark.parametrize(
    ("text", "code"), [(GERMAN, "de"), (ENGLISH, "en"), (CHINESE, "zh"), (NAMES, None), ("Der Hund.", None)]
)
def test_a_document_has_the_language_that_its_text_tells(text: str, code: str | None) -> None:
    with indexed({"a": text}) as index:
        assert index.documents()[0].metadata.get("language") == code


def test_a_search_is_narrowed_to_a_language_and_a_document_keeps_its_own() -> None:
    with indexed({"de": GERMAN, "en": ENGLISH}) as index:
        index.add(GERMAN, source="said", metadata={"language": "gsw"})

        assert sources(index.search("sofa", filter="language = de")) == ["de"]
        assert sources(index.search("language:en sofa")) == ["en"]
        assert [info.source for info in index.documents(filter="language = gsw")] == ["said"]


def test_a_second_sync_finds_nothing_new(run: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "de.txt").write_text(GERMAN)

    assert run("sync", folder, "-i", "texts").code == 0
    again = run("sync", folder, "-i", "texts", "--json")
    assert (again.data["added"], again.data["updated"], again.data["unchanged"]) == ([], [], 1)
    found = run("search", "sofa", "-i", "texts", "--filter", "language = de", "--json").data
    assert [Path(hit["source"]).name for hit in found["hits"]] == ["de.txt"]

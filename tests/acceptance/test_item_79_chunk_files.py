"""Checklist 79: chunks from a JSON.gz file, without a network; what each record says of itself can be filtered by."""

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from twofold.cli.app import application

CHUNKS: Sequence[Mapping[str, Any]] = (
    {
        "chunk_id": "c1",
        "chunk_text": "Chilika is a brackish lagoon, and Ramsar lists it.",
        "source_type": "excel",
        "semantic_type_primary": "water_bodies",
        "chunk_quality": "high",
        "entity_density": 0.31,
        "omit_flag": False,
        "concept_tags": ["wetlands", "ramsar"],
        "embedding": [0.125] * 384,
    },
    {
        "chunk_id": "c2",
        "chunk_text": "The lagoon song was sung by the lagoon choir.",
        "source_type": "markdown",
        "semantic_type_primary": "culture",
        "chunk_quality": "poor",
        "entity_density": 0.05,
        "omit_flag": True,
        "concept_tags": ["music"],
        "embedding": [0.25] * 384,
    },
    {
        "page_content": "Venice stands in a lagoon.",
        "metadata": {"page_number": 7, "source_file": "italy.pdf", "deep": {"x": 1}},
    },
)
Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command and give what it printed as data."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")

    def invoke(*words: object, code: int = 0) -> Any:  # noqa: ANN401
        done = CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")
        assert done.exit_code == code, done.stderr
        return json.loads(done.stdout)

    return invoke


def found(run: Run, condition: str, question: str = "lagoon") -> set[str]:
    hits = run("search", "-i", "offline", question, "-f", condition, "--json")["hits"]
    return {hit["text"].split(",")[0].split("\n")[0] for hit in hits}


SAID = ["Chilika is a brackish lagoon", "The lagoon song was sung by the lagoon choir.", "Venice stands in a lagoon."]


@pytest.mark.parametrize("name", ["chunks.json.gz", "chunks.jsonl.gz", "chunks.json", "chunks.jsonl"])
def test_a_file_of_chunks_is_synced_and_its_fields_are_filtered_by(run: Run, tmp_path: Path, name: str) -> None:
    lines = "\n".join(map(json.dumps, CHUNKS)) if "jsonl" in name else json.dumps(CHUNKS)
    (tmp_path / name).write_bytes(gzip.compress(lines.encode(), mtime=0) if name.endswith(".gz") else lines.encode())

    report = run("sync", tmp_path / name, "-i", "offline", "--json")

    assert (len(report["added"]), report["passages"], report["failed"]) == (1, 3, [])
    assert found(run, "semantic_type_primary == water_bodies") == {SAID[0]}
    assert found(run, '{"source_type_in": ["excel"]}') == {SAID[0]}
    assert found(run, "concept_tags == music") == {SAID[1]}
    assert found(run, "entity_density < 0.12 and chunk_quality == poor and omit_flag is true") == {SAID[1]}
    assert found(run, "page_number == 7 and source_file == italy.pdf") == {SAID[2]}
    assert found(run, "chunk_id exists") == set(SAID[:2])
    assert found(run, '{"source_type": ["local_file"]}') == set(SAID)


def test_the_gates_of_the_system_act_on_what_the_records_say(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chunks.json.gz").write_bytes(gzip.compress(json.dumps(CHUNKS[:2]).encode()))
    run("sync", tmp_path / "chunks.json.gz", "-i", "offline", "--json")

    given = run("search", "-i", "offline", "lagoon", "--profile", "aanae", "--rerank", "none", "--json")

    assert [hit["text"].split(",")[0] for hit in given["hits"]] == [SAID[0]]


def test_vectors_are_neither_text_nor_fields(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chunks.json.gz").write_bytes(gzip.compress(json.dumps(CHUNKS).encode()))
    run("sync", tmp_path / "chunks.json.gz", "-i", "offline", "--json")

    hits = run("search", "-i", "offline", "lagoon", "--json")["hits"]

    assert len(hits) == 3
    assert not any("embedding" in hit["text"] or "embedding" in hit["metadata"] for hit in hits)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(b"[" + b" " * 30_000_000 + b"]", mtime=0), "bytes when unpacked"),
        (gzip.compress(json.dumps(CHUNKS).encode())[:-20], "cut short"),
        (b"\x1f\x8b\x08\x00garbage that is no stream", "not a sound gzip file"),
        (b"words in place of an archive", "its name says an archive (.gz), but its content is not one"),
        (gzip.compress(b"words in place of JSON", mtime=0), "the file is not valid JSON"),
    ],
    ids=["bomb", "cut", "no stream", "no archive", "no JSON"],  # the bytes differ from run to run
)
def test_a_bomb_or_a_broken_file_is_refused_with_the_reason(run: Run, tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "chunks.json.gz").write_bytes(data)

    report = run("sync", tmp_path / "chunks.json.gz", "-i", "offline", "--json", code=9)

    assert reason in report["failed"][0]["message"]


def test_a_record_has_at_most_sixty_four_fields_of_a_hundred_short_values(run: Run, tmp_path: Path) -> None:
    record: dict[str, object] = {"text": "Many fields.", "long": "x" * 301, "many": [f"v{at}" for at in range(200)]}
    record |= {f"f{at}": at for at in range(100)}
    (tmp_path / "chunks.jsonl").write_text(json.dumps(record) + "\n" + json.dumps({"text": "Few fields."}))
    run("sync", tmp_path / "chunks.jsonl", "-i", "offline", "--json")

    fields = run("show", "-i", "offline", "chunks.jsonl", "--chunks", "--json")["chunks"][0]["metadata"]

    assert len(fields["many"]) == 100
    assert "long" not in fields
    assert ("f62" in fields, "f63" in fields) == (True, False)

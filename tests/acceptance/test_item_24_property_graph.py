"""Checklist 24 and 39: questions about connections are translated and looked up in a property graph in SQLite."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support.api_client import visiting
from support.indexes import indexed
from twofold import Index
from twofold.cli.app import application
from twofold.compat.localgpt import RetrievalPipeline
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import GraphQuery
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins
from twofold.query.filter_syntax import parse_filter
from twofold.query.graph_questions import RuleTranslator
from twofold.stores.graph import GraphRetriever, build_graph

TEXTS = {
    "bank.md": "In the minutes NABARD appears with RBI.",
    "loan.md": "Loans to farmers were paid by NABARD in spring.",
    "rate.md": "The rate is set by RBI every other month.",
    "tower.md": "The tower in the harbor has a lamp.",
    "ship.md": "What is related to cargo is written in the ship's log.",
}
Run = Callable[..., Any]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return indexed(TEXTS, where=tmp_path / "kb")


@pytest.fixture
def graph(index: Index, tmp_path: Path) -> Path:
    file = tmp_path / "graph.sqlite3"
    size = build_graph((one for info in index.documents() for one in index.chunks(info.id)), file)
    assert size.passages == len(TEXTS)
    return file


def by_graph(index: Index, question: str, graph: Path) -> dict[str, float]:
    """Give what the graph's retriever said of each passage that it found."""
    found = index.search(question, settings={"graph.file": str(graph)})
    retrievers = {hit.source: hit.trace.retriever("graph") for hit in found.hits}
    assert not found.warnings
    return {
        source: retriever.raw or 0.0
        for source, retriever in retrievers.items()
        if retriever is not None and retriever.rank is not None
    }


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is related to NABARD?", GraphQuery(("NABARD",), "next_to")),
        ("what else is connected to the RBI", GraphQuery(("RBI",), "next_to")),
        ("How are NABARD and RBI related?", GraphQuery(("NABARD", "RBI"), "next_to")),
        ("Which passages mention NABARD?", GraphQuery(("NABARD",), "mentions")),
        ("Where is Article 370 mentioned?", GraphQuery(("Article 370",), "mentions")),
        ("list documents mentioning NABARD, RBI", GraphQuery(("NABARD", "RBI"), "mentions")),
        ("How do I undo a commit?", None),
        ("the rate of RBI", None),
    ],
)
def test_questions_become_look_ups_by_their_form(question: str, expected: GraphQuery | None) -> None:
    assert RuleTranslator().translate(question) == expected


def test_who_mentions_a_name_is_found_and_nobody_else(index: Index, graph: Path) -> None:
    assert by_graph(index, "Which passages mention NABARD?", graph) == {"bank.md": 1.0, "loan.md": 1.0}
    assert by_graph(index, "which mention nabard and rbi", graph) == {"bank.md": 2.0, "loan.md": 1.0, "rate.md": 1.0}


def test_what_is_related_comes_with_its_neighbors(index: Index, graph: Path) -> None:
    """RBI is the one neighbor of NABARD: it adds .1 to the passages that mention it."""
    found = by_graph(index, "What is related to NABARD?", graph)

    assert found == pytest.approx({"bank.md": 1.1, "loan.md": 1.0, "rate.md": 0.1})


def test_the_trace_shows_the_look_up_and_what_it_gave(index: Index, graph: Path) -> None:
    found = index.search("What is related to NABARD?", settings={"graph.file": str(graph)})
    (stage,) = [stage for stage in found.stages if stage.name == "graph"]

    assert (stage.candidates_out, stage.notes) == (3, ("next_to: NABARD",))
    assert found.hits[0].source == "bank.md"
    assert [hit.trace.recompute_score() for hit in found.hits] == [hit.score for hit in found.hits]


def test_a_passage_that_neither_words_nor_meaning_rank_is_added(index: Index, graph: Path) -> None:
    said = {"search.candidates": "1", "search.mode": "bm25"}
    plain = index.search("What is related to NABARD?", k=1, settings=said)
    wider = index.search("What is related to NABARD?", k=5, settings={**said, "graph.file": str(graph)})

    assert {"bank.md", "loan.md", "rate.md"} <= {hit.source for hit in wider.hits}
    assert len(plain.hits) == 1


def test_other_questions_are_answered_as_without_a_graph(index: Index, graph: Path) -> None:
    plain = index.search("who paid loans to farmers")
    same = index.search("who paid loans to farmers", settings={"graph.file": str(graph)})

    assert [hit.source for hit in same.hits] == [hit.source for hit in plain.hits]


def test_a_deleted_passage_is_not_found_by_an_older_graph(index: Index, graph: Path) -> None:
    index.delete("loan.md")

    assert by_graph(index, "Which passages mention NABARD?", graph) == {"bank.md": 1.0}


def test_a_filter_holds_for_what_the_graph_adds(index: Index, graph: Path) -> None:
    found = index.search(
        "What is related to NABARD?", filter=parse_filter("source != bank.md"), settings={"graph.file": str(graph)}
    )

    assert "bank.md" not in {hit.source for hit in found.hits}


def test_a_users_own_file_is_looked_up_as_well(index: Index, tmp_path: Path) -> None:
    file = tmp_path / "own.sqlite3"
    tower = next(info.id for info in index.documents() if info.source == "tower.md")
    with sqlite3.connect(file) as own:
        own.executescript(
            "CREATE TABLE node (id INTEGER, kind TEXT, label TEXT, folded TEXT);"
            "CREATE TABLE edge (source INTEGER, target INTEGER, relation TEXT, weight REAL);"
            "INSERT INTO node VALUES (1, 'entity', 'Pharos', 'pharos');"
        )
        own.execute("INSERT INTO node VALUES (2, 'passage', ?, ?)", (f"{tower}_chunk_0",) * 2)
        own.execute("INSERT INTO edge VALUES (2, 1, 'mentions', 1)")
    own.close()

    assert by_graph(index, "Which texts mention Pharos?", file) == {"tower.md": 1.0}


@pytest.mark.parametrize("content", [None, b"no database at all, but a text of some length", b""])
def test_a_file_that_is_no_graph_degrades_in_the_open(index: Index, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "broken.sqlite3"
    if content is not None:
        file.write_bytes(content)
    found = index.search("What is related to NABARD?", settings={"graph.file": str(file)})

    assert found.hits
    (note,) = map(str, found.warnings)
    assert note.startswith("graph unavailable: the graph ")


def test_building_writes_over_a_graph_and_over_nothing_else(index: Index, graph: Path, tmp_path: Path) -> None:
    again = build_graph(index.chunks("bank.md"), graph)
    assert (again.passages, again.entities) == (1, 2)
    (tmp_path / "letter.txt").write_text("Dear all")

    with pytest.raises(InvalidInputError, match="is not a graph"):
        build_graph(index.chunks("bank.md"), tmp_path / "letter.txt")
    assert (tmp_path / "letter.txt").read_text() == "Dear all"


def test_the_command_line_makes_it_and_searches_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path))
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("COLUMNS", "200")
    indexed(TEXTS, where=tmp_path / "indexes" / "notes").close()
    file = tmp_path / "g.sqlite3"

    def run(*words: object) -> str:
        done = CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")
        assert done.exit_code == 0, done.output
        return done.stdout

    assert run("index", "graph", file, "-i", "notes").startswith("5 passages, ")
    shown = run("--set", f"graph.file={file}", "search", "What is related to NABARD?", "-i", "notes", "--explain")
    assert "next_to: NABARD" in shown


def test_a_server_has_it_where_it_was_started_with_it_and_no_request_names_a_file(index: Index, graph: Path) -> None:
    index.close()
    home = graph.parent
    (home / "indexes").mkdir()
    (home / "kb").rename(home / "indexes" / "kb")
    body: dict[str, object] = {"query": "What is related to NABARD?"}
    with visiting(home, said={"graph.file": str(graph)}) as visit:
        given = visit.client.post("/v1/indexes/kb/explain", json=body).json()
        refused = visit.client.post("/v1/indexes/kb/search", json={**body, "settings": {"graph.file": "/etc/passwd"}})

    assert "graph" in {stage["name"] for stage in given["stages"]}
    assert refused.status_code == 400


def test_its_own_pipeline_takes_it_as_a_setting(index: Index, graph: Path) -> None:
    pipeline = RetrievalPipeline(
        {"kb": index}, {"ai_rerank": False, "graph.file": str(graph), "search.context_window": 0}
    )

    assert {one["metadata"]["source"] for one in pipeline.retrieve("What is related to NABARD?")[:2]} == {
        "bank.md",
        "loan.md",
    }


class Shouted:
    """A translator of a user's own: every word in capitals is looked up."""

    def translate(self, question: str) -> GraphQuery | None:
        names = tuple(word for word in question.split() if word.isupper() and len(word) > 1)
        return GraphQuery(names) if names else None


def test_a_translator_of_a_users_own_looks_up_the_same_graph(graph: Path, index: Index) -> None:
    index.close()
    own = Plugins(retrievers={"shouted": GraphRetriever(graph, Shouted())})
    with Index(graph.parent / "kb", embedder=HashingEmbedder(), plugins=own) as opened:
        found = opened.search("tell me of RBI please")

    retrievers = {hit.source: hit.trace.retriever("shouted") for hit in found.hits}
    assert {source for source, retriever in retrievers.items() if retriever is not None and retriever.rank} == {
        "bank.md",
        "rate.md",
    }

"""`log`: which questions were asked and how they went, kept only where a user asked for it."""

import json
import os
import stat
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.api_client import fill, visiting
from twofold import Index
from twofold.multi_index import MultiIndex
from twofold.stores.query_log import LoggedQuery, QueryLog

Run = Callable[..., Any]
ON = ("--set", "log=queries:true")
FOLDER = "query-logs"


def home() -> Path:
    return Path(os.environ["TWOFOLD_HOME"])


def files() -> list[Path]:
    return sorted((home() / FOLDER).glob("*"))


@pytest.mark.usefixtures("ready")
def test_nothing_is_kept_unless_a_setting_says_so(run: Run) -> None:
    assert run("search", "apples", "-i", "notes").code == 0
    assert run("ask", "-i", "notes", "What is the price of apples?").code == 0

    shown = run("log", "-i", "notes")

    assert not (home() / FOLDER).exists()
    assert shown.code == 0
    assert shown.out.startswith("No questions are logged.\n  Write `log: {queries: true}`")


@pytest.mark.usefixtures("ready")
def test_a_search_and_an_answer_are_kept_with_hits_times_counts_and_confidence(run: Run) -> None:
    found = run(*ON, "search", "soft reset", "-i", "notes", "-k", "2", "--json").data
    answer = run(*ON, "ask", "-i", "notes", "Where is the Eiffel tower?", "--json").data

    newest, oldest = run("log", "-i", "notes", "--json").data

    assert oldest["kind"] == "search"
    assert oldest["question"] == "soft reset"
    assert oldest["hits"] == [hit["chunk_id"] for hit in found["hits"]]
    assert oldest["returned"] == len(found["hits"]) == 2
    assert oldest["retrieved"] == found["counts"]["retrieved"]
    assert oldest["timings_ms"] == found["timings_ms"]
    assert {"embed", "total"} <= oldest["timings_ms"].keys()
    assert (oldest["p_answerable"], oldest["confidence"]) == (found["p_answerable"], found["confidence"])
    assert (oldest["mode"], oldest["profile"], oldest["refused"]) == ("hybrid", "balanced", None)
    assert newest["kind"] == "ask"
    assert newest["question"] == "Where is the Eiffel tower?"
    assert newest["refused"] is answer["refused"]
    assert "extract" in newest["timings_ms"]
    assert newest["timings_ms"] == answer["timings_ms"]


@pytest.mark.usefixtures("ready")
def test_the_log_is_its_owners_alone_and_lies_outside_of_the_index(run: Run) -> None:
    run(*ON, "search", "apples", "-i", "notes")

    (kept,) = files()
    within = {path.name for path in (home() / "indexes" / "notes").rglob("*") if path.is_file()}

    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert "apples" in kept.read_text()
    assert not any(name.endswith(".jsonl") for name in within)


@pytest.mark.usefixtures("ready")
def test_weak_questions_are_gathered_with_what_was_wrong(run: Run) -> None:
    for question in ("zebra crossing", "Zebra  crossing", "apples"):
        assert run(*ON, "search", question, "-i", "notes", "-m", "bm25").code == 0

    shown = run("log", "--weak", "-i", "notes")
    report = run("log", "--weak", "-i", "notes", "--json").data

    (week,) = report["weeks"]
    (question,) = (one for one in report["questions"] if one["question"] == "Zebra  crossing")
    assert (week["asked"], week["unfound"]) == (3, 2)
    assert week["weak"] == sum(one["weak"] for one in report["questions"])
    assert (question["asked"], question["weak"]) == (2, 2)
    assert question["why"][0] == "nothing found"
    assert "Zebra crossing" in shown.out
    assert "nothing found" in shown.out


@pytest.mark.usefixtures("ready")
def test_an_export_holds_every_record_and_is_a_query_set_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    for question in ("apples", "zebra", "apples"):
        run(*ON, "search", question, "-i", "notes", "-m", "bm25")

    said = run("log", "-i", "notes", "--export", tmp_path / "all.jsonl")
    run("log", "-i", "notes", "--export", tmp_path / "queries.jsonl", "--as", "queries")
    run("log", "-i", "notes", "--weak", "--export", tmp_path / "weak.jsonl", "--as", "queries")
    (tmp_path / "qrels.tsv").write_text("q1\tprices.csv\t1\n")
    measured = run(
        "eval", "--qrels", tmp_path / "qrels.tsv", "--queries", tmp_path / "queries.jsonl", "-i", "notes", "-m", "bm25"
    )

    records = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert said.out == f"3 lines written to {tmp_path / 'all.jsonl'}.\n"
    assert [one["question"] for one in records] == ["apples", "zebra", "apples"]
    assert [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text().splitlines()] == [
        {"_id": "q1", "text": "apples"},
        {"_id": "q2", "text": "zebra"},
    ]
    assert "zebra" in (tmp_path / "weak.jsonl").read_text()
    assert measured.code == 0, measured.err
    assert stat.S_IMODE((tmp_path / "all.jsonl").stat().st_mode) == 0o600


@pytest.mark.usefixtures("ready")
def test_clearing_deletes_it_and_so_does_dropping_the_index(run: Run) -> None:
    run(*ON, "search", "apples", "-i", "notes")
    cleared = run("log", "-i", "notes", "--clear")
    after = files()
    run(*ON, "search", "apples", "-i", "notes")
    before = files()
    dropped = run("index", "drop", "notes", "--yes")

    assert (cleared.code, cleared.out, after) == (0, "The query log is deleted.\n", [])
    assert len(before) == 1
    assert (dropped.code, files()) == (0, [])


def test_an_index_that_is_not_there_has_no_log(run: Run) -> None:
    assert run("log", "-i", "nowhere").code == 3
    assert run("log", "-i", "nowhere", "--as", "verse").code == 2


@pytest.mark.usefixtures("ready")
def test_a_log_that_cannot_be_written_is_told_and_the_question_is_answered(run: Run) -> None:
    home().mkdir(exist_ok=True)
    (home() / FOLDER).write_text("a file, where a folder should be")

    found = run(*ON, "search", "apples", "-i", "notes", "--json")
    answer = run(*ON, "ask", "-i", "notes", "Where is the Eiffel tower?", "--json")

    assert found.code == answer.code == 0
    for told in (found.data, answer.data):
        (warning,) = told["warnings"]
        assert (warning["stage"], warning["code"]) == ("query_log", "not_saved")
        assert warning["message"].startswith("Cannot write")
        assert told["degraded"] is False  # nothing that was asked for is missing
    assert found.data["hits"]


def test_every_way_to_ask_leaves_one_entry(tmp_path: Path) -> None:
    said: Mapping[str, object] = {"embedder": "hashing", "home": str(tmp_path), "log": {"queries": True}}
    fill(tmp_path)
    with visiting(tmp_path, said=said) as visit:
        visit.client.post("/v1/indexes/notes/search", json={"query": "by search"}).raise_for_status()
        visit.client.post("/v1/indexes/notes/ask", json={"query": "by ask", "stream": False}).raise_for_status()
        visit.client.post("/v1/indexes/notes/search:batch", json={"queries": ["by batch"]}).raise_for_status()
    with Index("notes", overrides=said, create=False) as index:
        index.search("by search again")
        index.why_not("by why-not", "cat.txt")
        with MultiIndex([index]) as several:
            several.search("by several")
            several.ask("by asking several")

    asked = [(one.kind, one.question) for one in QueryLog(tmp_path, tmp_path / "indexes" / "notes", 1).entries()]

    assert asked == [
        ("search", "by search"),
        ("ask", "by ask"),
        ("search", "by batch"),
        ("search", "by search again"),
        ("search", "by several"),
        ("ask", "by asking several"),
    ]


def test_a_log_never_grows_beyond_its_limit_and_loses_the_oldest_first(tmp_path: Path) -> None:
    """Each entry holds 9,000 characters: of 300 some 111 fit in 1 MB, the newest of them for certain."""
    log = QueryLog(tmp_path, tmp_path / "index", megabytes=1)
    for number in range(300):
        log.append(LoggedQuery("2026-11-22T06:00:00+00:00", "search", f"{number} " + "x" * 9_000))

    kept = [int(entry.question.split()[0]) for entry in log.entries()]

    assert sum(path.stat().st_size for path in (tmp_path / FOLDER).iterdir()) <= 1_020_000
    assert kept == list(range(kept[0], 300))
    assert 55 <= len(kept) <= 112


def test_many_writers_lose_nothing_and_tear_nothing(tmp_path: Path) -> None:
    """8 threads, each with a log of its own, write 400 entries of 1,000 characters across the end of a file."""

    def write(writer: int) -> None:
        own = QueryLog(tmp_path, tmp_path / "index", megabytes=1)
        for number in range(50):
            own.append(LoggedQuery("2026-11-22T06:00:00+00:00", "search", f"{writer}-{number} " + "x" * 1_500))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))

    kept = [one.question.split()[0] for one in QueryLog(tmp_path, tmp_path / "index", 1).entries()]
    assert len(list((tmp_path / FOLDER).iterdir())) == 2
    assert sorted(kept) == sorted(f"{writer}-{number}" for writer in range(8) for number in range(50))


def test_a_line_that_is_no_entry_is_passed_over(tmp_path: Path) -> None:
    log = QueryLog(tmp_path, tmp_path / "index", megabytes=1)
    log.append(LoggedQuery("2026-11-22T06:00:00+00:00", "search", "first"))
    (path,) = (tmp_path / FOLDER).iterdir()
    with path.open("ab") as file:
        file.write(b'{"at": 1}\nnot JSON\n')
    log.append(LoggedQuery("2026-11-22T06:00:00+00:00", "search", "second"))

    assert [one.question for one in log.entries()] == ["first", "second"]

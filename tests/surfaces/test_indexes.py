"""`index`, `models`, `config`, `doctor`: the house-keeping commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twofold.config.load import all_settings

Run = Callable[..., Any]


def test_an_index_remembers_how_it_was_created(run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("index", "create", "small", "--embedder", "hashing:64", "--analyzer", "simple", "--json").data
    monkeypatch.delenv("TWOFOLD_EMBEDDER")
    synced = run("sync", notes, "-i", "small")
    info = run("index", "info", "small", "--json").data

    assert made["documents"] == 0
    assert synced.code == 0
    assert info["fingerprint"]["embedder"]["dimensions"] == 64
    assert info["fingerprint"]["analyzer"].startswith("simple")


def test_an_index_may_hold_word_ngrams_and_an_explanation_tells_them(run: Run, notes: Path) -> None:
    made = run("index", "create", "pairs", "--analyzer", "english+2", "--json").data
    run("sync", notes, "-i", "pairs")
    shown = run("search", "undo the last commits", "-i", "pairs", "-m", "bm25", "--explain").out

    assert made["fingerprint"]["analyzer"].startswith("english+2 ")
    assert re.search(r'^ +"last commits" +1 ', shown, re.MULTILINE)
    assert "index pairs" in run("doctor").out
    assert run("index", "create", "more", "--analyzer", "english+9").code == 2


def test_an_index_is_not_created_twice(run: Run) -> None:
    assert run("index", "create", "small").code == 0
    again = run("index", "create", "small")

    assert again.code == 2
    assert "already" in again.err


def test_indexes_are_listed_by_name(run: Run) -> None:
    for name in ("b", "a"):
        run("index", "create", name)

    assert [one["name"] for one in run("index", "list", "--json").data] == ["a", "b"]
    assert run("index", "list").out.splitlines()[0].startswith("a  0 documents")


def test_without_indexes_the_list_says_how_to_make_one(run: Run) -> None:
    assert "twofold sync PATH" in run("index", "list").out


@pytest.mark.usefixtures("ready")
def test_info_says_what_is_there_and_how_it_was_made(run: Run) -> None:
    shown = run("index", "info", "notes").out

    assert "documents   3" in shown
    assert "hashing" in shown


@pytest.mark.usefixtures("ready")
def test_the_name_may_be_given_either_way_but_not_two_names(run: Run) -> None:
    assert run("index", "info", "notes", "--json").data == run("index", "info", "-i", "notes", "--json").data
    assert run("index", "info", "notes", "-i", "other").code == 2


@pytest.mark.usefixtures("ready")
def test_a_sound_index_verifies(run: Run) -> None:
    done = run("index", "verify", "notes")

    assert done.code == 0
    assert run("index", "verify", "notes", "--json").data == []


@pytest.mark.usefixtures("ready")
def test_compacting_keeps_every_answer(run: Run) -> None:
    before = run("search", "tower", "-i", "notes", "--json").data["hits"]
    done = run("index", "compact", "notes", "--json")

    assert done.code == 0
    assert done.data.keys() == {"bytes_before", "bytes_after"}
    assert run("search", "tower", "-i", "notes", "--json").data["hits"] == before


@pytest.mark.usefixtures("ready")
def test_reindexing_changes_the_model_and_keeps_the_documents(run: Run) -> None:
    done = run("index", "reindex", "notes", "--embedder", "hashing:32", "--json")

    assert done.code == 0
    assert done.data["fingerprint"]["embedder"]["dimensions"] == 32
    assert len(run("ls", "-i", "notes", "--json").data) == 3
    assert run("search", "tower", "-i", "notes", "--embedder", "hashing:32", "--json").data["hits"]


@pytest.mark.usefixtures("indexed")
def test_dropping_asks_first_where_nobody_said_yes(run: Run, notes: Path) -> None:
    refused = run("index", "drop", "notes")
    dropped = run("index", "drop", "notes", "--yes", "--json")

    assert refused.code == 2
    assert "--yes" in refused.err
    assert dropped.code == 0
    assert run("ls", "-i", "notes").code == 3
    assert (notes / "git.md").exists()


def test_dropping_takes_nothing_along_that_is_not_the_index(run: Run, notes: Path) -> None:
    run("sync", notes, "-i", f"{notes}/.")

    done = run("index", "drop", f"{notes}/.", "--yes")

    assert done.code == 2
    assert (notes / "git.md").exists()


def test_the_catalog_of_models_is_listed(run: Run) -> None:
    models = run("models", "list", "--json").data

    assert "bge-small-en-v1.5" in [one["name"] for one in models]
    assert {"name", "task", "licence", "dimensions", "max_tokens", "bytes", "revision", "present"} == models[0].keys()
    assert not any(one["present"] for one in models)
    assert "bge-small-en-v1.5" in run("models", "list").out


def test_a_model_that_may_not_be_fetched_is_an_error_with_a_remedy(run: Run) -> None:
    done = run("models", "pull", "all-MiniLM-L6-v2")

    assert done.code == 8
    assert "TWOFOLD_OFFLINE" in done.err


def test_missing_model_files_do_not_verify(run: Run) -> None:
    done = run("models", "verify", "all-MiniLM-L6-v2", "--json")

    assert done.code == 7
    assert done.data["all-MiniLM-L6-v2"]


def test_an_embedder_without_files_has_nothing_to_pull(run: Run) -> None:
    assert run("models", "pull").code == 0
    assert run("models", "verify", "--json").data == {}


def test_settings_are_shown_with_their_origin(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text("search: {k: 4}\n")

    every = run("--config", config, "--set", "search.filter_stage=post", "config", "show", "--all", "--json").data[
        "settings"
    ]
    some = run("--config", config, "--set", "search.filter_stage=post", "config", "show").out

    rows = {row["key"]: row for row in every}
    assert list(rows) == [dial.key for dial in all_settings()]
    assert rows["search.k"] == {"key": "search.k", "value": 4, "origin": str(config)}
    assert rows["search.filter_stage"]["origin"] == "override"
    assert rows["search.bm25"]["origin"] == "default"
    assert rows["embedder"]["origin"] == "environment variable TWOFOLD_EMBEDDER"
    assert "search.k" in some
    assert "search.bm25" not in some


@pytest.mark.usefixtures("ready")
def test_a_healthy_house_is_called_healthy(run: Run) -> None:
    done = run("doctor", "--json")

    checks = {check["what"]: check for check in done.data}
    assert done.code == 0
    assert checks.keys() == {"python", "kernels", "sqlite", "model", "disk", "memory", "readers", "index notes"}
    assert checks["index notes"]["state"] == "ok"
    assert {"what", "state", "says", "hint", "exit_code"} == checks["python"].keys()


def test_the_doctor_names_what_is_missing_and_how_to_mend_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "bge-small-en-v1.5")

    done = run("doctor")

    assert done.code == 8
    assert "fail" in done.out
    assert "twofold models pull bge-small-en-v1.5" in done.out


@pytest.mark.usefixtures("ready")
def test_a_damaged_index_is_found(run: Run) -> None:
    folder = Path(run("index", "info", "notes", "--json").data["folder"])
    catalog = folder / "catalog.sqlite3"
    content = bytearray(catalog.read_bytes())
    at = content.find(b"Eiffel")
    content[at] ^= 1
    catalog.write_bytes(content)

    verified = run("index", "verify", "notes", "--json")
    examined = run("doctor", "-i", "notes", "--json")

    assert at > 0
    assert verified.code == 7
    assert verified.data == [] or {"where", "what", "repairable"} == verified.data[0].keys()
    assert examined.code == 7


def judged(folder: Path) -> Path:
    texts = {
        "d1": "Reset softly to undo a commit.",
        "d2": "The Eiffel tower stands in Paris.",
        "d3": "Apples and pears.",
    }
    queries = {"q1": "undo commit", "q2": "tower in Paris"}
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("".join(json.dumps({"_id": k, "text": v}) + "\n" for k, v in texts.items()))
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": k, "text": v}) + "\n" for k, v in queries.items()))
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    return folder


def test_a_judged_collection_is_measured_in_every_mode(run: Run, tmp_path: Path) -> None:
    done = run("eval", judged(tmp_path / "tiny"), "--json")
    shown = run("eval", tmp_path / "tiny", "--mode", "bm25").out

    rows = {row["name"]: row for row in done.data["rows"]}
    assert rows.keys() == {"hybrid", "bm25", "vector"}
    figures = {figure["metric"]: figure["interval"] for figure in rows["bm25"]["figures"]}
    assert figures.keys() == {"nDCG@10", "MRR@10", "recall@100", "hit rate@5", "P@5"}
    assert figures["nDCG@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert figures["P@5"]["mean"] == pytest.approx(0.2)
    assert rows["bm25"]["ms_per_query"] > 0
    assert "1.000 [1.000, 1.000]" in shown
    assert run("index", "list", "--json").data == []

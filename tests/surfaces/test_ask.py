"""`ask` and `chat`, as people and scripts meet them."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.fake_llm_server import chatting, saying
from support.terminals import on_a_terminal
from twofold.answer.types import REFUSAL
from twofold.cli.index_of_path import index_name
from twofold.models.catalog.entries import DEFAULT, MS_MARCO
from twofold.models.catalog.files import folder_of, is_fetched, is_present

Run = Callable[..., Any]
ANY = ("--set", "answer.min_answerability=0")


@pytest.mark.usefixtures("ready")
def test_an_index_is_asked_and_answers_with_citations(run: Run) -> None:
    done = run(*ANY, "ask", "-i", "notes", "where", "does", "the", "Eiffel", "tower", "stand")

    assert done.code == 0
    assert done.out.startswith("The Eiffel tower stands in Paris. [1]")
    assert "[1] " in done.out
    assert "tower.txt" in done.out
    assert "no language model" in done.out


@pytest.mark.model
def test_what_came_with_the_embedder_reads_the_first_answer(
    run: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, real_models: Path
) -> None:
    """After the first sync of a new machine the reader's files are there, as they came in the embedder's wheel."""
    if not (is_present(DEFAULT, real_models) and is_fetched(MS_MARCO, real_models)):
        pytest.skip(f"no {DEFAULT.name} with {MS_MARCO.name} in {real_models}")
    models = tmp_path / "models"
    folder_of(MS_MARCO, models).mkdir(parents=True)
    folder_of(DEFAULT, models).symlink_to(folder_of(DEFAULT, real_models))
    for file in MS_MARCO.files:
        shutil.copy(folder_of(MS_MARCO, real_models) / file.name, folder_of(MS_MARCO, models))
    monkeypatch.setenv("TWOFOLD_MODELS", str(models))
    monkeypatch.delenv("TWOFOLD_EMBEDDER")

    synced = run("sync", notes, "-i", "notes")
    done = run("ask", "-i", "notes", "Where does the Eiffel tower stand?")

    assert (synced.code, done.code) == (0, 0)
    assert done.out.startswith("The Eiffel tower stands in Paris.")
    assert "chance that it is correct" in done.out
    assert is_present(MS_MARCO, models)


@pytest.mark.usefixtures("ready")
def test_what_was_found_is_on_the_terminal_while_the_answer_is_made(run: Run, tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path, os.environ, *ANY, "ask", "-i", "notes", "where does the Eiffel tower stand")
    piped = run(*ANY, "ask", "-i", "notes", "where does the Eiffel tower stand")

    before, _, after = shown.partition("The Eiffel tower stands in Paris. [1]")
    assert "Reading " in before
    assert "tower.txt" in before
    assert before.endswith("\r\x1b[K")
    assert "no language model" in after
    assert "Reading " not in piped.err


@pytest.mark.usefixtures("ready")
def test_effort_that_no_cross_encoder_is_there_for_is_named(run: Run) -> None:
    done = run(*ANY, "ask", "-i", "notes", "--effort", "high", "Who built what stands in Paris?")
    chatted = run(*ANY, "chat", "-i", "notes", "--effort", "high", given="Who built what stands in Paris?\n")

    assert done.code == chatted.code == 0
    assert "no cross-encoder is at hand" in done.out
    assert "no cross-encoder is at hand" in chatted.out


@pytest.mark.usefixtures("ready")
def test_an_answer_as_json_is_one_object(run: Run) -> None:
    answer = run(*ANY, "ask", "-i", "notes", "Eiffel tower", "--json").data

    assert answer["mode"] == "extractive"
    assert answer["citations"][0]["quote"] == "The Eiffel tower stands in Paris."
    assert answer["sources"][0]["source"].endswith("tower.txt")


@pytest.mark.usefixtures("ready")
def test_a_stream_as_json_is_an_event_a_line(run: Run) -> None:
    events = [
        json.loads(line)
        for line in run(*ANY, "ask", "-i", "notes", "Eiffel tower", "--json", "--stream").out.splitlines()
    ]

    assert [events[0]["type"], events[1]["type"], events[-1]["type"]] == ["stage", "sources", "done"]
    chunks = [event["content"] for event in events if event["type"] == "answer_chunk"]
    assert "".join(chunks) == events[-1]["answer"]["text"]


@pytest.mark.usefixtures("ready")
def test_a_model_writes_where_one_is_named(run: Run) -> None:
    with chatting(saying(lambda _: "The tower is in Paris [1]. It is made of cheese [1].")) as address:
        done = run(*ANY, "ask", "-i", "notes", "Eiffel tower", "--llm", f"{address}#m", "--stream")

    assert done.out.startswith("The tower is in Paris. [1] It is made of cheese.\n")
    assert "1 of 2 sentences borne out" in done.out


@pytest.mark.usefixtures("ready")
def test_what_the_documents_do_not_hold_is_refused_with_the_nearest_passages(run: Run) -> None:
    done = run("--set", "answer.min_answerability=1", "ask", "-i", "notes", "Who won the world cup?")

    assert done.code == 0
    assert done.out.startswith(REFUSAL)
    assert "The nearest passages:" in done.out


def test_a_folder_is_indexed_on_first_use_and_followed_later(run: Run, notes: Path) -> None:
    first = run(*ANY, "ask", notes, "where does the Eiffel tower stand?")
    (notes / "tower.txt").write_text("The Eiffel tower stands on the Moon now.\n")
    second = run(*ANY, "ask", notes, "where does the Eiffel tower stand?")
    third = run(*ANY, "ask", "-i", index_name(notes), "Eiffel tower")

    assert "stands in Paris." in first.out
    assert "stands on the Moon now." in second.out
    assert third.code == 0


@pytest.mark.parametrize("words", [["./nowhere", "what?"], ["-i", "no-such-index", "what?"]])
def test_what_is_not_there_is_named(run: Run, words: list[str]) -> None:
    done = run("ask", *words)

    assert done.code in {2, 3}
    assert done.err.startswith("twofold: There is no")


def test_a_folder_without_a_question_is_no_question(run: Run, notes: Path) -> None:
    done = run("ask", notes)

    assert done.code == 2
    assert "There is no question." in done.err


@pytest.mark.usefixtures("ready")
def test_a_model_that_cannot_be_reached_leaves_extracts(run: Run) -> None:
    done = run(*ANY, "ask", "-i", "notes", "Eiffel tower", "--llm", "http://127.0.0.1:9/v1#m")

    assert done.code == 0
    assert "stands in Paris." in done.out
    assert "Warning: generate unavailable: " in done.out


@pytest.mark.usefixtures("ready")
def test_a_chat_goes_on_until_an_empty_line_and_is_forgotten(run: Run) -> None:
    done = run(*ANY, "chat", "-i", "notes", given="where is the Eiffel tower?\nand what is a stash?\n\nnot asked\n")

    assert done.code == 0
    assert done.out.count("Extracts of the documents") == 2


@pytest.mark.usefixtures("ready")
def test_a_chat_with_a_name_goes_on_where_it_stopped(run: Run) -> None:
    run(*ANY, "chat", "-i", "notes", "--session", "mine", given="where is the Eiffel tower?\n/quit\n")
    done = run(*ANY, "chat", "-i", "notes", "--session", "mine", given="\n")

    assert done.out.startswith("user: where is the Eiffel tower?\nassistant: The Eiffel tower stands in Paris. [1]")


@pytest.mark.usefixtures("ready")
def test_no_document_moves_the_cursor(run: Run) -> None:
    with chatting(saying(lambda _: "The tower\x1b[2J is in \u202eParis.")) as address:
        done = run(*ANY, "ask", "-i", "notes", "Eiffel tower", "--llm", f"{address}#m", "--stream")

    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_a_document_cited_because_it_is_named_is_said_to_be(run: Run, tmp_path: Path) -> None:
    for title, province in (("Nantong", "Jiangsu"), ("Jingdezhen", "Jiangxi")):
        (tmp_path / f"{title}.md").write_text(f"# {title}\n\nThe city lies in {province}.\n", encoding="utf-8")
    assert run("sync", tmp_path, "--index", "cities").code == 0
    question = "Are Nantong and Jingdezhen in the same province?"

    done = run(*ANY, "--set", "answer.sentences=2", "ask", "-i", "cities", question)
    named = run(*ANY, "ask", "-i", "cities", question, "--json").data["links"]

    assert "Jiangsu" in done.out
    assert "Jiangxi" in done.out
    assert [one["where"] for one in named] == ["question"]
    assert f"Cited since they are named: {named[0]['title']}" in done.out


@pytest.mark.usefixtures("ready")
def test_what_lays_a_page_out_is_found_but_does_not_answer(run: Run, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "quay.css").write_text("/* Where does the night ferry leave? */\n.ferry { color: navy; }\n")
    (saved / "quay.min.js").write_text("function ferry(){return 'where does the night ferry leave'}")
    (saved / "all.js").write_text("function ferry(){return 'where does the night ferry leave'};" * 20)
    (saved / "quay.html").write_text("<h1>Ferries</h1><p>The night ferry leaves from quay nine.</p>")
    run("sync", saved, "-i", "saved")

    found = run("search", "-i", "saved", "where does the night ferry leave", "--json").data["hits"]
    asked = run(*ANY, "ask", "-i", "saved", "where does the night ferry leave?", "--json").data
    (saved / "quay.html").unlink()
    run("sync", saved, "-i", "saved")
    alone = run(*ANY, "ask", "-i", "saved", "where does the night ferry leave?", "--json").data

    assert {".css", ".js", ".html"} == {Path(hit["source"]).suffix for hit in found}
    assert {Path(one["source"]).suffix for one in asked["citations"]} == {".html"}
    assert alone["sources"]

"""Item 73 and the answers of localGPT over several tables: one answer of several indexes, as of one that holds all."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from support.indexes import indexed
from twofold import Index, MultiIndex
from twofold.answer.events import DoneEvent, SourcesEvent
from twofold.answer.types import Answer
from twofold.cli.app import application
from twofold.domain.errors import NotFoundError
from twofold.models.embedders.hashing import HashingEmbedder

KILNS = {
    "small.md": "# Small kiln\n\nThe small kiln reaches 1,060 degrees in seven hours.",
    "door.md": "# Door\n\nOpen the door of the kiln below 90 degrees.",
}
GLAZES = {
    "celadon.md": "# Celadon\n\nCeladon glaze wants 1,260 degrees in the large kiln.",
    "raku.md": "# Raku\n\nRaku is taken out of the kiln while it glows.",
}
QUESTIONS = ("How many degrees does the small kiln reach?", "celadon glaze degrees", "when is raku taken out?")
ANY: Mapping[str, object] = {"answer.min_answerability": 0.0}


@pytest.fixture
def kilns() -> Iterator[Index]:
    with indexed(KILNS) as made:
        yield made


@pytest.fixture
def glazes() -> Iterator[Index]:
    with indexed(GLAZES) as made:
        yield made


def bare(answer: Answer) -> Answer:
    """Take off what one index of all documents cannot know, and what a clock says."""
    return replace(
        answer,
        sources=tuple(replace(one, collection="") for one in answer.sources),
        citations=tuple(replace(one, collection="") for one in answer.citations),
        timings_ms={},
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_of_several_is_the_answer_of_one_that_holds_all(kilns: Index, glazes: Index, question: str) -> None:
    with indexed({**KILNS, **GLAZES}) as one, MultiIndex({"kilns": kilns, "glazes": glazes}) as several:
        whole = one.ask(question, settings=ANY)
        parted = several.ask(question, settings=ANY)

    assert bare(parted) == bare(whole)
    homes = {**dict.fromkeys(KILNS, "kilns"), **dict.fromkeys(GLAZES, "glazes")}
    assert [source.collection for source in parted.sources] == [homes[source.source] for source in parted.sources]
    assert {source.collection for source in parted.sources} == {"kilns", "glazes"}
    assert all(one.collection == homes[one.source] for one in parted.citations)
    assert parted.citations


@pytest.mark.parametrize("across", ["global", "rrf"])
def test_a_model_is_shown_passages_of_each_and_cites_both(kilns: Index, glazes: Index, across: str) -> None:
    said = "The small kiln reaches 1,060 degrees in seven hours. Celadon glaze wants 1,260 degrees in the large kiln."
    heard: list[str] = []

    def answering(asked: Heard, send: Send) -> None:
        heard.append(asked.prompt)
        send(piece(said) + finished())

    with chatting(answering) as address, MultiIndex({"kilns": kilns, "glazes": glazes}) as several:
        answer = several.ask(
            "kiln glaze degrees", llm=f"{address}#m", settings={**ANY, "search.multi_index_merge": across}
        )

    assert 'file="small.md"' in heard[0]
    assert 'file="celadon.md"' in heard[0]
    assert [sorted(one.collection for one in answer.citations)] == [["glazes", "kilns"]]


def test_events_come_as_from_one_index(kilns: Index, glazes: Index) -> None:
    with MultiIndex({"kilns": kilns, "glazes": glazes}) as several:
        events = list(several.ask_stream("raku kiln", settings=ANY))

    assert [event.type for event in events][:2] == ["stage", "sources"]
    assert isinstance(events[1], SourcesEvent)
    assert isinstance(events[-1], DoneEvent)
    assert {source.collection for source in events[1].sources} == {"kilns", "glazes"}


def test_a_broken_index_is_named_and_the_rest_answers(kilns: Index, tmp_path: Path) -> None:
    with MultiIndex({"kilns": kilns, "gone": tmp_path / "gone"}) as several:
        answer = several.ask("small kiln degrees", settings=ANY)

    assert answer.citations[0].collection == "kilns"
    assert any("gone" in note for note in map(str, answer.warnings))


def test_nothing_is_answered_where_none_opens(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        MultiIndex([tmp_path / "gone", tmp_path / "lost"])


def test_a_conversation_is_kept_with_these_indexes_and_goes_with_any_of_them(tmp_path: Path) -> None:
    for name, texts in (("kilns", KILNS), ("glazes", GLAZES)):
        indexed(texts, where=tmp_path / name).close()

    both = [tmp_path / "kilns", tmp_path / "glazes"]
    with MultiIndex(both) as several:
        several.ask("small kiln?", session="mine", settings=ANY)
        home = several.settings.home
    with Index(tmp_path / "glazes", embedder=HashingEmbedder(), create=False) as alone:
        with MultiIndex(both[::-1]) as again:
            assert [turn.text for turn in again.conversation("mine")][:1] == ["small kiln?"]
        assert alone.conversation("mine") == ()
        assert len(list((home / "sessions").rglob("*.jsonl"))) == 1
        alone.drop()

    assert not list((home / "sessions").rglob("*.jsonl"))


def cli(*words: object, given: str | None = None) -> Any:  # noqa: ANN401  # what click gives
    return CliRunner().invoke(application(), [str(word) for word in words], input=given, prog_name="twofold")


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("TWOFOLD_ANSWER__MIN_ANSWERABILITY", "0")
    monkeypatch.chdir(tmp_path)
    for name, texts in (("kilns", KILNS), ("glazes", GLAZES)):
        indexed(texts, where=name).close()
    return ("kilns", "glazes")


def test_the_command_line_asks_both_and_says_which_index_a_passage_is_from(two: tuple[str, str]) -> None:
    done = cli("ask", "-i", two[0], "-i", two[1], "celadon", "glaze", "degrees")
    as_json = cli("ask", "-i", two[0], "-i", two[1], "celadon glaze degrees", "--json")

    assert done.exit_code == 0, done.output
    assert "[1] glazes: celadon.md" in done.stdout
    assert {one["collection"] for one in json.loads(as_json.stdout)["sources"]} == set(two)


def test_a_chat_has_both_and_a_broken_one_is_named(two: tuple[str, str]) -> None:
    done = cli("chat", "-i", two[0], "-i", "nowhere", "-i", two[1], given="celadon glaze degrees?\n\n")

    assert done.exit_code == 0, done.output
    assert "glazes: celadon.md" in done.stdout
    assert "Warning: nowhere: index unavailable" in done.stdout

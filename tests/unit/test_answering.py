"""Conversations and options of asking an index."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.config.load import load_settings
from twofold.domain.errors import CorruptError, InvalidInputError, NotFoundError
from twofold.domain.generators import GeneratorIdentity, Message, TextStream
from twofold.domain.types import Vectors
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.generators.endpoint import ChatEndpoint, EndpointGenerator
from twofold.query.history import Turn
from twofold.stores.sessions import MAX_TURN_LENGTH, MAX_TURNS, Sessions

ANY: dict[str, object] = {"answer.min_answerability": 0.0}


def made(where: str | Path = ":memory:") -> Index:
    index = Index(where, embedder=HashingEmbedder())
    index.add("A commit is undone with git reset. A merge is undone with git merge --abort.", source="git.md")
    return index


def test_a_session_is_kept_with_the_index_and_outlives_it(tmp_path: Path) -> None:
    with made(tmp_path / "notes") as index:
        index.ask("How is a commit undone?", session="mine", settings=ANY)
    with made(tmp_path / "notes") as index:
        turns = index.conversation("mine")
        answer = index.ask("and a merge?", session="mine", settings=ANY)
        assert len(index.conversation("mine")) == 4

    assert turns[0] == Turn("user", "How is a commit undone?")
    assert turns[1].role == "assistant"
    assert answer.session == "mine"
    assert {path.name for path in (tmp_path / "notes").iterdir()}.isdisjoint({"sessions"})


def test_turns_that_several_threads_add_at_once_are_all_kept(tmp_path: Path) -> None:
    made(tmp_path / "notes").close()
    with Index(tmp_path / "notes", embedder=HashingEmbedder()) as one, ThreadPoolExecutor(8) as threads:
        with Index(tmp_path / "notes", embedder=HashingEmbedder()) as other:
            asked = [
                threads.submit(index.ask, "How is a commit undone?", session="mine", settings=ANY)
                for index in (one, other) * 12
            ]
            answers = [each.result(60.0) for each in asked]

        assert [answer.warnings for answer in answers if any(x.code == "not_saved" for x in answer.warnings)] == []
        assert [turn.role for turn in one.conversation("mine")] == ["user", "assistant"] * 24


def test_dropping_an_index_drops_its_conversations(tmp_path: Path) -> None:
    with made(tmp_path / "notes") as index:
        index.ask("How?", session="mine", settings=ANY)
        home = index.settings.home
        assert list((home / "sessions").rglob("*.jsonl"))
        index.drop()

    assert not list((home / "sessions").rglob("*.jsonl"))


def test_a_forgotten_conversation_is_gone() -> None:
    with made() as index:
        index.ask("How?", session="mine", settings=ANY)
        index.delete_session("mine")
        assert index.conversation("mine") == ()


def test_what_was_said_reaches_the_model_before_the_passages_and_the_search_before_the_question() -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(piece("A merge is undone with git merge --abort.") + finished())

    with made() as index, chatting(noting) as address:
        history = [Turn("user", "How is a commit undone?"), Turn("assistant", "With git </passages> reset.")]
        index.ask("and a merge?", llm=f"{address}#m", history=history, settings=ANY)

    told = heard[0].prompt
    assert told.startswith("<conversation>\nUser: How is a commit undone?\nAssistant: With git (/passages) reset")
    assert told.endswith("<question>\nand a merge?\n</question>")


def test_a_generator_of_one_s_own_can_be_passed() -> None:
    class Own:
        identity = GeneratorIdentity("own", "1")

        def __init__(self, inner: EndpointGenerator) -> None:
            self._inner = inner

        def stream(self, messages: list[Message], **options: object) -> TextStream:
            return self._inner.stream(messages, **options)  # type: ignore[arg-type]  # as they came

        def close(self) -> None:
            pass

    with made() as index, chatting(lambda _, send: send(piece("A commit is undone.") + finished())) as address:
        own = Own(EndpointGenerator(ChatEndpoint(address, "m")))
        answer = index.ask("How?", llm=own, settings=ANY)  # type: ignore[arg-type]  # its options are looser

    assert answer.usage is not None
    assert answer.usage.model == "own"


def test_unknown_names_are_refused_before_anything_is_asked() -> None:
    with made() as index:
        with pytest.raises(NotFoundError):
            index.ask("How?", llm="no-such-model")
        with pytest.raises(InvalidInputError):
            index.ask("How?", settings={"answer.template": "no such template"})
        with pytest.raises(InvalidInputError):
            index.ask("How?", session="x" * 300)


def test_an_answer_counts_as_one_question_and_its_making_as_a_stage() -> None:
    with made() as index:
        index.ask("How is a commit undone?", settings=ANY)
        figures = index.metrics()

    assert figures.queries == 1
    assert figures.stages["extract"].count == 1


def test_answers_by_words_alone_load_no_model() -> None:
    class Untouched(HashingEmbedder):
        def embed_queries(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError(texts)

    with Index(":memory:", embedder=Untouched()) as index:
        index.add("A commit is undone with git reset.", source="git.md")
        answer = index.ask("undone commit", mode="bm25", settings=ANY)

    assert answer.citations[0].quote == "A commit is undone with git reset."


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "\x00", "名", "\ud800", "con"])
def test_a_name_never_becomes_a_path(tmp_path: Path, name: str) -> None:
    sessions = Sessions(tmp_path / "kept")
    sessions.append(name, [Turn("user", "hello")])

    assert sessions.turns(name) == (Turn("user", "hello"),)
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file()} == {tmp_path / "kept"}


def test_a_conversation_has_bounds(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sessions.append("a", [Turn("user", "x" * 100_000)] * 300)

    assert len(sessions.turns("a")) == MAX_TURNS
    assert len(sessions.turns("a")[0].text) == MAX_TURN_LENGTH


def test_a_damaged_conversation_is_named(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    sessions.append("a", [Turn("user", "x")])
    for path in tmp_path.iterdir():
        path.write_bytes(b'{"role": "user"}\n')

    with pytest.raises(CorruptError):
        sessions.turns("a")


def test_the_settings_of_answers_come_from_profiles_and_files_too() -> None:
    settings = load_settings(overrides={"answer.unsupported": "refuse", "answer.context": {"tokens": "100"}})

    assert settings.answer.unsupported == "refuse"
    assert settings.answer.context.tokens == 100

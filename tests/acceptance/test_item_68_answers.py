"""Item 68: the cache keeps answers. A question asked again does not reach the model, which counts what it is asked."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.api_client import visiting
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index, MultiIndex
from twofold.answer.events import ChunkEvent, CitationEvent, StageEvent
from twofold.cli.app import application
from twofold.config.load import as_text, grouped
from twofold.domain.filters import Condition, Operator
from twofold.models.embedders.hashing import HashingEmbedder

FACT = "The small kiln reaches 1060 degrees."
QUESTION = "How hot does the small kiln get?"
ANY: Mapping[str, object] = {"answer.min_answerability": 0.0, "rerank.model": "none", "rerank.fallback": ""}
KEPT = {**ANY, "cache": {"size": 10}}


@pytest.fixture
def heard() -> list[Heard]:
    return []


@pytest.fixture
def model(heard: list[Heard]) -> Iterator[str]:
    def writing(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(piece(f"{FACT} [1]") + finished())

    with chatting(writing) as address:
        yield f"{address}#m"


@pytest.fixture
def index() -> Iterator[Index]:
    with Index(":memory:", embedder=HashingEmbedder()) as made:
        made.add(FACT, source="kiln.md")
        made.add("The glaze is blue and dries in a day.", source="glaze.md")
        yield made


def test_a_question_asked_again_is_answered_without_the_model(index: Index, model: str, heard: list[Heard]) -> None:
    first = index.ask(QUESTION, llm=model, settings=KEPT)
    events = list(index.ask_stream(QUESTION, llm=model, settings=KEPT))
    again = events[-1].answer  # type: ignore[union-attr]  # the last one is `done`

    assert len(heard) == 1
    assert not first.cache.hit
    assert (again.cache.hit, again.cache.kind, again.cache.cosine) == (True, "exact", None)
    assert (again.text, again.citations, again.sources) == (first.text, first.citations, first.sources)
    assert StageEvent("cache") in events
    assert "".join(one.content for one in events if isinstance(one, ChunkEvent)) == first.text
    assert [one.citation for one in events if isinstance(one, CitationEvent)] == list(first.citations)


def test_a_question_almost_the_same_has_the_answer_too(index: Index, model: str, heard: list[Heard]) -> None:
    index.ask(QUESTION, llm=model, settings=KEPT)
    near = index.ask("how hot does the small kiln get", llm=model, settings=KEPT)

    assert len(heard) == 1
    assert near.cache.hit
    assert near.question == "how hot does the small kiln get"


def test_nothing_is_kept_unless_it_is_asked_for(index: Index, model: str, heard: list[Heard]) -> None:
    answers = [index.ask(QUESTION, llm=model, settings=ANY) for _ in range(2)]

    assert len(heard) == 2
    assert [one.cache.hit for one in answers] == [False, False]


def test_the_profile_of_a_system_with_a_cache_has_it_per_question(index: Index, model: str, heard: list[Heard]) -> None:
    answers = [index.ask(QUESTION, llm=model, profile="localgpt", settings=ANY) for _ in range(3)]
    found = [index.search(QUESTION, profile="localgpt", settings=ANY) for _ in range(2)]

    assert len(heard) == 1
    assert [one.cache.hit for one in answers] == [False, True, True]
    assert found[1].cache.hit


@pytest.mark.parametrize(
    "changed",
    [{"settings": {**KEPT, "answer.prompt": "Be brief."}}, {"settings": {**KEPT, "answer.template": "aanae"}},
     {"settings": {**KEPT, "answer.unsupported": "flag"}}, {"settings": {**KEPT, "search.mode": "bm25"}}, {"k": 1},
     {"filter": Condition("source", Operator.EQ, "kiln.md")}, {"question": "How hot is the blue glaze?"}],
)  # fmt: skip
def test_what_is_asked_otherwise_is_answered_anew(
    index: Index, model: str, heard: list[Heard], changed: dict[str, object]
) -> None:
    asked: dict[str, object] = {"question": QUESTION, "settings": KEPT}
    index.ask(llm=model, **asked)  # type: ignore[arg-type]  # as a caller writes them
    other = index.ask(llm=model, **{**asked, **changed})  # type: ignore[arg-type]

    assert len(heard) == 2
    assert not other.cache.hit


def test_another_model_answers_anew(index: Index, model: str, heard: list[Heard]) -> None:
    index.ask(QUESTION, llm=model, settings=KEPT)
    index.ask(QUESTION, llm=model.replace("#m", "#other"), settings=KEPT)
    extracts = index.ask(QUESTION, llm="none", settings=KEPT)

    assert len(heard) == 2
    assert extracts.mode == "extractive"


def test_a_change_of_the_documents_asks_for_a_new_answer(index: Index, model: str, heard: list[Heard]) -> None:
    index.ask(QUESTION, llm=model, settings=KEPT)
    index.add("The large kiln reaches 1260 degrees.", source="large.md")
    index.ask(QUESTION, llm=model, settings=KEPT)
    index.add(FACT.replace("1060", "990"), source="kiln.md")
    last = index.ask(QUESTION, llm=model, settings=KEPT)

    assert len(heard) == 3
    assert not last.cache.hit


def test_an_answer_is_good_for_its_time_only(index: Index, model: str, heard: list[Heard]) -> None:
    settings = grouped({**KEPT, "cache.ttl_seconds": 1e-9})
    index.ask(QUESTION, llm=model, settings=settings)
    index.ask(QUESTION, llm=model, settings=settings)

    assert len(heard) == 2


def test_a_session_keeps_its_answers_to_itself(index: Index, model: str, heard: list[Heard]) -> None:
    settings = grouped({**KEPT, "cache.scope": "session", "query": {"turns": 0}})
    for session in ("a", "b", "a", "b", ""):
        index.ask(QUESTION, llm=model, settings=settings, session=session)

    assert len(heard) == 3


def test_a_follow_up_is_answered_after_what_was_said(index: Index, model: str, heard: list[Heard]) -> None:
    index.ask("And the glaze?", llm=model, settings=KEPT, session="a")
    index.ask("And the glaze?", llm=model, settings=KEPT, session="a")

    assert len(heard) == 2


def test_what_went_wrong_is_tried_again(index: Index, heard: list[Heard], model: str) -> None:
    failed = index.ask(QUESTION, llm="http://127.0.0.1:9/v1#m", settings=KEPT)
    again = index.ask(QUESTION, llm="http://127.0.0.1:9/v1#m", settings=KEPT)

    assert failed.degraded
    assert not again.cache.hit
    assert model
    assert heard == []


def test_other_wordings_are_not_asked_for_again(index: Index, model: str, heard: list[Heard]) -> None:
    settings = {**KEPT, "query_expansion": {"multi_query": 2}}
    index.ask(QUESTION, llm=model, settings=settings)
    before = len(heard)
    index.ask(QUESTION, llm=model, settings=settings)

    assert before == 2
    assert len(heard) == 2


def test_several_indexes_have_it_too(index: Index, model: str, heard: list[Heard]) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as other, MultiIndex({"a": index, "b": other}) as several:
        other.add("Raku glows.", source="raku.md")
        answers = [several.ask(QUESTION, llm=model, settings=KEPT) for _ in range(2)]

    assert len(heard) == 1
    assert answers[1].cache.hit


def test_a_server_and_a_chat_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, heard: list[Heard]
) -> None:
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    with Index("notes") as made:
        made.add(FACT, source="kiln.md")
    body = {"query": QUESTION, "profile": "localgpt", "stream": False, "rerank": False}
    with visiting(tmp_path / "home", said={"generator": model, "answer.min_answerability": 0.0}) as visit:
        given = [visit.client.post("/v1/indexes/notes/ask", json=body).json() for _ in range(2)]
    assert (given[0]["degraded"], given[0]["warnings"]) == (False, [])
    assert given[0]["cache"] == {"hit": False, "kind": None, "age_s": None, "cosine": None}
    assert given[1]["cache"]["kind"] == "exact"
    assert len(heard) == 1

    said = [word for key, value in KEPT.items() for word in ("--set", f"{key}={as_text(value)}")]
    words = [*said, "--set", "query=turns:0", "chat", "-i", "notes", "--llm", model]
    done = CliRunner().invoke(application(), words, input=f"{QUESTION}\n{QUESTION}\n\n", prog_name="twofold")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("Kept from an earlier question: exact") == 1
    assert len(heard) == 2

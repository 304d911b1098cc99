"""Item 36: VoiceVault expands a question to three, `_expand_query() → [q1, q2, q3]`; without a model by rule."""

from collections.abc import Iterator

import pytest

from support.api_client import TEXTS
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from support.indexes import GIT, indexed
from twofold import Index
from twofold.compat.voicevault import HybridRetriever

QUESTION = "How do I undo the last commit?"
OTHERS = ("steps to undo the last commit", "undo last commit")
NO_MODELS: dict[str, object] = {"rerank.model": "none", "rerank.fallback": ""}


@pytest.fixture
def index() -> Iterator[Index]:
    with indexed({**GIT, **TEXTS}) as made:
        yield made


def test_a_search_under_voicevault_asks_three_wordings_and_is_whole(index: Index) -> None:
    found = index.search(QUESTION, profile="voicevault", settings=NO_MODELS)

    assert found.queries == (QUESTION.rstrip("?") + "?", *OTHERS)
    assert found.warnings == ()
    rewriting = next(stage for stage in found.stages if stage.name == "expand")
    assert rewriting.notes == tuple(f"variant: {text}" for text in OTHERS)


def test_the_setting_alone_does_it_and_two_wordings_are_two(index: Index) -> None:
    assert index.search(QUESTION, settings={"query_expansion": {"multi_query": 3}}).queries == (QUESTION, *OTHERS)
    assert index.search(QUESTION, settings={"query_expansion": {"multi_query": 2}}).queries == (QUESTION, OTHERS[0])
    assert index.search(QUESTION).queries == (QUESTION,)


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("What is a merge?", ("definition of merge", "merge")),
        ("Why did the build fail?", ("reason for the build fail", "build fail")),
        ("Where can I find the logs?", ("place of the logs", "find logs")),
        ("When was the tower finished?", ("date of the tower finished", "tower finished")),
        ("git stash", ()),
    ],
)
def test_the_wordings_by_rule(index: Index, question: str, others: tuple[str, ...]) -> None:
    assert index.search(question, settings={"query_expansion": {"multi_query": 3}}).queries == (question, *others)


def test_each_wording_lifts_its_own_passage(index: Index) -> None:
    plain = index.search("Why steps?", mode="bm25", settings=NO_MODELS)
    index.add("The reason for it is the weather.", source="reason.txt")
    found = index.search("Why it?", mode="bm25", settings={**NO_MODELS, "query_expansion": {"multi_query": 3}})

    assert plain.queries == ("Why steps?",)
    assert [hit.source for hit in found.hits][:1] == ["reason.txt"]


def test_the_adapter_of_the_system_does_so_too(index: Index) -> None:
    with HybridRetriever({"kb": index}, NO_MODELS) as retriever:
        found = retriever.search(QUESTION)

    assert found.queries == (QUESTION, *OTHERS)
    assert found.warnings == ()


def test_a_model_that_is_named_writes_them_instead(index: Index) -> None:
    def rewording(_: Heard, send: Send) -> None:
        send(piece("1. take back a commit\n2. git reset soft") + finished())

    with chatting(rewording) as address:
        settings = {**NO_MODELS, "generator": f"{address}#m"}
        found = index.search(QUESTION, profile="voicevault", settings=settings)

    assert found.queries == (QUESTION, "take back a commit", "git reset soft")

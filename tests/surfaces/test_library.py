"""The library as a Python program meets it: filters in any form, pages of results, coroutines, rows and short names."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

from twofold import Index, MultiIndex
from twofold.answer.types import Answer
from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import And, Condition, Filter, Operator
from twofold.domain.generators import GeneratorIdentity, Message
from twofold.domain.warning import WarningCode
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.search.engine import SearchOptions

Run = Callable[..., Any]
FORMS: dict[str, str | Mapping[str, object] | Filter] = {
    "a text": "type == .md",
    "JSON": '{"field": "type", "op": "==", "value": ".md"}',
    "a mapping": {"field": "type", "op": "==", "value": ".md"},
    "a filter": Condition("type", Operator.EQ, ".md"),
    "filters joined": And((Condition("type", Operator.EQ, ".md"), Condition("year", Operator.GE, 2020))),
}
ANY = {"answer.min_answerability": 0}  # whether anything is answerable is not asked
NO_FILTERS: dict[str, Any] = {
    "a number": 7, "a list": ["type == .md"], "bytes": b"type == .md", "a text that is none": "type ==",
    "a mapping that is none": {"no": 1}, "JSON that is none": "{", "truth": True,
}  # fmt: skip

WRONG_KINDS: dict[str, tuple[Callable[[Any], object], str]] = {
    "k of a form": (lambda index: index.search("cat", k="3"), "whole number"),
    "half a passage": (lambda index: index.search("cat", k=2.5), "whole number"),
    "boosts as in the terminal": (lambda index: index.search("cat", boosts="title^3"), "boosts={'title': 3}"),
    "days": (lambda index: index.search("cat", recency=30), "modified:30d"),
    "a constant score": (lambda index: index.search("cat", score=1), "formula"),
    "a page's number": (lambda index: index.search("cat", cursor=2), "next_cursor"),
    "a list of settings": (lambda index: index.search("cat", settings=["fusion.method"]), "'fusion.method'"),
    "a setting without a name": (lambda index: index.search("cat", settings={1: 2}), "'fusion.method'"),
    "no reranker": (lambda index: index.search("cat", rerank=3), "Reranker"),
    "turns of another library": (lambda index: index.ask("cat", history=[{"role": "user", "text": "a"}]), "Turn("),
    "what was said, as one": (lambda index: index.search("cat", history=7), "Turn("),
    "no language model": (lambda index: index.ask("cat", llm=3), "Generator"),
    "a numbered session": (lambda index: index.ask("cat", session=3), "a text"),
    "k of suggestions": (lambda index: index.suggest("ca", k="8"), "whole number"),
    "bytes": (lambda index: index.add(b"The cat sat."), "add_file"),
    "a source that is a path": (lambda index: index.add("The cat sat.", source=Path("a.md")), "text"),
    "fields without names": (lambda index: index.add("The cat sat.", metadata=["year"]), "'year'"),
    "a field named by a number": (lambda index: index.add("The cat sat.", metadata={1: 2}), "text"),
    "paths in a list": (lambda index: index.sync(["a", "b"]), "sync(*paths)"),
    "a document's number": (lambda index: index.delete(3), "id"),
    "why not a number": (lambda index: index.why_not("cat", 3), "id"),
    "other fields than names": (lambda index: index.set_metadata("01.md", 3), "'year'"),
    "rules in a list": (lambda index: index.set_synonyms(["cat, pet"]), "one rule a line"),
    "a pinned number": (lambda index: index.pin(3), "words"),
    "a numbered snapshot": (lambda index: index.snapshot(3), "text"),
    "an index that is a number": (lambda _: Index(3), "path"),  # type: ignore[arg-type]
}


@pytest.fixture(params=[":memory:", "folder"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Index]:
    where = request.param if request.param == ":memory:" else tmp_path / "index"
    with Index(where, embedder=HashingEmbedder()) as index:
        for number in range(12):
            suffix = "md" if number % 2 else "txt"
            index.add(f"The cat sat {number} times.", source=f"{number:02d}.{suffix}", metadata={"year": 2020 + number})
        yield index


@pytest.mark.parametrize("form", FORMS)
def test_a_filter_works_in_every_form_and_everywhere(index: Index, form: str) -> None:
    given = FORMS[form]
    odd = {f"{number:02d}.md" for number in range(1, 12, 2)}

    assert {hit.source for hit in index.search("cat", k=20, filter=given).hits} == odd
    assert {hit.source for hit in index.search_many(["cat"], SearchOptions(k=20, filter=given))[0].hits} == odd
    assert {info.source for info in index.documents(filter=given)} == odd
    assert {one.source for one in index.ask("Where did the cat sit?", k=20, filter=given).sources} == odd
    assert {hit.source for hit in MultiIndex([index]).search("cat", SearchOptions(k=20, filter=given)).hits} == odd
    assert len(index.documents()) == len(index) == 12
    assert len(index.search("cat", k=20, filter=None).hits) == 12


@pytest.mark.parametrize("wrong", WRONG_KINDS)
def test_a_value_of_another_kind_is_refused_with_a_remedy(index: Index, wrong: str) -> None:
    done, remedy = WRONG_KINDS[wrong]

    with pytest.raises(InvalidInputError) as refused:
        done(index)

    assert "cannot be of the type" in refused.value.message
    assert remedy in refused.value.hint
    assert len(index) == 12


def test_a_number_of_numpy_counts_passages(index: Index) -> None:
    assert len(index.search("cat", k=np.int64(3)).hits) == 3  # type: ignore[arg-type]


def test_a_field_that_no_document_has_is_named(index: Index) -> None:
    nothing = index.search("cat", filter="not (type == .pdf) and yaer == 2021")
    unsorted = index.search("cat", sort="year:down")
    known = index.search("cat", filter="year == 1900", sort="year")

    assert not nothing.hits
    assert [(one.stage, one.code, one.message) for one in nothing.warnings] == [
        ("filter", WarningCode.NO_MATCH, "No document has the field 'yaer'.")
    ]
    assert [one.message for one in unsorted.warnings] == ["No document has the field 'year:down'."]
    assert unsorted.hits
    assert (nothing.degraded, unsorted.degraded) == (False, False)
    assert (list(known.hits), known.warnings) == ([], ())


@pytest.mark.parametrize("form", NO_FILTERS)
def test_what_is_no_filter_is_refused(index: Index, form: str) -> None:
    given = NO_FILTERS[form]
    for ask in (
        lambda: index.search("cat", filter=given),
        lambda: index.ask("cat", filter=given),
        lambda: index.documents(filter=given),
        lambda: MultiIndex([index]).search("cat", SearchOptions(filter=given)),
    ):
        with pytest.raises(InvalidInputError):
            ask()


@pytest.mark.parametrize("question", [None, 7, b"cat", ["cat"]])
def test_a_question_that_is_no_text_is_refused(index: Index, question: Any) -> None:  # noqa: ANN401
    for ask in (
        lambda: index.search(question),
        lambda: index.search_many([question]),
        lambda: index.ask(question),
        lambda: index.why_not(question, "00.txt"),
        lambda: MultiIndex([index]).search(question),
        lambda: MultiIndex([index]).why_not(question, "00.txt"),
    ):
        with pytest.raises(InvalidInputError, match="A question is text"):
            ask()


@pytest.mark.parametrize("mode", ["hybrid", "bm25", "vector"])
def test_pages_of_results_are_one_ranking(index: Index, mode: str) -> None:
    whole = index.search("cat 3 times", k=12, mode=mode).hits
    pages = [index.search("cat 3 times", k=5, offset=offset, mode=mode).hits for offset in (0, 5, 10, 15)]

    assert [hit.rank for page in pages for hit in page] == list(range(1, 13))
    assert [(hit.chunk_id, hit.score) for page in pages for hit in page] == [(hit.chunk_id, hit.score) for hit in whole]
    many = index.search_many(["cat 3 times"], SearchOptions(k=5, offset=5, mode=mode))[0].hits
    assert [hit.rank for hit in many] == [6, 7, 8, 9, 10]
    several = MultiIndex([index]).search("cat 3 times", SearchOptions(k=5, offset=5, mode=mode)).hits
    assert [hit.rank for hit in several] == [6, 7, 8, 9, 10]


@pytest.mark.parametrize("offset", [-1, 1.5, "1", None, True])
def test_an_offset_that_is_none_is_refused(index: Index, offset: Any) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match="offset"):
        index.search("cat", offset=offset)


def test_a_remembered_search_gives_every_page(tmp_path: Path) -> None:
    with Index(tmp_path / "index", embedder=HashingEmbedder(), overrides={"cache": {"size": 10}}) as index:
        for number in range(6):
            index.add(f"The cat sat {number} times.", source=f"{number}.txt")
        for _ in range(2):
            assert [hit.rank for hit in index.search("cat", k=2, offset=2).hits] == [3, 4]
            assert [hit.rank for hit in index.search("cat", k=4).hits] == [1, 2, 3, 4]


@pytest.mark.usefixtures("ready")
def test_the_command_line_turns_pages(run: Run) -> None:
    whole = run("search", "the", "-i", "notes", "-m", "vector", "-k", "3", "--json").data["hits"]
    page = run("search", "the", "-i", "notes", "-m", "vector", "-k", "2", "--offset", "1", "--json").data["hits"]

    assert page == whole[1:3] != []
    assert run("search", "the", "-i", "notes", "--offset", "-1").code == 2


def test_searching_and_asking_can_be_awaited(index: Index) -> None:
    async def both() -> tuple[list[str], Answer]:
        found, answer = await asyncio.gather(
            index.asearch("cat", k=3, filter="type == .md"), index.aask("How often did the cat sit?", k=3)
        )
        return [hit.source for hit in found.hits], answer

    found, answer = asyncio.run(both())
    assert found == [hit.source for hit in index.search("cat", k=3, filter="type == .md").hits]
    assert answer.text == index.ask("How often did the cat sit?", k=3).text
    with pytest.raises(InvalidInputError):
        asyncio.run(index.asearch(""))


class Waiting:
    """Writes nothing until it is stopped, and is its own reply."""

    identity = GeneratorIdentity("waiting", "1")

    def __init__(self) -> None:
        self.begun, self.stopped = threading.Event(), threading.Event()

    def stream(self, messages: Sequence[Message], **_: object) -> Self:
        assert messages
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        self.begun.set()
        assert self.stopped.wait(30.0)
        raise StopIteration

    def close(self) -> None:
        if self.begun.is_set():
            self.stopped.set()


def test_a_cancelled_question_stops_the_model_and_the_index_goes_on(index: Index) -> None:
    model = Waiting()

    async def cancelled() -> None:
        task = asyncio.create_task(index.aask("How often did the cat sit?", llm=model, settings=ANY))
        await asyncio.to_thread(model.begun.wait, 30.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert model.stopped.wait(30.0)
    assert index.search("cat").hits


def test_rows_are_flat_and_go_through_json(index: Index) -> None:
    index.add("The owl hooted.", source="owl.txt", metadata={"tags": ("a", "b")})
    result = index.search("owl hooted", k=2, mode="bm25")
    (row,) = result.to_dicts()

    assert json.loads(json.dumps(row)) == row
    assert list(row)[:13] == [
        *("rank", "score", "source", "title", "document", "chunk_id", "page", "place"),
        *("heading", "start", "end", "text", "collection"),
    ]
    assert (row["rank"], row["source"], row["text"]) == (1, "owl.txt", "The owl hooted.")
    assert row["metadata.tags"] == ["a", "b"]
    assert row["score"] == result.hits[0].score


def test_what_is_printed_at_a_prompt_is_short(index: Index) -> None:
    index.add("The owl hooted. " * 200, source="owl.txt")
    result = index.search("owl", k=1)
    answer = index.ask("How did the owl sound?")

    assert repr(index) == f"Index({str(index._where)!r})"
    assert repr(result) == "SearchResult('owl', 'hybrid', 1 hit)"
    assert repr(result.hits[0]).startswith("Hit(1, ")
    assert "'owl.txt', 'The owl hooted." in repr(result.hits[0])
    assert repr(answer).startswith("Answer('")
    assert max(map(len, map(repr, (index, result, result.hits[0], answer)))) < 150


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"embedder": "bge-small-en-v1.5"}, r"`embedder` cannot be of the type str\. Name a model"),
        (
            {"settings": {"embedder": "none"}},
            r"`settings` cannot be of the type dict\. Pass names and values as overrides",
        ),
    ],
)
def test_a_name_or_a_table_in_place_of_an_object_is_refused_with_the_right_way(given: Any, told: str) -> None:  # noqa: ANN401
    with pytest.raises(InvalidInputError, match=told):
        Index(":memory:", **given)

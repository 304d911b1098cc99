"""The MCP tools as the SDK's own client calls them, in the stateless protocol and in the earlier one."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from support.indexes import indexed
from twofold import Index
from twofold.answer.context import approximate_tokens
from twofold.mcp.access import OneIndex
from twofold.mcp.budget import DEFAULT_BUDGET, MIN_BUDGET
from twofold.mcp.links import Links
from twofold.mcp.server import create_mcp_server

BASE = "http://127.0.0.1:8722"
DOG = "https://wiki.example/dog"
TEXTS = {
    "tower.md": f"# The tower\n\nThe Eiffel tower stands in Paris.{' It is made of iron.' * 40}\n\n"
    f"## Height\n\nIt is 330 metres high.{' Wind moves its top a little.' * 40}",
    "cat.md": "# The cat\n\nThe cat sat on the mat. It purred all afternoon.",
}
Call = Callable[..., Any]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    folder = tmp_path / "notes"
    folder.mkdir()
    with indexed({}, {"answer.min_answerability": 0.0}) as made:
        for name, text in TEXTS.items():
            (folder / name).write_text(text)
            made.add_file(folder / name)
        made.add("The dog slept in the yard.", source=DOG, title="The dog")
        yield made


@pytest.fixture(params=["auto", "legacy"])
def call(request: pytest.FixtureRequest, index: Index) -> Call:
    """Call one tool, in a connection of its own, and give what it returns."""

    def called(name: str, budget: int = DEFAULT_BUDGET, base: str = BASE, **arguments: object) -> CallToolResult:
        async def once() -> CallToolResult:
            server = create_mcp_server(OneIndex(lambda: index, Links("notes", base), budget), write=True)
            async with Client(server, mode=request.param) as client:
                answer = await client.call_tool(name, arguments)
                assert isinstance(answer, CallToolResult)
                return answer

        return anyio.run(once)

    return called


def told(answer: CallToolResult) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Give the object of an answer, which is the same as its one text item."""
    assert not answer.is_error
    (item,) = answer.content
    assert isinstance(item, TextContent)
    assert json.loads(item.text) == answer.structured_content
    return answer.structured_content


def said(answer: CallToolResult) -> str:
    """Give the message of an error."""
    assert answer.is_error
    (item,) = answer.content
    assert isinstance(item, TextContent)
    return item.text


def test_search_and_fetch_are_what_connectors_expect(call: Call, index: Index) -> None:
    rows = told(call("search", query="Eiffel tower"))["results"]

    assert set(rows[0]) == {"id", "title", "url"}
    assert rows[0]["title"] == "The tower"
    document = index.document("tower.md")
    first = index.chunks("tower.md")[0]
    assert rows[0]["url"] == f"{BASE}/document?index=notes&doc={document.id}&at={first.start}-{first.end}"

    fetched = told(call("fetch", id=rows[0]["id"]))
    assert set(fetched) == {"id", "title", "text", "url", "metadata"}
    assert fetched["text"] == TEXTS["tower.md"]
    assert fetched["url"] == rows[0]["url"]
    assert fetched["metadata"]["truncated"] == "false"


def test_without_a_server_a_passage_has_the_address_of_its_document(call: Call) -> None:
    rows = {row["title"]: row["url"] for row in told(call("search", base="", query="dog cat"))["results"]}

    assert rows["The dog"] == DOG
    assert rows["The cat"].startswith("file:///")
    assert rows["The cat"].endswith("/notes/cat.md")


def test_passages_go_on_where_the_cursor_says(call: Call, index: Index) -> None:
    whole = [hit.chunk_id for hit in index.search("tower dog cat", k=4).hits]
    seen: list[str] = []
    cursor = ""
    for _ in range(10):
        page = told(call("search_passages", query="tower dog cat", k=1, cursor=cursor))
        seen += [one["id"] for one in page["passages"]]
        cursor = page["next_cursor"]
        if not cursor:
            break

    assert seen == whole
    assert len(whole) == 4  # two of the tower, one of each animal


def test_a_cursor_of_another_question_is_refused(call: Call) -> None:
    cursor = told(call("search_passages", query="tower", k=1))["next_cursor"]

    assert "The cursor is not of this question." in said(call("search_passages", query="cat", k=1, cursor=cursor))
    assert "The cursor is not of this question." in said(call("search_passages", query="tower", k=1, cursor="AAAA"))


def test_filters_and_modes_are_those_of_search(call: Call) -> None:
    page = told(call("search_passages", query="tower cat", filter="title == 'The cat'", mode="bm25"))
    assert {one["title"] for one in page["passages"]} == {"The cat"}
    assert "filter" in said(call("search_passages", query="tower", filter="source ==")).lower()


def test_an_answer_fits_the_budget_and_the_rest_follows(call: Call, index: Index) -> None:
    words = " ".join(f"word{number}" for number in range(4_000))
    index.add(words, source="long.txt")
    text, cursor = "", ""
    for _ in range(200):
        answer = call("read", budget=MIN_BUDGET, id=index.document("long.txt").id, max_chars=100_000, cursor=cursor)
        part = told(answer)
        (item,) = answer.content
        assert approximate_tokens(item.text) <= MIN_BUDGET
        text += part["text"]
        cursor = part["next_cursor"]
        if not cursor:
            break

    assert text == words
    (listed,) = call("search_passages", budget=MIN_BUDGET, query="word17 word18", k=8, max_chars=20_000).content
    assert approximate_tokens(listed.text) <= MIN_BUDGET
    fetched = told(call("fetch", budget=MIN_BUDGET, id=index.document("long.txt").id))
    assert fetched["metadata"]["truncated"] == "true"


def test_a_passage_is_read_with_its_neighbors(call: Call, index: Index) -> None:
    chunks = index.chunks("tower.md")
    alone = told(call("read", id=chunks[1].id))
    both = told(call("read", id=chunks[1].id, around=1))

    assert alone["text"] == index.document("tower.md").text[chunks[1].start : chunks[1].end]
    assert (both["start"], both["end"]) == (chunks[0].start, chunks[1].end)
    assert both["next_cursor"] == ""


def test_an_outline_names_the_sections(call: Call, index: Index) -> None:
    sections = told(call("outline", id=index.document("tower.md").id))["sections"]

    assert [one["path"] for one in sections] == [["The tower"], ["The tower", "Height"]]
    assert [one["id"] for one in sections] == [one.id for one in index.chunks("tower.md")]


def test_a_question_is_answered_with_citations_that_can_be_checked(call: Call, index: Index) -> None:
    answer = told(call("ask", question="How many metres high is it?"))
    further = told(call("ask", question="How many metres high is it?", effort="high"))

    assert "330 metres" in answer["text"]
    assert answer["mode"] == "extractive"
    for one in answer["citations"]:
        assert index.document(one["source"]).text[one["start"] : one["end"]] == one["quote"]
        assert one["url"].startswith(f"{BASE}/document?")
    assert not answer["warnings"]
    assert any("no cross-encoder" in str(one) for one in further["warnings"])


def test_scores_add_up_and_a_miss_has_its_reason(call: Call, index: Index) -> None:
    hit = index.search("Eiffel tower").hits[0]
    shown = told(call("explain", query="Eiffel tower", id=hit.chunk_id))
    assert shown["score"] == hit.score
    assert sum(one["part"] for one in shown["retrievers"]) == hit.score
    assert {one["term"] for one in shown["terms"]} >= {"tower"}

    lost = told(call("why_not", query="Eiffel tower", document="nowhere.md"))
    assert lost["stage"] == "not_indexed"
    assert lost["hint"]


def test_documents_are_listed_without_what_sync_keeps_for_itself(call: Call, tmp_path: Path, index: Index) -> None:
    (tmp_path / "note.txt").write_text("A note that was synced.")
    index.sync(tmp_path)
    listed = told(call("list_documents"))

    assert listed["total"] == 4
    note = next(one for one in listed["documents"] if one["source"].endswith("note.txt"))
    assert "root" not in note["metadata"]
    assert told(call("list_documents", filter="title == 'The cat'"))["total"] == 1


def test_what_is_not_there_is_an_error_with_its_remedy(call: Call) -> None:
    assert said(call("read", id="nope")).endswith("There is no document 'nope'. `list_documents` lists them.")
    assert "There is no document 'nope'." in said(call("fetch", id="nope_chunk_0"))
    assert "There is no passage" in said(call("read", id=f"{DOG}_chunk_7"))
    assert "Ask `why_not`" in said(call("explain", query="tower", id="nope_chunk_3"))


def test_documents_are_searched_read_and_listed_as_they_were(call: Call, index: Index) -> None:
    dog = index.document(DOG).id
    index.snapshot("monday")
    index.delete(DOG)

    found = told(call("search_passages", query="dog yard", mode="bm25", as_of="monday"))["passages"]
    assert [one["document"] for one in found] == [dog]
    assert told(call("search_passages", query="dog yard", mode="bm25"))["passages"] == []
    assert told(call("read", id=dog, as_of="monday"))["text"] == "The dog slept in the yard."
    assert told(call("outline", id=dog, as_of="monday"))["document"] == dog
    assert told(call("list_documents", as_of="monday"))["total"] == told(call("list_documents"))["total"] + 1
    answer = told(call("ask", question="Where did the dog sleep?", as_of="monday"))
    assert dog in json.dumps(answer["citations"])
    assert "There is no snapshot 'tuesday'." in said(call("ask", question="dog", as_of="tuesday"))
    assert "There is no" in said(call("read", id=dog))


def test_documents_are_added_and_deleted_by_their_id_alone(call: Call, index: Index) -> None:
    added = told(call("add", text="Zebras have stripes.", source="zebra.txt"))
    assert index.document("zebra.txt").id == added["id"]

    assert "no document with the id" in said(call("delete", id="zebra.txt"))
    assert told(call("delete", id=added["id"])) == {"deleted": 1}
    assert len(index) == len(TEXTS) + 1


def test_writing_is_offered_only_where_it_was_allowed(index: Index) -> None:
    async def names(*, write: bool) -> dict[str, bool | None]:
        server = create_mcp_server(OneIndex(lambda: index, Links("notes"), DEFAULT_BUDGET), write=write)
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
        return {one.name: one.annotations.read_only_hint for one in tools if one.annotations}

    reading, both = anyio.run(lambda: names(write=False)), anyio.run(lambda: names(write=True))
    assert all(reading.values())
    assert {name for name in both if not both[name]} == set(both) - set(reading) == {"add", "delete"}


def test_documents_are_resources_and_prompts_are_offered(index: Index) -> None:
    async def look() -> tuple[str, str]:
        server = create_mcp_server(OneIndex(lambda: index, Links("notes"), DEFAULT_BUDGET))
        async with Client(server) as client:
            name = index.document("cat.md").id
            read = await client.read_resource(f"twofold://documents/{name}")
            with pytest.raises(MCPError, match="There is no document"):
                await client.read_resource("twofold://documents/nope")
            prompt = await client.get_prompt("answer_from_documents", {"question": "How high is it?"})
            assert len((await client.list_prompts()).prompts) == 2
        return getattr(read.contents[0], "text", ""), getattr(prompt.messages[0].content, "text", "")

    text, prompt = anyio.run(look)
    assert text == TEXTS["cat.md"]
    assert "How high is it?" in prompt

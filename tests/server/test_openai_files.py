"""OpenAI's files, vector stores and responses, by the real `openai` client."""

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from support.api_client import TEXTS, Visit, fill, visiting

FERRY = b"# Ferries\n\nThe night ferry to Ostend leaves at 23:15 from pier 4.\n"


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("openai")
    fill(home)
    with visiting(home, said={"answer.min_answerability": 0.0}) as one:
        yield one


def client_for(visit: Visit, *scopes: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{visit.address}/v1", api_key=visit.token(*scopes), max_retries=0)


@pytest.fixture
def admin(visit: Visit) -> Iterator[openai.OpenAI]:
    with client_for(visit, "admin") as one:
        yield one


def test_a_file_is_sent_listed_shown_and_deleted(admin: openai.OpenAI) -> None:
    sent = admin.files.create(file=("ferry.md", FERRY), purpose="assistants")

    assert (sent.filename, sent.bytes, sent.purpose) == ("ferry.md", len(FERRY), "assistants")
    assert sent.id in {one.id for one in admin.files.list()}
    assert admin.files.retrieve(sent.id).created_at == sent.created_at
    assert admin.files.delete(sent.id).deleted
    with pytest.raises(openai.NotFoundError):
        admin.files.retrieve(sent.id)


def test_a_file_becomes_a_document_that_is_found_by_its_own_id(admin: openai.OpenAI) -> None:
    store = admin.vector_stores.create(name="My ferries!")
    sent = admin.files.create(file=("ferry.md", FERRY), purpose="assistants")
    added = admin.vector_stores.files.create_and_poll(
        sent.id, vector_store_id=store.id, attributes={"region": "coast"}, poll_interval_ms=50
    )
    found = admin.vector_stores.search(store.id, query="When does the night ferry leave?")
    other = admin.vector_stores.search(
        store.id, query="ferry", filters={"type": "eq", "key": "region", "value": "inland"}
    )

    assert (store.id, store.name) == ("My-ferries", "My-ferries")
    assert added.status == "completed"
    assert found.data[0].file_id == sent.id
    assert found.data[0].attributes == {"region": "coast", **(found.data[0].attributes or {})}
    assert "23:15" in found.data[0].content[0].text
    assert list(other) == []
    assert [one.id for one in admin.vector_stores.files.list(store.id)] == [sent.id]
    assert admin.vector_stores.retrieve(store.id).file_counts.completed == 1
    assert admin.vector_stores.files.delete(sent.id, vector_store_id=store.id).deleted
    assert list(admin.vector_stores.files.list(store.id)) == []
    assert admin.files.retrieve(sent.id).id == sent.id  # what was sent stays
    assert admin.vector_stores.delete(store.id).deleted
    assert store.id not in {one.id for one in admin.vector_stores.list()}


def test_a_file_that_cannot_be_read_says_why(admin: openai.OpenAI) -> None:
    sent = admin.files.create(file=("broken.pdf", b"%PDF-1.4 nothing"), purpose="assistants")
    store = admin.vector_stores.create(name="broken")
    added = admin.vector_stores.files.create_and_poll(sent.id, vector_store_id=store.id, poll_interval_ms=50)

    assert added.status == "failed"
    assert added.last_error is not None
    assert "PDF" in added.last_error.message


def test_pages_of_lists_follow_each_other(admin: openai.OpenAI) -> None:
    files = [admin.files.create(file=(f"{at}.txt", b"Text."), purpose="user_data").id for at in range(3)]
    first = admin.files.list(limit=2)
    both = [one.id for one in first.data] + [one.id for one in admin.files.list(after=first.data[-1].id)]

    assert first.has_more
    assert set(files) <= set(both)
    assert len(both) == len(set(both))
    stores = [admin.vector_stores.create(name=f"page-{at}").id for at in range(3)]
    assert [one.id for one in admin.vector_stores.list(limit=1) if one.id.startswith("page-")] == stores  # page by page


def test_each_token_sees_its_own_files_alone(visit: Visit, admin: openai.OpenAI) -> None:
    sent = admin.files.create(file=("secret.txt", b"Mine."), purpose="assistants")
    with client_for(visit, "write:notes") as other, client_for(visit, "read") as reader:
        assert list(other.files.list()) == []
        with pytest.raises(openai.NotFoundError):
            other.files.retrieve(sent.id)
        with pytest.raises(openai.NotFoundError):
            other.vector_stores.files.create("notes", file_id=sent.id)
        with pytest.raises(openai.PermissionDeniedError):
            other.vector_stores.create(name="mine")
        with pytest.raises(openai.PermissionDeniedError):
            reader.files.create(file=("a.txt", b"A."), purpose="assistants")
        with pytest.raises(openai.PermissionDeniedError):
            reader.vector_stores.files.create("notes", file_id=sent.id)


def test_a_response_is_answered_from_the_vector_store_with_citations(admin: openai.OpenAI) -> None:
    given = admin.responses.create(
        model="any",
        input="Where does the Eiffel tower stand?",
        tools=[{"type": "file_search", "vector_store_ids": ["notes"]}],
    )
    search, message = given.output

    assert "Paris" in given.output_text
    assert search.type == "file_search_call"
    assert search.results is not None
    assert search.results[0].filename == "tower.txt"
    assert message.type == "message"
    cited = message.content[0].annotations[0]  # type: ignore[union-attr]
    assert cited.filename == "tower.txt"  # type: ignore[union-attr]
    assert cited.file_id == search.results[0].file_id  # type: ignore[union-attr]


def test_a_streamed_response_is_the_same(admin: openai.OpenAI) -> None:
    with admin.responses.stream(model="notes", input="Where does the Eiffel tower stand?") as events:
        kinds = [(one.type, one.sequence_number) for one in events]
        whole = events.get_final_response()

    assert [number for _, number in kinds] == list(range(len(kinds)))
    assert kinds[0][0] == "response.created"
    assert "response.output_text.delta" in dict(kinds)
    assert kinds[-1][0] == "response.completed"
    assert (
        whole.output_text
        == admin.responses.create(model="notes", input="Where does the Eiffel tower stand?").output_text
    )


def test_a_conversation_and_several_vector_stores(visit: Visit, admin: openai.OpenAI) -> None:
    fill(visit.home, "more", {"ferry.md": FERRY.decode()})
    given = admin.responses.create(
        model="any",
        input=[
            {"role": "developer", "content": "Answer in verse."},
            {"role": "user", "content": [{"type": "input_text", "text": "When does the night ferry leave?"}]},
        ],
        tools=[{"type": "file_search", "vector_store_ids": ["notes", "more"], "max_num_results": 5}],
    )

    assert "23:15" in given.output_text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tools", [{"type": "function", "function": {"name": "f"}}]),
        ("response_format", {"type": "json_object"}),
        ("logit_bias", {"50256": -100}),
    ],
)
def test_what_a_chat_cannot_do_is_refused_by_name(admin: openai.OpenAI, name: str, value: object) -> None:
    ask = {"model": "notes", "messages": [{"role": "user", "content": "Where is the tower?"}], "temperature": 0.2}
    with pytest.raises(openai.BadRequestError, match=f"`{name}` is not supported"):
        admin.chat.completions.create(**ask, **{name: value})  # type: ignore[call-overload]
    assert admin.chat.completions.create(**ask).choices[0].message.content  # type: ignore[call-overload]


def test_what_a_vector_store_or_a_response_cannot_do_is_refused_by_name(admin: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="`expires_after` is not supported"):
        admin.vector_stores.create(name="brief", expires_after={"anchor": "last_active_at", "days": 1})
    with pytest.raises(openai.BadRequestError, match="`previous_response_id` is not supported"):
        admin.responses.create(model="notes", input="And?", previous_response_id="resp_1")
    with pytest.raises(openai.BadRequestError, match="`rewrite_query` is not supported"):
        admin.vector_stores.search("notes", query="cat", rewrite_query=True)
    with pytest.raises(openai.UnprocessableEntityError):
        admin.responses.create(model="notes", input="What is new?", tools=[{"type": "web_search"}])


def test_files_outlive_the_server(tmp_path: Path) -> None:
    with visiting(tmp_path) as visit:
        token = visit.token("admin")
        with openai.OpenAI(base_url=f"{visit.address}/v1", api_key=token, max_retries=0) as one:
            sent = one.files.create(file=("cat.txt", TEXTS["cat.txt"].encode()), purpose="assistants")
    with (
        visiting(tmp_path) as visit,
        openai.OpenAI(base_url=f"{visit.address}/v1", api_key=token, max_retries=0) as one,
    ):
        assert one.files.retrieve(sent.id).bytes == len(TEXTS["cat.txt"])

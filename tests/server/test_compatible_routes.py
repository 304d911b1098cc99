"""Other systems' clients: the real `openai` client, and recorded shapes of Cohere's, Jina's and Dify's requests."""

import base64
from collections.abc import Iterator

import numpy as np
import openai
import pytest
from openai.types.chat import ChatCompletionUserMessageParam

from support.api_client import TEXTS, Visit, fill, visiting
from twofold.models.embedders.hashing import HashingEmbedder


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("compatible")
    fill(home)
    with visiting(home, said={"answer.min_answerability": 0.0}) as one:
        yield one


@pytest.fixture(scope="module")
def client(visit: Visit) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{visit.address}/v1", api_key=visit.token("read"), max_retries=0) as one:
        yield one


@pytest.fixture(scope="module")
def bearer(visit: Visit) -> dict[str, str]:
    return dict(visit.as_bearer("read"))


def test_an_index_is_a_model(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["notes"]


def test_a_chat_is_answered_with_annotations_that_point_into_the_answer(client: openai.OpenAI) -> None:
    asked = "When was the Eiffel tower finished?"

    answer = client.chat.completions.create(model="notes", messages=[{"role": "user", "content": asked}])

    message = answer.choices[0].message
    assert "1889" in (message.content or "")
    assert message.annotations
    for one in message.annotations:
        cited = one.url_citation
        assert (message.content or "")[cited.start_index : cited.end_index].strip()
        assert one.model_extra is not None
        assert one.model_extra["twofold"]["quote"] in TEXTS[cited.title]
    assert "tower.txt" in {one.url_citation.title for one in message.annotations}


def test_a_streamed_chat_is_the_same_answer(client: openai.OpenAI) -> None:
    messages: list[ChatCompletionUserMessageParam] = [
        {"role": "user", "content": [{"type": "text", "text": "When was the Eiffel tower finished?"}]}
    ]

    whole = client.chat.completions.create(model="notes", messages=messages)
    pieces = list(client.chat.completions.create(model="notes", messages=messages, stream=True))

    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == whole.choices[0].message.content
    assert [piece.choices[0].finish_reason for piece in pieces][-1] == "stop"


def test_what_is_wrong_with_a_chat_is_an_error_of_the_client(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="gone", messages=[{"role": "user", "content": "a"}])
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(model="notes", messages=[{"role": "assistant", "content": "a"}])
    with pytest.raises(openai.AuthenticationError):
        client.with_options(api_key="wrong").models.list()


def test_embeddings_are_the_models_own_in_both_encodings(client: openai.OpenAI) -> None:
    expected = HashingEmbedder().embed_passages(["a cat", "a dog"])

    packed = client.embeddings.create(model="notes", input=["a cat", "a dog"])
    plain = client.embeddings.create(model="notes", input="a cat", encoding_format="float")

    np.testing.assert_allclose([one.embedding for one in packed.data], expected, atol=1e-6)
    np.testing.assert_allclose(plain.data[0].embedding, expected[0], atol=1e-6)
    assert packed.usage.total_tokens > 0


def test_raw_base64_is_little_endian_float32(visit: Visit, bearer: dict[str, str]) -> None:
    body = {"model": "notes", "input": "a cat", "encoding_format": "base64"}

    given = visit.client.post("/v1/embeddings", json=body, headers=bearer).json()

    row = np.frombuffer(base64.b64decode(given["data"][0]["embedding"]), dtype="<f4")
    np.testing.assert_allclose(row, HashingEmbedder().embed_passages(["a cat"])[0], atol=1e-6)


def test_an_index_is_a_vector_store(client: openai.OpenAI) -> None:
    found = client.vector_stores.search("notes", query="Where does the tower stand?", max_num_results=2)
    only = client.vector_stores.search(
        "notes", query="cat", filters={"type": "and", "filters": [{"type": "ne", "key": "source", "value": "cat.txt"}]}
    )
    none = client.vector_stores.search("notes", query="cat", ranking_options={"score_threshold": 1.0})

    assert found.data[0].filename == "tower.txt"
    assert found.data[0].content[0].text in TEXTS["tower.txt"]
    assert "cat.txt" not in {one.filename for one in only}
    assert list(none) == []


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank"])
def test_texts_are_put_in_order_as_cohere_and_jina_do(visit: Visit, bearer: dict[str, str], path: str) -> None:
    body = {
        "model": "notes",
        "query": "What is the capital of the United States?",
        "documents": [
            "Carson City is the capital city of the American state of Nevada.",
            {"text": "Washington, D.C. is the capital of the United States."},
            "Capital punishment has existed.",
        ],
        "top_n": 2,
        "return_documents": True,
        "max_tokens_per_doc": 4096,
    }

    given = visit.client.post(path, json=body, headers=bearer).json()

    assert given["results"][0]["index"] == 1
    assert len(given["results"]) == 2
    assert given["results"][0]["document"]["text"].startswith("Washington")
    assert all(0.0 <= one["relevance_score"] <= 1.0 for one in given["results"])


def test_dify_finds_records(visit: Visit, bearer: dict[str, str]) -> None:
    body = {
        "knowledge_id": "notes",
        "query": "the tower in Paris",
        "retrieval_setting": {"top_k": 2, "score_threshold": 0.1},
        "metadata_condition": {
            "logical_operator": "and",
            "conditions": [{"name": ["source"], "comparison_operator": "is not", "value": "cat.txt"}],
        },
    }

    given = visit.client.post("/retrieval", json=body, headers=bearer).json()

    best = given["records"][0]
    assert best["content"] in TEXTS["tower.txt"]
    assert best["metadata"]["path"] == "tower.txt"
    assert all(record["score"] >= 0.1 for record in given["records"])


@pytest.mark.parametrize(
    "operator", ["contains", "start with", "is", "empty", "not empty", "not contains", "≥", "no such"]
)
def test_dify_conditions_are_read_or_refused(visit: Visit, bearer: dict[str, str], operator: str) -> None:
    body = {
        "knowledge_id": "notes",
        "query": "tower",
        "retrieval_setting": {"top_k": 2},
        "metadata_condition": {
            "conditions": [{"name": ["source"], "comparison_operator": operator, "value": "tower.txt"}]
        },
    }

    given = visit.client.post("/retrieval", json=body, headers=bearer)

    assert given.status_code == (400 if operator == "no such" else 200)

"""What the application manages over HTTP: fields of documents, models, questions to judge, the log, a checkup."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.api_client import Visit, fill, visiting
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index

NOTES = "/v1/indexes/notes"


def events_of(text: str) -> list[Any]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


def only(visit: Visit, name: str) -> Any:  # noqa: ANN401  # JSON
    return visit.client.get(f"{NOTES}/documents?q={name}").json()["documents"][0]


def test_fields_of_a_document_are_set_taken_away_and_filtered_by(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path) as visit:
        path = f"{NOTES}/documents/{only(visit, 'tower')['id']}/metadata"
        said = {"year": 1889, "author": "Gustave", "tags": ["iron", "tall"], "draft": True}
        assert visit.client.put(path, json={"metadata": said}).json()["metadata"] == said
        visit.client.put(path, json={"metadata": {"author": "", "year": 1890}})
        assert only(visit, "tower")["metadata"] == {
            "year": 1890, "tags": ["iron", "tall"], "draft": True,
        }  # fmt: skip
        asked = {"query": "the", "filter": "year >= 1890"}
        found = visit.client.post(f"{NOTES}/search", json=asked).json()["hits"]
        assert {hit["source"] for hit in found} == {"tower.txt"}

        refused = visit.client.put(path, json={"metadata": {"root": "/etc"}})
        assert refused.status_code == 400
        assert "keeps the field 'root' itself" in refused.json()["detail"]
        nobody = visit.client.put(f"{NOTES}/documents/nobody/metadata", json={"metadata": {"a": "b"}})
        assert nobody.status_code == 404


def test_fields_that_were_set_outlive_the_next_sync_and_a_change_of_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "heron.md").write_text("Herons stand still.")
    with Index("notes", overrides={"embedder": "hashing", "home": str(tmp_path / "home")}) as index:
        index.sync(folder)
        index.set_metadata("heron.md", {"shelf": "birds", "language": "fr"})
        assert index.sync(folder).unchanged == 1
        assert index.document("heron.md").metadata["shelf"] == "birds"
        (folder / "heron.md").write_text("Herons stand still, and wait for fish.")
        assert len(index.sync(folder).updated) == 1
        assert index.document("heron.md").metadata["shelf"] == "birds"
        assert index.document("heron.md").metadata["language"] == "fr"
        index.set_metadata("heron.md", {"shelf": ""})
        (folder / "heron.md").write_text("Herons stand.")
        index.sync(folder)
        assert "shelf" not in index.document("heron.md").metadata


def test_a_question_chooses_among_the_models_that_the_server_was_started_with(tmp_path: Path) -> None:
    fill(tmp_path)

    def small(_: Heard, send: Send) -> None:
        send(piece("The small one says Paris [1]."))
        send(finished())

    def large(_: Heard, send: Send) -> None:
        send(piece("The large one says Paris [1]."))
        send(finished())

    question = {"query": "Where does the Eiffel tower stand?", "stream": False}
    with (
        chatting(small) as one,
        chatting(large) as two,
        visiting(tmp_path, said={"generator": f"{one}#small"}, models=(f"{two}#large",)) as visit,
    ):
        assert visit.client.get("/v1/server").json()["models"] == ["large"]
        answers = [
            visit.client.post(f"{NOTES}/ask", json={**question, **which}).json()["text"]
            for which in ({}, {"model": "large"})
        ]
        assert ["small" in answers[0], "large" in answers[1]] == [True, True]
        several = visit.client.post("/v1/ask", json={**question, "indexes": ["notes"], "model": "large"})
        assert "large" in several.json()["text"]
        for wrong in (f"{two}#large", "openai/gpt-4o-mini", "none"):
            refused = visit.client.post(f"{NOTES}/ask", json={**question, "model": wrong})
            assert (refused.status_code, refused.json()["detail"]) == (400, "This server has no such language model.")


def test_questions_are_made_from_the_documents(tmp_path: Path) -> None:
    places = {"heron": "lake", "stork": "roof", "swift": "tower", "wren": "hedge", "owl": "barn"}
    birds = " ".join(f"The {bird} builds its nest in spring near the {place}." for bird, place in places.items())
    fill(tmp_path, texts={"birds.txt": birds, "more.txt": birds.replace("spring", "summer")})
    with visiting(tmp_path) as visit:
        made = visit.client.post(f"{NOTES}/questions:made", json={"count": 4}).json()["questions"]
        assert 0 < len(made) <= 4
        assert all("nest" in one for one in made)
        again = visit.client.post(f"{NOTES}/questions:made", json={"count": 4}).json()["questions"]
        assert again == made
        visit.client.post("/v1/indexes", json={"name": "void"})
        assert visit.client.post("/v1/indexes/void/questions:made", json={}).status_code == 400


def test_the_log_says_how_questions_went(tmp_path: Path) -> None:
    fill(tmp_path)
    with visiting(tmp_path, said={"log": {"queries": True}}) as visit:
        visit.client.post(f"{NOTES}/search", json={"query": "cat on the mat"})
        visit.client.post(f"{NOTES}/search", json={"query": "+zeppelin"})
        log = visit.client.get(f"{NOTES}/log").json()
    assert [one["question"] for one in log["entries"]] == ["+zeppelin", "cat on the mat"]
    assert log["kept"]
    assert log["entries"][0]["why"][0] == "nothing found"
    assert log["weak"]["questions"][0]["question"] == "+zeppelin"


def test_a_checkup_names_the_installation_and_every_index(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path, "boats", texts={"punts.txt": "A punt is flat."})
    with visiting(tmp_path) as visit:
        found = {one["what"]: one for one in visit.client.get("/v1/checkup").json()["checks"]}
    assert {"python", "sqlite", "disk", "index boats", "index notes"} <= found.keys()
    assert found["index notes"]["state"] == "ok"
    assert found["index notes"]["says"] == "3 documents, every checksum is right"


@pytest.mark.parametrize("name", ["nothing", "bge-small-en-v1.5"])
def test_a_model_that_cannot_be_fetched_says_why(tmp_path: Path, name: str) -> None:
    fill(tmp_path)
    with visiting(tmp_path, said={"models": str(tmp_path / "models")}) as visit:
        listed = visit.client.get("/v1/model-files").json()
        assert listed["offline"] is True
        assert not any(one["present"] for one in listed["models"])
        answer = visit.client.post(f"/v1/model-files/{name}")
        if name == "nothing":
            assert answer.status_code == 404
        else:
            (last,) = events_of(answer.text)
            assert last["type"] == "error"
            assert "fetching is switched off" in last["problem"]["detail"]

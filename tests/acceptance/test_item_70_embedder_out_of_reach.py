"""Items 70 and 76: a server of embeddings that is down takes meaning away, and never the words."""

import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from support.api_client import visiting
from support.http_server import Answered, Asked, embeddings, embeddings_of, serving
from twofold import Index
from twofold.domain.errors import ModelError, ModelUnavailableError

OPTIONS = ["", "&dimensions=64"]
WRITTEN = pytest.mark.parametrize("options", OPTIONS, ids=["dimensions unsaid", "dimensions said"])


@pytest.fixture
def asked() -> list[str]:
    """The paths that the server was asked for."""
    return []


@pytest.fixture
def down() -> str:
    """A server's address at which nobody answers: what connects is refused."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        return f"http://127.0.0.1:{held.getsockname()[1]}/v1#hashing"


def spec_of(address: str, options: str) -> str:
    return f"{address}/v1#hashing{options}"


@pytest.fixture
def abandoned(tmp_path: Path, asked: list[str], request: pytest.FixtureRequest) -> tuple[Path, str]:
    """An index whose server of embeddings has gone, and how its embedder was written."""

    def noting(one: Asked) -> Answered:
        asked.append(one.path)
        return embeddings(one)

    folder = tmp_path / "index"
    with serving(noting) as address, Index(folder, overrides={"embedder": spec_of(address, request.param)}) as index:
        index.add("undo the last commit with reset", source="reset.txt")
        index.add("a recipe for apple pie", source="pie.txt")
    asked.clear()
    return folder, spec_of(address, request.param)


ABANDONED = pytest.mark.parametrize("abandoned", OPTIONS, ids=["dimensions unsaid", "dimensions said"], indirect=True)


@ABANDONED
def test_words_alone_are_searched_as_if_nothing_was_wrong(abandoned: tuple[Path, str]) -> None:
    folder, spec = abandoned
    with Index(folder, overrides={"embedder": spec}, create=False) as index:
        result = index.search("undo commit", mode="bm25")

    assert [hit.source for hit in result.hits] == ["reset.txt"]
    assert result.warnings == ()


@ABANDONED
def test_a_hybrid_search_goes_on_with_words_and_says_so(abandoned: tuple[Path, str]) -> None:
    folder, spec = abandoned
    with Index(folder, overrides={"embedder": spec}, create=False) as index:
        result = index.search("undo commit")

    assert [hit.source for hit in result.hits] == ["reset.txt"]
    assert result.mode == "bm25"
    assert "vector unavailable" in str(result.warnings[0])
    assert "cannot be reached" in str(result.warnings[0])


@ABANDONED
def test_a_search_by_meaning_alone_is_an_error(abandoned: tuple[Path, str]) -> None:
    folder, spec = abandoned
    with Index(folder, overrides={"embedder": spec}, create=False) as index, pytest.raises(ModelUnavailableError):
        index.search("undo commit", mode="vector")


@ABANDONED
@pytest.mark.parametrize("words", [("search", "undo commit", "-m", "bm25"), ("search", "undo commit"), ("ls",)])
@pytest.mark.parametrize("named", [True, False])
def test_the_command_line_goes_on(abandoned: tuple[Path, str], words: tuple[str, ...], *, named: bool) -> None:
    folder, spec = abandoned
    surroundings = {**os.environ, **({"TWOFOLD_EMBEDDER": spec} if named else {})}
    command = [sys.executable, "-m", "twofold", *words, "-i", str(folder)]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert "reset.txt" in done.stdout


@WRITTEN
def test_sync_says_what_is_wrong_and_keeps_what_is_there(tmp_path: Path, down: str, options: str) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "a.md").write_text("Undo the last commit.\n")
    surroundings = {**os.environ, "TWOFOLD_EMBEDDER": f"{down}{options}"}
    command = [sys.executable, "-m", "twofold", "sync", str(folder), "-i", "n"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=False)

    assert done.returncode == 8
    assert "cannot be reached" in done.stderr
    assert "Check that the server runs" in done.stderr
    assert "Traceback" not in done.stderr


@WRITTEN
@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_an_empty_index_is_searched_without_asking_the_server(down: str, options: str, mode: str) -> None:
    with Index(":memory:", overrides={"embedder": f"{down}{options}"}) as index:
        assert index.search("undo commit", mode=mode).hits == ()


def test_a_server_starts_and_searches_by_words_while_its_embedder_is_down(tmp_path: Path, asked: list[str]) -> None:
    home = tmp_path / "home"

    def noting(one: Asked) -> Answered:
        asked.append(one.path)
        return embeddings(one)

    with ExitStack() as stack:
        address = stack.enter_context(serving(noting))
        said = {"embedder": spec_of(address, "")}
        with Index(home / "indexes" / "notes", overrides=said) as index:
            index.add("undo the last commit with reset", source="reset.txt")
    with visiting(home, said=said) as visit:
        by_words = visit.client.post("/v1/indexes/notes/search", json={"query": "undo", "mode": "bm25"})
        hybrid = visit.client.post("/v1/indexes/notes/search", json={"query": "undo"})

    assert [hit["source"] for hit in by_words.json()["hits"]] == ["reset.txt"]
    assert by_words.json()["warnings"] == []
    assert [hit["source"] for hit in hybrid.json()["hits"]] == ["reset.txt"]
    assert (hybrid.json()["warnings"][0]["stage"], hybrid.json()["warnings"][0]["code"]) == ("vector", "unavailable")


def test_a_server_that_comes_back_with_other_dimensions_is_refused_with_a_remedy(tmp_path: Path) -> None:
    widths = [64]

    def changing(one: Asked) -> Answered:
        return Answered(embeddings_of(msgspec.json.decode(one.body)["input"], widths[-1]))

    folder = tmp_path / "index"
    with serving(changing) as address:
        overrides = {"embedder": spec_of(address, "")}
        with Index(folder, overrides=overrides) as index:
            index.add("undo the last commit", source="a.txt")
        widths.append(32)
        with Index(folder, overrides=overrides, create=False) as index:
            with pytest.raises(ModelError, match="vectors of 32 dimensions instead of 64") as caught:
                index.search("undo", mode="vector")
            assert [hit.source for hit in index.search("undo").hits] == ["a.txt"]
    assert "&dimensions=32" in caught.value.hint

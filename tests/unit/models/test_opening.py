"""What a user writes becomes the right embedder, or a clear refusal."""

import sys
from pathlib import Path

import pytest

from support import tiny_model
from support.http_server import Answered, Asked, embeddings, serving
from twofold.domain.errors import InvalidInputError, MissingExtraError, ModelError, NotFoundError
from twofold.models.catalog.entries import CATALOG, entry_named
from twofold.models.catalog.identities import identity_of
from twofold.models.catalog.types import Task
from twofold.models.embedders.endpoint import EndpointEmbedder
from twofold.models.embedders.factory import endpoint_of, open_embedder
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.models.embedders.onnxruntime import open_onnxruntime


def test_hashing_needs_nothing(tmp_path: Path) -> None:
    for spec, dimensions in (("hashing", 256), ("hashing:33", 33)):
        embedder = open_embedder(spec, cache=tmp_path, offline=True)
        assert isinstance(embedder, HashingEmbedder)
        assert embedder.identity == identity_of(spec)
        assert embedder.identity.dimensions == dimensions
    assert not list(tmp_path.iterdir())


def test_a_server_is_found_at_its_address(tmp_path: Path) -> None:
    with serving(embeddings) as address:
        spec = f"{address}/v1#a/model:latest&query_prefix=query%3A%20&max_tokens=99"
        embedder = open_embedder(spec, cache=tmp_path, offline=True)

        assert isinstance(embedder, EndpointEmbedder)
        assert embedder.identity == identity_of(spec + "&dimensions=64")
        assert identity_of(spec) is None
    identity = embedder.identity
    assert (identity.name, identity.dimensions, identity.max_tokens) == ("a/model:latest", 64, 99)
    assert identity.query_prefix == "query: "


def test_the_key_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str | None] = []
    monkeypatch.setenv("TWOFOLD_API_KEY", "from-the-environment")

    def noting(asked: Asked) -> Answered:
        keys.append(asked.headers.get("Authorization"))
        return embeddings(asked)

    with serving(noting) as address:
        open_embedder(f"{address}/v1#m", cache=tmp_path)
        open_embedder(f"{address}/v1#m", cache=tmp_path, key="from-the-caller")
        open_embedder(f"{address}/v1#m", cache=tmp_path, key="")

    assert keys == ["Bearer from-the-environment", "Bearer from-the-caller", None]


def test_every_catalog_model_tells_its_identity_without_its_files() -> None:
    for name, entry in CATALOG.items():
        if entry.task is Task.EMBED:
            identity = identity_of(name)
            assert identity == entry.identity
            if entry.weights.name != "model.onnx":
                continue
            other = identity_of(f"onnxruntime:{name}")
            assert (other == identity) is not entry.quantized


def test_pins_are_whole_and_every_file_has_a_source() -> None:
    for entry in CATALOG.values():
        names = {
            Task.GENERATE: {"model.gguf"},
            Task.TRANSCRIBE: {"model.bin", "config.json", "tokenizer.json", "vocabulary.txt"},
        }
        whole = {"model.q4"} if entry.made_tokenizer else {"model.onnx", "tokenizer.json"}
        assert {file.name for file in entry.files} == names.get(entry.task, whole)
        assert len(entry.made_tokenizer) in {0, 64}
        for file in entry.files:
            assert len(file.sha256) == 64
            assert int(file.sha256, 16)
            assert file.sources
            assert file.size > 0
    revisions = [entry.revision for entry in CATALOG.values()]
    assert len(set(revisions)) == len(revisions)


@pytest.mark.parametrize("spec", ["", "bge", "onnxruntime:", "onnxruntime:nope", "ms-marco-MiniLM-L-12-v2", "../etc"])
def test_an_unknown_name_lists_the_known_ones(tmp_path: Path, spec: str) -> None:
    for ask in (identity_of, lambda spec: open_embedder(spec, cache=tmp_path)):
        with pytest.raises(NotFoundError, match=r"bge-small-en-v1\.5.*hashing.*http://HOST/v1#MODEL"):
            ask(spec)


def test_a_model_for_another_task_is_not_among_the_known() -> None:
    assert entry_named("ms-marco-MiniLM-L-12-v2").task is Task.RERANK
    with pytest.raises(NotFoundError, match="Known are: ms-marco-MiniLM-L-12-v2"):
        entry_named("bge-small-en-v1.5", Task.RERANK)


@pytest.mark.parametrize(
    "spec",
    [
        "hashing:0",
        "hashing:-3",
        "hashing:many",
        "hashing:²",
        "http://localhost/v1",
        "http://localhost/v1#",
        "http://localhost/v1#m&dimensions=0",
        "http://localhost/v1#m&color=red",
        "http://user:password@localhost/v1#m",
        "http://#m",
        "http://localhost:notaport/v1#m",
        "sentence-transformers:",
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, spec: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        open_embedder(spec, cache=tmp_path)

    assert caught.value.hint
    assert "password@" not in str(caught.value)


def test_offline_a_missing_model_and_a_distant_server_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"switched off\. Run `twofold models pull bge-small-en-v1\.5`"):
        open_embedder("bge-small-en-v1.5", cache=tmp_path, offline=True)
    with pytest.raises(ModelError, match=r"https://api\.example\.com may not be asked"):
        open_embedder("https://api.example.com/v1#m", cache=tmp_path, offline=True)


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Make a module impossible to import, as where it is not installed."""

    class Absent:
        def find_spec(self, asked: str, *_: object) -> None:
            if asked == name:
                raise ModuleNotFoundError(name=name)

    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])


def test_a_missing_extra_names_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "sentence_transformers")
    with pytest.raises(MissingExtraError, match=r"pip install 'twofold\[sentence-transformers\]'"):
        open_embedder("sentence-transformers:a/b", cache=tmp_path)

    without(monkeypatch, "onnxruntime")
    contents = tiny_model.contents()
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    entry = tiny_model.entry(dict.fromkeys(contents, ()), contents)
    with pytest.raises(MissingExtraError, match=r"pip install 'twofold\[onnxruntime\]'"):
        open_onnxruntime(entry, tmp_path).embed_passages(["cat"])


def test_the_key_is_kept_out_of_what_an_endpoint_shows() -> None:
    assert "secret" not in repr(endpoint_of("http://localhost/v1#m", "secret"))

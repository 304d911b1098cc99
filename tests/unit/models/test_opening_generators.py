"""Which generator a name opens, where keys go, and what is refused before anything is sent."""

from pathlib import Path

import pytest

from twofold.domain.errors import InvalidInputError, ModelError, NotFoundError
from twofold.domain.generators import Generator, GeneratorIdentity, Message
from twofold.factory.search import OpenModels
from twofold.models.catalog.entries import entry_named
from twofold.models.catalog.types import Task
from twofold.models.generators.factory import (
    OLLAMA_ADDRESS,
    OPENAI_ADDRESS,
    PROMPT_TOKENS,
    chat_endpoint_of,
    open_generator,
)

KEYS = {"TWOFOLD_API_KEY": "ours", "OPENAI_API_KEY": " theirs\n"}


def test_none_is_none(tmp_path: Path) -> None:
    assert open_generator("none", cache=tmp_path) is None


def test_each_key_goes_to_its_own_host_alone() -> None:
    assert chat_endpoint_of("openai/gpt-4o-mini", KEYS).key == "theirs"
    assert chat_endpoint_of("openai/gpt-4o-mini", {"TWOFOLD_API_KEY": "ours"}).key == "ours"
    assert chat_endpoint_of("http://host/v1#m", KEYS).key == "ours"
    assert chat_endpoint_of("http://host/v1#m", {"OPENAI_API_KEY": "theirs"}).key == ""
    assert chat_endpoint_of("ollama/qwen3:8b", KEYS).key == ""


def test_short_names_stand_for_addresses() -> None:
    ollama = chat_endpoint_of("ollama/qwen3:8b", {})
    openai = chat_endpoint_of("openai/gpt-5&temperature=own&context=128000", {})

    assert (ollama.address, ollama.model, ollama.limit_name) == (OLLAMA_ADDRESS, "qwen3:8b", "max_tokens")
    assert (openai.address, openai.model, openai.limit_name) == (OPENAI_ADDRESS, "gpt-5", "max_completion_tokens")
    assert openai.own_temperature
    assert openai.identity == GeneratorIdentity("gpt-5", "https://api.openai.com", 128_000)


@pytest.mark.parametrize("name", ["", "/smollm2-135m", "/qwen2.5-coder-0.5b&context=2048&threads=2"])
def test_a_local_name_opens_a_model_of_the_catalog_without_loading_it(tmp_path: Path, name: str) -> None:
    made = open_generator(f"local{name}", cache=tmp_path, offline=True)

    assert made is not None
    entry = entry_named(name.strip("/").partition("&")[0] or "qwen2.5-coder-0.5b", Task.GENERATE)
    room = (2048, 0) if "context" in name else (4096, PROMPT_TOKENS)
    assert made.identity == GeneratorIdentity(entry.name, entry.revision, *room)
    made.close()


@pytest.mark.parametrize("spec", ["", "llama", "local/bge-small-en-v1.5", "local/../etc", "localhost", "ftp://x#m"])
def test_an_unknown_name_lists_the_known_ones(tmp_path: Path, spec: str) -> None:
    with pytest.raises(NotFoundError, match=r"smollm2-135m|http://HOST/v1#MODEL"):
        open_generator(spec, cache=tmp_path)


@pytest.mark.parametrize(
    "spec",
    [
        "http://host/v1",
        "ollama/",
        "http://me:secret@host/v1#m",
        "http://host/v1#m&context=none",
        "http://host/v1#m&context=99999999999999999999",
        "http://host/v1#m&temperature=hot",
        "http://host/v1#m&dimensions=3",
        "local&threads=0",
        "local&context=999999",
        "local&color=red",
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, spec: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        open_generator(spec, cache=tmp_path)

    assert "secret" not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidInputError, match="TWOFOLD_API_KEY") as caught:
        chat_endpoint_of("http://host/v1#m", {"TWOFOLD_API_KEY": "sk-secret\r\nX: y"})

    assert "secret" not in str(caught.value)


def test_offline_only_this_machine_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="switched off"):
        open_generator("openai/gpt-4o-mini", cache=tmp_path, offline=True)
    assert open_generator("ollama/qwen3:8b", cache=tmp_path, offline=True) is not None


def test_a_local_model_that_is_not_here_is_not_fetched_offline(tmp_path: Path) -> None:
    made = open_generator("local/smollm2-135m", cache=tmp_path, offline=True)

    assert made is not None
    with pytest.raises(ModelError, match=r"twofold models pull smollm2-135m|not installed"):
        made.stream([Message("user", "hello")])


def test_each_name_is_opened_once_and_closed_once(tmp_path: Path) -> None:
    asked: list[str] = []

    def opener(spec: str) -> Generator | None:
        asked.append(spec)
        return open_generator(spec, cache=tmp_path)

    made = OpenModels(opener)

    assert made.named("ollama/a") is made.named("ollama/a")
    assert made.named("none") is None
    made.close()
    made.close()
    assert asked == ["ollama/a", "none"]

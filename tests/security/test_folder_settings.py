"""`twofold.yaml` of a folder that came from elsewhere: it may say how to search, and nothing about where text goes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from support.api_client import fill, visiting
from support.fake_llm_server import Heard, Reply, Send, chatting, finished, piece
from support.http_server import Answered, Asked, serving
from twofold import Index
from twofold.cli.app import application
from twofold.config.load import all_settings, load_settings, resolve
from twofold.factory.search import open_store

QUESTION = "undo the last commit"
KEY = "sk-users-secret"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Canary:
    address: str
    heard: list[Asked]

    @property
    def spec(self) -> str:
        return f"{self.address}/v1#evil"


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    """A listener on loopback that counts who comes, and a key that it would like to have."""
    heard: list[Asked] = []

    def answer(asked: Asked) -> Answered:
        heard.append(asked)
        return Answered(b"{}", 400)

    monkeypatch.setenv("TWOFOLD_API_KEY", KEY)
    with serving(answer) as address:
        yield Canary(address, heard)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, as if it had just been cloned, and a private index under the user's home."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    fill(Path(os.environ["TWOFOLD_HOME"]))
    folder = tmp_path / "cloned"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def run(*words: object) -> Outcome:
    done = CliRunner().invoke(application(), [str(word) for word in words], prog_name="twofold")
    return Outcome(done.exit_code, done.stdout, done.stderr)


def started(*words: str, **surroundings: str) -> Outcome:
    command = [sys.executable, "-m", "twofold", *words]
    done = subprocess.run(command, env={**os.environ, **surroundings}, capture_output=True, text=True, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)


def user_file() -> Path:
    return Path(os.environ["TWOFOLD_HOME"]) / "twofold.yaml"


def test_neither_passages_nor_the_key_leave_and_one_line_says_what_was_ignored(here: Path, canary: Canary) -> None:
    (here / "twofold.yaml").write_text(
        f"generator: '{canary.spec}'\nrerank: {{model: '{canary.spec}', fallback: '{canary.spec}'}}\n"
        f"query_expansion: {{generator: '{canary.spec}', multi_query: 3}}\nsearch: {{k: 1}}\n"
    )

    asked = run("ask", "-i", "notes", QUESTION)
    searched = run("search", "-i", "notes", QUESTION, "--json")

    for done in (asked, searched):
        assert done.code == 0
        for key in ("generator", "rerank.model", "rerank.fallback", "query_expansion"):
            (line,) = [one for one in done.err.splitlines() if one.startswith(f"twofold: {key} (twofold.yaml)")]
            assert canary.address in line
            assert f"--set {key}=" in line
    assert len(json.loads(searched.out)["hits"]) == 1
    assert canary.heard == []


def test_an_embedder_at_an_address_is_not_asked(here: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TWOFOLD_EMBEDDER")
    (here / "twofold.yaml").write_text(f"embedder: '{canary.spec}&dimensions=256'\n")
    (here / "diary.txt").write_text("My private diary: PIN 4711.")

    synced = run("sync", here, "-i", "notes")
    searched = run("search", "-i", "notes", "diary", "--json")

    assert (synced.code, searched.code) == (0, 0)
    assert "twofold: embedder (twofold.yaml) is ignored" in synced.err
    assert json.loads(searched.out)["hits"][0]["source"].endswith("diary.txt")
    assert canary.heard == []


def test_a_server_that_is_started_there_sends_nothing_either(here: Path, canary: Canary) -> None:
    (here / "twofold.yaml").write_text(f"generator: '{canary.spec}'\nrerank: {{model: '{canary.spec}'}}\n")

    with visiting(Path(os.environ["TWOFOLD_HOME"])) as visit:
        found = visit.client.post("/v1/indexes/notes/search", json={"query": QUESTION}).json()
        answer = visit.client.post("/v1/indexes/notes/ask", json={"query": QUESTION, "stream": False}).json()

    assert found["hits"]
    assert answer["mode"] == "extractive"
    assert canary.heard == []


def test_indexes_and_models_stay_where_the_user_has_them(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["TWOFOLD_HOME"])
    monkeypatch.delenv("TWOFOLD_HOME")
    monkeypatch.delenv("TWOFOLD_MODELS")
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    (here / "twofold.yaml").write_text("home: ./evil\nmodels: ./evil\nindex: ../elsewhere\n")
    (here / "a.txt").write_text("Something.")

    done = run("sync", here / "a.txt")

    assert done.code == 0
    assert done.err.count("is ignored") == 3
    assert not (here / "evil").exists()
    assert (home / "twofold" / "indexes" / "default").is_dir()


def test_what_is_ignored_is_shown_with_the_settings(here: Path) -> None:
    (here / "twofold.yaml").write_text("generator: openai/gpt-4o\nplugins: {search: [evil]}\nsearch: {k: 3}\n")

    shown = run("config", "show")
    data = json.loads(run("config", "show", "--json").out)

    assert "generator (twofold.yaml) is ignored: 'openai/gpt-4o' did not come from you." in shown.out
    assert [(one["key"], one["value"], one["origin"]) for one in data["ignored"]] == [
        ("generator", "openai/gpt-4o", "twofold.yaml"),
        ("plugins.search", '["evil"]', "twofold.yaml"),
    ]
    assert {row["key"]: row["value"] for row in data["settings"]}["search.k"] == 3


def test_the_same_file_is_obeyed_when_it_is_named(here: Path) -> None:
    (here / "twofold.yaml").write_text("generator: openai/gpt-4o\n")

    data = json.loads(run("--config", "twofold.yaml", "config", "show", "--json").out)

    assert data["ignored"] == []
    assert {row["key"]: row["value"] for row in data["settings"]}["generator"] == "openai/gpt-4o"


def test_the_users_own_file_holds_beneath_that_of_the_folder(here: Path) -> None:
    user_file().write_text("offline: true\ngenerator: ollama/mine\nsearch: {k: 7, candidates: 70}\n")
    (here / "twofold.yaml").write_text("offline: false\ngenerator: openai/gpt-4o\nsearch: {k: 3}\n")

    found = resolve()

    assert found.settings.generator == "ollama/mine"
    assert (found.settings.search.k, found.settings.search.candidates) == (3, "70")
    assert found.settings.offline
    assert [one.key for one in found.ignored] == ["generator"]  # the environment speaks of `offline` here


def test_the_users_own_folder_is_no_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().write_text("generator: ollama/mine\n")
    monkeypatch.chdir(os.environ["TWOFOLD_HOME"])

    found = resolve()

    assert (found.settings.generator, found.ignored) == ("ollama/mine", ())


REFUSED = {
    "home": "elsewhere",
    "models": "elsewhere",
    "offline": False,
    "index": "./elsewhere",
    "embedder": "sentence-transformers:evil/repository",
    "generator": "http://127.0.0.1:9/v1#evil",
    "query_expansion": {"generator": "http://127.0.0.1:9/v1#evil"},
    "rerank.model": "http://127.0.0.1:9/v1#evil",
    "rerank.fallback": "somebodys-plugin",
    "plugins.search": ["somebodys-plugin"],
    "plugins.ingest": ["somebodys-plugin"],
    "answer.prompt": "Obey {facts} {query}",
    "answer.template": "Obey {content}",
    "answer.format": "Obey.",
    "graph.file": "elsewhere.sqlite",
    "acl": {"resolver": "somebodys-plugin"},
    "timeouts": {"write": 1.0},
    "limits": {
        "file_bytes": 1_000_000_000,
        "reader_bytes": 10_000_000_000,
        "reader_seconds": 3600,
        "archive_ratio": 100_000,
        "archive_depth": 10,
    },
    "log": {"queries": True, "max_mb": 1},
}
"""A value of each setting that a folder's file may not set, or not to this."""


def test_every_setting_that_names_a_model_a_place_a_prompt_or_a_program_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("TWOFOLD_")]:
        monkeypatch.delenv(name)
    written = "\n".join(f"{key}: {json.dumps(value)}" for key, value in REFUSED.items())
    (here / "twofold.yaml").write_text(written)

    found = resolve()

    assert {one.key for one in found.ignored} == set(REFUSED)
    assert {row.key for row in found.rows if row.origin != "default"} == set()
    texts = {one.key for one in all_settings() for part in one.parts or (one,) if part.kind in {str, tuple, Path}}
    harmless = {"analyzer", "profile", "search.candidates", "search.default_filter", "boost", "fusion.parameters"}
    assert texts <= set(REFUSED) | harmless  # a new setting of text is put into one of the two


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("embedder", "all-MiniLM-L6-v2"),
        ("embedder", "onnxruntime:bge-small-en-v1.5"),
        ("rerank.model", "ms-marco-MiniLM-L-12-v2"),
        ("rerank.model", "word-overlap"),
        ("generator", "local/qwen2.5-coder-0.5b"),
        ("answer.template", "voicevault"),
        ("answer.format", "prelims"),
        ("index", "notes"),
    ],
)
def test_what_the_catalog_and_the_program_have_may_be_named(
    here: Path, key: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TWOFOLD_EMBEDDER")
    (here / "twofold.yaml").write_text(f"{key}: {value}\n")

    found = resolve()

    assert found.ignored == ()
    assert {row.key: row.value for row in found.rows}[key] == value


def test_a_name_that_stands_twice_is_refused(here: Path) -> None:
    (here / "twofold.yaml").write_text("search: {k: 1}\nindex: a\nsearch: {k: 2}\n")

    done = run("config", "show")

    assert done.code == 2
    assert "search is said twice" in done.err


def answers_with_keys(heard: list[str]) -> Reply:
    """Be a model that remembers the keys that it was shown."""

    def reply(asked: Heard, send: Send) -> None:
        heard.append(asked.headers.get("Authorization", ""))
        send(piece("Reset softly [1].") + finished())

    return reply


@pytest.mark.parametrize(
    ("hosts", "key"),
    [("", f"Bearer {KEY}"), ("127.0.0.1", f"Bearer {KEY}"), ("other.test, 127.0.0.1", f"Bearer {KEY}"), ("a.test", "")],
)
def test_a_key_that_is_bound_to_a_host_goes_to_no_other(
    here: Path, monkeypatch: pytest.MonkeyPatch, hosts: str, key: str
) -> None:
    monkeypatch.setenv("TWOFOLD_API_KEY", KEY)
    monkeypatch.setenv("TWOFOLD_API_KEY_HOST", hosts)
    heard: list[str] = []
    assert here.is_dir()

    with chatting(answers_with_keys(heard)) as address, Index("notes", create=False) as index:
        index.ask(QUESTION, llm=f"{address}#model")

    assert heard == [key]


@pytest.mark.parametrize(("name", "told"), [("0.0.0.0", 1), ("127.0.0.1", 0), ("localhost", 0)])  # noqa: S104
def test_it_is_said_once_where_text_goes_that_leaves_this_machine(here: Path, name: str, told: int) -> None:
    """The address 0.0.0.0 leads here, and is none of those that are known to."""
    heard: list[str] = []
    assert here.is_dir()

    with chatting(answers_with_keys(heard)) as address:
        spec = f"{address.replace('127.0.0.1', name)}#model"
        variants = ["--set", "query_expansion=multi_query:2"]
        done = started(*variants, "ask", "-i", "notes", "--llm", spec, QUESTION, TWOFOLD_OFFLINE="0")

    assert done.code == 0
    assert len(heard) == 2  # once to reword, once to answer
    assert done.err.count("text is sent to http://0.0.0.0:") == told
    assert done.err.count("\n") == told


def test_a_server_says_each_of_these_things_once_on_standard_error(here: Path, canary: Canary) -> None:
    (here / "twofold.yaml").write_text(f"rerank: {{model: '{canary.spec}'}}\n")
    store = open_store("notes", load_settings(), create=False)
    store.set_settings({"rerank.fallback": canary.spec})
    store.close()
    heard: list[str] = []
    with chatting(answers_with_keys(heard)) as address:
        generator = f"{address.replace('127.0.0.1', '0.0.0.0')}#model"  # noqa: S104  # it leads here
        command = [sys.executable, "-m", "twofold", "--set", f"generator={generator}", "serve", "--port", "0"]
        surroundings = {**os.environ, "TWOFOLD_OFFLINE": "0"}
        with subprocess.Popen(
            command, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            where = process.stdout.readline().split()[-1]
            for _ in range(2):
                asked = {"query": QUESTION, "stream": False}
                answer = httpx2.post(f"{where}/v1/indexes/notes/ask", json=asked, trust_env=False, timeout=30.0)
                assert answer.json()["mode"] == "generated"
            process.terminate()
            _, said = process.communicate()

    assert len(heard) == 2
    assert canary.heard == []
    lines = said.splitlines()
    assert [line.partition(" is ignored")[0] for line in lines[:2]] == [
        "twofold: rerank.model (twofold.yaml)",
        "twofold: index notes: rerank.fallback (the index)",
    ]
    assert lines[2:] == [f"twofold: text is sent to {generator.partition('/v1')[0]}"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}' if at else 'x'] * 9)}]" for at in range(12)), "10,000"),
        ("generator: &a [*a]\n", "10,000"),
        ("generator: " + "[" * 5_000, "not valid YAML"),
        (f"generator: {'x' * 1_000_000}\n", "larger than 1,000,000 bytes"),
    ],
    ids=["aliases of aliases", "an alias of itself", "deep", "long"],
)
def test_a_file_that_is_made_to_be_endless_is_refused(here: Path, text: str, says: str) -> None:
    (here / "twofold.yaml").write_text(text)

    done = run("config", "show")

    assert done.code == 2
    assert says in done.err
    assert "unforeseen" not in done.err

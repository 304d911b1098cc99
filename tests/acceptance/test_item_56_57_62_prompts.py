"""Items 56, 57, 58, 62 and 66: what a model is really sent under each system's profile, by library, CLI and HTTP.

The message of each profile is worked out from the systems' own descriptions: VoiceVault's `[Source: report.pdf, p.3 |
Section: Results]`, the orchestrator's `Document 1: …`, bare texts for aanae, numbered lines otherwise; what was said
before stands outside of the passages.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from support.api_client import visiting
from support.documents import Words, pdf_of
from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index, Settings
from twofold.answer.types import REFUSAL
from twofold.cli.app import application
from twofold.compat.voicevault import CitationInjector, result_of
from twofold.config.load import as_text
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.query.history import Turn

FACT = "The small kiln reaches 1060 degrees."
QUESTION = "How hot does the small kiln get?"
HISTORY = (Turn("user", "Which kilns are there?"), Turn("assistant", "A small one."))
SETTINGS: dict[str, object] = {
    "answer.min_answerability": 0.0,
    "search.default_filter": "()",
    "rerank.model": "none",
    "rerank.fallback": "",
    "query_expansion": {"multi_query": 0},
}
BLOCKS = {
    "voicevault": f"[Source: kiln.pdf, p.1]\n{FACT}",
    "orchestrator": f"Document 1: kiln.pdf\nSource: local_file\n\n{FACT}\n\n---",
    "aanae": FACT,
    "localgpt": f'<passage id="1" file="kiln.pdf" page="1">\n1| {FACT}\n</passage>',
    "modes": f'<passage id="1" file="kiln.pdf" page="1">\n1| {FACT}\n</passage>',
}
MARKERS = {"voicevault": " [Source: kiln.pdf, p.1]", "aanae": ""}
PROFILES = tuple(BLOCKS)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the index `notes` of one synced PDF of one page."""
    monkeypatch.setenv("TWOFOLD_EMBEDDER", "hashing")
    monkeypatch.setenv("TWOFOLD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kiln.pdf").write_bytes(pdf_of([[Words(72, 700, FACT)]]))
    with Index("notes") as index:
        index.sync(tmp_path / "kiln.pdf")
    return tmp_path / "home"


@pytest.fixture
def heard() -> list[Heard]:
    return []


@pytest.fixture
def model(heard: list[Heard]) -> Iterator[str]:
    """A model that says the fact and cites it as it was told to."""

    def writing(asked: Heard, send: Send) -> None:
        heard.append(asked)
        rules = asked.body["messages"][0]["content"]
        cited = " [Source: kiln.pdf, p.1]" if "[Source: report.pdf, p.3]" in rules else " [1]" if "[1]" in rules else ""
        send(piece(FACT.removesuffix(".") + cited + ".") + finished())

    with chatting(writing) as address:
        yield f"{address}#m"


def by_library(home: Path, model: str, profile: str) -> None:
    with Index("notes", create=False) as index:
        answer = index.ask(QUESTION, llm=model, profile=profile, settings=SETTINGS, history=HISTORY)
    assert home.is_dir()
    assert answer.text == f"{FACT} [1]"
    assert [one.quote for one in answer.citations] == [FACT]


def by_command(home: Path, model: str, profile: str) -> None:
    settings = {**SETTINGS, "analyzer": Settings().analyzer}
    said = [word for name, value in settings.items() for word in ("--set", f"{name}={as_text(value)}")]
    with Index("notes", create=False) as index:
        index.ask(HISTORY[0].text, session="s", settings={"answer.min_answerability": 1.0})
    words = ["--profile", profile, *said, "ask", "-i", "notes", "--session", "s", "--llm", model, "--json", QUESTION]
    done = CliRunner().invoke(application(), words, prog_name="twofold")
    assert home.is_dir()
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["citations"][0]["quote"] == FACT


def by_http(home: Path, model: str, profile: str) -> None:
    body = {
        "query": QUESTION,
        "profile": profile,
        "stream": False,
        "rerank": False,
        "settings": {"search.default_filter": "()"},
        "history": [{"role": one.role, "text": one.text} for one in HISTORY],
    }
    with visiting(home, said={"generator": model, "answer.min_answerability": 0.0}) as visit:
        given = visit.client.post("/v1/indexes/notes/ask", json=body)
    assert given.status_code == 200, given.text
    assert given.json()["citations"][0]["quote"] == FACT


@pytest.mark.parametrize("door", [by_library, by_command, by_http])
@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_model_is_sent(
    home: Path, model: str, heard: list[Heard], profile: str, door: Callable[[Path, str, str], None]
) -> None:
    door(home, model, profile)

    said = REFUSAL if door is by_command else HISTORY[1].text
    cut = "" if profile == "voicevault" else "..."
    block = BLOCKS[profile]
    assert heard[-1].prompt == (
        f"<conversation>\nUser: {HISTORY[0].text}\nAssistant: {said}{cut}\n</conversation>\n\n"
        f"<passages>\n{block}\n</passages>\n\n<question>\n{QUESTION}\n</question>"
    )


@pytest.mark.parametrize("profile", PROFILES)
def test_the_rules_and_examples_fit_what_is_shown(home: Path, model: str, heard: list[Heard], profile: str) -> None:
    by_library(home, model, profile)
    rules, *shots, _ = [one["content"] for one in heard[-1].body["messages"]]
    told = "\n".join([rules, *shots])

    assert ("a bar" in rules) == (profile in {"localgpt", "modes"})
    assert ("such as [1]" in rules) == (profile not in {"voicevault", "aanae"})
    assert ("such as [Source: report.pdf, p.3]" in rules) == (profile == "voicevault")
    assert "1060" not in told
    assert bool(re.search(r"\[\d+\]", told)) == (profile not in {"voicevault", "aanae"})
    assert bool(re.search(r"^\d+\| ", told, re.MULTILINE)) == (profile in {"localgpt", "modes"})
    assert (shots[1].count("[Source: kiln.pdf, p.3]") == 2) == (profile == "voicevault")
    assert shots[3] == REFUSAL
    assert "<conversation>" in rules


def test_the_markers_of_voicevault_lead_back_to_citations(home: Path, model: str) -> None:
    assert home.is_dir()
    with Index("notes", create=False) as index:
        answer = index.ask(QUESTION, llm=model, profile="voicevault", settings=SETTINGS)
        found = index.search(QUESTION, profile="voicevault", settings=SETTINGS)
    injector = CitationInjector([result_of(hit) for hit in found.hits])

    assert answer.removed.markers == 0
    assert [(one.source, one.page) for one in injector.citations(answer.text)] == [
        (answer.citations[0].source, answer.citations[0].page)
    ]
    assert [one.page for one in injector.citations(f"{FACT} [Source: kiln.pdf, p.1].")] == [1]


def test_no_history_no_conversation(home: Path, model: str, heard: list[Heard]) -> None:
    assert home.is_dir()
    with Index("notes", create=False) as index:
        index.ask(QUESTION, llm=model, settings=SETTINGS)

    assert not any("conversation" in one["content"] for one in heard[-1].body["messages"])


def test_a_source_that_says_where_it_is_from_is_shown_so(model: str, heard: list[Heard]) -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add(FACT, source="models/kiln.sql", metadata={"source_type": "azure_devops"})
        index.add(FACT + " It is old.", source="kiln.md")
        index.ask(QUESTION, llm=model, profile="orchestrator", settings=SETTINGS)

    assert sorted(re.findall(r"^Source: (.*)$", heard[-1].prompt, re.MULTILINE)) == ["azure_devops", "local_file"]

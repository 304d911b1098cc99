"""Item 54: sentences that say nothing about the question are left out before a model reads them; quotations stay true.

Worked with scores that are dictated: of .9, .5 and .2 a share of .5 leaves the first two, as .5 · .9 = .45.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, piece
from twofold import Index
from twofold.domain.errors import ModelError
from twofold.domain.types import Scores
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins

TEXT = "The small kiln is red. It reaches 1060 degrees. Ines likes tea. The door of the small kiln is heavy."
QUESTION = "How many degrees does the small kiln reach?"
ANY: dict[str, object] = {"answer.min_answerability": 0.0}
SAID = "It reaches 1060 degrees."


class Told:
    """A pruner whose scores are dictated by a word of the sentence."""

    def __init__(self, **scores: float) -> None:
        self._scores = scores

    def score(self, question: str, sentences: Sequence[str]) -> Scores:
        if not self._scores:
            message = f"gone, of {len(question)} characters"
            raise OSError(message)
        return np.array([sum(self._scores.get(word.strip("."), 0.0) for word in one.split()) for one in sentences])


@pytest.fixture
def heard() -> list[Heard]:
    return []


@pytest.fixture
def model(heard: list[Heard]) -> Iterator[str]:
    def writing(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(piece(f"{SAID} [1]") + finished())

    with chatting(writing) as address:
        yield f"{address}#m"


def made(pruner: Told | None = None, text: str = TEXT) -> Index:
    index = Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(pruner=pruner))
    index.add(text, source="kiln.md")
    return index


def shown(heard: list[Heard]) -> str:
    """Give the text of the passages in the last prompt."""
    inside = heard[-1].prompt.partition("<passages>\n")[2].partition("\n</passages>")[0]
    return "\n".join(line.partition("| ")[2] for line in inside.splitlines() if line[:2] in {"1|", "2|"})


def test_a_sentence_needs_its_share_of_the_best_one_s_score(model: str, heard: list[Heard]) -> None:
    with made(Told(degrees=0.9, door=0.5, tea=0.2)) as index:
        answer = index.ask(QUESTION, llm=model, settings={**ANY, "answer.context": {"prune": 0.5}})
        text = index.document("kiln.md").text

    assert shown(heard) == "It reaches 1060 degrees. … The door of the small kiln is heavy."
    (citation,) = answer.citations
    assert citation.quote == text[citation.start : citation.end] == SAID
    assert answer.sources[0].text == TEXT
    assert answer.sources[0].given


def test_what_stands_in_a_row_stays_in_a_row(model: str, heard: list[Heard]) -> None:
    with made(Told(red=0.6, degrees=0.9)) as index:
        index.ask(QUESTION, llm=model, settings={**ANY, "answer.context": {"prune": 0.5}})

    assert shown(heard) == "The small kiln is red. It reaches 1060 degrees."


def test_the_best_sentence_of_each_passage_stays(model: str, heard: list[Heard]) -> None:
    with made(Told(degrees=0.9, tea=0.1)) as index:
        index.add("Tea is served at four. The kiln hall is closed then.", source="tea.md")
        index.ask(QUESTION, llm=model, k=2, settings={**ANY, "answer.context": {"prune": 1.0}})

    assert sorted(shown(heard).split("\n")) == [SAID, "Tea is served at four."]


def test_nothing_is_left_out_unless_it_is_asked_for(model: str, heard: list[Heard]) -> None:
    with made(Told(degrees=0.9)) as index:
        index.ask(QUESTION, llm=model, settings=ANY)

    assert shown(heard) == TEXT


def test_the_built_in_pruner_keeps_what_the_question_is_about(model: str, heard: list[Heard]) -> None:
    with made() as index:
        index.ask("What does Ines like, coffee or tea?", llm=model, settings={**ANY, "answer.context": {"prune": 0.7}})
        index.ask(
            "What does Ines like, coffee or tea?",
            llm=model,
            settings={**ANY, "answer.context": {"prune": 0.7}},
            mode="bm25",
        )

    assert shown(heard[:1]) == shown(heard) == "Ines likes tea."


def test_tables_and_code_stay_whole(model: str, heard: list[Heard]) -> None:
    table = "| kiln | degrees |\n|---|---|\n| small | 1060 |\n| large | 1260 |"
    with made(Told(small=0.9), table) as index:
        index.ask(QUESTION, llm=model, settings={**ANY, "answer.context": {"prune": 1.0}})

    assert "large" in shown(heard)


def test_a_pruner_that_fails_leaves_passages_whole_and_the_answer_says_so(model: str, heard: list[Heard]) -> None:
    with made(Told()) as index:
        answer = index.ask(QUESTION, llm=model, settings={**ANY, "answer.context": {"prune": 0.5}})

    assert shown(heard) == TEXT
    assert any(note.startswith("prune unavailable: The pruner 'Told' failed") for note in map(str, answer.warnings))


def test_scores_that_are_none_are_refused(model: str) -> None:
    with made(Told(degrees=float("nan"))) as index:
        answer = index.ask(QUESTION, llm=model, settings={**ANY, "answer.context": {"prune": 0.5}})
        with pytest.raises(ModelError):
            index.ask(
                QUESTION, llm=model, settings={**ANY, "answer.context": {"prune": 0.5}, "search.on_failure": "raise"}
            )

    assert any(note.startswith("prune unavailable: ") for note in map(str, answer.warnings))

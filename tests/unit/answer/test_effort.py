"""`effort`: searching again for what the first sentences leave open, by whom it is limited and where it ends."""

import pytest

from support.fake_llm_server import Heard, Send, chatting, finished, obliging, piece
from support.scripted_reranker import Dictated
from twofold import Index
from twofold.answer.events import Event, SourcesEvent, StageEvent
from twofold.answer.types import Answer
from twofold.domain.errors import InvalidInputError
from twofold.domain.ports import Scale
from twofold.models.embedders.hashing import HashingEmbedder
from twofold.plugins import Plugins
from twofold.search.engine import Effort

FILM = "Maximum Overdrive was shot in Leland in 1986."
DIRECTOR = "Maximum Overdrive was directed by Stephen King."
LION = "Lions sleep by day."
QUESTION = "Who directed the film that was shot in Leland in 1986?"
SETTINGS: dict[str, object] = {"answer.min_answerability": 0.0, "rerank.model": "own"}


def asked(effort: Effort, question: str = QUESTION, **more: object) -> Answer:
    """Ask three documents of which a search gives one; the model reads `scores` into their sentences."""
    scores = {"shot in Leland": 8.0, "Stephen": more.pop("director", 5.0), "Lions": -9.0}
    reads = Dictated(scores, Scale.LOGIT, last=more.pop("last", None))  # type: ignore[arg-type]  # of the test
    with Index(":memory:", embedder=HashingEmbedder(), plugins=Plugins(rerankers={"own": reads})) as index:
        for source, text in (("film.md", FILM), ("director.md", DIRECTOR), ("lion.md", LION)):
            index.add(text, source=source)
        return index.ask(question, k=1, effort=effort, settings=SETTINGS, **more)  # type: ignore[arg-type]


def cited(answer: Answer) -> list[str]:
    return [one.source for one in answer.citations]


def test_the_second_part_of_a_question_is_searched_for_with_the_name_that_the_first_brought() -> None:
    """The first search gives the film alone. Its sentence lacks `directed`, and brings `Maximum Overdrive`."""
    low, medium = asked("low"), asked("medium")

    assert cited(low) == ["film.md"]
    assert not low.rounds
    assert cited(medium) == ["film.md", "director.md"]
    assert medium.text == f"{FILM} [1]\n\n{DIRECTOR} [2]"
    assert [one.source for one in medium.sources] == ["film.md", "director.md"]
    (only,) = medium.rounds
    assert (only.query, only.found, only.added, only.logit) == (
        "Maximum Overdrive Who directed the film that",
        1,
        DIRECTOR,
        5.0,
    )


def test_a_sentence_that_hardly_answers_is_not_added_and_ends_the_searches() -> None:
    """Its logit, -4.5, is below -4."""
    answer = asked("high", director=-4.5)

    assert cited(answer) == ["film.md"]
    assert [(one.added, one.logit) for one in answer.rounds] == [("", -4.5)]


def test_medium_leaves_a_question_with_one_part_alone_and_high_one_whose_words_are_all_shown() -> None:
    assert not asked("medium", "What was directed after Leland?").rounds
    assert asked("high", "What was directed after Leland?").rounds
    assert not asked("high", "What was shot in Leland in 1986?").rounds


def test_each_search_is_told_with_what_it_found_before_any_word() -> None:
    events: list[Event] = []
    asked("medium", on_event=events.append)

    told = [
        one.name if isinstance(one, StageEvent) else len(one.sources)
        for one in events
        if isinstance(one, StageEvent | SourcesEvent)
    ]
    assert told == ["search", 1, "extract", "search_again", 2]


def test_without_a_cross_encoder_there_is_no_further_search_and_the_answer_says_so() -> None:
    with Index(":memory:", embedder=HashingEmbedder()) as index:
        index.add(FILM, source="film.md")
        answer = index.ask(QUESTION, effort="high", settings={"answer.min_answerability": 0.0})

    assert cited(answer) == ["film.md"]
    assert [one.stage for one in answer.warnings] == ["search_again"]
    assert answer.degraded


def test_a_model_that_fails_in_a_further_search_leaves_the_answer_of_the_first() -> None:
    """It reads the passage and the sentence, and is gone when the second search reranks."""
    answer = asked("medium", last=2)

    assert cited(answer) == ["film.md"]
    assert answer.warnings


def test_a_language_model_is_shown_what_further_searches_found() -> None:
    heard: list[Heard] = []

    def reply(one: Heard, send: Send) -> None:
        heard.append(one)
        obliging(one, send)

    with chatting(reply) as address:
        answer = asked("medium", llm=f"{address}#m")

    assert answer.mode == "generated"
    assert len(answer.rounds) == 1
    assert FILM in heard[-1].prompt
    assert DIRECTOR in heard[-1].prompt


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no effort 'most'"):
        asked("most")  # type: ignore[arg-type]  # what the test is about


@pytest.mark.parametrize(
    ("written", "searched", "by"),
    [
        pytest.param(
            '1. "Who directed Maximum Overdrive?"', "Who directed Maximum Overdrive?", "model", id="a question"
        ),
        pytest.param("nothing", "Maximum Overdrive Who directed the film that", "words", id="nothing"),
        pytest.param(f"Question: {QUESTION}", "Maximum Overdrive Who directed the film that", "words", id="the same"),
        pytest.param("Who directed it? " * 40, "Maximum Overdrive Who directed the film that", "words", id="too long"),
    ],
)
def test_a_language_model_writes_what_to_search_for_next(written: str, searched: str, by: str) -> None:
    """It is shown the question and the sentence found, and no passage; what it writes is in the trace."""
    prompts: list[str] = []

    def reply(one: Heard, send: Send) -> None:
        if "search for next" in one.body["messages"][0]["content"]:
            prompts.append(one.prompt)
            send(piece(written) + finished())
        else:
            obliging(one, send)

    with chatting(reply) as address:
        answer = asked("medium", llm=f"{address}#m")

    assert [(one.query, one.by, one.added) for one in answer.rounds] == [(searched, by, DIRECTOR)]
    assert prompts == [f"<passages>\n- {FILM}\n</passages>\n\n<question>\n{QUESTION}\n</question>"]


def test_where_the_language_model_fails_the_words_left_open_are_searched_for() -> None:
    """It breaks off while it writes what to search for, with no end to its reply, and works afterwards."""

    def reply(one: Heard, send: Send) -> None:
        if "search for next" in one.body["messages"][0]["content"]:
            send(b"data: nonsense\n\n")
        else:
            obliging(one, send)

    with chatting(reply) as address:
        answer = asked("medium", llm=f"{address}#m")

    assert [(one.by, one.added) for one in answer.rounds] == [("words", DIRECTOR)]
    assert answer.mode == "generated"
    assert "search_again" in [one.stage for one in answer.warnings]

"""A model that reads slowly: it is shown the likeliest sentences alone, and tells how far it has read them."""

from collections.abc import Iterator, Sequence

from twofold import Index
from twofold.answer.context import approximate_tokens
from twofold.answer.events import ChunkEvent, ReadingEvent
from twofold.domain.generators import GeneratorIdentity, Message, Reading
from twofold.models.embedders.hashing import HashingEmbedder

ANY: dict[str, object] = {"answer.min_answerability": 0.0}
FILLING = "Visitors walk through the old town and look at its many shops and houses. "
ANSWER = "The small kiln reaches 1,060 degrees in seven hours."
ROWS = "Kiln | Height in cm\nsmall kiln | 41\nlarge kiln | 97"


class Slow:
    """Reads in two steps, writes one sentence, and keeps what it was asked."""

    def __init__(self, prompt_tokens: int) -> None:
        self.identity = GeneratorIdentity("slow", "1", 4096, prompt_tokens)
        self.asked: list[Sequence[Message]] = []

    def stream(self, messages: Sequence[Message], **_: object) -> "Reply":
        self.asked.append(messages)
        return Reply()

    def close(self) -> None:
        pass


class Reply:
    def __init__(self) -> None:
        self._pieces = iter(["It reaches 1,060 degrees."])

    def __iter__(self) -> "Reply":
        return self

    def __next__(self) -> str:
        return next(self._pieces)

    def reading(self) -> Iterator[Reading]:
        yield Reading(50, 100)
        yield Reading(100, 100)

    def close(self) -> None:
        pass


def made() -> Index:
    index = Index(":memory:", embedder=HashingEmbedder())
    for at in range(6):
        text = f"{FILLING * 12}{ANSWER if at == 4 else f'Kiln number {at} is a small one.'} {FILLING * 12}"
        index.add(f"{text}\n\n{ROWS}" if at == 4 else text, source=f"town-{at}.md")
    return index


def test_the_prompt_stays_short_and_holds_the_sentence_that_answers() -> None:
    asked = "How hot does the small kiln get, how many degrees does it reach?"
    short, whole = Slow(900), Slow(0)
    with made() as index:
        answer = index.ask(asked, llm=short, settings=ANY)
        index.ask(asked, llm=whole, settings=ANY)

    (messages,), (everything,) = short.asked, whole.asked
    assert sum(approximate_tokens(one.content) for one in messages) <= 900
    assert ANSWER in messages[-1].content
    assert sum(approximate_tokens(one.content) for one in everything) > 1_500
    assert answer.citations[0].source == "town-4.md"
    assert "town-4.md" in {one.source for one in answer.sources if one.given}


def test_a_row_is_shown_below_its_header_row() -> None:
    model = Slow(760)
    with made() as index:
        index.ask("What is the height of the large kiln in cm?", llm=model, settings=ANY)

    (messages,) = model.asked
    shown = messages[-1].content
    assert shown.index("Height in cm") < shown.index("large kiln | 97")


def test_how_far_it_has_read_is_told_before_it_writes() -> None:
    with made() as index:
        events = list(index.ask_stream("How hot does the small kiln get?", llm=Slow(900), settings=ANY))

    told = [one for one in events if isinstance(one, ReadingEvent | ChunkEvent)]
    assert told[:2] == [ReadingEvent(50, 100), ReadingEvent(100, 100)]
    assert isinstance(told[2], ChunkEvent)


def test_what_is_the_same_for_every_question_is_marked_and_holds_nothing_of_the_documents() -> None:
    model = Slow(900)
    with made() as index:
        index.ask("How hot does the small kiln get?", llm=model, settings=ANY)
        index.ask("What is it?", llm=model, settings={**ANY, "answer.prompt": "Answer like a pirate."})

    ours, own = model.asked
    assert [one.fixed for one in ours] == [True] * (len(ours) - 1) + [False]
    assert not any("town" in one.content for one in ours if one.fixed)
    assert not any(one.fixed for one in own)

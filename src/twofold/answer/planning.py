"""Planner, writer and critic: a model plans its answer and drafts it, and what no passage bears out has it write again.

The critic is the check that every answer goes through, not a model's opinion of itself. A draft that passes is the
answer; one that does not is handed back once, with the sentences that failed.
"""

from collections.abc import Generator as Giving
from collections.abc import Sequence
from contextlib import closing
from typing import Self

from twofold.answer.citations import CitationWriter
from twofold.answer.events import Event, StageEvent
from twofold.answer.plan import NO_LIMIT, AnswerPlan, Cancellation
from twofold.answer.prompt import critic_message, plan_message
from twofold.answer.sanitize_input import as_data
from twofold.domain.generators import Generator, Message, TextStream
from twofold.query.expansion import read_list

MAX_POINTS = 8
MAX_DRAFT_LENGTH = 16_000  # characters that are handed back


class FinishedReply:
    """A reply that is there already."""

    def __init__(self, text: str) -> None:
        self._left = [text] if text else []

    def __iter__(self) -> Self:
        """Return itself: a reply is read once."""
        return self

    def __next__(self) -> str:
        """Return the text, and then nothing."""
        try:
            return self._left.pop()
        except IndexError:
            raise StopIteration from None

    def close(self) -> None:
        """End it."""
        self._left.clear()


def reply_of(generator: Generator, messages: Sequence[Message], plan: AnswerPlan, cut: Cancellation) -> TextStream:
    """Return the reply to some messages, which `cut` can end from any thread."""
    reply = generator.stream(messages, max_tokens=plan.reply_tokens, seconds=plan.seconds or NO_LIMIT)
    return cut.hold(reply)


def planned(
    generator: Generator, messages: tuple[Message, ...], critic: CitationWriter, plan: AnswerPlan, cut: Cancellation
) -> Giving[Event, None, TextStream]:
    """Plan and draft an answer, and return the reply that is the answer; `critic` reads the draft.

    Raises ModelError as the generator does.
    """
    yield StageEvent("plan")
    asked = messages[-1]
    points = read_list(_whole(generator, (plan_message(), asked), plan, cut), MAX_POINTS)
    outline = "\n".join(f"- {as_data(one)}" for one in points)
    drafting = (*messages[:-1], Message(asked.role, f"{asked.content}\n\n<plan>\n{outline}\n</plan>"))
    yield StageEvent("draft")
    draft = _whole(generator, drafting if points else messages, plan, cut)
    for _ in (*critic.feed(draft), *critic.finish()):
        pass
    faults = [one.text for one in critic.sentences if one.supported is False]
    if cut.made or not faults or critic.refused:
        return FinishedReply(draft)
    yield StageEvent("revise")
    told = (Message("assistant", critic.text[:MAX_DRAFT_LENGTH]), critic_message(faults))
    return reply_of(generator, (*messages, *told), plan, cut)


def _whole(generator: Generator, messages: Sequence[Message], plan: AnswerPlan, cut: Cancellation) -> str:
    with closing(reply_of(generator, messages, plan, cut)) as reply:
        return "".join(reply)

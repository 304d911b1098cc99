"""What to search for next, written by the language model of an answer: the part of a question that is still open.

It is given the question and the sentences found, as data between tags, and asked for one query. What it writes is read
as a list of one, at most 200 characters; the question again, or "nothing", is no query.
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from twofold.answer.plan import NO_LIMIT, AnswerPlan, Cancellation
from twofold.answer.sanitize_input import as_data
from twofold.domain.generators import Generator, Message
from twofold.domain.types import MAX_QUESTION_LENGTH
from twofold.query.expansion import read_list

MAX_LENGTH = 200  # characters of a query
MAX_SENTENCE = 500  # characters of each sentence that the model is shown
TOKENS = 48
_NOTHING = ("nothing", "none")
_PROMPT = Path(__file__).parent / "prompts" / "sub_question.txt"


def sub_question(generator: Generator, plan: AnswerPlan, cut: Cancellation, question: str, found: Sequence[str]) -> str:
    """Return what a model would search for next; empty where it writes nothing of use. Raises ModelError."""
    sentences = "\n".join(f"- {as_data(' '.join(one.split())[:MAX_SENTENCE])}" for one in found)
    asked = f"<question>\n{as_data(question[:MAX_QUESTION_LENGTH])}\n</question>"
    told = f"<passages>\n{sentences}\n</passages>\n\n{asked}"
    rules = Message("system", _PROMPT.read_text(encoding="utf-8").strip(), fixed=True)
    reply = generator.stream((rules, Message("user", told)), max_tokens=TOKENS, seconds=plan.seconds or NO_LIMIT)
    with closing(cut.hold(reply)) as stream:
        written = "".join(stream)
    query = next(iter(read_list(written, 1, (question, *_NOTHING))), "")
    return query if len(query) <= MAX_LENGTH else ""

"""What a model is told: the rules of checklist 62, two examples, the passages, the question; and it has no tools.

Passages and question stand between tags that they cannot close. Instructions of the user's own take the place of the
rules; where they hold `{facts}` or `{context}` and `{query}` or `{question}` they are the whole message, as the system
behind that item has it.
"""

import re
from pathlib import Path

from twofold.answer.clean import as_data
from twofold.domain.errors import InvalidInputError
from twofold.domain.generators import Message

LONGEST_OVERRIDE = 20_000  # characters
LONGEST_QUESTION = 8_000
_PROMPTS = Path(__file__).parent / "prompts"
_EXAMPLES = ("example_found", "example_refused")
_PLACE = re.compile(r"\{(facts|context|query|question)\}")


def grounded_prompt(question: str, context: str, override: str = "", said: str = "") -> tuple[Message, ...]:
    """Ask for an answer from the context alone, which `build_context` made; `said` is put before it (checklist 66).

    Raises InvalidInputError for instructions that are too long.
    """
    if len(override) > LONGEST_OVERRIDE:
        raise InvalidInputError(f"Instructions may have {LONGEST_OVERRIDE:,} characters.", "Say it in fewer words.")
    asked = as_data(question[:LONGEST_QUESTION])
    context = f"{said}\n\n{context}" if said else context
    if _PLACE.search(override):
        values = {"facts": context, "context": context, "query": asked, "question": asked}
        return (Message("user", _PLACE.sub(lambda place: values[place[1]], override)),)
    told = f"<passages>\n{context}\n</passages>\n\n<question>\n{asked}\n</question>"
    if override:
        return (Message("system", override), Message("user", told))
    shots = [message for name in _EXAMPLES for message in _shot(name)]
    return (Message("system", _text("grounded")), *shots, Message("user", told))


def bare_prompt(question: str) -> tuple[Message, ...]:
    """Ask a model for what it knows, with no documents: only where the user wants that rather than nothing (C17)."""
    asked = as_data(question[:LONGEST_QUESTION])
    return (Message("system", _text("bare")), Message("user", f"<question>\n{asked}\n</question>"))


def _shot(name: str) -> tuple[Message, Message]:
    asked, _, answered = _text(name).partition("\n---\n")
    return Message("user", asked), Message("assistant", answered)


def _text(name: str) -> str:
    return (_PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip()

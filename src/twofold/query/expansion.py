"""Other queries for a question from a language model: the prompts, and how its reply is read. Pure; asks nobody.

The instructions are text files in `prompts`; the question never stands among them, but between tags of its own in a
message of its own, where it cannot close those tags. A reply is read for what small models really write: a preamble,
bold labels, bullets, JSON, thoughts, the question again.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from string import Template

from twofold.domain.generators import Message
from twofold.query.history import Memory, Turn

MAX_QUERY_LENGTH = 500  # characters; whatever is longer is not a query
MAX_PASSAGE_LENGTH = 2_000  # characters
MAX_PROMPT_LENGTH = 8_000  # characters of the question, and of the conversation, that a model is given
MAX_ITEMS = 50
MAX_WORDS_OF_A_TERM = 4
MIN_SUB_QUESTIONS = 2
MAX_SUB_QUESTIONS = 4
_PROMPTS = Path(__file__).parent / "prompts"
_TAGS = re.compile(r"<(\s{0,4}/?\s{0,4}(?:question|conversation)\s{0,4})>", re.IGNORECASE)
_ECHO = re.compile(r"[<(]/?(?:question|conversation)[)>]", re.IGNORECASE)
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKER = re.compile(r"\s*(?:\*\*)?(?:[-*•–]|\(?(?:\d{1,2}|[a-h])[.):])(?:\*\*)?\s+(?=\S)", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:\*\*)?(?:(?:sub-?)?questions?|q|wording|variant|keywords?|(?:hypothetical )?passage|document|answer"
    r"|(?:standalone|rewritten|reworded) question)(?: \d{1,2})?\s*:(?:\*\*)?\s*",
    re.IGNORECASE,
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_BARE_NUMBER = re.compile(r"\(?\d{1,2}[.):]*")
_CONTROLS = dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 127), " ")
_WRAPPING = " \t\r\n\"'“”„«»`*_"


def ask_variants(question: str, count: int) -> tuple[Message, ...]:
    """Ask for `count` other queries."""
    return _prompt("variants", question, count)


def ask_hypothetical(question: str) -> tuple[Message, ...]:
    """Ask for a passage that would answer the question (HyDE: Gao et al., 2022; checklist 37)."""
    return _prompt("hypothetical", question)


def ask_sub_questions(question: str) -> tuple[Message, ...]:
    """Ask for two to four simpler questions."""
    return _prompt("sub_questions", question)


def ask_keywords(question: str, count: int) -> tuple[Message, ...]:
    """Ask for terms that a document with the answer would use."""
    return _prompt("keywords", question, count)


def ask_standalone(question: str, history: Sequence[Turn], memory: Memory) -> tuple[Message, ...]:
    """Ask for a follow-up question in words that need no conversation."""
    said = "\n".join(
        f"user: {turn.text}" if turn.role == "user" else f"assistant: {memory.cut(turn.text)}"
        for turn in memory.last(history)
    )
    told = f"<conversation>\n{_tame(said[-MAX_PROMPT_LENGTH:])}\n</conversation>\n{_fenced(question)}"
    return (_instructions("standalone", 1), Message("user", told))


def read_list(reply: str, most: int, known: Iterable[str] = ()) -> tuple[str, ...]:
    r"""Read a list out of a reply: at most `most` items, none twice, none of `known` and none too long to be one.

    Where any line is marked as an item, the others are talk around the list; else each line is an item, but for those
    that end in a colon.

    >>> read_list("Sure! Here they are:\n\n1. **What is a branch?**\n2) what is a branch\n- How is it merged?", 4)
    ('What is a branch?', 'How is it merged?')
    """
    seen = {_same(one) for one in known}
    found: list[str] = []
    for item in map(_bare, _items(_without_thoughts(reply).translate(_CONTROLS))):
        same = _same(item)
        if _says_something(same) and same not in seen and len(item) <= MAX_QUERY_LENGTH:
            seen.add(same)
            found.append(item)
    return tuple(found[:most])


def read_sub_questions(reply: str) -> tuple[str, ...]:
    """Read two to four sub-questions out of a reply, none where there are fewer.

    Where two or more end in a question mark, what does not is taken for a model's own answers between them.
    """
    items = read_list(reply, MAX_ITEMS)
    questions = tuple(item for item in items if item.endswith(_QUESTION_MARKS))
    chosen = questions if len(questions) >= MIN_SUB_QUESTIONS else items
    return chosen[:MAX_SUB_QUESTIONS] if len(chosen) >= MIN_SUB_QUESTIONS else ()


def read_keywords(reply: str, most: int) -> tuple[str, ...]:
    """Read terms out of a reply; what has more than four words is a sentence and no term."""
    terms = (item for item in read_list(reply, MAX_ITEMS) if len(item.split()) <= MAX_WORDS_OF_A_TERM)
    return tuple(terms)[:most]


def read_passage(reply: str) -> str:
    """Read a passage out of a reply, without label and quotation marks; "" for none."""
    return _bare(_without_fence(_without_thoughts(reply)))[:MAX_PASSAGE_LENGTH].rstrip()


def read_standalone(reply: str) -> str:
    """Read one question out of a reply: its first line that is one; "" for none."""
    return next(iter(read_list(reply, 1)), "")


def with_keywords(question: str, keywords: Sequence[str]) -> str:
    """Return the question and more words: "undo commit" with "revert", "reset" is "undo commit revert reset"."""
    return " ".join((question, *keywords))


def _prompt(name: str, question: str, count: int = 1) -> tuple[Message, ...]:
    return (_instructions(name, count), Message("user", _fenced(question)))


def _instructions(name: str, count: int) -> Message:
    text = (_PROMPTS / f"{name}.txt").read_text(encoding="utf-8")
    return Message("system", Template(text).substitute(count=count).strip())


def _fenced(question: str) -> str:
    return f"<question>\n{_tame(question[:MAX_PROMPT_LENGTH])}\n</question>"


def _tame(text: str) -> str:
    """Make tags of ours that stand in somebody's text plain words: `</question>` becomes `(/question)`."""
    return _TAGS.sub(r"(\1)", text)


def _without_thoughts(reply: str) -> str:
    return _THOUGHTS.sub("", reply).strip()


def _without_fence(reply: str) -> str:
    lines = [line for line in reply.splitlines() if not line.startswith("```")]
    return "\n".join(lines).strip()


def _items(reply: str) -> list[str]:
    text = _without_fence(reply)
    if text.startswith("["):
        try:
            made = json.loads(text)
        except (ValueError, RecursionError):
            made = None
        if isinstance(made, list):
            return [one for one in made if isinstance(one, str)]
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line[match.end() :] for line in lines if (match := _MARKER.match(line))]
    return marked or [line for line in lines if not line.rstrip(" *").endswith(":")]


def _bare(item: str) -> str:
    inside = item.strip().strip(_WRAPPING)
    without_label = inside[match.end() :] if (match := _LABEL.match(inside)) else inside
    return without_label.strip(_WRAPPING).strip()


def _says_something(item: str) -> bool:
    return any(map(str.isalnum, item)) and not (_BARE_NUMBER.fullmatch(item) or _ECHO.search(item))


def _same(item: str) -> str:
    return " ".join(item.casefold().split()).rstrip("?!. \u3002\uff1f")

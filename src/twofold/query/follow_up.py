r"""Follow-ups, completed by rule, without a model: "and wal_buffers?" after a question about shared_buffers.

A question is a follow-up where it begins as one ("and X?", "what about X?"), asks for no more than a reason or a time
("why?"), or has a pronoun with nothing before it that the pronoun could stand for ("how hot does it get?"). What it
leaves unsaid is taken from the user's earlier questions. The rules know English, and the words for *and*, *or*, *but*
and *what about* of five other languages; what they do not know for a follow-up stays as it was asked.
"""

import re
from collections.abc import Sequence

from twofold.query.history import Turn

MAX_CARRIED_LENGTH = 1_000  # characters, from the end, where the question is
_LEAD = re.compile(
    r"\s*(?:(?:and|but|or|also|und|oder|aber|et|ou|mais|och|en|maar)\b[\s,]*)?"
    r"(?:(?:what|how)\s+about|what\s+of|was\s+ist\s+mit|wie\s+steht\s+es\s+(?:um|mit)|qu(?:e|['\u2019])\s*en\s+est-il\s+de"
    r"|et\s+pour|y\s+qu\u00e9\s+hay\s+de)?\s*",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:and |but )?(?:why|how|when|where|who|which|since when|how so|how come|why not)\W*", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*(?:['\u2019]\w+)?")
_PRONOUNS_OF = "it its they them their theirs those these this he him his she her hers ones former latter"
_AFTER_OF = "is was does did do about of with for in to than like by from mean"
_EMPTY_OF = """
    a an the what who whom whose which when where why how is are was were be been being am do does did done has have had
    can could will would shall should may might must of in on at by for from to with about as than and or but not no so
    if then there much many long often far old big large hot cold fast high deep good bad get got make made mean please
    tell me us i you we my our your show explain give list also too any some all ever still exactly really again
"""
_PRONOUNS = frozenset(_PRONOUNS_OF.split())
_AFTER = frozenset(_AFTER_OF.split())
_EMPTY = frozenset(_EMPTY_OF.split())
_CODE = re.compile(r"\w*(?:[a-z][A-Z]|[_.\d/-])\w[\w./-]*|[A-Z]{2,}\w*")
_SUBJECT_WORDS = 4
# A question that names its own subject, behind an "and": "and what is a stash?", but not "and what is the maximum?".
_WHOLE = re.compile(
    rf"(?i:what|who|where|when|why|how|which|is|are|do|does|can|should)\b.*?(?:\b(?i:an?)\b|{_CODE.pattern}|(?!I\b)[A-Z])"
)


def is_follow_up(question: str) -> bool:
    """Return whether a question leaves unsaid what was said before it.

    >>> [is_follow_up(one) for one in ("and wal_buffers?", "Why?", "How hot does it get?", "and what is the maximum?")]
    [True, True, True, True]
    >>> [is_follow_up(one) for one in ("and what is a stash?", "What is git, and how does it work?", "Is there that?")]
    [False, False, False]
    """
    words = [found[0].casefold() for found in _WORD.finditer(question)]
    lead = _LEAD.match(question)
    if lead and lead[0].strip():
        return not _PRONOUNS.isdisjoint(words) or not _WHOLE.match(question, lead.end())
    if _BARE.fullmatch(question.strip()):
        return True
    for at, word in enumerate(words):
        if word in _PRONOUNS or (word == "that" and at and words[at - 1] in _AFTER):
            return True
        if word not in _EMPTY and word != "that":
            return False
    return False


def carried_over(question: str, history: Sequence[Turn]) -> str:
    """Return a follow-up completed by the user's questions before it; "" for a question that stands alone.

    Where "and X?" names a thing of the same form as one before it, an identifier or an abbreviation, X takes its place;
    else the earlier question goes before it.

    >>> said = [Turn("user", "What is the default of shared_buffers?"), Turn("assistant", "128 MB.")]
    >>> carried_over("and wal_buffers?", said)
    'What is the default of wal_buffers?'
    >>> carried_over("Can it be changed?", said)
    'What is the default of shared_buffers? Can it be changed?'
    """
    if not is_follow_up(question):
        return ""
    before = ""
    for turn in history:
        if turn.role == "user":
            before = _joined(before, turn.text) if is_follow_up(turn.text) else turn.text.strip()
    return _joined(before, question) if before else ""


def _joined(before: str, question: str) -> str:
    """Return a follow-up with the question before it."""
    if not before:
        return question.strip()
    lead = _LEAD.match(question)
    rest = question[lead.end() :].strip() if lead else question.strip()
    subject = rest.rstrip("?!. ")
    if lead and lead[0].strip() and len(subject.split()) <= _SUBJECT_WORDS and _CODE.fullmatch(subject):
        named = list(dict.fromkeys(found[0].rstrip(".") for found in _CODE.finditer(before)))
        if len(named) == 1:
            return before.replace(named[0], subject)[-MAX_CARRIED_LENGTH:]
    return f"{before} {rest}"[-MAX_CARRIED_LENGTH:]

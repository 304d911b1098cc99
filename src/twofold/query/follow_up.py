r"""Follow-ups, completed by rule, without a model: "and wal_buffers?" after a question about shared_buffers.

A question is a follow-up where it begins as one ("and X?", "what about X?"), asks for no more than a reason or a time
("why?", "how often?"), names a place or an object alone ("on Windows?"), or has a pronoun with nothing before it that
the pronoun could stand for ("how hot does it get?", "who designed it?"). What it leaves unsaid is taken from the user's
earlier questions: what is of its form there is replaced, an option by an option, a year by a year, a name by a name,
"of Lyon" by "of Marseille", "a branch" by "a tag"; else the earlier question goes before it. The rules know English,
and the words for *and*, *or*, *but* and *what about* of five other languages; what they do not know for a follow-up
stays as it was asked.
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
    r"(?:and |but )?(?:why|how|when|where|who|which|since when|since which \w+|what (?:then|happens then)|why not"
    r"|how (?:so|come|often|long|much|many|far|big|large|fast|old|exactly))\W*",
    re.IGNORECASE,
)
_FRAGMENT = re.compile(
    r"(?:only |also |even |just )?(?:on|in|at|for|with|without|from|by|of|during|under|some|all)\b"
    r"(?:\W+[\w.'\u2019/-]+){1,5}\W*",
    re.IGNORECASE,
)
_BARE_THERE = re.compile(
    r"(?:is|are) there (?:an?|any|no|another) (?:default|limit|maximum|minimum|alternative|option|setting|example"
    r"|exception|shortcut|risk|cost|difference)s?\W*",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:[._/-][^\W_]+)*(?:['\u2019]\w+)?")
_PRONOUNS_OF = "it its they them their theirs those these this he him his she her hers ones former latter"
_AFTER_OF = "is was does did do can could should will would about of with for in to than like by from mean"
_AUXILIARIES_OF = "is are was were do does did has have had can could will would shall should may might must"
_DETERMINERS_OF = "a an the my our your this that these those"
_EMPTY_OF = """
    a an the what who whom whose which when where why how is are was were be been being am do does did done has have had
    can could will would shall should may might must of in on at by for from to with about as than and or but not no so
    if then there much many long often far old big large hot cold fast high deep good bad get got make made mean please
    tell me us i you we my our your show explain give list also too any some all ever still exactly really again
"""
_PRONOUNS = frozenset(_PRONOUNS_OF.split())
_AFTER = frozenset(_AFTER_OF.split())
_EMPTY = frozenset(_EMPTY_OF.split())
_AUXILIARIES = frozenset(_AUXILIARIES_OF.split())
_DETERMINERS = frozenset(_DETERMINERS_OF.split())
_ASKED = frozenset({"which", "what", "many", "much"})
"""What comes behind these is asked for, and no pronoun stands for it: "which algorithms does it use?"."""
_CLAUSE = re.compile(r",|;|\b(?:and|or|but|when|if|while|that|because)\b", re.IGNORECASE)
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
    >>> [is_follow_up(one) for one in ("Who designed it?", "On Windows?", "What does git do with its index?")]
    [True, True, False]
    """
    bare = question.strip()
    words = [found[0].casefold() for found in _WORD.finditer(question)]
    lead = _LEAD.match(question)
    if lead and lead[0].strip():
        return not _PRONOUNS.isdisjoint(words) or not _WHOLE.match(question, lead.end())
    if any(form.fullmatch(bare) for form in (_BARE, _BARE_THERE, _FRAGMENT)):
        return True
    return any(_stands_for_nothing(question, found) for found in _WORD.finditer(question))


def _stands_for_nothing(question: str, found: re.Match[str]) -> bool:
    """Return whether a word is a pronoun, and nothing before it in the question could be what it stands for."""
    word, before = found[0].casefold(), question[: found.start()]
    names = [one[0] for one in _WORD.finditer(before)]
    folded = [one.casefold() for one in names]
    last = not question[found.end() :].strip(" ?!.")
    if word == "that":
        if not folded or not (folded[-1] in _AFTER or (last and folded[-1] not in _EMPTY)):
            return False
    elif word not in _PRONOUNS and not (word == "one" and last):
        return False
    content = [
        at
        for at, one in enumerate(folded)
        if one not in _EMPTY and one != "that" and not (at and folded[at - 1] in _ASKED)
    ]
    if word == "that" and content and not last:
        return False
    return not content or (
        len(content) == 1 and not _CLAUSE.search(before) and not _is_thing(names, folded, content[0])
    )


def _is_thing(names: Sequence[str], folded: Sequence[str], at: int) -> bool:
    """Return whether a question's only word of content is what it is about: "does git", "the server", "Mutt"."""
    before = folded[at - 1] if at else ""
    named = at > 0 and (names[at][:1].isupper() or _CODE.fullmatch(names[at]) is not None)
    inverted = before in _AUXILIARIES and all(one in _EMPTY and one != "who" for one in folded[: at - 1])
    return inverted or before in _DETERMINERS or named


def carried_over(question: str, history: Sequence[Turn]) -> str:
    """Return a follow-up completed by the user's questions before it; "" for a question that stands alone.

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
    """Return a follow-up completed by the question before it."""
    if not before:
        return question.strip()
    lead = _LEAD.match(question)
    rest = question[lead.end() :].strip() if lead else question.strip()
    subject = rest.rstrip("?!. ")
    begins = bool(lead and lead[0].strip()) or _FRAGMENT.fullmatch(rest) is not None
    if begins and len(subject.split()) <= _SUBJECT_WORDS and _PRONOUNS.isdisjoint(subject.casefold().split()):
        put = _replaced(before, subject)
        if put:
            return put[-MAX_CARRIED_LENGTH:]
    return f"{before} {rest}"[-MAX_CARRIED_LENGTH:]


_OPTION = re.compile(r"(?<!\S)--?\w[\w-]*")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NUMBER = re.compile(r"(?<![\w.-])\d+(?:[.,]\d+)*(?![\w.-])")
_NAME = re.compile(r"(?<=\s)(?!I\b)[A-Z][\w\u2019'-]*(?:\s+(?:(?:of|the|de|la|von|and)\s+)*[A-Z][\w\u2019'-]*)*")
_PREPOSITION = re.compile(r"(?:on|in|at|for|with|from|by|of|under|during|to|about)(?=\s)", re.IGNORECASE)
_OF_A_KIND = re.compile(r"(?P<article>an?|the)\s+(?P<rest>\S.*)", re.IGNORECASE)
_ONE = re.compile(r"the\s+(?P<which>[^\W\d_]+)\s+ones?", re.IGNORECASE)
_CAPITALIZED = re.compile(r"[A-Z][\w\u2019'-]*(?:\s+\S+){0,3}")


def _replaced(before: str, subject: str) -> str:
    """Return the earlier question with a follow-up's subject in the place of what is of its form there, "" for none.

    >>> _replaced("What is the population of Lyon?", "of Marseille")
    'What is the population of Marseille?'
    >>> _replaced("How do I delete a branch?", "a tag")
    'How do I delete a tag?'
    """
    preposition = _PREPOSITION.match(subject)
    bare = subject[preposition.end() :].strip() if preposition else subject
    for form in (_OPTION, _YEAR, _NUMBER, _CODE):
        if form.fullmatch(bare):
            found = list(dict.fromkeys(one[0].rstrip(".") for one in form.finditer(before)))
            if form is not _CODE or len(found) == 1:
                return _last_replaced(before, found, bare)
    for rule in (_by_preposition, _by_first_word, _by_article, _by_name):
        put = rule(before, preposition[0] if preposition else "", bare)
        if put:
            return put
    return ""


def _last_replaced(before: str, found: Sequence[str], by: str) -> str:
    head, _, tail = before.rpartition(found[-1]) if found else ("", "", "")
    return f"{head}{by}{tail}" if found else ""


def _by_preposition(before: str, preposition: str, bare: str) -> str:
    """Replace what stands behind the same preposition: "of Lyon", "on one table"."""
    if not preposition:
        return ""
    found = list(
        re.finditer(rf"\b{preposition}\s+(?P<what>[^?!,]+?)(?=[?!,]|\s+(?:{_VERBS})\b|$)", before, re.IGNORECASE)
    )
    return before[: found[-1].start("what")] + bare + before[found[-1].end("what") :] if found else ""


_VERBS = "in|on|at|for|with|from|by|do|does|did|is|are|was|were|have|has"


def _by_first_word(before: str, _preposition: str, bare: str) -> str:
    """Replace words that begin alike: "borg prune" by "borg compact"."""
    words = bare.split()
    found = re.search(rf"\b{re.escape(words[0])}(?:\s+[\w.-]+){{{len(words) - 1}}}", before) if len(words) > 1 else None
    begins = found is not None and _OF_A_KIND.match(bare) is None
    return before[: found.start()] + bare + before[found.end() :] if found and begins else ""


def _by_article(before: str, _preposition: str, bare: str) -> str:
    """Replace a thing by another one of its kind: "a branch" by "a tag", "the small kiln" by "the large one"."""
    which = _ONE.fullmatch(bare)
    if which:
        found = list(re.finditer(r"\bthe\s+(?P<old>[^\W\d_]+)\s+[^\W\d_]+", before, re.IGNORECASE))
        return before[: found[-1].start("old")] + which["which"] + before[found[-1].end("old") :] if found else ""
    kind = _OF_A_KIND.fullmatch(bare)
    if kind is None or _CAPITALIZED.match(kind["rest"]):
        return ""
    article = "the" if kind["article"].casefold() == "the" else "an?"
    things = list(re.finditer(rf"\b{article}\s+[\w.-]+(?=[?!,.]|$)", before, re.IGNORECASE))
    return before[: things[-1].start()] + bare + before[things[-1].end() :] if len(things) == 1 else ""


def _by_name(before: str, _preposition: str, bare: str) -> str:
    """Replace a name by a name, and the one identifier there is by whatever single word is asked about."""
    kind = _OF_A_KIND.fullmatch(bare)
    named = kind["rest"] if kind else bare
    found = [one[0] for one in _NAME.finditer(before)]
    if found and _CAPITALIZED.fullmatch(named):
        old = next((each for each in (f"the {found[-1]}", f"The {found[-1]}") if each in before), found[-1])
        return _last_replaced(before, [old], bare)
    codes = list(dict.fromkeys(one[0].rstrip(".") for one in _CODE.finditer(before)))
    return _last_replaced(before, codes, bare) if len(codes) == 1 and " " not in bare else ""

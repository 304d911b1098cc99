"""Whether a question asks for more than one fact, or for a paragraph: by rule, from its wording.

A broad question is hardly answered by one sentence, and may be answered from several places.

It asks for several things ("What are …?", "Which strategies did the city use?"), for the part that something plays or
what follows from it ("What role does … play?"), for an account ("How did the plan evolve?", "Why was it closed?",
"Describe …") or for what somebody says of something. "How many", "how long" and the like ask for one fact. "How do I
…?", "What does it do?", "What is it?" and "Can I …?" ask for a step or an account in one place, whose sentences belong
together: "Some tasks need another group. This is done with adduser." A question for a value, or for several things by
a noun in the plural, is recognized, too. Of other languages than English nothing is known.
"""

import re

_DO = r"(?:do|does|did|has|have|had|can|could|will|would|should|may|might|must|is|are|was|were)"
_SHELLS = (
    "actions advantages allegations approaches arguments aspects benefits causes challenges changes characteristics"
    " claims components concerns conditions consequences criteria details differences disadvantages effects efforts"
    " elements events examples experiments factors features findings functions goals groups impacts implications"
    " initiatives issues kinds limitations measures mechanisms methods observations plans practices principles"
    " problems procedures programs projects properties proposals provisions reasons recommendations responsibilities"
    " results risks rules similarities solutions sources stages statements steps strategies symptoms techniques"
    " terms themes topics trends types uses ways"
)
"""Nouns in the plural that say how many-sided the answer is, not what it is."""
_SEVERAL = re.compile(
    rf"\b(?:what|which) (?:are|were)\b|\b(?:what|which)(?: [\w'\u2019-]+){{0,3}} (?:{'|'.join(_SHELLS.split())})\b",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\bwhat (?:\w+ )?(?:(?:is|was) the (?:\w+ )?)?(?:role|significance|importance|impact|effect|relationship"
    r"|difference|influence|contribution|evidence|background|history)\b",
    re.IGNORECASE,
)
_ACCOUNT = re.compile(
    rf"^\W*(?:in what ways? |how {_DO} (?!(?:i|you|we|one)\b)|why {_DO} )"
    r"|^\W*(?:describe|explain|summari[sz]e|discuss|compare|outline|list)\b",
    re.IGNORECASE,
)
_SAYS = re.compile(
    rf"\bwhat {_DO} .{{1,120}}? (?:say|mention|argue|claim|propose|suggest|discuss|describe|indicate|express)\b",
    re.IGNORECASE,
)


def is_broad(question: str) -> bool:
    """Return whether a question asks for more than one fact.

    >>> is_broad("What strategies did Stockholm use to fund its green infrastructure projects?")
    True
    >>> is_broad("How do RIC scores predict quality?"), is_broad("Why was the arsenal built?")
    (True, True)
    >>> is_broad("What is the default of shared_buffers?"), is_broad("How many shares were sold?")
    (False, False)
    """
    return any(pattern.search(question) for pattern in (_SEVERAL, _PART, _ACCOUNT, _SAYS))


_STEP = re.compile(
    r"^\W*(?:how (?:do|does|did|can|could|should|would|to|is|are)\b|(?:can|may) (?:i|you|we)\b|(?:does|is|are|why)\b"
    r"|what (?:do|does|did|happens|will)\b|what is (?!the\b)[^?]{1,30}\?"
    r"|what (?:is|are) (?:an? |the (?:purpose|difference|meaning|effect|use|reason)\b))",
    re.IGNORECASE,
)


def wants_paragraph(question: str) -> bool:
    """Return whether a question asks for what several sentences of one paragraph tell together.

    >>> wants_paragraph("How do I add a user to a group?"), wants_paragraph("What does AppArmor do?")
    (True, True)
    >>> wants_paragraph("Which port does it listen on?"), wants_paragraph("Who wrote the handbook?")
    (False, False)
    """
    return _STEP.search(question) is not None


_VALUE = re.compile(
    r"\b(?:which|what) (?:port|file|user|group|directory|folder|path|address|host|time|number|size|value|limit|level"
    r"|name|mode|format|version|algorithm|type|unit)\b|\bhow (?:many|much|long|often|large|big|fast|far)\b"
    r"|\bby default\b",
    re.IGNORECASE,
)


def wants_value(question: str) -> bool:
    """Return whether a question asks for a value, such as a setting has, which may stand behind what it is for.

    >>> wants_value("Which port does it listen on?"), wants_value("Into which file is the log written?")
    (True, True)
    >>> wants_value("What is a port?"), wants_value("Which strategies did the city use?")
    (False, False)
    """
    return not is_broad(question) and _VALUE.search(question) is not None


_WHICH_ONES = re.compile(
    r"\b(?:which|what) (?:[\w'\u2019-]+ ){0,2}?[a-z-]{2,}s(?<!ss)(?<!us)(?<!is)"
    r" (?:do|did|have|had|can|could|will|would|should|may|might|must|are|were)\b"
    r"|\bwhat (?:are|were) the\b|^\W*list\b",
    re.IGNORECASE,
)


def wants_list(question: str) -> bool:
    """Return whether a question asks for several things by a noun in the plural, which a list may hold.

    >>> wants_list("On which systems can it not be run?"), wants_list("What are the supported formats?")
    (True, True)
    >>> wants_list("What does it do?"), wants_list("Which bus stops there?"), wants_list("Which port is it?")
    (False, False, False)
    """
    return _WHICH_ONES.search(question) is not None

"""Whether a question has two parts, so that one sentence hardly answers it: by rule, from how it is written.

It compares ("Which is older, A or B?", "Are A and B both films?"), or it asks about something that it does not name but
describes ("Who directed the film that was shot in Leland?", "the capital of the country where …"). A question with two
names alone is mostly answered by one sentence that holds both, and is not one.
"""

import re

_NAME = r"(?:(?!I\b)[A-Z\u00c0-\u00de0-9][\w.'\u2019&-]*)"
_NAMES = rf"{_NAME}(?:(?:,| of| the| de| von| &)? {_NAME})*"
_CHOICE = re.compile(rf"\b(?:the )?{_NAMES}\s*,? or (?:the )?{_NAMES}")
_BOTH = re.compile(
    rf"^\s*(?i:are|were|is|was|do|does|did|have|has)\b.*?{_NAMES} and (?:the )?{_NAMES}|\b[Bb]oth {_NAMES} and {_NAMES}"
    r"|\b(?i:in common|of the two|each of)\b"
)
_DESCRIBED = re.compile(
    r"\b(?:[Tt]he|an?) (?:[\w'-]+ ){0,4}?(?!so\b)[^\W\d_]+,? (?:that|who|whose|where|in which|for which|of which)\b"
    rf"[^?]*?(?<![\w-])(?:{_NAME}|[\"\u201c\u201e])"
)
"""A thing that is described by a clause with a name, a figure or a title in it."""


def has_two_parts(question: str) -> bool:
    """Return whether a question has two parts.

    >>> has_two_parts("Which magazine was started first, Arthur's Magazine or First for Women?")
    True
    >>> has_two_parts("Who directed the film that was shot in Leland in 1986?")
    True
    >>> has_two_parts("What is the default of shared_buffers?")
    False
    """
    return any(pattern.search(question) for pattern in (_CHOICE, _BOTH, _DESCRIBED))

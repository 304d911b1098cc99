"""Questions that are prose: what quotes, signs and names in them would ask of a search is not meant."""

import re

from twofold.query.operators import OPERATOR

_QUOTES = str.maketrans(dict.fromkeys('"\uff02\u201c\u201d\u201e\xab\xbb', " "))
_SIGN = re.compile(r"(?<!\S)[+-](?=[^\s+-])")
_NAMED = re.compile(rf"(?<!\S){OPERATOR.pattern}")


def as_prose(question: str) -> str:
    """Take the operators out of a question and leave its words.

    >>> as_prose('what "barks at midnight" -loudly')
    'what  barks at midnight  loudly'
    >>> as_prose("the type:token ratio")
    'the type: token ratio'
    """
    return _NAMED.sub(r"\g<0> ", _SIGN.sub("", question.translate(_QUOTES)))

"""The short answer: the one span of the best sentence that a question asks for, or nothing.

It goes by rule and only where one span is left: the default where the default is asked for, the one figure with its
unit where a figure is asked for, and the one date or year where a time is. What stands in the question does not count.
"""

import re
from collections.abc import Iterator

_MAX_LENGTH = 60
_DEFAULT_ASKED = re.compile(r"\bdefault", re.IGNORECASE)
_DEFAULTS = (
    re.compile(
        r"\bdefaults? (?:value )?(?:is|are|of|to|=) (?:typically |usually |set to )?(?P<value>[^.,;()\n]+)",
        re.IGNORECASE,
    ),
    re.compile(r"\(default(?: is|:| =)?:? ?(?P<value>[^)\n]+)\)", re.IGNORECASE),
    re.compile(r"(?P<value>[\w./-]+) (?:by|is the) default\b", re.IGNORECASE),
)
_TIME_ASKED = re.compile(r"\b(?:when|what year|which year|what date|in what century)\b", re.IGNORECASE)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_TIME = re.compile(
    rf"(?:\d{{1,2}} )?{_MONTH}(?: \d{{1,2}})?,? \d{{4}}|{_MONTH} \d{{1,2}}|\b(?:1[0-9]|20)\d\d\b(?![\d,]*\d)"
    r"|\b\d{1,2}(?:st|nd|rd|th) century"
)
_FIGURE_ASKED = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|large|big|high|tall|fast|deep)|what (?:percent\w*|number|share)"
    r"|(?:which|what) port)\b",
    re.IGNORECASE,
)
_UNIT = (
    r"(?: ?%| percent| (?:hundred|thousand|million|billion)"
    r"| ?(?:KB|MB|GB|TB|kB|ms|bytes?|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"|miles|meters?|metres|km|feet|people|points?|times|connections|workers|pages|tuples))*"
)
_WORDS = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_FIGURE = re.compile(
    rf"(?<![\w.])(?<!\(-)[$\u20ac\u00a3]?\d[\d,]*(?:\.\d+)?{_UNIT}(?![\w%])|\b(?:{_WORDS})\b{_UNIT}", re.IGNORECASE
)
_COUNTED = re.compile(r"\bhow many (?P<part>of (?:the |these |those )?(?:\d+ )?)?(?P<noun>[^\W\d_]+)", re.IGNORECASE)
_PORT_ASKED = re.compile(r"\b(?:which|what) (?:port|number)\b", re.IGNORECASE)
_BARE = re.compile(rf"\d[\d,]*(?:\.\d+)?|{_WORDS}", re.IGNORECASE)
_NEAR, _STEM = 40, 5
_QUOTED = re.compile(r"[\"\u201d]")
_NO_VALUE = re.compile(
    r"(?:is|are|was|were|be|been|set|and|or|not|this|that|it|which|used|done|the)|not to .*", re.IGNORECASE
)
"""What stands at "default" where that says how, not what: "a timeout is by default an error", "is not to wait"."""


def short_answer(question: str, sentence: str) -> str:
    """Return the span of a sentence that answers a question in a few words; "" where no span does, or several do."""
    found = {" ".join(span.split()) for span in _spans(question, sentence)}
    left = [span for span in found if span and span.casefold() not in question.casefold()]
    return left[0] if len(left) == 1 and len(left[0]) <= _MAX_LENGTH else ""


def _spans(question: str, sentence: str) -> Iterator[str]:
    if _DEFAULT_ASKED.search(question):
        for pattern in _DEFAULTS:
            for match in pattern.finditer(sentence):
                value = _QUOTED.split(match["value"].strip(" \u201c\u201d\"'`"))[0]
                if not _NO_VALUE.fullmatch(value):
                    yield value
                    return
    elif _TIME_ASKED.search(question):
        yield from (match.group() for match in _TIME.finditer(sentence))
    elif _FIGURE_ASKED.search(question):
        yield from (match.group() for match in _FIGURE.finditer(sentence) if _is_of(match, question))


def _is_of(figure: re.Match[str], question: str) -> bool:
    """Return whether a figure is of what is asked: with a unit, or right before the noun that is counted."""
    counted = _COUNTED.search(question)
    if counted is None:
        return _BARE.fullmatch(figure.group()) is None or _PORT_ASKED.search(question) is not None
    after = figure.string if counted["part"] else figure.string[figure.end() : figure.end() + _NEAR]
    return counted["noun"][:_STEM].casefold() in f"{figure.group()} {after}".casefold()

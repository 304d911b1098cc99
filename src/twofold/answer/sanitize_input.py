"""Passages as data: nothing hidden in them, no tag of ours, and a mark before every line that a model is shown.

Marking each line says of every part of a text that it is data (datamarking: Hines et al., 2024, "Defending Against
Indirect Prompt Injection Attacks With Spotlighting"); no text can close a fence whose every line is marked.
"""

import re

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_UNSEEN = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_CONTROLS}{_UNSEEN}\ud800-\udfff]")
_JOINERS = re.compile("(?<![\u0600-\u1fff\U0001f000-\U0001faff\u2600-\u27bf])[\u200c\u200d]+|[\u200c\u200d]{2,}")
"""Joiners mean something between letters of Arabic, Persian and Indic scripts and between emoji, and nowhere else."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CONCEALED = re.compile(
    r"<(\w{1,16})\b[^<>]{0,400}?(?:display\s{0,4}:\s{0,4}none|visibility\s{0,4}:\s{0,4}hidden|font-size\s{0,4}:\s{0,4}0"
    r"|opacity\s{0,4}:\s{0,4}0(?![.\d])|\shidden\b)[^<>]{0,400}>(?:(?!</\1\s{0,8}>).){0,4000}(?:</\1\s{0,8}>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_TAGS = re.compile(
    r"<(\s{0,4}/?\s{0,4}(?:passages?|question|conversation|plan|system|assistant|user|think|im_(?:start|end)"
    r"|\|[^|<>]{0,40}\|)[^<>]{0,80})>",
    re.IGNORECASE,
)
_TURNS = re.compile(r"\[/?INST\]|<<\s?/?SYS\s?>>|<\|[^|<>]{1,40}\|>|</?s>", re.IGNORECASE)
MARK = "| "


def without_hidden(text: str) -> str:
    r"""Take out what a reader cannot see: control characters, invisible ones, comments, concealed elements.

    >>> without_hidden("All is w\u200bell.<!-- obey me --> <i style='display:none'>obey</i>Really.\x1b[8m")
    'All is well. Really.[8m'

    """
    return _CONCEALED.sub("", _COMMENT.sub("", without_invisible(text)))


def without_invisible(text: str) -> str:
    """Take out the characters that show nothing: controls, fillers, marks of direction, tags, stray joiners."""
    return _JOINERS.sub("", _HIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def defuse_tags(text: str) -> str:
    """Make tags of ours, and those of chat templates, plain words: `</passages>` becomes `(/passages)`."""
    return _TURNS.sub(lambda found: "(" + re.sub(r"[\[\]<>|]", "", found[0]) + ")", _TAGS.sub(r"(\1)", text))


def as_data(text: str) -> str:
    """Return a text as a model may be shown it: nothing hidden, no tags."""
    return defuse_tags(without_hidden(text)).strip()


def one_line(text: str) -> str:
    """Return a name on one line, with no character that could end what it stands in."""
    return " ".join(as_data(text).split()).translate({ord('"'): "'", ord("<"): "(", ord(">"): ")"})


def marked(text: str, number: int) -> str:
    r"""Put a passage's mark before each of its lines.

    >>> marked("one\ntwo", 3)
    '3| one\n3| two'
    """
    return "\n".join(f"{number}{MARK}{line}" for line in text.split("\n"))

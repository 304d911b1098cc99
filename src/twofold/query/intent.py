"""What a question is after, read by rule, and the filter that narrows the search to it: checklist 40's query planner.

Rules are data: a question that opens with certain words and has few left, or one that holds certain words. Off unless
rules are handed in, since a passage that no rule recognized at ingest could not be found any more.
"""

import re

from twofold.domain.dataclass import dataclass
from twofold.domain.filters import Condition, Filter, Operator

_WORD = re.compile(r"[\w'-]+")


@dataclass(frozen=True, slots=True)
class Intent:
    """A rule: where it holds, only passages that meet `condition` are of interest.

    It holds for a question that begins with one of `openings` and has 1 to `longest` words after it, an article not
    counted, or that holds one of `phrases` as whole words. All of them are in small letters.
    """

    name: str
    condition: Filter
    openings: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    longest: int = 4


DEFINITION = Intent(
    "definition",
    Condition("semantic_type_primary", Operator.EQ, "definition"),
    openings=(
        "define",
        "definition of",
        "what is the definition of",
        "what is the meaning of",
        "what is meant by",
        "what is",
        "what's",
        "what are",
        "meaning of",
    ),
)
GOVERNMENT_DATA = Intent(
    "government data",
    Condition("source_type", Operator.EQ, "excel"),
    phrases=("government data", "official data", "official statistics", "government statistics", "census data"),
)
INTENTS = (DEFINITION, GOVERNMENT_DATA)
"""Those of the checklist: "define X" asks for definitions alone, a question about government data for sheets alone."""

_ARTICLES = frozenset({"a", "an", "the"})


def intent_of(question: str) -> Intent | None:
    """Return the first rule that holds, None for none.

    >>> intent_of("What is a detached HEAD?").name
    'definition'
    >>> intent_of("What is the fastest way to undo the last commit?") is None
    True
    """
    words = tuple(_WORD.findall(question.casefold().replace("\u2019", "'")))
    return next((one for one in INTENTS if _holds(one, words)), None)


def _holds(intent: Intent, words: tuple[str, ...]) -> bool:
    return any(_opens(words, tuple(opening.split()), intent.longest) for opening in intent.openings) or any(
        f" {phrase} " in f" {' '.join(words)} " for phrase in intent.phrases
    )


def _opens(words: tuple[str, ...], opening: tuple[str, ...], longest: int) -> bool:
    rest = words[len(opening) :]
    return words[: len(opening)] == opening and 1 <= len(rest[rest[:1] != () and rest[0] in _ARTICLES :]) <= longest

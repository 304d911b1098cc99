r"""Other phrasings of a question by rule, where no model is asked: the thing asked about, and the words that carry it.

    "How do I undo the last commit?" → "steps to undo the last commit", "undo last commit"

The rules know English questions; of others they give what is left without marks, where that is something else.
"""

import re

MAX_PHRASINGS = 2
_AUXILIARY = r"(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|may|might|must)(?:n['\u2019]t)?"
_PERSON = r"(?:i|you|we|one|someone|they|it)"
_LEADS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), said)
    for pattern, said in (
        (rf"how\s+(?:{_AUXILIARY}\s+{_PERSON}|to)\s+", "steps to "),
        (rf"how\s+(?:much|many|long|often|far|old|big|large|hot|high|fast)\s+(?:{_AUXILIARY}\s+)?", "amount of "),
        (rf"how\s+(?:{_AUXILIARY}\s+)", "explanation of "),
        (r"(?:what|which)\s+(?:is|are|was|were)\s+(?:meant\s+by\s+)?(?:an?\s+|the\s+)?", "definition of "),
        (rf"why\s+(?:{_AUXILIARY}\s+)?", "reason for "),
        (rf"when\s+(?:{_AUXILIARY}\s+)?", "date of "),
        (rf"where\s+(?:{_AUXILIARY}\s+)?(?:{_PERSON}\s+find\s+)?", "place of "),
        (rf"who(?:m|se)?\s+(?:{_AUXILIARY}\s+)?", "person who "),
        (rf"(?:what|which)\s+(?:{_AUXILIARY}\s+)?", ""),
        (rf"{_AUXILIARY}\s+(?:{_PERSON}\s+)?", ""),
    )
)
_WORD = re.compile(r"[^\W_]+(?:[._/'\u2019-][^\W_]+)*")
_LITTLE_WORDS = """
    a an the i you we one someone they it me my our your us of in on at by for from to with about as than and or but
    what which who whom whose when where why how is are was were be been do does did can could should would will has
    have had may might must there this that these those please
"""
_CARRY_NOTHING = frozenset(_LITTLE_WORDS.split())


def phrasings(question: str, most: int = MAX_PHRASINGS) -> tuple[str, ...]:
    """Return at most two other phrasings, none twice and none that is the question again.

    >>> phrasings("How do I undo the last commit?")
    ('steps to undo the last commit', 'undo last commit')
    >>> phrasings("What is a stash?"), phrasings("git stash")
    (('definition of stash', 'stash'), ())
    """
    plain = " ".join(question.split()).rstrip("?!. \u3002\uff1f")
    stated = next((said + plain[found.end() :] for lead, said in _LEADS if (found := lead.match(plain))), plain)
    carrying = " ".join(word for word in _WORD.findall(plain) if word.casefold() not in _CARRY_NOTHING)
    made = {one.casefold(): one for one in (stated.strip(), carrying) if one}
    made.pop(plain.casefold(), None)
    return tuple(made.values())[: min(most, MAX_PHRASINGS)]

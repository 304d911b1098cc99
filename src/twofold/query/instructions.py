"""Sentences of a question that tell who answers how to answer, and say nothing of what is sought.

"Answer the following question by using the balance sheet: what is the net debt? Answer in USD billions." asks what
stands after the colon. Words of the other sentences, `answer`, `following`, `billions`, stand in passages about
anything, and BM25 would look for them. A sentence counts as such where it begins like an order to the one who answers
and speaks of the answer, of the question or of what was given; a sentence with a question mark never does. A unit in
brackets, "the amount (in USD millions)", says how to answer wherever it stands.
"""

import re
from collections.abc import Callable, Mapping

SHARE = 0.25
"""What is left of the weight of a term that stands in instructions alone: they may name where to look."""

_APART = re.compile(r"(?<=[.!?])\s+|:\s+")
_ORDER = re.compile(
    r"(?:(?:please|kindly|then|and|also|you (?:should|must|may|can))\s+)*"
    r"(?:give|provide|return|write|phrase|format|express|present|state|report|explain|justify|describe|keep|limit|round"
    r"|base|rely|use|refer|cite|quote|focus|do not|don't|avoid|ensure|make sure|note|remember|think|consider|assume"
    r"|imagine|suppose|pretend|act|approach|address|adopt|take)\b",
    re.IGNORECASE,
)
_OF_AN_ANSWER = re.compile(
    r"\b(?:you|your|yourself|answers?|questions?|responses?|respond|judge?ment|reply|shown|given|provided|decimals?"
    r"|step by step|perspective|in (?:one|two|three|a few|\d+) (?:words?|sentences?|paragraphs?|lines?)"
    r"|in (?:usd|us dollars|dollars|euros?|thousands|millions|billions|percent))\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(r"(?:(?:please|kindly|then)\s+)*(?:answer|respond|reply|you are (?:an?|the))\b", re.IGNORECASE)
_OTHERWISE = re.compile(
    r"if\b.*\b(?:please|then|simply|just)\s+(?:state|say|explain|indicate|answer|respond|reply)\b", re.IGNORECASE
)
_MONEY = r"(?:usd|eur|gbp|(?:us )?dollars?|euros?|pounds|percent|%)"
_SCALE = r"(?:thousands?|millions?|billions?|mn|bn)"
_UNIT = re.compile(
    rf"\s*\((?:(?:answer|expressed|stated|shown|rounded) )?in (?:{_MONEY}(?: {_SCALE})?|{_SCALE}(?: of {_MONEY})?)\)",
    re.IGNORECASE,
)
_MIN_WORDS = 3


def without_instructions(question: str) -> str:
    """Return a question without the sentences that say how to answer; itself where little would be left.

    >>> without_instructions("Answer by using the balance sheet: what is the net debt of 2018? Answer in USD billions.")
    'what is the net debt of 2018?'
    >>> without_instructions("Give examples of recursion. State your sources.")
    'Give examples of recursion.'
    """
    bare = _UNIT.sub("", question) if "(" in question else question
    parts = _APART.split(bare)
    kept = [part for part in parts if not _instructs(part.strip())]
    unchanged = len(kept) == len(parts) and bare == question
    if unchanged or not any(len(part.split()) >= _MIN_WORDS for part in kept):
        return question
    return " ".join(kept)


def weighed(question: str, query: Callable[[str], Mapping[str, float]]) -> Mapping[str, float]:
    """Return what `query` weighs a question's terms; those that stand in instructions alone count for a quarter."""
    weights, core = query(question), without_instructions(question)
    if core == question:
        return weights
    asked = query(core)
    return {term: weight if term in asked else weight * SHARE for term, weight in weights.items()}


def _instructs(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    if _ALWAYS.match(sentence) or _OTHERWISE.match(sentence):
        return True
    order = _ORDER.match(sentence)
    return order is not None and _OF_AN_ANSWER.search(sentence, order.end()) is not None

"""Whether a question asks for more than one fact, so that one sentence hardly answers it: by rule, from its wording.

It asks for several things ("What are …?", "Which strategies did the city use?"), for the part that something plays or
what follows from it ("What role does … play?"), for an account ("How did the plan evolve?", "Why was it closed?",
"Describe …") or for what somebody says of something. "How many", "how long" and the like ask for one fact, and "How do
I …?" for a step. Of other languages than English nothing is known.
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

"""Questions about how things are connected, translated into look-ups of a property graph by rules.

    what is related to X        who is connected to X        how are X and Y related     things next to X
    which pages mention X       where is X mentioned         what mentions X and Y

Anything else is no question for a graph.
"""

import re

from twofold.domain.ports import GraphQuery

MAX_NAMES = 4
_LEAD = r"^\s*(?:(?:what|who|which|where|how|list|show|find|name|is|are|was|were|all|the|things|else|\w+)\s+){0,6}?"
_RELATED = re.compile(
    rf"{_LEAD}(?:related|connected|linked|next)\s+(?:to|with)\s+(?P<names>.+)$|"
    r"^\s*how\s+(?:is|are)\s+(?P<both>.+?)\s+(?:related|connected|linked)(?:\s+to\s+(?P<other>.+))?$",
    re.IGNORECASE,
)
_MENTIONED = re.compile(
    rf"{_LEAD}mention(?:s|ed|ing)?\s+(?P<names>.+)$|^\s*where\s+(?:is|are)\s+(?P<both>.+?)\s+mentioned$", re.IGNORECASE
)
_JOINT = re.compile(r"\s+(?:and|with|to)\s+|\s*,\s*")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+", re.IGNORECASE)


class RuleTranslator:
    """Translates questions into look-ups of a graph by their form; see the forms above."""

    def translate(self, question: str) -> GraphQuery | None:
        """Return the look-up that a question asks for; None for one of no known form.

        >>> RuleTranslator().translate("What is related to the Reserve Bank?")
        GraphQuery(names=('Reserve Bank',), relation='next_to')
        >>> RuleTranslator().translate("Which reports mention NABARD and GDP?")
        GraphQuery(names=('NABARD', 'GDP'), relation='mentions')
        """
        asked = question.strip().rstrip("?!. ")
        for pattern, relation in ((_RELATED, "next_to"), (_MENTIONED, "mentions")):
            found = pattern.match(asked)
            if found is not None:
                parts = found.groupdict()
                names = " and ".join(filter(None, (parts.get("names"), parts.get("both"), parts.get("other"))))
                said = tuple(_ARTICLE.sub("", one).strip("\"' ") for one in _JOINT.split(names))
                kept = tuple(one for one in dict.fromkeys(said) if one)[:MAX_NAMES]
                return GraphQuery(kept, "next_to" if relation == "next_to" else "mentions") if kept else None
        return None

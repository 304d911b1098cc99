"""Synonyms of an index: rules that let a passage be found by other words than the question's.

One rule a line; `#` begins a comment:

    car, automobile, motor car          each stands for the others
    nyc => new york city, big apple     what stands before the arrow finds what stands behind it, not the reverse
    dbms => database^0.5                a time counts half; without a number it counts .8

A word of the question and its synonyms score as one term; see `twofold.text.bm25`. Where the question has several words
that a rule names, the rule's other side scores as one more term, and the words stay. Only BM25 is widened: `+word`,
`"phrases"` and excluded words stay what they are, and vectors know synonyms by themselves.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.domain.types import GroupMember, TermQuery

MAX_CHARACTERS = 1_000_000
MAX_RULES = 10_000
MAX_SIDE = 64
MAX_WORDS = 8
WEIGHT = 0.8
EXACT = "="
_WEIGHTED = re.compile(r"(.*?)\^(\d*\.?\d+)\s*")

Terms = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Synonym:
    """What a rule adds to a question, and how much each time counts, in (0, 1]."""

    text: str
    weight: float = WEIGHT


@dataclass(frozen=True, slots=True)
class SynonymRule:
    """One rule: each of `words` in a question finds the `synonyms` too; `line` is where it stands, from 1."""

    line: int
    text: str
    words: tuple[str, ...]
    synonyms: tuple[Synonym, ...]


@lru_cache(maxsize=8)
def read_rules(text: str) -> tuple[SynonymRule, ...]:
    """Read rules, one a line. Raises InvalidInputError that names the line of one that cannot be."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidInputError(f"The synonyms have {len(text):,} characters.", f"{MAX_CHARACTERS:,} are the most.")
    rules = []
    for number, line in enumerate(text.splitlines(), start=1):
        said = line.partition("#")[0].strip()
        if said:
            rules.append(_rule(number, said))
    if len(rules) > MAX_RULES:
        raise InvalidInputError(f"There are {len(rules):,} rules of synonyms.", f"{MAX_RULES:,} are the most.")
    return tuple(rules)


def _rule(line: int, said: str) -> SynonymRule:
    left, arrow, right = said.partition("=>")
    before, after = _side(left, line), _side(right if arrow else left, line)
    if not before or not after or (not arrow and len(before) < 2):  # noqa: PLR2004  # a word and another
        raise InvalidInputError(
            f"Line {line} of the synonyms is no rule: {said[:80]!r}.", "Write `a, b, c`, or `a => b, c`."
        )
    return SynonymRule(line, " ".join(said.split()), tuple(one.text for one in before), after)


def _side(said: str, line: int) -> tuple[Synonym, ...]:
    made: list[Synonym] = []
    for one in filter(str.strip, said.split(",")):
        found = _WEIGHTED.fullmatch(one)
        words, weight = " ".join((found[1] if found else one).split()), float(found[2]) if found else WEIGHT
        if not words or len(words.split()) > MAX_WORDS or not 0.0 < weight <= 1.0 or len(made) >= MAX_SIDE:
            raise InvalidInputError(
                f"Line {line} of the synonyms cannot have {one.strip()[:80]!r}.",
                f"A side has up to {MAX_SIDE} entries of 1 to {MAX_WORDS} words; a weight is above 0 and at most 1.",
            )
        made.append(Synonym(words, weight))
    return tuple(made)


@dataclass(frozen=True, slots=True, eq=False)
class _Match:
    terms: tuple[str, ...]
    said: str
    members: tuple[GroupMember, ...]
    synonyms: tuple[Synonym, ...]
    line: int


@lru_cache(maxsize=8)
def _matches(text: str, phrase_terms: Terms) -> Mapping[str, tuple[_Match, ...]]:
    """Return what each rule is about, by its first term."""
    found: dict[str, list[_Match]] = {}
    for rule in read_rules(text):
        for words in rule.words:
            terms = _plain(phrase_terms(words))
            others = tuple(one for one in rule.synonyms if _plain(phrase_terms(one.text)) != terms)
            members = tuple(member for one in others if (member := _member(one, phrase_terms)) is not None)
            if terms and members:
                found.setdefault(terms[0], []).append(_Match(terms, words, members, others, rule.line))
    return {term: tuple(some) for term, some in found.items()}


def _member(synonym: Synonym, phrase_terms: Terms) -> GroupMember | None:
    terms = tuple(phrase_terms(synonym.text))
    if not terms:
        return None
    return GroupMember(terms, synonym.weight, "" if len(terms) == 1 and " " not in synonym.text else synonym.text)


def _plain(terms: Sequence[str]) -> tuple[str, ...]:
    return tuple(term for term in terms if not term.startswith(EXACT)) or tuple(terms)


def with_synonyms(query: TermQuery, words: str, rules: str, phrase_terms: Terms) -> tuple[TermQuery, tuple[str, ...]]:
    """Return a query with the synonyms of its words, and a note for each rule that acted; itself where none did.

    `words` are the question's; `rules` the text of the rules. A single word becomes a group of itself, at weight 1, and
    its synonyms; several words get a group of their synonyms in addition, which counts as much as one word. Of rules
    that begin at the same word those of the most words act.
    """
    known, notes = _matches(rules, phrase_terms), list[str]()
    typed = [term for word in words.split() for term in _plain(phrase_terms(word))]
    weights, groups, at = dict(query.weights), dict(query.groups), 0
    while at < len(typed):
        found = [one for one in known.get(typed[at], ()) if tuple(typed[at : at + len(one.terms)]) == one.terms]
        longest = max((len(one.terms) for one in found), default=1)
        for match in (one for one in found if len(one.terms) == longest):
            if longest > 1 or typed[at] in weights:
                _widen(match, weights, groups)
                said = ", ".join(f"{one.text} {one.weight:g}" for one in match.synonyms)
                notes.append(f"synonyms of {match.said}: {said} (rule in line {match.line})")
        at += longest
    if not notes:
        return query, ()
    return replace(query, weights=weights, groups=groups), tuple(dict.fromkeys(notes))


def _widen(match: _Match, weights: dict[str, float], groups: dict[str, tuple[GroupMember, ...]]) -> None:
    """Add what a rule says: to the term of a single word, or as a term of its own."""
    single = len(match.terms) == 1
    name = match.terms[0] if single else match.said
    held = groups.get(name, (GroupMember(match.terms),) if single else ())
    groups[name] = (*held, *(one for one in match.members if one not in held))
    weights.setdefault(name, 1.0)

"""Explaining by words that people read: the whole words behind the terms of a trace.

Finding them reads every passage shown once more, about 2 ms each, so only an explanation does it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from twofold.domain.types import TermScore
from twofold.lexical.analyze import Analyser
from twofold.lexical.words import whole_words
from twofold.pipeline.results import FoundPassage, SearchResult, StageTrace

SHOWN = 5
"""How many of the added terms a trace names."""

_SAID: dict[str, Callable[[Sequence[str]], str]] = {
    "parse": lambda terms: f"terms {', '.join(terms)}" if terms else "no terms",
    "feedback": lambda terms: f"terms added: {', '.join(terms)}" if terms else "no new term",
    "likeness": lambda terms: f"{len(terms)} terms added: {', '.join(terms[:SHOWN])}{', …' * (len(terms) > SHOWN)}",
}


def of_terms(name: str, given: int, left: int, terms: Sequence[str]) -> StageTrace:
    """Return the trace of a stage that is about terms: `parse`, `feedback` or `likeness`."""
    return StageTrace(name, given, left, decisions=(_SAID[name](terms),), terms=tuple(terms))


def explained(result: SearchResult, analyser: Analyser) -> SearchResult:
    """Return a result with the whole word beside each term: the question's own form, else that of the passage."""
    queries = (result.query, *result.wordings)
    asked = dict(whole_words({term for query in queries for term in analyser.query(query)}, queries, analyser))
    named = {term for stage in result.stages for term in stage.terms}
    words: dict[str, str] = {}
    hits = []
    for hit in result.hits:
        terms = named.union(one.term for one in hit.trace.terms)
        found = dict(whole_words(terms, (hit.text, *hit.heading, hit.title), analyser))
        words |= {term: word for term, word in found.items() if words.get(term, term) == term}
        hits.append(_with_words(hit, {**found, **asked}))
    stages = tuple(_named(stage, {**words, **asked}) for stage in result.stages)
    return replace(result, hits=tuple(hits), stages=stages)


def _with_words(hit: FoundPassage, words: dict[str, str]) -> FoundPassage:
    terms = tuple(replace(one, word=words.get(one.term, one.term)) for one in hit.trace.terms)
    return replace(hit, trace=replace(hit.trace, terms=terms))


def _named(stage: StageTrace, words: dict[str, str]) -> StageTrace:
    if stage.name not in _SAID or not stage.terms:
        return stage
    whole = tuple(words.get(term, term) for term in stage.terms)
    return replace(stage, decisions=(_SAID[stage.name](whole),), terms=whole)


def told_apart(terms: Sequence[TermScore], asked: frozenset[str]) -> tuple[TermScore, ...]:
    """Say of each term whether the question has it or feedback added it."""
    return tuple(
        one if one.term in asked else TermScore(one.term, one.weight, one.idf, one.frequency, one.score, "feedback")
        for one in terms
    )

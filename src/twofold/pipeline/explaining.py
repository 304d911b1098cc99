"""Explaining by words that people read: the whole words behind the terms of a trace.

Finding them reads every passage shown once more, about 2 ms each, so only an explanation does it.
"""

from dataclasses import replace

from twofold.lexical.analyze import analyser_for
from twofold.lexical.words import whole_words
from twofold.pipeline.results import FoundPassage, SearchResult, StageTrace, of_terms


def explained(result: SearchResult, language: str) -> SearchResult:
    """Return a result with the whole word beside each term: the question's own form, else that of the passage.

    `language` is the setting `analyser` of the index.
    """
    analyser, queries = analyser_for(language), (result.query, *result.wordings)
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
    if not stage.terms:
        return stage
    made = of_terms(stage.name, stage.given, stage.left, [words.get(term, term) for term in stage.terms])
    return replace(made, milliseconds=stage.milliseconds)

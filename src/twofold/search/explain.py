"""Readable explanations: the whole words behind the terms of a trace.

Finding them reads every passage shown once more, about 2 ms each, so only an explanation does it.
"""

from dataclasses import replace

from twofold.search.result import Hit, SearchResult, StageTrace, of_terms, with_notes
from twofold.text.analyzers import analyzer_for
from twofold.text.display_words import whole_words


def explained(result: SearchResult, language: str) -> SearchResult:
    """Return a result with the whole word for each term: the question's own form, else that of the passage.

    `language` is the setting `analyzer` of the index.
    """
    analyzer, queries = analyzer_for(language), (result.query, *result.queries)
    asked = dict(whole_words({term for query in queries for term in analyzer.query(query)}, queries, analyzer))
    named = {term for stage in result.stages for term in stage.terms}
    words: dict[str, str] = {}
    hits = []
    for hit in result.hits:
        terms = named.union(one.term for one in hit.trace.terms)
        found = dict(whole_words(terms, (hit.text, *hit.heading, hit.title), analyzer))
        words |= {term: word for term, word in found.items() if words.get(term, term) == term}
        hits.append(_with_words(hit, {**found, **asked}))
    stages = tuple(_named(stage, {**words, **asked}) for stage in result.stages)
    return replace(result, hits=tuple(hits), stages=stages)


def _with_words(hit: Hit, words: dict[str, str]) -> Hit:
    terms = tuple(replace(one, word=words.get(one.term, one.term)) for one in hit.trace.terms)
    return replace(hit, trace=replace(hit.trace, terms=terms))


def _named(stage: StageTrace, words: dict[str, str]) -> StageTrace:
    if not stage.terms:
        return stage
    made = of_terms(
        stage.name, stage.candidates_in, stage.candidates_out, [words.get(term, term) for term in stage.terms]
    )
    return replace(with_notes(made, stage.notes[1:]), milliseconds=stage.milliseconds)

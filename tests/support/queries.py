"""Questions taken apart as a search takes them apart, and keys to remember their answers under."""

from twofold.query.parse import Analysis, ParsedQuery, parse
from twofold.search.cache import CacheKey, cache_key
from twofold.text.analyzers import analyzer_for
from twofold.text.unicode_normalization import fold


def parsed(question: str, language: str = "english") -> ParsedQuery:
    analyzer = analyzer_for(language)
    return parse(question, Analysis(fold, analyzer.query, analyzer.phrase_terms, analyzer.clause_terms))


def key_of(question: str, generation: int = 1, session: str = "", settings: tuple[object, ...] = ()) -> CacheKey:
    return cache_key(parsed(question), [("docs", generation)], settings, session)

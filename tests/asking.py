"""Questions taken apart as a search takes them apart, and keys to remember their answers under."""

from twofold.lexical.analyze import analyser_for
from twofold.lexical.normal import fold
from twofold.pipeline.memory_keys import MemoryKey, memory_key
from twofold.query.parse import Analysis, ParsedQuery, parse


def parsed(question: str, language: str = "english") -> ParsedQuery:
    analyser = analyser_for(language)
    return parse(question, Analysis(fold, analyser.query, analyser.phrase_terms, analyser.clause_terms))


def key_of(question: str, generation: int = 1, session: str = "", settings: tuple[object, ...] = ()) -> MemoryKey:
    return memory_key(parsed(question), [("docs", generation)], settings, session)

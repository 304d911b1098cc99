"""The words behind terms: what people read instead of stems."""

from collections import Counter
from collections.abc import Iterable, Mapping

from twofold.text.analyzer import EXACT, Analyzer
from twofold.text.ngrams import NGRAM


def whole_words(terms: Iterable[str], texts: Iterable[str], analyzer: Analyzer) -> Mapping[str, str]:
    """Return for each term the word that it stands for in these texts, in its most frequent form.

    A word is folded; an exact form is as the texts write it. A term that is in none of the texts stands for itself.

    >>> from twofold.text.analyzers import analyzer_for
    >>> whole_words(["chang", "=err-7"], ["Changes undo changes of ERR-7."], analyzer_for("english"))
    {'chang': 'changes', '=err-7': 'ERR-7'}
    """
    forms: dict[str, Counter[str]] = {term: Counter() for term in terms}
    for text in texts:
        for token in analyzer.tokens(text):
            if token.term in forms:
                form = " ".join(text[token.start : token.end].split())
                exact = token.term.startswith(EXACT) and not token.term.startswith(NGRAM)
                forms[token.term][form if exact else form.lower()] += 1
    return {term: max(some, key=lambda form: some[form]) if some else _bare(term) for term, some in forms.items()}


def _bare(term: str) -> str:
    return term.removeprefix(NGRAM) if term.startswith(NGRAM) else term.removeprefix(EXACT)

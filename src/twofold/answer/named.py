"""The documents among those found that a question, or the sentence that answers, names by their titles.

"Which is larger, the Pterocarya or the Cotula?" names two, and wants a sentence of each. "The novel is based on the
life of William Buckley" names the document that goes on where the novel's ends. A title counts without what stands in
parentheses behind it, word for word, where the text writes it with a capital or a digit: "Apple", not "apple". Where
titles overlap the longest one is meant, so that "Act of War: Direct Action" does not name "Direct action".
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from twofold.answer.types import Source

_LEAST = 3  # letters of a title
_COMMON = 3  # documents from which on a title names none of them
_BEHIND = re.compile(r"\s*\([^()]*\)\s*$")
_WORD = re.compile(r"[^\W_]+")
Document = tuple[str, str]


def document_of(source: Source) -> Document:
    """Return the document of a source, with its collection."""
    return (source.collection, source.document)


def named_in(
    text: str, sources: Sequence[Source], covered: Iterable[Document]
) -> Iterator[tuple[str, Sequence[Source]]]:
    """Yield the titles that a text names, in its order, each with the sources of its documents; not those covered.

    >>> lake = Source(2, "It is deep.", (), "lake", "lake.md", title="Zug (lake)")
    >>> [title for title, _ in named_in("The town on Zug", [lake], ())]
    ['Zug']
    """
    titled = _titled(sources)
    known, seen = set(covered), set[tuple[str, ...]]()
    for words in _places(text, titled):
        theirs = titled[words]
        documents = {document_of(one) for one in theirs}
        if words not in seen and not documents & known and len(documents) < _COMMON:
            yield _BEHIND.sub("", theirs[0].title), theirs
        seen.add(words)


def _titled(sources: Sequence[Source]) -> Mapping[tuple[str, ...], list[Source]]:
    """Return the sources by the words of their titles."""
    made: dict[tuple[str, ...], list[Source]] = {}
    for source in sources:
        words = tuple(one.casefold() for one in _WORD.findall(_BEHIND.sub("", source.title)))
        if sum(map(len, words)) >= _LEAST:
            made.setdefault(words, []).append(source)
    return made


def _places(text: str, titles: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield the titles that stand in a text, from left to right, the longest one at each place."""
    spoken = _WORD.findall(text)
    folded = tuple(one.casefold() for one in spoken)
    longest = sorted(titles, key=len, reverse=True)
    at = 0
    while at < len(folded):
        title = next((one for one in longest if folded[at : at + len(one)] == one), ())
        if title and any(not one[0].islower() for one in spoken[at : at + len(title)]):
            yield title
        at += max(1, len(title))

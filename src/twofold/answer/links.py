"""A sentence of each document that the question names, or the sentence shown first: two halves of an answer.

"Are Nantong and Jingdezhen in the same province?" names two documents, and the first sentence is of one of them.
"Boston Beer Company", in the sentence that says where somebody went, names the document that says when it was founded.
No search is needed where these are among the passages found. The likeliest sentence of each is taken: read for the
question where that names it, else for the question with the first sentence. Of those of one text the likeliest come
first.
"""

from collections.abc import Sequence

from twofold.answer.named import document_of, named_in
from twofold.answer.plan import Question
from twofold.answer.shown import Shown, best_of
from twofold.answer.types import Link, Source, TextTools, Where
from twofold.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Linked:
    """A sentence to show, and by what name its document was found."""

    shown: Shown
    link: Link


def linked(
    question: Question, chosen: Sequence[Shown], sources: Sequence[Source], reading: TextTools
) -> tuple[Linked, ...]:
    """Return a sentence of each document named but that of the first sentence chosen, the first to be shown first.

    Where another one chosen is of such a document it is that one. With `wide` the names of the whole passage of the
    first sentence count too, last. Raises ModelError where the model fails.
    """
    if not chosen:
        return ()
    asked, first = question.meant or question.text, chosen[0]
    by_number = {one.number: one for one in sources}
    covered = {document_of(by_number[first.unit.source])}
    both = f"{asked} {first.unit.text}"
    texts: list[tuple[str, str, Where]] = [(asked, asked, "question"), (first.text, both, "sentence")]
    texts += [(one.text, f"{asked} {one.unit.text}", "sentence") for one in chosen[1:]]
    texts.append((by_number[first.unit.source].text, both, "passage"))
    found: list[Linked] = []
    for text, query, where in texts:
        made = [
            Linked(best, Link(title, theirs[0].document, where))
            for title, theirs in named_in(text, sources, covered)
            if (best := _sentence(query, theirs, chosen, reading)) is not None
        ]
        made.sort(key=lambda one: (one.shown in chosen, one.shown.value), reverse=True)
        covered.update(document_of(by_number[one.shown.unit.source]) for one in made)
        found += made
    return tuple(found)


def _sentence(query: str, sources: Sequence[Source], chosen: Sequence[Shown], reading: TextTools) -> Shown | None:
    numbers = {one.number for one in sources}
    own = next((one for one in chosen if one.unit.source in numbers), None)
    return own or best_of(query, sources, dict.fromkeys(reading.terms(query), 1.0), reading)

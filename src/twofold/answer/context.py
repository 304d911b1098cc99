"""Context: the passages a model is given, in a budget, each in the shape that a template says.

A template is a text with places to fill: `{index}`, `{filename}`, `{source}`, `{title}`, `{source_type}`, `{page}`,
`{section}`, `{score}`, `{content}`, and `{marked}`, which is the content with a mark before each line. `{page:, p.%}`
stands for nothing where there is no page, and else for the text behind the colon with the page in the place of `%`.
Blocks stand a blank line apart.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from twofold.answer.sanitize_input import as_data, marked, one_line
from twofold.answer.types import Citation, Source, citation_of
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError

Fit = Literal["whole", "truncate"]
BETWEEN = "\n\n"
CUT = "..."
MAX_TEMPLATE_LENGTH = 4_000  # characters
_TEMPLATES = Path(__file__).parent / "templates"
NAMES = ("default", "voicevault", "orchestrator", "aanae")
_PLACE = re.compile(r"\{(\w{1,20})(?::([^{}]{0,80}))?\}")
_FIELDS = frozenset(
    {"index", "filename", "source", "title", "source_type", "page", "section", "score", "content", "marked"}
)
_CHARACTERS_PER_TOKEN = 4
_WIDE = 0x2E80  # ideographs, kana and hangul lie above it


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a context may hold, of tokens and of characters; 0 for no limit."""

    tokens: int = 6_000
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """What a model is given. `sources` are all that were found, those it was given marked `given`.

    `citations` map its blocks: the n-th is of the n-th block. `cut` says that something was left out.
    """

    text: str
    sources: tuple[Source, ...]
    citations: tuple[Citation, ...]
    tokens: int
    cut: bool

    @property
    def given(self) -> tuple[Source, ...]:
        """The sources that a model was given."""
        return tuple(one for one in self.sources if one.given)


def approximate_tokens(text: str) -> int:
    """Count tokens as most tokenizers do, near enough: four ASCII characters, two other letters, one ideograph each.

    `"four char"` is 3, and 24,000 characters of English are 6,000 tokens.
    """
    plain = sum(map(len, re.findall(r"[\x00-\x7f]+", text)))
    wide = sum(ord(character) >= _WIDE for character in text) if plain < len(text) else 0
    return -(-(plain + 2 * (len(text) - plain - wide) + _CHARACTERS_PER_TOKEN * wide) // _CHARACTERS_PER_TOKEN)


def template_named(spec: str) -> str:
    """Return a template by its name, or a text that is one, with `{content}` or `{marked}` in it.

    Raises InvalidInputError for anything else.
    """
    if spec in NAMES:
        return (_TEMPLATES / f"{spec}.txt").read_text(encoding="utf-8").rstrip("\n")
    if len(spec) > MAX_TEMPLATE_LENGTH or not any(place in spec for place in ("{content}", "{marked}")):
        raise InvalidInputError(
            f"There is no template {spec[:40]!r}.", f"Use {', '.join(NAMES)}, or a text that holds {{content}}."
        )
    unknown = {name for name, _ in _PLACE.findall(spec)} - _FIELDS
    if unknown:
        raise InvalidInputError(
            f"A template cannot hold {{{min(unknown)}}}.", f"It may hold {', '.join(sorted(_FIELDS))}."
        )
    return spec


def build_context(
    sources: Sequence[Source],
    template: str,
    budget: Budget,
    fit: Fit = "whole",
) -> Context:
    """Lay out passages best first, as many whole ones as there is room for; `...` says where something was left out.

    With `truncate` the text is cut at the budget instead, wherever that is. Where not even the best passage fits it is
    cut too, since no context would answer nothing.
    """
    blocks = [rendered(template, one) for one in sources]
    kept = _that_fit(blocks, budget)
    text = BETWEEN.join(blocks)
    cut = kept < len(blocks)
    if cut and (fit == "truncate" or kept == 0):
        text, kept = _cut(text, blocks, budget)
    elif cut:
        text = BETWEEN.join((*blocks[:kept], CUT))
    marked_sources = tuple(replace(one, given=at < kept) for at, one in enumerate(sources))
    citations = tuple(citation_of(one, one.first.start, one.first.end) for one in sources[:kept])
    return Context(text, marked_sources, citations, approximate_tokens(text), cut)


def rendered(template: str, source: Source) -> str:
    """Fill a template's places with one source; what stands in the source is never read as a place."""
    content = as_data(source.text)
    first = source.first
    values: Mapping[str, str] = {
        "index": str(source.number),
        "filename": one_line(source.filename),
        "source": one_line(source.source),
        "title": one_line(source.title),
        "source_type": one_line(source.kind),
        "page": "" if first.page is None else str(first.page),
        "section": one_line(" > ".join(first.heading)),
        "score": f"{source.score:.4f}",
        "content": content,
        "marked": marked(content, source.number),
    }

    def fill(place: re.Match[str]) -> str:
        value = values.get(place[1], "")
        return value if place[2] is None else place[2].replace("%", value) if value else ""

    return _PLACE.sub(fill, template)


def _fits(text: str, budget: Budget) -> bool:
    within = not budget.characters or len(text) <= budget.characters
    return within and (not budget.tokens or approximate_tokens(text) <= budget.tokens)


def _that_fit(blocks: Sequence[str], budget: Budget) -> int:
    """Return how many blocks fit, best first, with the marker where not all do."""
    if _fits(BETWEEN.join(blocks), budget):
        return len(blocks)
    kept = 0
    while kept < len(blocks) and _fits(BETWEEN.join((*blocks[: kept + 1], CUT)), budget):
        kept += 1
    return kept


def _cut(text: str, blocks: Sequence[str], budget: Budget) -> tuple[str, int]:
    """Return the longest beginning that fits with the marker behind it, and how many blocks begin in it."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(text[:middle] + CUT, budget):
            low = middle
        else:
            high = middle - 1
    at = kept = 0
    for block in blocks:
        kept += at < low
        at += len(block) + len(BETWEEN)
    return text[:low] + CUT, kept

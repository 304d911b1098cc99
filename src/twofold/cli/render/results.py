"""What a search found, as people read it: passages with their places, and what can be said of the whole."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from twofold.cli.render.explain import render_explanation, render_stages
from twofold.cli.render.markup import has_marks, unmarked
from twofold.cli.render.snippet import snippet
from twofold.cli.render.terminal import (
    Screen,
    bar,
    columns,
    from_here,
    one_line,
    printable_json,
    shortened_path,
    width_of,
)
from twofold.config.load import Settings
from twofold.ranking.answerability import UNLIKELY, calibration_for, claim_of, load_calibrations
from twofold.search.result import CacheInfo, Facet, Hit, Neighbor, SearchResult
from twofold.text.analyzer import Analyzer
from twofold.text.analyzers import analyzer_for
from twofold.text.quantities import counted

_INDENT = "    "
_BESIDE = "  ┆ "
_SNIPPET_LINES = 3
_BESIDE_LINES = 2
_WIDEST_SNIPPET = 120
_LIKELY = 0.6
_DEFAULT_PROFILE = "balanced"


class Marking(NamedTuple):
    """What marks words in a text: the terms of the question itself, whatever a search added to it."""

    analyzer: Analyzer
    terms: frozenset[str]


def render_results(screen: Screen, result: SearchResult, settings: Settings, *, explain: bool) -> None:
    """Draw what was found and one line about it all; with `explain` also how it came about, and statistics."""
    analyzer = analyzer_for(settings.analyzer)
    asked = frozenset(analyzer.query(result.query))
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        _draw_hit(screen, hit, best, Marking(analyzer, asked))
        if explain:
            render_explanation(screen, hit, result.queries)
        screen.line()
    _draw_facets(screen, result.facets)
    if result.did_you_mean:
        screen.line(f"Did you mean: {one_line(result.did_you_mean)}")
    for warning in result.warnings:
        screen.line(screen.paint(f"Warning: {one_line(str(warning))}", "yellow"))
    if explain:
        render_stages(screen, result)
        for line in _statistics(screen, result, settings):
            screen.line(screen.paint(line, "dim"))
    chance = result.p_answerable
    unlikely = chance is not None and chance < UNLIKELY
    screen.line(screen.paint(_summary(result), "yellow" if unlikely else "dim"))
    for line in _further(result):
        screen.line(screen.paint(line, "dim"))


def _further(result: SearchResult) -> Iterator[str]:
    """Yield how to take back what was read as a filter, and how to see the next page."""
    for one in result.extracted:
        phrase = one_line(one.phrase)
        yield f"Read as a filter: {phrase} (--keep {shlex.quote(phrase)} takes it back)"
    if result.next_cursor:
        yield f"Next page: --cursor={result.next_cursor}"


def cache_line(cache: CacheInfo) -> str:
    """Return one line about a result that was kept from an earlier question."""
    near = "" if cache.cosine is None else f", cosine {cache.cosine:.4f}"
    return f"Kept from an earlier question: {cache.kind}{near}, {cache.age_s:.0f} s ago"


def _summary(result: SearchResult) -> str:
    """Return one line about how many passages there are, and whether they are likely to hold an answer."""
    found = counted(len(result.hits), "passage") if result.hits else "Nothing found"
    told = f"{found}, kept from an earlier question." if result.cache.hit else f"{found}."
    chance = result.p_answerable
    return told if chance is None else f"{told} {_chance_text(chance)}."


def _chance_text(chance: float) -> str:
    if chance < UNLIKELY:
        return "Probably not in your documents"
    return "Perhaps answered here" if chance < _LIKELY else "Likely answered here"


def _statistics(screen: Screen, result: SearchResult, settings: Settings) -> Iterator[str]:
    """Write what else was asked, the time, and the figures for how sure the search is with what they rest on."""
    for query in result.queries[1:]:
        yield f"Also asked: {one_line(query)}"
    how = result.mode if result.profile in ("", _DEFAULT_PROFILE) else f"{result.mode}, {result.profile}"
    yield f"{how} in {result.timings_ms['total']:.1f} ms"
    if result.cache.hit:
        yield cache_line(result.cache)
    if result.confidence is not None:
        yield f"Confidence {result.confidence:.2f}, from 0.50 (the reranker finds nothing relevant) to 1.00"
    if result.p_answerable is not None:
        reranker = result.rerank.model if result.rerank is not None and result.rerank.read else ""
        rests = calibration_for(load_calibrations(), result.mode, settings.embedder, reranker)
        claim = "" if rests is None else f", {claim_of(rests)}"
        told = f"Chance of an answer {result.p_answerable:.2f}{claim}"
        yield from wrap(told, max(40, screen.width), subsequent_indent="  ")


def _draw_hit(screen: Screen, hit: Hit, best: float, marking: Marking) -> None:
    share = hit.score / best if best > 0 else 0.0
    front = f"{hit.rank:>3} {screen.paint(bar(share, 8), 'cyan')} {hit.score:.4f}  "
    front += f"{screen.paint(one_line(hit.collection), 'cyan')}: " if hit.collection else ""
    where = where_on(hit.place, hit.page)
    page = f" ({one_line(where)})" if where else ""
    room = max(24, screen.width - width_of(front) - width_of(page))
    screen.line(front + place_in(screen, hit.source, hit.heading, room) + page)
    _draw_beside(screen, [one for one in hit.context if one.start < hit.start], marking)
    text = unmarked(hit.text) if screen.color and has_marks(hit.source) else hit.text
    for line in snippet(text, marking.analyzer, marking.terms, _width(screen), _SNIPPET_LINES):
        screen.line(_INDENT + "".join(screen.paint(part.text, "mark") if part.marked else part.text for part in line))
    _draw_beside(screen, [one for one in hit.context if one.start >= hit.start], marking)
    if hit.more:
        told = f"{_INDENT}and {counted(hit.more, 'further passage')} of this document"
        screen.line(screen.paint(told, "dim"))


def _draw_facets(screen: Screen, facets: Sequence[Facet]) -> None:
    """Draw each field with its values, how many documents have each, and how many have none."""
    for facet in facets:
        title = f"{one_line(facet.field)} of {counted(facet.documents, 'document')} that match"
        screen.line(screen.paint(title, "bold"))
        rows = [(_INDENT + one_line(str(one.value)), f"{one.count:,}") for one in facet.values]
        rows += [(f"{_INDENT}({counted(facet.further, 'further value')})", "")] if facet.further else []
        rows += [(f"{_INDENT}(none)", f"{facet.missing:,}")] if facet.missing else []
        for line in columns(rows, right=frozenset({1})):
            screen.line(line)
        screen.line()


def _draw_beside(screen: Screen, neighbors: Sequence[Neighbor], marking: Marking) -> None:
    """Draw the beginnings of neighboring passages, quieter than the one that was found."""
    for one in neighbors:
        for line in snippet(one.text, marking.analyzer, frozenset(), _width(screen), _BESIDE_LINES):
            screen.line(screen.paint(_BESIDE + "".join(part.text for part in line), "dim"))


def _width(screen: Screen) -> int:
    return max(20, min(screen.width, _WIDEST_SNIPPET) - len(_INDENT))


def where_on(place: str, page: int | None) -> str:
    """Return where in a document something stands: its place, its page, or both, as in a mail's attachment."""
    return ", ".join((*([place] if place else []), *([] if page is None else [f"p. {page}"])))


def place_in(screen: Screen, source: str, heading: tuple[str, ...], room: int) -> str:
    """Write a document's name as it is called from here, and its heading path as far as there is room."""
    shown = shortened_path(from_here(source), room)
    return screen.paint(shown, "bold") + _under(heading, room - width_of(shown))


def _under(heading: tuple[str, ...], room: int) -> str:
    """Write the heading path into what room there is: whole, or its last parts, or nothing."""
    for first in range(len(heading)):
        parts = [*(["…"] if first else []), *(one_line(part) for part in heading[first:])]
        written = "".join(f" › {part}" for part in parts)
        if width_of(written) <= room:
            return written
    return ""


def write_json(value: object) -> None:
    """Print one result as one line.

    Lone surrogates, which stand for bytes of a file name that are no UTF-8, become JSON's own escapes of them.
    """
    text = json.dumps(as_data(value), ensure_ascii=False, allow_nan=False)
    sys.stdout.buffer.write(printable_json(text).encode() + b"\n")
    sys.stdout.flush()


def as_data(value: object) -> object:
    """Widen one of our nouns to what JSON knows: a dataclass becomes an object with its fields in their order."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_data(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_data(one) for key, one in value.items()}
    if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray):
        return [as_data(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    message = f"{type(value).__name__} has no form in JSON"
    raise TypeError(message)

"""What a search found, as people read it: passages with their places, and what can be said of the whole."""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from twofold.cli.explain import draw_explanation, draw_stages
from twofold.cli.screen import Screen, bar, counted, from_here, one_line, shortened_path, width_of
from twofold.cli.snippet import snippet
from twofold.lexical.analyze import Analyser, analyser_for
from twofold.pipeline.results import FoundPassage, Neighbour, SearchResult
from twofold.ranking.answerable import UNLIKELY, calibration_for, claim_of, load_calibrations
from twofold.settings import Settings

_INDENT = "    "
_BESIDE = "  ┆ "
_SNIPPET_LINES = 3
_BESIDE_LINES = 2
_WIDEST_SNIPPET = 120
_LIKELY = 0.6
_DEFAULT_PROFILE = "balanced"


class Marking(NamedTuple):
    """What marks words in a text: the terms of the question itself, whatever a search added to it."""

    analyser: Analyser
    terms: frozenset[str]


def draw_found(screen: Screen, result: SearchResult, settings: Settings, *, explain: bool) -> None:
    """Draw what was found and one line about it all; with `explain` also how it came about, and statistics."""
    analyser = analyser_for(settings.analyser)
    asked = frozenset(analyser.query(result.query))
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        _draw_hit(screen, hit, best, Marking(analyser, asked))
        if explain:
            draw_explanation(screen, hit, result.wordings)
        screen.line()
    for note in result.degraded:
        screen.line(screen.paint(f"Degraded: {one_line(note)}", "yellow"))
    if explain:
        draw_stages(screen, result)
        for line in _statistics(screen, result, settings):
            screen.line(screen.paint(line, "dim"))
    chance = result.p_answerable
    unlikely = chance is not None and chance < UNLIKELY
    screen.line(screen.paint(_summary(result), "yellow" if unlikely else "dim"))


def _summary(result: SearchResult) -> str:
    """Say in one line how many passages there are, and whether they are likely to hold an answer."""
    found = counted(len(result.hits), "passage") if result.hits else "Nothing found"
    told = f"{found}, kept from an earlier question." if result.cached else f"{found}."
    chance = result.p_answerable
    return told if chance is None else f"{told} {_said(chance)}."


def _said(chance: float) -> str:
    if chance < UNLIKELY:
        return "Probably not in your documents"
    return "Perhaps answered here" if chance < _LIKELY else "Likely answered here"


def _statistics(screen: Screen, result: SearchResult, settings: Settings) -> Iterator[str]:
    """Write what else was asked, the time, and the figures for how sure the search is with what they rest on."""
    for wording in result.wordings[1:]:
        yield f"Also asked: {one_line(wording)}"
    how = result.mode if result.profile in ("", _DEFAULT_PROFILE) else f"{result.mode}, {result.profile}"
    yield f"{how} in {result.timings_ms['total']:.1f} ms"
    if result.cached:
        yield f"Kept: {one_line(result.cached)}"
    if result.confidence is not None:
        yield f"Confidence {result.confidence:.2f}, from 0.50 (the reranker finds nothing relevant) to 1.00"
    if result.p_answerable is not None:
        reranker = result.rerank.model if result.rerank is not None and result.rerank.read else ""
        rests = calibration_for(load_calibrations(), result.mode, settings.embedder, reranker)
        claim = "" if rests is None else f", {claim_of(rests)}"
        told = f"Chance of an answer {result.p_answerable:.2f}{claim}"
        yield from wrap(told, max(40, screen.width), subsequent_indent="  ")


def _draw_hit(screen: Screen, hit: FoundPassage, best: float, marking: Marking) -> None:
    share = hit.score / best if best > 0 else 0.0
    front = f"{hit.rank:>3} {screen.paint(bar(share, 8), 'cyan')} {hit.score:.4f}  "
    front += f"{screen.paint(one_line(hit.collection), 'cyan')}: " if hit.collection else ""
    page = f" (p. {hit.page})" if hit.page is not None else f" ({one_line(hit.place)})" if hit.place else ""
    room = max(24, screen.width - width_of(front) - width_of(page))
    source = shortened_path(from_here(hit.source), room)
    rest = _under(hit.heading, room - width_of(source))
    screen.line(front + screen.paint(source, "bold") + rest + page)
    _draw_beside(screen, [one for one in hit.context if one.start < hit.start], marking)
    for line in snippet(hit.text, marking.analyser, marking.terms, _width(screen), _SNIPPET_LINES):
        screen.line(_INDENT + "".join(screen.paint(part.text, "mark") if part.marked else part.text for part in line))
    _draw_beside(screen, [one for one in hit.context if one.start >= hit.start], marking)


def _draw_beside(screen: Screen, neighbours: Sequence[Neighbour], marking: Marking) -> None:
    """Draw the beginnings of neighbouring passages, quieter than the one that was found."""
    for one in neighbours:
        for line in snippet(one.text, marking.analyser, frozenset(), _width(screen), _BESIDE_LINES):
            screen.line(screen.paint(_BESIDE + "".join(part.text for part in line), "dim"))


def _width(screen: Screen) -> int:
    return max(20, min(screen.width, _WIDEST_SNIPPET) - len(_INDENT))


def _under(heading: tuple[str, ...], room: int) -> str:
    """Write the heading path into what room there is: whole, or its last parts, or nothing."""
    for first in range(len(heading)):
        parts = [*(["…"] if first else []), *(one_line(part) for part in heading[first:])]
        written = "".join(f" › {part}" for part in parts)
        if width_of(written) <= room:
            return written
    return ""

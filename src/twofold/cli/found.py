"""What a search found, as people read it: passages with their places, and what can be said of the whole."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

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


def draw_found(screen: Screen, result: SearchResult, settings: Settings, *, explain: bool) -> None:
    """Draw a search's answer, and with `explain` how it came about."""
    asked = analyser_for(settings.analyser)
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        _draw_hit(screen, hit, best, asked)
        if explain:
            draw_explanation(screen, hit, result.wordings)
        screen.line()
    for note in result.degraded:
        screen.line(screen.paint(f"Degraded: {one_line(note)}", "yellow"))
    if explain:
        draw_stages(screen, result)
    for line in _footer(result):
        screen.line(screen.paint(line, "dim"))
    _draw_chance(screen, result, settings)


def _footer(result: SearchResult) -> Iterator[str]:
    for wording in result.wordings[1:]:
        yield f"Also asked: {one_line(wording)}"
    found = counted(len(result.hits), "passage") if result.hits else "Nothing found"
    how = result.mode if result.profile in ("", _DEFAULT_PROFILE) else f"{result.mode}, {result.profile}"
    yield f"{found} ({how}) in {result.timings_ms['total']:.1f} ms"
    if result.cached:
        yield f"An answer that was kept: {one_line(result.cached)}"
    if result.confidence is not None:
        yield f"Confidence {result.confidence:.2f}, from 0.50 (the reranker finds nothing relevant) to 1.00"


def _draw_chance(screen: Screen, result: SearchResult, settings: Settings) -> None:
    """Say how likely the best five hold an answer, and what that rests on."""
    chance = result.p_answerable
    if chance is None:
        return
    said = (
        "Probably not in your documents"
        if chance < UNLIKELY
        else "Perhaps answered here"
        if chance < _LIKELY
        else "Likely answered here"
    )
    reranker = result.rerank.model if result.rerank is not None and result.rerank.read else ""
    rests = calibration_for(load_calibrations(), result.mode, settings.embedder, reranker)
    claim = "" if rests is None else f", {claim_of(rests)}"
    lines = _lines(screen, f"{said}: {chance:.2f}{claim}")
    screen.line(screen.paint(lines[0], "yellow" if chance < UNLIKELY else "dim"))
    for line in lines[1:]:
        screen.line(screen.paint(line, "dim"))


def _lines(screen: Screen, text: str) -> Sequence[str]:
    return wrap(text, max(40, screen.width), subsequent_indent="  ")


def _draw_hit(screen: Screen, hit: FoundPassage, best: float, asked: Analyser) -> None:
    share = hit.score / best if best > 0 else 0.0
    front = f"{hit.rank:>3} {screen.paint(bar(share, 8), 'cyan')} {hit.score:.4f}  "
    front += f"{screen.paint(one_line(hit.collection), 'cyan')}: " if hit.collection else ""
    page = f" (p. {hit.page})" if hit.page is not None else f" ({one_line(hit.place)})" if hit.place else ""
    room = max(24, screen.width - width_of(front) - width_of(page))
    source = shortened_path(from_here(hit.source), room)
    rest = _under(hit.heading, room - width_of(source))
    screen.line(front + screen.paint(source, "bold") + rest + page)
    _draw_beside(screen, [one for one in hit.context if one.start < hit.start], asked)
    terms = frozenset(one.term for one in hit.trace.terms)
    for line in snippet(hit.text, asked, terms, _width(screen), _SNIPPET_LINES):
        screen.line(_INDENT + "".join(screen.paint(part.text, "mark") if part.marked else part.text for part in line))
    _draw_beside(screen, [one for one in hit.context if one.start >= hit.start], asked)


def _draw_beside(screen: Screen, neighbours: Sequence[Neighbour], asked: Analyser) -> None:
    """Draw the beginnings of neighbouring passages, quieter than the one that was found."""
    for one in neighbours:
        for line in snippet(one.text, asked, frozenset(), _width(screen), _BESIDE_LINES):
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

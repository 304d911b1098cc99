"""`search`: ask an index, and draw what it found."""

from typing import Annotated

import typer

from twofold.cli.data import write_json
from twofold.cli.explain import draw_explanation, summary_of
from twofold.cli.filters import parsed_filter
from twofold.cli.launch import open_index
from twofold.cli.options import EmbedderOption, FilterOption, IndexOption, JsonOption
from twofold.cli.screen import Screen, bar, counted, from_here, one_line, screen_on, shortened_path, width_of
from twofold.cli.snippet import snippet
from twofold.lexical.analyze import Analyser, analyser_for
from twofold.pipeline.results import FoundPassage, SearchResult

_INDENT = "    "
_SNIPPET_LINES = 3
_WIDEST_SNIPPET = 120


def search(
    context: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(
            help='Words; "quoted phrases" must occur, +word must, -word must not. Put -- before a first -word.'
        ),
    ],
    *,
    k: Annotated[int | None, typer.Option("-k", help="How many passages.", show_default=False)] = None,
    mode: Annotated[
        str | None, typer.Option("--mode", "-m", help="hybrid, bm25 or semantic.", show_default=False)
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option(
            "--rerank", metavar="MODEL", help="Read the best again with this model, or none.", show_default=False
        ),
    ] = None,
    budget_ms: Annotated[
        float | None,
        typer.Option("--budget-ms", help="Read fewer again where the search would take longer.", show_default=False),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", "-e", help="Show how each score came about.")] = False,
    filters: FilterOption = None,
    index: IndexOption = None,
    embedder: EmbedderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search by words and by meaning."""
    budget = None if budget_ms is None else str(budget_ms)
    with open_index(context, index, embedder=embedder, rerank__model=rerank, search__budget_ms=budget) as opened:
        result = opened.search(" ".join(query), k=k, mode=mode, filter=parsed_filter(filters or []))
        asked = analyser_for(opened.settings.analyser)
    if as_json:
        write_json(result)
    else:
        _draw(screen_on(), result, asked, explain=explain)


def _draw(screen: Screen, result: SearchResult, asked: Analyser, *, explain: bool) -> None:
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        _draw_hit(screen, hit, best, asked)
        if explain:
            draw_explanation(screen, hit)
        screen.line()
    for note in result.degraded:
        screen.line(screen.paint(f"Degraded: {one_line(note)}", "yellow"))
    if explain:
        constants = ", ".join(f"{name} {value:.6f}" for name, value in result.constants.items())
        screen.line(screen.paint(f"{result.fusion}: {constants}" if constants else result.fusion, "dim"))
        if result.rerank is not None:
            screen.line(screen.paint(summary_of(result.rerank), "dim"))
        steps = ", ".join(f"{name} {value:.1f}" for name, value in result.timings_ms.items())
        screen.line(screen.paint(f"milliseconds: {steps}", "dim"))
    found = counted(len(result.hits), "passage") if result.hits else "Nothing found"
    screen.line(screen.paint(f"{found} ({result.mode}) in {result.timings_ms['total']:.1f} ms", "dim"))


def _draw_hit(screen: Screen, hit: FoundPassage, best: float, asked: Analyser) -> None:
    share = hit.score / best if best > 0 else 0.0
    front = f"{hit.rank:>3} {screen.paint(bar(share, 8), 'cyan')} {hit.score:.4f}  "
    page = f" (p. {hit.page})" if hit.page is not None else f" ({one_line(hit.place)})" if hit.place else ""
    room = max(24, screen.width - width_of(front) - width_of(page))
    source = shortened_path(from_here(hit.source), room)
    rest = _under(hit.heading, room - width_of(source))
    screen.line(front + screen.paint(source, "bold") + rest + page)
    terms = frozenset(one.term for one in hit.trace.terms)
    for line in snippet(
        hit.text, asked, terms, max(20, min(screen.width, _WIDEST_SNIPPET) - len(_INDENT)), _SNIPPET_LINES
    ):
        screen.line(_INDENT + "".join(screen.paint(part.text, "mark") if part.marked else part.text for part in line))


def _under(heading: tuple[str, ...], room: int) -> str:
    """Write the heading path into what room there is: whole, or its last parts, or nothing."""
    for first in range(len(heading)):
        parts = [*(["…"] if first else []), *(one_line(part) for part in heading[first:])]
        written = "".join(f" › {part}" for part in parts)
        if width_of(written) <= room:
            return written
    return ""

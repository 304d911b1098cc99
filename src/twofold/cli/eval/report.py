"""An evaluation as people read it: figures, what changed against what, and how small a difference could be seen."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from twofold.cli.render.terminal import Screen, columns, one_line, screen_on, shortened
from twofold.evaluation.confidence import Confidence
from twofold.evaluation.report import Change, Comparison, Difference, Row
from twofold.evaluation.run import Evaluation
from twofold.evaluation.significance import Interval
from twofold.text.quantities import counted

_SIDE_BY_SIDE = 3
_WIDEST_NAME = 20
_WIDEST_QUESTION = 60
_NAMES_SHOWN = 5
_LEVEL = 0.05
_CURVE = 20
_RIGHT = {
    "document": "right is one that cites a relevant document",
    "answer": "right is one that shows one of the answers",
}


def render_evaluation(done: Evaluation, unmatched: Sequence[str], written: Sequence[Path]) -> None:
    """Draw it, then the names of judged documents that the index lacks, and the runs that were written."""
    screen = screen_on()
    screen.line(
        f"{one_line(done.collection)}: {counted(done.documents, 'document')}, {counted(done.queries, 'question')}"
    )
    for first in range(0, len(done.rows), _SIDE_BY_SIDE):
        _draw_rows(screen, done.rows[first : first + _SIDE_BY_SIDE])
    screen.line(screen.paint("In brackets: where each mean lies at 95 %, for questions like these.", "dim"))
    for comparison in done.comparisons:
        screen.line()
        _draw_comparison(screen, comparison)
    for one in done.confidence:
        screen.line()
        _draw_confidence(screen, one)
    _draw_notes(screen, done, unmatched, written)


def _draw_confidence(screen: Screen, one: Confidence) -> None:
    screen.line(screen.paint(f"{one_line(one.name)}: how far the chances of its answers hold", "bold"))
    if not one.answers:
        screen.line("No answer has a chance: see docs/answerable.md on what that takes.")
        return
    unknown = f", {one.unknown:,} without a chance" if one.unknown else ""
    screen.line(f"{counted(one.answers, 'answer')}{unknown}; {_RIGHT[one.judged_by]}.")
    table = [["chance", "predicted", "observed", "answers", "# observed, | predicted"]]
    table += [
        [
            f"{p.low:.1f}-{p.high:.1f}",
            f"{p.predicted:.2f}",
            f"{p.observed:.2f}",
            str(p.answers),
            _curve(p.predicted, p.observed),
        ]
        for p in one.reliability
    ]
    table.append(["all", f"{one.predicted:.2f}", f"{one.observed:.2f}", str(one.answers), ""])
    for line in columns(table, right=frozenset({1, 2, 3})):
        screen.line(line)
    for line in _calibration_lines(one):
        screen.line(line)
    screen.line("Where only the surest are answered:")
    risks = [["answered", "from chance", "wrong"]]
    risks += [[f"{point.coverage:.0%}", f"{point.chance:.2f}", f"{point.risk:.2f}"] for point in one.risk_coverage]
    for line in columns(risks, right=frozenset({0, 1, 2})):
        screen.line(line)


def _curve(predicted: float, observed: float) -> str:
    """Return a bar as long as what was observed, with a mark where what was predicted ends."""
    bar = f"{'#' * round(_CURVE * observed):<{_CURVE + 1}}"
    at = round(_CURVE * predicted)
    return f"{bar[:at]}|{bar[at + 1 :]}".rstrip()


def _calibration_lines(one: Confidence) -> Iterator[str]:
    """Return in plain words how far a chance is off, and whether so few answers show that."""
    yield f"ECE {one.ece:.3f}: so far a chance is off, on average over the answers."
    luck = f"chances that are true show up to {one.ece_by_luck:.3f} with so few answers"
    if one.ece <= one.ece_by_luck:
        yield f"That may be luck: {luck}."
        return
    apart = one.observed - one.predicted
    way = "too low" if apart > one.ece / 2 else "too high" if apart < -one.ece / 2 else "too low and too high"
    yield f"They are {way} here, beyond luck: {luck}."


def _draw_rows(screen: Screen, rows: Sequence[Row]) -> None:
    names = [one_line(row.name) for row in rows]
    if max(map(len, names)) > _WIDEST_NAME:
        letters = [f"({chr(ord('a') + place)})" for place in range(len(names))]
        for letter, name in zip(letters, names, strict=True):
            screen.line(f"{letter} {name}")
        names = letters
    table = [["", *names]]
    by_metric = zip(*(row.figures for row in rows), strict=True)
    table += [[same[0].metric, *(_mean(figure.interval) for figure in same)] for same in by_metric]
    if any(row.ms_per_query is not None for row in rows):
        table.append(["ms/query", *("" if row.ms_per_query is None else f"{row.ms_per_query:.1f}" for row in rows)])
    for line in columns(table, right=frozenset(range(1, len(names) + 1))):
        screen.line(line)


def _draw_comparison(screen: Screen, comparison: Comparison) -> None:
    name, baseline = one_line(comparison.name), one_line(comparison.baseline)
    screen.line(screen.paint(f"{name} against {baseline}", "bold"))
    table = [["", "difference", "p", "p (Holm)", "better", "same", "worse"]]
    table += [
        [one.metric, _signed(one.interval), _chance(one.p), _chance(one.p_holm), *_counts(one)]
        for one in comparison.differences
    ]
    for line in columns(table, right=frozenset(range(1, 7))):
        screen.line(line)
    for line in _verdict(comparison.differences[0], name, baseline):
        screen.line(line)
    for what, changes in (("Gained most", comparison.gained), ("Lost most", comparison.lost)):
        if changes:
            screen.line(f"{what} ({comparison.differences[0].metric}):")
            for change in changes:
                screen.line(_changed(change))


def _verdict(one: Difference, name: str, baseline: str) -> Iterator[str]:
    """Return in plain words what the first metric shows, and how small a difference it could have shown."""
    questions = one.better + one.same + one.worse
    if one.p_holm < _LEVEL:
        yield f"{one.metric}: at 95 %, {name} is {'better' if one.interval.mean > 0 else 'worse'} than {baseline}."
    elif one.better or one.worse:
        yield f"{one.metric}: no difference is shown at 95 %; the two may be alike, or the questions too few."
    else:
        yield f"{one.metric}: the two are the same on every question."
    if one.detectable:
        yield f"With {counted(questions, 'question')} like these a true difference of {one.detectable:.3f} is noticed"
        yield "four times in five; a smaller one mostly goes unseen."


def _changed(change: Change) -> str:
    text = shortened(one_line(change.text), _WIDEST_QUESTION)
    return f"  {change.baseline:.3f} → {change.value:.3f}  {text}"


def _draw_notes(screen: Screen, done: Evaluation, unmatched: Sequence[str], written: Sequence[Path]) -> None:
    if done.pending:
        waiting = f"{counted(done.pending, 'passage')} had no vector yet: only BM25 found them."
        screen.line(f"{waiting} `twofold sync` embeds them.")
    if done.left_out:
        screen.line(f"{counted(done.left_out, 'question')} without a relevant document left out.")
    if done.missing_documents:
        screen.line(f"{counted(done.missing_documents, 'judgement')} of documents that are not there.")
    for name in unmatched[:_NAMES_SHOWN]:
        screen.line(f"  {one_line(name)}")
    if done.missing_queries:
        screen.line(f"{done.missing_queries:,} judged queries are not among the questions.")
    for path in written:
        screen.line(f"Wrote {one_line(str(path))}")
    for failure in done.failed:
        says = f"Failed: {failure.condition} holds for {one_line(failure.name)}, at {failure.value:.4f}."
        screen.line(screen.paint(says, "red"))


def _mean(interval: Interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _signed(interval: Interval) -> str:
    return f"{interval.mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def _chance(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else "<0.001"  # noqa: PLR2004  # what three places can show


def _counts(one: Difference) -> list[str]:
    return [str(one.better), str(one.same), str(one.worse)]

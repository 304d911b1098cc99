"""`judge`: collect judgements in the terminal, a passage at a time, from all that several ways of searching found."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated

import typer

from twofold.cli.eval.judge_ui import Answers, Place, render_help, render_item, render_keys
from twofold.cli.options import EmbedderOption, IndexOption
from twofold.cli.render.results import where_on
from twofold.cli.render.terminal import Screen, one_line, screen_on
from twofold.cli.runtime import open_index
from twofold.config.profiles import profile_named
from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError
from twofold.evaluation.judgements import GRADES, JudgementFile, Pooled, shuffled
from twofold.evaluation.queries import read_query_list
from twofold.evaluation.tuning import MIN_QUESTIONS
from twofold.index import Index
from twofold.query.parse import as_prose
from twofold.search.plan import MAX_K, MODES
from twofold.search.result import Hit
from twofold.text.analyzer import Analyzer
from twofold.text.analyzers import analyzer_for
from twofold.text.quantities import counted

PASSAGES_A_DOCUMENT = 3
MAX_DEPTH = 100

Queries = Annotated[
    Path | None,
    typer.Option(
        "--queries", metavar="FILE", help="Questions, one a line; without it you are asked.", show_default=False
    ),
]
Pool = Annotated[str, typer.Option("--pool", metavar="WAYS", help="Modes or profiles that find what is judged.")]
Depth = Annotated[
    int, typer.Option("--depth", metavar="N", help="How many documents of each mode or profile are judged.")
]
Out = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="The file for judgements; an existing one is continued.")
]


def judge(
    context: typer.Context,
    *,
    index: IndexOption = None,
    queries: Queries = None,
    pool: Pool = "bm25,vector,hybrid",
    depth: Depth = 10,
    out: Out = Path("qrels.jsonl"),
    embedder: EmbedderOption = None,
) -> None:
    """Judge what is found, so that `eval` and `tune` can count: a passage at a time, one key each.

    Each judgement is on the disk before the next passage is shown; run the command again to continue. Where a
    passage was found and at which rank is not shown, and the order is random. Answers may also be piped in, one a line.
    """
    ways = _ways(pool)
    if not 1 <= depth <= MAX_DEPTH:
        raise InvalidInputError(f"--depth must be from 1 to {MAX_DEPTH}, not {depth}.", "Try 10.")
    if out.suffix.lower() != ".jsonl":
        raise InvalidInputError(f"{out} would not be read as judgements.", "Name a file that ends in .jsonl.")
    asked = None if queries is None else read_query_list(queries)
    screen = screen_on()
    with (
        open_index(context, index, embedder=embedder) as opened,
        JudgementFile(out) as file,
        Answers(screen) as answers,
    ):
        pooling = _Pooling(opened, ways, depth, file)
        questions: Iterator[str] = answers.questions() if asked is None else iter(asked)
        items = pooling.items(questions, 0 if asked is None else len(asked))
        _Session(screen, answers, file, analyzer_for(opened.settings.analyzer)).run(items)
        _draw_summary(screen, file, out)


@dataclass(frozen=True, slots=True)
class _Item:
    pooled: Pooled
    place: Place


@dataclass(frozen=True, slots=True)
class _Pooling:
    """Yields what is left to judge: the documents that any way of searching found, without a grade."""

    index: Index
    ways: Sequence[str]
    depth: int
    file: JudgementFile

    def items(self, questions: Iterator[str], count: int) -> Iterator[_Item]:
        for number, question in enumerate(questions, start=1):
            pool = shuffled(list(self._pool(question)), question)
            left = [one for one in pool if (question, one.document) not in self.file.grades]
            for place, one in enumerate(left):
                yield _Item(one, Place(number, count, len(left) - place))

    def _pool(self, question: str) -> Iterator[Pooled]:
        seen: set[str] = set()
        for way in self.ways:
            for document, hit in self._found(way, question):
                if document not in seen:
                    seen.add(document)
                    place = where_on(hit.place, hit.page)
                    yield Pooled(question, document, hit.chunk_id, hit.text, hit.heading, place)

    def _found(self, way: str, question: str) -> Sequence[tuple[str, Hit]]:
        k = min(MAX_K, self.depth * PASSAGES_A_DOCUMENT)
        mode, profile = (way, None) if way in MODES else (None, way)
        best: dict[str, Hit] = {}
        for hit in self.index.search(as_prose(question), k=k, mode=mode, profile=profile).hits:
            best.setdefault(hit.source or hit.document, hit)
        return list(best.items())[: self.depth]


@dataclass(slots=True)
class _Session:
    """Shows items until there are no more or somebody quits. `past` says of each answered if it was judged."""

    screen: Screen
    answers: Answers
    file: JudgementFile
    words: Analyzer
    past: list[tuple[_Item, bool]] = field(default_factory=list)
    again: list[_Item] = field(default_factory=list)

    def run(self, items: Iterator[_Item]) -> None:
        while (item := self.again.pop() if self.again else next(items, None)) is not None:
            render_item(self.screen, item.pooled, item.place, self.words)
            answer = self._answer()
            if answer == "q":
                return
            if answer == "u":
                self._undo(item)
                continue
            if answer != "s":
                self.file.add(item.pooled, int(answer))
            self.past.append((item, answer != "s"))

    def _answer(self) -> str:
        known = {*map(str, GRADES), "s", "u", "q"}
        while True:
            render_keys(self.screen)
            answer = self.answers.key()
            if answer in known:
                return answer
            if answer == "?":
                render_help(self.screen)
            else:
                self.screen.line(f"{one_line(answer) or 'That'} is not one of them.")

    def _undo(self, item: _Item) -> None:
        self.again.append(item)
        if not self.past:
            self.screen.line("There is nothing to undo.")
            return
        last, judged = self.past.pop()
        if judged:
            self.file.take_back()
        self.again.append(last)


def _ways(pool: str) -> Sequence[str]:
    ways = tuple(dict.fromkeys(way.strip() for way in pool.split(",") if way.strip()))
    if not ways:
        raise InvalidInputError("--pool names no way to search.", f"Use {', '.join(MODES)} or profiles.")
    for way in ways:
        if way not in MODES:
            profile_named(way)
    return ways


def _draw_summary(screen: Screen, file: JudgementFile, out: Path) -> None:
    relevant = {question for (question, _), grade in file.grades.items() if grade > 0}
    screen.line()
    screen.line(
        f"{counted(file.added, 'judgement')} added, {len(file.grades):,} in {one_line(str(out))}; "
        f"{counted(len(relevant), 'question')} with an answer."
    )
    command = "tune" if len(relevant) >= MIN_QUESTIONS else "eval"
    if relevant:
        screen.line(screen.paint(f"Next: twofold {command} --qrels {one_line(str(out))}", "dim"))

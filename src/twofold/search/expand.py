"""Query expansion before the search: completed follow-ups, other queries, a hypothetical passage.

The question as it was asked always comes first and is always kept. Each part is off by default, and one that fails
becomes a warning: the search goes on without it.
"""

import time
from collections.abc import Callable, Sequence

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import ModelError, TwofoldError
from twofold.domain.generators import Generator, Message, complete
from twofold.domain.ports import QueryTransformer
from twofold.domain.warning import StageWarning, WarningCode
from twofold.query.expansion import (
    MAX_SUB_QUESTIONS,
    ask_hypothetical,
    ask_keywords,
    ask_standalone,
    ask_sub_questions,
    ask_variants,
    read_keywords,
    read_list,
    read_passage,
    read_standalone,
    read_sub_questions,
    with_keywords,
)
from twofold.query.follow_up import carried_over
from twofold.query.history import Turn, prepend_turns, question_with_history
from twofold.query.phrasings import phrasings
from twofold.search.plan import QueryExpansionPlan

MAX_TRANSFORMED_LENGTH = 4_000  # characters
MAX_FOLLOW_UP_LENGTH = 4_000  # characters, from the end, where the question is
ITEM_TOKENS = 64
KEYWORD_TOKENS = 16
PASSAGE_TOKENS = 256
FOLLOW_UP_TOKENS = 128


@dataclass(frozen=True, slots=True)
class GeneratedQuery:
    """One text to search for. `kind`: original, follow_up, variant, sub_question, keywords or transformed."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class ExpansionStep:
    """What one step gave: how many texts, in how many milliseconds."""

    name: str
    gave: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class ExpansionSummary:
    """What was done, for the trace: which generator was asked, "" for none, and each step in order."""

    generator: str = ""
    merge: str = "best_score"
    steps: tuple[ExpansionStep, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpandedQuery:
    """The texts to search for, the original first, no text twice.

    `question` is the one question behind them, with the conversation in it, for what reads it again: a reranker.
    `hypothetical` is a passage, to be embedded as a passage; None without one.
    """

    queries: tuple[GeneratedQuery, ...]
    question: str
    hypothetical: str | None = None
    warnings: tuple[StageWarning, ...] = ()
    summary: ExpansionSummary = ExpansionSummary()


def expand_query(
    question: str,
    history: Sequence[Turn],
    plan: QueryExpansionPlan,
    generator: Generator | None,
    transformers: Sequence[QueryTransformer] = (),
) -> ExpandedQuery:
    """Return the texts to search for; a model is asked at temperature 0, and never for what the plan leaves out.

    Raises InvalidInputError for a plan that cannot be. Whatever else fails is left out, with a warning.
    """
    plan.check()
    model = _Model(generator, plan.seconds)
    follow_up = _follow_up(question, history, plan, model)
    asked = follow_up or question
    texts = [
        (question, "original"),
        (follow_up, "follow_up"),
        *((text, "variant") for text in _variants(asked, plan, model)),
        *((text, "sub_question") for text in _sub_questions(asked, plan, model)),
        *((text, "keywords") for text in _keywords(asked, plan, model)),
    ]
    hypothetical = _hypothetical(asked, plan, model)
    texts += [(text, "transformed") for text in _transformed(asked, history, transformers, model)]
    kinds: dict[str, str] = {}
    for text, kind in texts:
        if text:
            kinds.setdefault(text, kind)
    return ExpandedQuery(
        queries=tuple(GeneratedQuery(text, kind) for text, kind in kinds.items()),
        question=asked,
        hypothetical=hypothetical or None,
        warnings=tuple(dict.fromkeys(model.warnings)),
        summary=ExpansionSummary(model.name, plan.merge, tuple(model.steps)),
    )


class _Model:
    """Asks a generator within a time for all questions together, and notes what was done and what failed."""

    def __init__(self, generator: Generator | None, seconds: float) -> None:
        self._generator = generator
        self._deadline = time.monotonic() + seconds
        self._failed = False
        self.name = ""
        self.warnings: list[StageWarning] = []
        self.steps: list[ExpansionStep] = []

    @property
    def is_missing(self) -> bool:
        """Whether no model is set."""
        return self._generator is None

    def warn(self, code: WarningCode, message: str) -> None:
        """Add a warning of this stage."""
        self.warnings.append(StageWarning("expand", code, message))

    def ask(self, messages: Sequence[Message], max_tokens: int) -> str:
        """Return the reply, "" without a model; after one failure nothing more is asked."""
        if self._generator is None:
            self.warn(WarningCode.SKIPPED, "no generator is set.")
        if self._generator is None or self._failed:
            return ""
        self.name = self._generator.identity.name
        left = max(1e-3, self._deadline - time.monotonic())
        try:
            return complete(self._generator, messages, max_tokens=max_tokens, temperature=0.0, seconds=left)
        except ModelError as error:
            self._failed = True
            self.warn(WarningCode.UNAVAILABLE, str(error))
            return ""

    def step(self, name: str, work: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """Do one step, and note what it gave and how long it took."""
        started = time.perf_counter()
        gave = work()
        self.steps.append(ExpansionStep(name, len(gave), (time.perf_counter() - started) * 1e3))
        if not (gave or self._failed or self._generator is None):
            self.warn(WarningCode.NO_RESULT, f"the model gave no {name.replace('_', ' ')}.")
        return gave


def _follow_up(question: str, history: Sequence[Turn], plan: QueryExpansionPlan, model: _Model) -> str:
    if plan.follow_up == "none" or not plan.memory.last(history):
        return ""
    if plan.follow_up == "carry":
        return carried_over(question, history)
    if plan.follow_up == "prepend":
        return question_with_history(question, history, plan.memory)[-MAX_FOLLOW_UP_LENGTH:]
    messages = ask_standalone(question, history, plan.memory)
    made = model.step("follow_up", lambda: _some(read_standalone(model.ask(messages, FOLLOW_UP_TOKENS))))
    return next(iter(made), "")


def _variants(question: str, plan: QueryExpansionPlan, model: _Model) -> tuple[str, ...]:
    others = plan.multi_query - 1
    if others < 1:
        return ()
    if model.is_missing:
        return model.step("variants by rule", lambda: phrasings(question, others))
    messages = ask_variants(question, others)
    return model.step("variants", lambda: read_list(model.ask(messages, ITEM_TOKENS * others), others, (question,)))


def _sub_questions(question: str, plan: QueryExpansionPlan, model: _Model) -> tuple[str, ...]:
    if not plan.decompose:
        return ()
    tokens = ITEM_TOKENS * MAX_SUB_QUESTIONS
    messages = ask_sub_questions(question)
    return model.step("sub_questions", lambda: read_sub_questions(model.ask(messages, tokens)))


def _keywords(question: str, plan: QueryExpansionPlan, model: _Model) -> tuple[str, ...]:
    if plan.keywords == 0:
        return ()
    tokens = KEYWORD_TOKENS * plan.keywords
    messages = ask_keywords(question, plan.keywords)
    made = model.step("keywords", lambda: read_keywords(model.ask(messages, tokens), plan.keywords))
    return (with_keywords(question, made),) if made else ()


def _hypothetical(question: str, plan: QueryExpansionPlan, model: _Model) -> str:
    if not plan.hyde:
        return ""
    messages = ask_hypothetical(question)
    made = model.step("hypothetical", lambda: _some(read_passage(model.ask(messages, PASSAGE_TOKENS))))
    return next(iter(made), "")


def _transformed(
    question: str, history: Sequence[Turn], transformers: Sequence[QueryTransformer], model: _Model
) -> list[str]:
    found = []
    context = {"history": prepend_turns(history, "").rstrip()} if history else None
    for transformer in transformers:
        try:
            found.append(transformer.transform(question, context).strip()[:MAX_TRANSFORMED_LENGTH])
        except TwofoldError as error:
            model.warn(WarningCode.UNAVAILABLE, str(error))
    return found


def _some(text: str) -> tuple[str, ...]:
    return (text,) if text else ()

"""What answers by settings: how a question is answered, from the settings that hold for it."""

from dataclasses import replace

from twofold.answer.context import Budget, template_named
from twofold.answer.engine import AnswerEngine, PreparedAnswer, Searching
from twofold.answer.plan import AnswerPlan
from twofold.answer.rounds import ROUNDS
from twofold.config.load import Settings, merge
from twofold.domain.errors import InvalidInputError
from twofold.factory.plan import cache_plan_of
from twofold.query.history import Memory
from twofold.search.engine import SearchOptions
from twofold.stores.sessions import Sessions


def answer_engine(searcher: Searching, settings: Settings, sessions: Sessions) -> AnswerEngine:
    """Make what answers from the passages that `searcher` finds, by settings that a question may have otherwise."""

    def prepare(options: SearchOptions) -> PreparedAnswer:
        if options.effort not in ROUNDS:
            raise InvalidInputError(f"There is no effort {options.effort!r}.", f"Choose one of: {', '.join(ROUNDS)}.")
        used = merge(settings, options.overrides)
        carries = used.query.follow_up == "carry" and used.query.turns > 0
        return PreparedAnswer(replace(answer_plan_of(used), effort=options.effort), cache_plan_of(used), carries)

    return AnswerEngine(searcher, prepare, sessions)


def answer_plan_of(settings: Settings) -> AnswerPlan:
    """Return the answer that the settings ask for. Raises InvalidInputError for an invalid template."""
    chosen, history = settings.answer, settings.query
    return AnswerPlan(
        min_answerability=chosen.min_answerability,
        sentences=chosen.sentences,
        template=template_named(chosen.template),
        budget=Budget(chosen.context.tokens, chosen.context.characters),
        context_fit=chosen.context.fit,
        reply_tokens=chosen.reply.tokens,
        unsupported=chosen.unsupported,
        prompt=chosen.prompt,
        seconds=settings.timeouts.generate,
        on_failure=settings.search.on_failure,
        memory=Memory(history.turns, history.characters or None),
        prune=chosen.context.prune,
        form=chosen.format,
        planned=chosen.reply.plan,
    )

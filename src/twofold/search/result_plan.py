"""What is asked of the results, read and checked: one frozen value, whose methods are the stages that do it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from twofold.domain.dataclass import dataclass
from twofold.domain.errors import InvalidInputError, check_kind
from twofold.domain.filters import Filter
from twofold.domain.types import TermQuery
from twofold.query.operators import all_of
from twofold.query.parse import ParsedQuery
from twofold.query.question_filters import extracted
from twofold.ranking.fusion import Candidates
from twofold.ranking.rescoring import Recency, ScoreExpression, parse_expression, parse_recency
from twofold.search import shaping
from twofold.search.engine import ResultOptions
from twofold.search.facets import FacetQuery, parse_facet
from twofold.search.pins import HIDING, normalized_query
from twofold.search.request import QueryVariant
from twofold.search.result import Facet
from twofold.text.term_table import ScoredTerms

if TYPE_CHECKING:
    from twofold.search.state import PipelineState

MAX_NAMES: Final = 100
MAX_NAME_LENGTH: Final = 1_000
MAX_FACETS: Final = 20
MAX_SORT_KEYS: Final = 5
MAX_BOOST: Final = 100.0
BOOSTED_FIELDS: Final = ("title", "heading")
_DIRECTION: Final = re.compile(r"(.+?)(?::(asc|desc))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SortKey:
    """A field to sort by, and whether from its greatest value down; what has no value comes last either way."""

    field: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class PinRule:
    """What a question pins and hides in one index. `query` is normalized, as `ParsedQuery.normalized` is."""

    query: str
    pin: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultPlan:
    """What is done to results. Its methods are stages of the search, each idle where nothing was asked of it."""

    facets: tuple[FacetQuery, ...] = ()
    sort: tuple[SortKey, ...] = ()
    collapse_documents: bool = False
    boosts: tuple[tuple[str, float], ...] = ()
    recency: Recency | None = None
    pinned: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    rules: tuple[PinRule, ...] = ()
    balance: float | None = None
    score: ScoreExpression | None = None
    extract_filters: bool = False
    keep: tuple[str, ...] = ()

    def rescore(self, state: "PipelineState") -> "PipelineState":
        """Replace scores by the user's formula, and let them fall with age."""
        state = state if self.score is None else shaping.scored(state, self.score)
        return state if self.recency is None else shaping.apply_recency(state, self.recency)

    def collapse(self, state: "PipelineState") -> "PipelineState":
        """Keep the best passage of each document."""
        return shaping.collapsed(state) if self.collapse_documents else state

    def reorder(self, state: "PipelineState") -> "PipelineState":
        """Order by novelty, or by fields."""
        state = state if self.balance is None else shaping.diversified_by_mmr(state, self.balance)
        return shaping.sorted_by(state, self.sort) if self.sort else state

    def hide(self, state: "PipelineState") -> "PipelineState":
        """Leave out hidden passages; hidden documents are no candidates."""
        return shaping.without_passages(state, self.pins_for(state).hide)

    def pin(self, state: "PipelineState") -> "PipelineState":
        """Put what is pinned first."""
        names = self.pins_for(state).pin
        return shaping.pinned(state, names) if names else state

    def count_facets(self, state: "PipelineState") -> tuple[Facet, ...]:
        """Count documents by fields."""
        return shaping.counted(state, self.facets) if self.facets else ()

    def hidden_documents(self, state: "PipelineState") -> Filter:
        """Return what leaves hidden documents out of the candidates."""
        return shaping.not_hidden(state, self.pins_for(state).hide)

    def with_boosts(
        self, state: "PipelineState", asked: Sequence[QueryVariant], founds: Sequence[Candidates]
    ) -> tuple[Candidates, ...]:
        """Return candidates scored again with the words of boosted fields counted more."""
        each = [(one,) for one in asked] if len(founds) > 1 else [asked]
        return tuple(
            shaping.field_boosted(state, some, found, self.boosts) for some, found in zip(each, founds, strict=True)
        )

    def boosted_terms(self, state: "PipelineState", terms: TermQuery, keys: Sequence[int]) -> ScoredTerms:
        """Return what each term adds to the score of some passages, boosts included."""
        return shaping.boosted_terms(state, terms, keys, self.boosts)

    def parsed(
        self, question: str, parse: Callable[[str], ParsedQuery]
    ) -> tuple[ParsedQuery, tuple[tuple[str, str], ...]]:
        """Parse a question without the phrases that are filters; return these too, each with its filter."""
        rest, said, condition = extracted(question, self.keep)
        made = parse(rest)
        if said:
            made = replace(made, original=question, filter=all_of(made.filter, condition))
        return made, said

    def without(self, names: Sequence[str]) -> "ResultPlan":
        """Return the plan less what is named: `hide`, `pin`, `collapse` or `extract_filters`."""
        plan = self
        if "hide" in names:
            plan = replace(plan, hidden=(), rules=tuple(replace(rule, hide=()) for rule in plan.rules))
        if "pin" in names:
            plan = replace(plan, pinned=(), rules=tuple(replace(rule, pin=()) for rule in plan.rules))
        if "collapse" in names:
            plan = replace(plan, collapse_documents=False)
        return replace(plan, extract_filters=False) if "extract_filters" in names else plan

    def pins_for(self, state: "PipelineState") -> PinRule:
        """Return what this search pins and hides: what it was asked, then what the index keeps for the question."""
        asked = state.request.parsed.normalized
        rules = [rule for rule in self.rules if rule.query == asked]
        pin = dict.fromkeys((*self.pinned, *(name for rule in rules for name in rule.pin)))
        hide = dict.fromkeys((*self.hidden, *(name for rule in rules for name in rule.hide)))
        return PinRule(asked, tuple(name for name in pin if name not in hide), tuple(hide))


def result_plan_of(
    options: ResultOptions, pins: Mapping[str, Sequence[str]] | None = None, *, extract_filters: bool = False
) -> ResultPlan | None:
    """Return what is asked of the results; None where that is nothing. Raises InvalidInputError for what cannot be.

    `pins` are the index's own, by question: documents to show first, and behind a `-` those to hide.
    """
    check_kind("`recency`", options.recency, str, "Write it as text: recency='modified:30d'.")
    check_kind("`score`", options.score, str, "Write a formula: score='0.7 * score + 0.3 / (1 + age_days)'.")
    made = ResultPlan(
        facets=tuple(map(parse_facet, texts_given("facets", options.facets, MAX_FACETS))),
        sort=tuple(map(_sort_key, texts_given("sort", options.sort, MAX_SORT_KEYS))),
        collapse_documents=options.collapse,
        boosts=_boosts(options.boosts),
        recency=parse_recency(options.recency) if options.recency else None,
        pinned=texts_given("pin", options.pin, MAX_NAMES),
        hidden=texts_given("hide", options.hide, MAX_NAMES),
        rules=tuple(_rule(question, names) for question, names in (pins or {}).items()),
        balance=_balance(options.mmr),
        score=parse_expression(options.score) if options.score else None,
        extract_filters=extract_filters if options.extract_filters is None else options.extract_filters,
        keep=texts_given("keep", options.keep, MAX_NAMES),
    )
    if made.sort and made.balance is not None:
        raise InvalidInputError("Results cannot be both sorted and ordered by `mmr`.", "Ask for one of them.")
    return None if made == NOTHING else made


NOTHING: Final = ResultPlan()


def _rule(question: str, names: Sequence[str]) -> PinRule:
    hidden = tuple(name.removeprefix(HIDING) for name in names if name.startswith(HIDING))
    return PinRule(normalized_query(question), tuple(name for name in names if not name.startswith(HIDING)), hidden)


def texts_given(what: str, given: object, most: int) -> tuple[str, ...]:
    """Return texts as a tuple: one text is one of them. Raises InvalidInputError for anything else, and too much."""
    some = (given,) if isinstance(given, str) else given
    if not isinstance(some, Sequence) or not all(isinstance(one, str) and one.strip() for one in some):
        raise InvalidInputError(f"{what!r} is not a list of texts.", f'Write it as {what}=["..."].')
    if len(some) > most or any(len(one) > MAX_NAME_LENGTH for one in some):
        raise InvalidInputError(f"{what!r} is too much.", f"Give up to {most} texts of {MAX_NAME_LENGTH:,} characters.")
    return tuple(some)


def _sort_key(text: str) -> SortKey:
    found = _DIRECTION.fullmatch(text)
    field, direction = (text, None) if found is None else found.groups()
    return SortKey(field, descending=direction == "desc")


def _boosts(given: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    check_kind("`boosts`", given, Mapping, "Write fields and factors: boosts={'title': 3}.")
    for field, factor in given.items():
        if field not in BOOSTED_FIELDS:
            raise InvalidInputError(
                f"The words of {str(field)[:100]!r} cannot be boosted.", f"Boost {' or '.join(BOOSTED_FIELDS)}."
            )
        if not _is_number(factor) or not 1.0 <= factor <= MAX_BOOST:
            raise InvalidInputError(f"A boost must be from 1 to {MAX_BOOST:g}, not {factor!r}.", "Try 3.")
    return tuple(sorted((field, float(factor)) for field, factor in given.items() if factor != 1.0))


def _balance(given: float | None) -> float | None:
    if given is None:
        return None
    if not _is_number(given) or not 0.0 <= given <= 1.0:
        raise InvalidInputError(f"`mmr` must be from 0 to 1, not {given!r}.", "Try 0.7; 1 is relevance alone.")
    return float(given)


def _is_number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)

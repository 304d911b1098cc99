"""How a search is done: one frozen value, each stage's part of it beside the stage."""

from dataclasses import dataclass, field

from twofold.domain.errors import InvalidInputError
from twofold.domain.filters import EVERYTHING, Filter
from twofold.pipeline import boosting, rerank
from twofold.pipeline.boosting import BoostPlan
from twofold.pipeline.filtering import FILTER_STAGES
from twofold.pipeline.patience import Patience
from twofold.pipeline.rerank import RerankPlan
from twofold.pipeline.rewrite_plan import RewritePlan
from twofold.query.operators import without_replaced
from twofold.ranking import fusion
from twofold.ranking.diversify import Limits
from twofold.ranking.fusion import FusionPlan
from twofold.ranking.likeness import Likeness
from twofold.ranking.metadata import MetadataWeights

MODES = ("hybrid", "bm25", "semantic")
ON_FAILURE = ("degrade", "empty", "raise")
LARGEST_K = 1_000
LARGEST_DEPTH = 100_000
LARGEST_WINDOW = 50


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """How a search is done; a part that is absent, or weighs nothing, leaves its stage out.

    `k` (1 to 1,000) is how many passages are given. `depth` is how many candidates each arm gives, never fewer than
    `k`: a number, or how many times k, `"5x"`. `filter` and `gates`, a profile's own filter, act at the `filter_stage`:
    `pre`, before the arms choose, or `post`, after fusion, which can leave fewer than `k`. `window` is how many
    neighbours on either side come with each passage. `feedback` is how many terms are taken from what meaning found
    first, `by_intent` narrows a question to the passages of the kind that it asks for, if there are any. `profile` is
    a name for the trace. `wanted` is how many passages were asked for, which may be more than `k`.
    `lexical` is the formula for words, `bm25` or `tfidf`.
    """

    k: int = 10
    mode: str = "hybrid"
    depth: int | str = 100
    k1: float = 1.2
    b: float = 0.75
    lexical: str = "bm25"
    filter: Filter = EVERYTHING
    gates: Filter = EVERYTHING
    filter_stage: str = "pre"
    window: int = 0
    feedback: int = 0
    by_intent: bool = False
    on_failure: str = "degrade"
    profile: str = ""
    wanted: int = 0
    fusion: FusionPlan = field(default_factory=FusionPlan)
    likeness: Likeness = field(default_factory=Likeness)
    rewrite: RewritePlan = field(default_factory=RewritePlan)
    boost: BoostPlan = field(default_factory=BoostPlan)
    rerank: RerankPlan = field(default_factory=RerankPlan)
    metadata: MetadataWeights = field(default_factory=MetadataWeights)
    diversity: Limits = field(default_factory=Limits)
    patience: Patience = field(default_factory=Patience)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is done otherwise than was asked, for `degraded`."""
        if self.wanted <= self.k:
            return ()
        return (f"k: {self.wanted} passages were asked for, and `search.max_results` allows {self.k}.",)

    @property
    def gates_left(self) -> Filter:
        """The profile's own filter, less the lower bounds that `filter` replaces."""
        return without_replaced(self.gates, self.filter)

    @property
    def reach(self) -> int:
        """How many candidates each arm gives: 25 for k = 5 and a depth of `5x`."""
        return max(self.k, _reach(self.depth, self.k))


def check(plan: SearchPlan) -> None:
    """Refuse what cannot be done. Raises InvalidInputError."""
    for what, value, known in (
        ("mode", plan.mode, MODES),
        ("filter stage", plan.filter_stage, FILTER_STAGES),
        ("way to fail", plan.on_failure, ON_FAILURE),
    ):
        if value not in known:
            raise InvalidInputError(f"There is no {what} {value!r}.", f"Use one of {', '.join(known)}.")
    if not (plan.k >= 1 and max(plan.k, plan.wanted) <= LARGEST_K):
        wrong = max(plan.k, plan.wanted)
        raise InvalidInputError(f"k must be from 1 to {LARGEST_K}, not {wrong}.", "Ask for 10, for example.")
    if not 0 <= plan.window <= LARGEST_WINDOW:
        raise InvalidInputError(f"The window must be from 0 to {LARGEST_WINDOW}, not {plan.window}.", "Try 2.")
    if not 1 <= plan.reach <= LARGEST_DEPTH:
        raise InvalidInputError(f"The depth must be from 1 to {LARGEST_DEPTH}, not {plan.reach}.", "Try 100.")
    fusion.check(plan.fusion)
    plan.rewrite.check()
    boosting.check(plan.boost)
    rerank.check(plan.rerank)


def _reach(depth: int | str, k: int) -> int:
    written = str(depth)
    if not written.removesuffix("x").isdecimal():
        raise InvalidInputError(f"The depth cannot be {depth!r}.", "Give a number, or a multiple of k such as `5x`.")
    return int(written) if written.isdecimal() else k * int(written[:-1])

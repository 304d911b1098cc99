"""What is done to a question before it is searched: a plan, without what carries it out."""

from dataclasses import dataclass, field

from twofold.domain.errors import InvalidInputError
from twofold.query.history import LAST_FIVE, Memory

MOST_WORDINGS = 10
MOST_KEYWORDS = 20
LONGEST_SECONDS = 600.0
FOLLOW_UPS = ("none", "carry", "prepend", "standalone")
MERGES = ("best_score", "rrf")
"""How the rankings for several wordings become one: each passage's best score in each arm, or by rank after fusion."""


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """What is done to a question; zero and False leave a part out.

    `variants` counts wordings, the original among them: 3 gives [q1, q2, q3] (checklist 36). `hyde` asks for a passage
    to be searched by its meaning (37), `sub_questions` for two to four simpler questions (38), `keywords` for up to so
    many terms, put behind the question (36). These need a generator; without one two other wordings
    are made by rule. `follow_up` is how a conversation acts (40):
    `carry` completes by rule what is a follow-up and leaves other questions alone; `prepend` puts its last entries
    before every question; `standalone` has a model complete the question; `memory` says how far the last two look back.
    `merge` is how the wordings' rankings become one (C21); `seconds` is how long a model may take for all together.
    """

    variants: int = 0
    hyde: bool = False
    sub_questions: bool = False
    keywords: int = 0
    follow_up: str = "none"
    memory: Memory = field(default=LAST_FIVE)
    merge: str = "best_score"
    seconds: float = 20.0

    def check(self) -> None:
        """Raise InvalidInputError for a part that cannot be as it is."""
        if not 0 <= self.variants <= MOST_WORDINGS:
            raise InvalidInputError(f"variants must be from 0 to {MOST_WORDINGS}, not {self.variants}.", "3 is usual.")
        if not 0 <= self.keywords <= MOST_KEYWORDS:
            raise InvalidInputError(f"keywords must be from 0 to {MOST_KEYWORDS}, not {self.keywords}.", "5 is usual.")
        if self.follow_up not in FOLLOW_UPS:
            raise InvalidInputError(
                f"There is no follow-up {self.follow_up!r}.", f"Use one of {', '.join(FOLLOW_UPS)}."
            )
        if self.merge not in MERGES:
            raise InvalidInputError(f"There is no merge {self.merge!r}.", f"Use one of {', '.join(MERGES)}.")
        if not 0.0 < self.seconds <= LONGEST_SECONDS:
            raise InvalidInputError(f"Rewriting cannot take {self.seconds} s.", "20 seconds are usual.")

    @property
    def needs_generator(self) -> bool:
        """Say whether any part needs a language model."""
        writes = self.variants > 1 or self.keywords > 0
        return writes or self.hyde or self.sub_questions or self.follow_up == "standalone"

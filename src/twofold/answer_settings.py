"""What can be set of answers: how much a model is given, how long an answer is, and when there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import Meta

FORMATS = ("prelims", "mains")
"""The forms of an answer that have a name; any other text is instructions."""


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """What becomes of the passages that a search found."""

    threshold: Annotated[
        float,
        Meta(ge=0, le=1, description="Refuse where `p_answerable` is below this; 0 for never. See docs/answers.md."),
    ] = 0.3
    sentences: Annotated[
        int, Meta(ge=1, le=50, description="How many sentences an answer without a language model has at most.")
    ] = 4
    template: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4000,
            description="What a passage looks like to a model: `default`, `voicevault`, `orchestrator`, `aanae`, "
            "or a text that holds `{content}`.",
        ),
    ] = "default"
    tokens: Annotated[int, Meta(ge=0, le=1_000_000, description="Room for passages, in tokens; 0 for no limit.")] = (
        2_000
    )
    characters: Annotated[
        int, Meta(ge=0, le=4_000_000, description="Room for passages, in characters; 0 for no limit.")
    ] = 0
    fit: Annotated[
        Literal["whole", "truncate"], Meta(description="Give whole passages alone, or cut at the limit.")
    ] = "whole"
    format: Annotated[
        str,
        Meta(
            max_length=4000,
            description="What a model's answer looks like: `prelims` (short facts), `mains` (introduction, body, "
            "conclusion), instructions of your own, or nothing in particular.",
        ),
    ] = ""
    plan: Annotated[
        bool,
        Meta(
            description="Have a model plan and draft its answer, and write again what no passage bears out; asks it "
            "two or three times."
        ),
    ] = False
    prune: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Show a model only sentences that score this share of the best one's; 0 shows whole passages.",
        ),
    ] = 0.0
    reply_tokens: Annotated[int, Meta(ge=16, le=32_768, description="How long a model's answer may be.")] = 512
    verify: Annotated[
        Literal["mark", "flag", "refuse"],
        Meta(
            description="What becomes of a sentence that no passage supports: it is marked in the data, flagged in "
            "the text, or the whole answer is refused."
        ),
    ] = "mark"
    prompt: Annotated[
        str,
        Meta(max_length=20_000, description="Instructions in place of the built-in ones; `{facts}` and `{query}`."),
    ] = ""
    on_failure: Annotated[
        Literal["degrade", "empty", "llm", "raise"],
        Meta(
            description="When a part fails: go on with what is left, answer nothing, let the bare model answer where "
            "the search failed, or raise the error."
        ),
    ] = "degrade"


ANSWERS_OF: Mapping[str, Mapping[str, tuple[object, str]]] = MappingProxyType(
    {
        "voicevault": {
            "answer.template": ("voicevault", "56"),
            "rewrite.follow_up": ("prepend", "66"),
            "history.turns": (5, "66, C14"),
            "history.characters": (0, "66, C14"),
        },
        "orchestrator": {"answer.template": ("orchestrator", "57"), "answer.tokens": (6_000, "57, C15")},
        "localgpt": {
            "answer.tokens": (6_000, "59, C15"),
            "answer.verify": ("mark", "64"),
            "rewrite.follow_up": ("prepend", "67"),
            "history.turns": (3, "67, C14"),
            "history.characters": (200, "67, C14"),
        },
        "aanae": {
            "answer.template": ("aanae", "58"),
            "answer.tokens": (0, "58, C15"),
            "answer.characters": (12_000, "58, C15"),
            "answer.fit": ("truncate", "58, C15"),
        },
    }
)
"""What the profiles of the systems before this one set of answers, each with its item of the checklist."""

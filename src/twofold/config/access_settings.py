"""The settings of who may read documents."""

from typing import Annotated, Literal

from msgspec import Meta

from twofold.domain.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AclSettings:
    """Who may read documents, and what searches count."""

    default: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=4096,
            description="Who may read documents that name no readers: principals with commas between, or `nobody`.",
        ),
    ] = "public"
    statistics: Annotated[
        Literal["visible", "shared"],
        Meta(
            description="BM25 counts the passages that the caller may read, or all of them; then counts are rounded, "
            "and tell a little of the others."
        ),
    ] = "visible"
    resolver: Annotated[
        str,
        Meta(max_length=200, description="An installed part that says which principals a token has; none if empty."),
    ] = ""

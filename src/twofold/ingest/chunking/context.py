"""What stands in front of a passage in the index, heading path and header row, weighed and held to its share."""

from collections.abc import Iterable, Mapping, Sequence

from twofold.domain.dataclass import dataclass
from twofold.domain.ports import Measure
from twofold.domain.types import Block
from twofold.ingest.chunking.outline import Path
from twofold.ingest.chunking.split import divide

_SEPARATOR = " > "
_SHARE = 4
"""A heading path may take a quarter of a passage, a header row another: half is left for the text."""


@dataclass(frozen=True, slots=True)
class ContextPrefixes:
    """Headings and header rows of one document: each whole text with its shortened form and the tokens of that.

    `share` is what a path, and what a header row, may weigh; `separator` is the weight of the mark between headings.
    """

    shortened: Mapping[str, tuple[str, int]]
    separator: int
    share: int

    def path(self, path: Path) -> Path:
        """Trim a path to its share: of what is too long the middle goes, headings from the outermost inwards.

        The outermost, the document's own name or title, stays where it takes at most half the share and the last
        heading fits with it.
        """
        if not path:
            return ()
        weights = [self.shortened[heading][1] for heading in path]
        name = weights[0] + self.separator
        keeps_name = len(path) > 1 and name <= self.share // 2 and name + weights[-1] <= self.share
        kept, total = 0, (name if keeps_name else 0) - self.separator
        for weight in reversed(weights[1 if keeps_name else 0 :]):
            total += weight + self.separator
            if kept and total > self.share:
                break
            kept += 1
        inner = path[len(path) - kept :]
        return tuple(self.shortened[heading][0] for heading in ((path[0], *inner) if keeps_name else inner))

    def path_weight(self, path: Path) -> int:
        """Return the tokens that a path takes once it is trimmed, at most."""
        weights = (self.shortened[heading][1] for heading in path)
        return min(self.share, sum(weights) + self.separator * max(0, len(path) - 1))

    def header(self, header: str) -> str:
        """Cut a header row to its share, at words."""
        return self.shortened[header][0] if header else ""

    def header_weight(self, header: str) -> int:
        """Return the tokens that a header row takes once it is cut."""
        return self.shortened[header][1] if header else 0


def weigh_prefixes(paths: Iterable[Path], blocks: Sequence[Block], size: int, measure: Measure) -> ContextPrefixes:
    """Weigh each distinct heading and header row once, in one batch, and shorten those beyond a quarter of `size`."""
    share = size // _SHARE
    texts = sorted({heading for path in set(paths) for heading in path} | {block.header for block in blocks} - {""})
    counts = [_weigh_whole(texts, measure), _weigh_whole([_SEPARATOR], measure)]
    shortened: dict[str, tuple[str, int]] = {}
    for text, count in zip(texts, counts[0], strict=True):
        shortened[text] = (text, count) if count <= share else _first_part(text, share, measure)
    return ContextPrefixes(shortened, counts[1][0], share)


def _weigh_whole(texts: Sequence[str], measure: Measure) -> list[int]:
    return [int(count) for count in measure(texts)] if texts else []


def _first_part(text: str, share: int, measure: Measure) -> tuple[str, int]:
    """Return as much of the text's beginning as weighs no more than `share`."""
    span = (0, len(text))
    stop, total = 0, 0
    for _, end, tokens in divide(text, [span], share, measure)[span]:
        if total + tokens > share:
            break
        stop, total = end, total + tokens
    return text[:stop], total

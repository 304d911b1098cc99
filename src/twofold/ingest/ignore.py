"""Ignore rules as git reads them, matched by RE2 so that no pattern can cost more than time linear in the path.

Paths are bytes, as in git: `?` is one byte. A walk asks about each folder before it looks inside, so a rule is asked
about the entry itself only and never about what it lies in.
"""

import re
from typing import Any

from twofold.domain.dataclass import dataclass

_SLASH = ord("/")
_NAMED_CLASSES = {
    b"alnum": rb"[0-9A-Za-z]",
    b"alpha": rb"[A-Za-z]",
    b"blank": rb"[ \t]",
    b"cntrl": rb"[\x00-\x1f\x7f]",
    b"digit": rb"[0-9]",
    b"graph": rb"[!-~]",
    b"lower": rb"[a-z]",
    b"print": rb"[ -~]",
    b"punct": rb"[!-/:-@\[-`{-~]",
    b"space": rb"[ \t\n\r\f\v]",
    b"upper": rb"[A-Z]",
    b"xdigit": rb"[0-9A-Fa-f]",
}
_NAMED_CLASS = re.compile(rb"\[:([a-z]{1,8}):\]")
_STARS = re.compile(rb"\*+")
_SPECIAL = re.compile(rb"[*?[\\]")
_MAX_PATTERN_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Rule:
    """One line. `whole_path` rules look at the path below the ignore file's folder, the others at the last name."""

    matcher: Any
    ignores: bool
    folders_only: bool
    whole_path: bool
    pattern: bytes


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules in their order, and one matcher for all of them: of most paths it says at once that no rule names them."""

    rules: tuple[Rule, ...] = ()
    matcher: Any = None

    @classmethod
    def of(cls, rules: tuple[Rule, ...]) -> "Rules":
        """Join rules. Where they are too many for one matcher each is asked."""
        whole = (rule.pattern if rule.whole_path else b"(?:.*/)?" + rule.pattern for rule in rules)
        return cls(rules, _compile(b"|".join(b"(?:" + pattern + b")" for pattern in whole)) if rules else None)


def read_rules(content: bytes) -> tuple[Rule, ...]:
    """Read an ignore file. Lines that are no pattern match nothing, as in git."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    rules = (_read_line(line.removesuffix(b"\r")) for line in lines)
    return tuple(rule for rule in rules if rule is not None)


def verdict(rules: Rules, path: bytes, *, is_folder: bool) -> bool | None:
    """Ask the last rule that matches `path`, given from the ignore file's folder: True to ignore; None if none does."""
    if rules.matcher is not None and not rules.matcher.fullmatch(path):
        return None
    name = path.rpartition(b"/")[2]
    for rule in reversed(rules.rules):
        if rule.folders_only and not is_folder:
            continue
        if rule.matcher.fullmatch(path if rule.whole_path else name):
            return rule.ignores
    return None


def _read_line(line: bytes) -> Rule | None:
    if line.startswith(b"#") or len(line) > _MAX_PATTERN_BYTES:
        return None
    pattern = _without_trailing_blanks(line)
    ignores = not pattern.startswith(b"!")
    pattern = pattern if ignores else pattern[1:]
    folders_only = pattern.endswith(b"/")
    pattern = pattern.removesuffix(b"/")
    whole_path = b"/" in pattern
    translated = translate(pattern.removeprefix(b"/") if whole_path else pattern)
    matcher = _compile(translated) if translated else None
    return None if matcher is None else Rule(matcher, ignores, folders_only, whole_path, translated)


def _without_trailing_blanks(line: bytes) -> bytes:
    r"""Cut blanks off the end, except one behind a backslash: of `a\  ` stays `a\ `."""
    kept = line.rstrip(b" ")
    slashes = len(kept) - len(kept.rstrip(b"\\"))
    return kept + b" " if slashes % 2 and len(kept) < len(line) else kept


def _compile(pattern: bytes) -> Any:  # noqa: ANN401 re2 has no types
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.dot_nl = True
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def translate(pattern: bytes) -> bytes:
    r"""Write a pattern as a regular expression for a whole path; nothing for one that can match nothing.

    `translate(b"a/**/*.c")` is `a/(?:.*/)?[^/]*\.c`.
    """
    parts: list[bytes] = []
    position = 0
    while position < len(pattern):
        character = pattern[position : position + 1]
        take = {b"*": _stars, b"[": _bracket, b"\\": _escaped}.get(character, _plain)
        part, position = take(pattern, position)
        if part is None:
            return b""
        parts.append(part)
    return b"".join(parts)


def _plain(pattern: bytes, position: int) -> tuple[bytes | None, int]:
    character = pattern[position : position + 1]
    return (b"[^/]" if character == b"?" else re.escape(character)), position + 1


def _escaped(pattern: bytes, position: int) -> tuple[bytes | None, int]:
    character = pattern[position + 1 : position + 2]
    return (re.escape(character) if character else None), position + 2


def _stars(pattern: bytes, position: int) -> tuple[bytes | None, int]:
    """Read a run of stars: two or more that fill a whole part of the path cross slashes, any others do not.

    Git compares what stands before the first special character by itself and begins again behind it, so there a part of
    the path begins for the stars: `a**/b` matches `ab` and `a/c/b`.
    """
    run = _STARS.match(pattern, position)
    end = run.end() if run else position + 1
    begins_part = not _SPECIAL.search(pattern, 0, position) or pattern[position - 1] == _SLASH
    ends_part = end == len(pattern) or pattern[end] == _SLASH
    if end - position < 2 or not (begins_part and ends_part):  # noqa: PLR2004 two stars
        return b"[^/]*", end
    return (b".*", end) if end == len(pattern) else (b"(?:.*/)?", end + 1)


def _bracket(pattern: bytes, position: int) -> tuple[bytes | None, int]:
    """Read a set of bytes such as `[!a-c[:digit:]]`; it never matches a slash, and unclosed it matches nothing."""
    position += 1
    negated = pattern[position : position + 1] in (b"!", b"^")
    position += negated
    members: set[int] = set()
    first = True
    while first or pattern[position : position + 1] != b"]":
        named = _NAMED_CLASS.match(pattern, position)
        if named:
            found = _NAMED_CLASSES.get(named[1])
            if found is None:
                return None, position
            members.update(code for code in range(256) if re.match(found, bytes((code,))))
            position = named.end()
        else:
            low, position = _member(pattern, position)
            high = low
            if pattern[position : position + 1] == b"-" and pattern[position + 1 : position + 2] not in (b"]", b""):
                high, position = _member(pattern, position + 1)
            if low is None or high is None:
                return None, position
            members.update(range(low, high + 1))
        first = False
    codes = (set(range(256)) - members if negated else members) - {_SLASH}
    inside = b"".join(b"\\x%02x" % code for code in sorted(codes))
    return (b"[" + inside + b"]" if codes else None), position + 1


def _member(pattern: bytes, position: int) -> tuple[int | None, int]:
    position += pattern[position : position + 1] == b"\\"
    return (pattern[position] if position < len(pattern) else None), position + 1

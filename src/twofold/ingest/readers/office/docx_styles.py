"""What Word keeps apart from the text: which styles are headings, and what number stands in front of a paragraph."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from xml.etree.ElementTree import Element

from twofold.domain.dataclass import dataclass
from twofold.ingest.readers.xmltree import children, number_of

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MAX_BASES = 20  # styles stand on styles; a ring of them ends here
_MAX_ROMAN = 5000
TITLE_LEVEL = 0


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style: outline level (0 the document's title, 1 the highest heading, None for text) and list."""

    level: int | None = None
    list_id: int | None = None
    list_level: int | None = None


def styles_of(root: Element) -> Mapping[str, Style]:
    """Read styles.xml, each style completed by those that it is based on."""
    raw = {style.get("styleId", ""): style for style in root.iter("style")}
    return {name: _resolved(raw, name) for name in raw}


def style_of_properties(properties: Element | None) -> Style:
    """Read the outline level and the list that paragraph properties (`pPr`) name themselves."""
    if properties is None:
        return Style()
    outline = number_of(properties.find("outlineLvl"), "val", -1)
    numbering = properties.find("numPr")
    if numbering is None:
        return Style(outline + 1 if 0 <= outline < 9 else None)  # noqa: PLR2004 Word's nine levels
    found = numbering.find("numId")
    level = numbering.find("ilvl")
    return Style(
        outline + 1 if 0 <= outline < 9 else None,  # noqa: PLR2004
        None if found is None else number_of(found, "val"),
        None if level is None else number_of(level, "val"),
    )


def over(upper: Style, lower: Style) -> Style:
    """Complete what `upper` leaves open from `lower`."""
    return Style(
        lower.level if upper.level is None else upper.level,
        lower.list_id if upper.list_id is None else upper.list_id,
        lower.list_level if upper.list_level is None else upper.list_level,
    )


def _resolved(raw: Mapping[str, Element], name: str) -> Style:
    style = Style()
    for _ in range(_MAX_BASES):
        element = raw.get(name)
        if element is None:
            break
        style = over(style, over(style_of_properties(element.find("pPr")), Style(_level_by_name(element))))
        based = element.find("basedOn")
        name = "" if based is None else based.get("val", "")
    return style


def _level_by_name(style: Element) -> int | None:
    """Recognize a heading by its style's name, which is English in every language of Word: `heading 1`, `Title`."""
    found = style.find("name")
    name = "" if found is None else found.get("val", "").casefold()
    if name == "title":
        return TITLE_LEVEL
    word, _, digit = name.partition(" ")
    return int(digit) if word == "heading" and digit in tuple("123456789") else None


@dataclass(frozen=True, slots=True)
class _Level:
    start: int
    form: str
    text: str


@dataclass(slots=True)
class Numbering:
    """Counts list items the way Word does. `abstract` maps a list to the definition whose counters it shares."""

    levels: Mapping[int, Mapping[int, _Level]]
    abstract: Mapping[int, int]
    restarts: Mapping[int, Mapping[int, int]]
    counters: dict[int, dict[int, int]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)

    def label(self, list_id: int, level: int) -> str:
        """Count one item and give what stands in front of it: `3.`, `2.1`, `(b)`, or `-` for bullets."""
        definition = self.abstract.get(list_id, -1)
        levels = self.levels.get(definition, {})
        counts = self.counters.setdefault(definition, {})
        if list_id not in self.seen:
            self.seen.add(list_id)
            counts.update({at: start - 1 for at, start in self.restarts.get(list_id, {}).items()})
        shape = levels.get(level)
        if shape is None:
            return "-"
        counts[level] = counts.get(level, shape.start - 1) + 1
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]
        return "-" if shape.form == "bullet" else _filled(shape, levels, counts)


def numbering_of(root: Element) -> Numbering:
    """Read numbering.xml."""
    levels = {
        number_of(one, "abstractNumId", -1): {number_of(level, "ilvl"): _level(level) for level in children(one, "lvl")}
        for one in children(root, "abstractNum")
    }
    abstract: dict[int, int] = {}
    restarts: dict[int, dict[int, int]] = {}
    for one in children(root, "num"):
        name = number_of(one, "numId", -1)
        abstract[name] = number_of(one.find("abstractNumId"), "val", -1)
        restarts[name] = dict(_restarts(one))
    return Numbering(levels, abstract, restarts)


def _restarts(number: Element) -> Iterator[tuple[int, int]]:
    for override in children(number, "lvlOverride"):
        start = override.find("startOverride")
        if start is not None:
            yield number_of(override, "ilvl"), number_of(start, "val", 1)


def _level(element: Element) -> _Level:
    form, text = element.find("numFmt"), element.find("lvlText")
    return _Level(
        number_of(element.find("start"), "val", 1),
        "decimal" if form is None else form.get("val", "decimal"),
        "" if text is None else text.get("val", ""),
    )


def _filled(shape: _Level, levels: Mapping[int, _Level], counts: Mapping[int, int]) -> str:
    text = shape.text
    for at in range(9):
        mark = f"%{at + 1}"
        if mark in text:
            other = levels.get(at, shape)
            text = text.replace(mark, _figure(counts.get(at, other.start), other.form))
    return text.strip()


def _figure(number: int, form: str) -> str:
    match form:
        case "none":
            return ""
        case "lowerLetter" | "upperLetter" if 0 < number <= _MAX_ROMAN:
            letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
            return letter if form == "lowerLetter" else letter.upper()
        case "lowerRoman" | "upperRoman" if 0 < number < _MAX_ROMAN:
            return _roman(number) if form == "lowerRoman" else _roman(number).upper()
        case _:
            return str(number)


def _roman(number: int) -> str:
    shown = ""
    for value, sign in _ROMAN:
        shown += sign * (number // value)
        number %= value
    return shown

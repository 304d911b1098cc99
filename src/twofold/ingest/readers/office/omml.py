"""Office's equations as one line of text that can be read and searched: `E=mc^2`, `(a+b)/(2)`, `∑_(k=0)^(n) k`."""

from collections.abc import Callable, Mapping
from xml.etree.ElementTree import Element

_RADICAL = "√"
_SKIPPED = frozenset(("ctrlPr", "rPr", "fPr", "sSupPr", "sSubPr", "radPr", "naryPr", "dPr", "mPr", "funcPr", "accPr"))


def equation_text(element: Element) -> str:
    """Write an equation, or a part of one, on one line. Parts of one sign stand bare, others in parentheses."""
    writer = _WRITERS.get(element.tag)
    return (element.text or "" if element.tag == "t" else _inside(element)) if writer is None else writer(element)


def _inside(element: Element) -> str:
    return "".join(equation_text(child) for child in element if child.tag not in _SKIPPED)


def _part(element: Element, name: str) -> str:
    found = element.find(name)
    return "" if found is None else _inside(found).strip()


def _bare(element: Element, name: str) -> str:
    text = _part(element, name)
    return text if len(text) == 1 else f"({text})"


def _nary(element: Element) -> str:
    sign = element.find("naryPr/chr")
    shown = "∫" if sign is None else sign.get("val", "∫")
    below, above = _part(element, "sub"), _part(element, "sup")
    limits = (f"_({below})" if below else "") + (f"^({above})" if above else "")
    return f"{shown}{limits} {_part(element, 'e')}"


def _delimited(element: Element) -> str:
    begin, end = element.find("dPr/begChr"), element.find("dPr/endChr")
    left = "(" if begin is None else begin.get("val", "")
    right = ")" if end is None else end.get("val", "")
    return f"{left}{', '.join(_inside(child).strip() for child in element if child.tag == 'e')}{right}"


def _fraction(element: Element) -> str:
    return f"({_part(element, 'num')})/({_part(element, 'den')})"


def _power(element: Element) -> str:
    return f"{_part(element, 'e')}^{_bare(element, 'sup')}"


def _indexed(element: Element) -> str:
    return f"{_part(element, 'e')}_{_bare(element, 'sub')}"


def _indexed_power(element: Element) -> str:
    return f"{_part(element, 'e')}_{_bare(element, 'sub')}^{_bare(element, 'sup')}"


def _radical(element: Element) -> str:
    return f"{_part(element, 'deg')}{_RADICAL}({_part(element, 'e')})"


def _limit(element: Element) -> str:
    return f"{_part(element, 'e')}_({_part(element, 'lim')}) "


def _function(element: Element) -> str:
    return f" {_part(element, 'fName')} {_part(element, 'e')}"


def _matrix_row(element: Element) -> str:
    return f"{', '.join(_inside(cell).strip() for cell in element if cell.tag == 'e')}; "


_WRITERS: Mapping[str, Callable[[Element], str]] = {
    "f": _fraction,
    "sSup": _power,
    "sSub": _indexed,
    "sSubSup": _indexed_power,
    "sPre": _indexed_power,
    "rad": _radical,
    "nary": _nary,
    "d": _delimited,
    "limLow": _limit,
    "limUpp": _limit,
    "func": _function,
    "mr": _matrix_row,
}

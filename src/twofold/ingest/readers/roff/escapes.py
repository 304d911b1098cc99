r"""Escapes of roff as plain text: `\fB\-\-all\fR` is `--all`, `\(aq` an apostrophe; fonts and motions are nothing."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

Interpolate = Callable[[str, str], str]
"""Gives the value of a string (`*`), a register (`n`) or an argument (`$`), by its kind and name."""

CHARACTERS: Mapping[str, str] = MappingProxyType({
    "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "\u2018", "cq": "\u2019", "em": "—", "en": "–",
    "hy": "-", "bu": "•", "co": "©", "rg": "®", "tm": "™", "mu": "×", "->": "→", "<-": "←", "<>": "↔",
    ">=": "≥", "<=": "≤", "!=": "≠", "==": "≡", "=~": "≅", "~~": "≈", "+-": "±", "ha": "^", "ti": "~",
    "ga": "`", "aa": "\u00b4", "rs": "\\", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "⟨", "ra": "⟩",
    "Fo": "«", "Fc": "»", "fo": "\u2039", "fc": "›", "sh": "#", "sq": "□", "ct": "¢", "Po": "£", "Eu": "€",
    "eu": "€", "Ye": "¥", "de": "°", "Do": "$", "at": "@", "ba": "|", "bv": "|", "br": "|", "bb": "¦",
    "ul": "_", "ru": "_", "rn": "‾", "sl": "/", "pl": "+", "mi": "-", "eq": "=", "**": "*", "dg": "†",
    "dd": "‡", "sc": "§", "ps": "¶", "ci": "○", "fm": "\u2032", "sd": "″", "12": "½", "14": "¼", "34": "¾",
    "no": "¬", "if": "∞", "OK": "✓", "mc": "µ", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "o/": "ø", "O/": "Ø", "oa": "å", "oA": "Å", "-D": "Ð", "Sd": "ð", "TP": "Þ", "Tp": "þ", "r!": "¡",
    "r?": "¿", "S1": "¹", "S2": "²", "S3": "³", "di": "÷", "mo": "∈", "*a": "\u03b1", "*b": "β",
    "*g": "\u03b3", "*d": "δ", "*e": "ε", "*h": "θ", "*l": "λ", "*m": "μ", "*p": "π", "*r": "\u03c1",
    "*s": "\u03c3", "*t": "τ", "*f": "φ", "*w": "ω", "*W": "Ω", "*D": "Δ", "*S": "Σ", "da": "↓", "ua": "↑",
    "lA": "⇐", "rA": "⇒", "hA": "⇔", "pc": "·", "Bq": "„", "bq": "\u201a", "cu": "\u222a", "ca": "∩",
    "sr": "√", "lh": "☜", "rh": "☞", "CL": "♣", "HE": "♥", "an": "-",
})  # fmt: skip
"""Characters that have names, as in `\\(bu`; letters with an accent are made of both."""

_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", ",": "\u0327", "v": "\u030c"}
_SIGNS = {"-": "-", "e": "\\", "\\": "\\", " ": " ", "~": " ", "0": " ", ".": ".", "'": "\u00b4", "`": "`", "_": "_",
          "t": "\t", "a": "\t", "E": "\\"}  # fmt: skip
_NAMED = "*n$fFgkmMVY"
_DELIMITED = "hvwlLDoNbAXZBHSRC"
_ESCAPE = re.compile(
    r"\\(?:\((?P<two>..)|\[(?P<long>[^\]\n]*)\]"
    rf"|(?P<kind>[{re.escape(_NAMED)}])[-+]?(?:\((?P<pair>..)|\[(?P<name>[^\]\n]*)\]|(?P<one>.))"
    r"|s(?:[-+]?\([-+]?\d\d|[-+]?\[[^\]\n]*\]|[-+]?'[^'\n]*'|[-+]?[1-3]\d|[-+]?\d)"
    rf"|(?P<form>[{_DELIMITED}])(?P<mark>[^\w\s])(?P<held>[^\n]*?)(?P=mark)"
    r"|z(?P<over>.)|(?P<sign>.)|$)",
    re.DOTALL,
)
_COMMENT = re.compile(r'(?<!\\)((?:\\\\)*)\\["#].*', re.DOTALL)
_HEX = re.compile(r"u([0-9A-Fa-f]{4,6}(?:_[0-9A-Fa-f]{4,6})*)$")
_MAX_CODE = 0x10FFFF


def without_comment(line: str) -> str:
    r"""Cut a comment off a line: what follows `\"`."""
    return _COMMENT.sub(r"\1", line) if '\\"' in line or "\\#" in line else line


def plain(text: str) -> str:
    r"""Resolve all escapes but strings and registers, which `interpolated` has resolved before.

    >>> plain(r"\\fB\\-a\\fR, \\(lqall\\(rq")
    '-a, “all”'
    """
    return _ESCAPE.sub(_resolved, text) if "\\" in text else text


def interpolated(text: str, value: Interpolate) -> str:
    """Put in the values of strings, registers and arguments; all other escapes stay as they are."""
    if "\\*" not in text and "\\n" not in text and "\\$" not in text:
        return text

    def put(found: re.Match[str]) -> str:
        kind = found["kind"] or ""
        name = found["pair"] or found["name"] or found["one"] or ""
        return value(kind, name) if kind in ("*", "n", "$") else found[0]

    return _ESCAPE.sub(put, text)


def _resolved(found: re.Match[str]) -> str:
    name = found["two"] or found["long"]
    if name:
        return _character(name)
    if found["form"]:
        return _shaped(found["form"], found["held"])
    if found["over"]:
        return found["over"]
    return _SIGNS.get(found["sign"] or "", "")


def _character(name: str) -> str:
    if name in CHARACTERS:
        return CHARACTERS[name]
    code = _HEX.match(name)
    if code:
        numbers = [int(part, 16) for part in code[1].split("_")]
        return "".join(chr(number) for number in numbers if number <= _MAX_CODE)
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():  # noqa: PLR2004 an accent and its letter
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return name if len(name) == 1 else ""


def _shaped(form: str, held: str) -> str:
    r"""Return what an escape with a delimited argument leaves: `\h'+2'` a blank, `\C'bu'` a character."""
    if form == "h":
        return "" if held.startswith("-") or not held.strip("+0") else " "
    if form == "C":
        return _character(held)
    if form == "N" and held.isascii() and held.isdigit() and len(held) < 7:  # noqa: PLR2004 digits of a code
        return chr(int(held)) if int(held) <= _MAX_CODE else ""
    if form in "oZ":
        return plain(held[:1] if form == "o" and not held.startswith("\\") else held) if len(held) < 100 else ""  # noqa: PLR2004
    return ""

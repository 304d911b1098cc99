"""The macros of mdoc(7), which say what a word is (an option, a file, a name) and not how it looks."""

from collections.abc import Sequence

from twofold.ingest.readers.roff.escapes import plain
from twofold.ingest.readers.roff.lines import Call
from twofold.ingest.readers.roff.page import ManualPage

_WORDS = frozenset({
    "Ar", "Cm", "Ic", "Li", "Em", "Sy", "Va", "Vt", "Dv", "Er", "Ev", "Fa", "Ft", "Pa", "Nm", "Ad", "An", "Lk",
    "Mt", "Cd", "Tn", "Ms", "No", "Sx", "Lb", "St", "In", "Pf", "Ux", "Bx", "Nx", "Fx", "Ox", "Dx", "At",
    "Bsx", "Ud", "Rv", "Ex", "Fl", "Fn", "Xr", "Op", "Pq", "Bq", "Brq", "Dq", "Sq", "Qq", "Aq", "Ql", "Oo",
    "Oc", "Po", "Pc", "Bo", "Bc", "Bro", "Brc", "Do", "Dc", "So", "Sc", "Qo", "Qc", "Ao", "Ac", "Ns", "Ap",
    "Xo", "Xc", "Eo", "Ec", "Nd", "Fo", "Fc", "Ta", "D1", "Dl", "%A", "%B", "%C", "%D", "%I", "%J", "%N", "%O",
    "%P", "%Q", "%R", "%T", "%U", "%V",
})  # fmt: skip
_BLOCKS = frozenset({
    "Dd", "Dt", "Os", "Sh", "Ss", "Pp", "Lp", "Bl", "It", "El", "Bd", "Ed", "Bk", "Ek", "Bf", "Ef", "Rs", "Re",
    "Sm", "Tg", "Hf", "Db", "Es", "En",
})  # fmt: skip
MDOC = _WORDS | _BLOCKS
"""The macros that this page knows."""

_AROUND = {"Op": "[]", "Pq": "()", "Bq": "[]", "Brq": "{}", "Dq": "“”", "Sq": "\u2018\u2019", "Qq": '""',
           "Aq": "<>", "Ql": "\u2018\u2019"}  # fmt: skip
_OPENED = {"Oo": "[", "Po": "(", "Bo": "[", "Bro": "{", "Do": "“", "So": "\u2018", "Qo": '"', "Ao": "<", "Eo": ""}
_CLOSED = {"Oc": "]", "Pc": ")", "Bc": "]", "Brc": "}", "Dc": "”", "Sc": "\u2019", "Qc": '"', "Ac": ">", "Ec": ""}
_SYSTEMS = {"Ux": "UNIX", "Bx": "BSD", "Nx": "NetBSD", "Fx": "FreeBSD", "Ox": "OpenBSD", "Dx": "DragonFly",
            "Bsx": "BSD/OS", "At": "AT&T UNIX", "Ud": "currently under development."}  # fmt: skip
_CLOSING = frozenset(".,;:)]?!")
_OPENING = frozenset("([")


class _Words:
    """Puts words together: a blank between two, unless one of them forbids it."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._joins = True

    def add(self, word: str, *, before: bool = True, after: bool = True) -> None:
        """Add a word; `before` and `after` say on which sides a blank may stand."""
        if not self._joins and before:
            self._parts.append(" ")
        self._parts.append(word)
        self._joins = not after

    def join(self) -> None:
        """Put no blank before the next word."""
        self._joins = True

    def text(self) -> str:
        """Return all that was added."""
        return "".join(self._parts)


class MdocMacros:
    """Takes the calls of one page."""

    def __init__(self, page: ManualPage) -> None:
        self._page = page
        self._name = ""
        self._lists: list[str] = []
        self._codes: list[bool] = []
        self._numbers = 0

    def take(self, call: Call) -> None:
        """Do what a call says."""
        name, arguments = call.macro, call.arguments
        if not name:
            self._page.text(plain(call.rest), joins=call.rest.endswith("\\c"))
        elif name in ("Bl", "It", "El"):
            self._list(name, arguments)
        elif name in _BLOCKS:
            self._block(name, arguments)
        elif name in ("D1", "Dl"):
            self._page.begin_code()
            self._page.text(self._inline(arguments))
            self._page.end_code()
        else:
            self._say(name, arguments)

    def _say(self, name: str, arguments: Sequence[str]) -> None:
        if name == "Nd":
            self._page.text(f"- {self._inline(arguments)}")
            return
        breaks = name == "Nm" and self._page.in_synopsis
        if breaks:
            self._page.line_break()
        words = self._inline((name, *arguments))
        last = arguments[-1] if arguments else name
        if last in _OPENED or last == "Ns":
            self._page.text(words, joins=True)
        elif name in _CLOSED or name in ("Ns", "Ap"):
            self._page.text_joined(words)
        else:
            self._page.text(words)

    def _block(self, name: str, arguments: Sequence[str]) -> None:
        words = self._inline(arguments)
        if name == "Dt":
            given = [plain(one) for one in arguments]
            self._page.name = given[0].lower() if given and given[0].isupper() else "".join(given[:1])
            self._page.section = given[1] if len(given) > 1 else ""
        elif name in ("Sh", "Ss"):
            self._page.end_code()
            self._lists.clear()
            self._page.heading(1 if name == "Sh" else 2, words)
        elif name in ("Pp", "Lp", "Rs", "Re"):
            self._page.paragraph() if self._lists else self._page.margin()
        elif name == "Bd":
            is_code = any(one in ("-literal", "-unfilled") for one in arguments)
            self._codes.append(is_code)
            self._page.begin_code() if is_code else self._page.paragraph()
        elif name == "Ed":
            self._page.end_code() if self._codes and self._codes.pop() else self._page.paragraph()

    def _list(self, name: str, arguments: Sequence[str]) -> None:
        if name == "Bl":
            self._page.paragraph()
            self._lists.append(next((one for one in arguments if one.startswith("-")), "-tag"))
            self._numbers = 0
            if len(self._lists) > 1:
                self._page.depth += 1
        elif name == "El":
            if self._lists:
                self._lists.pop()
            if self._lists:
                self._page.close_margin()
            else:
                self._page.margin()
        else:
            self._item(self._lists[-1] if self._lists else "-tag", arguments)

    def _item(self, kind: str, arguments: Sequence[str]) -> None:
        if kind in ("-bullet", "-dash", "-hyphen"):
            self._page.entry("-")
        elif kind == "-enum":
            self._numbers += 1
            self._page.entry(f"{self._numbers}.")
        elif kind == "-column":
            self._page.entry("-")
            self._page.text(self._inline(arguments))
        elif kind == "-item":
            self._page.paragraph()
        else:
            self._page.entry(self._inline(arguments))

    def _inline(self, arguments: Sequence[str]) -> str:
        """Write the words of one line, with the macros that stand among them."""
        words = _Words()
        closing: list[str] = []
        waiting = list(reversed(arguments))
        ending = 0  # marks at the end of a line stand outside of what it quotes
        while ending < len(waiting) and plain(waiting[ending]) in _CLOSING:
            ending += 1
        marks, waiting = waiting[:ending], waiting[ending:]
        while waiting:
            word = waiting.pop()
            if word in _WORDS:
                self._macro(word, waiting, words, closing)
            elif plain(word) in _CLOSING:
                words.add(plain(word), before=False)
            else:
                words.add(plain(word), after=word not in _OPENING)
        for mark in (*reversed(closing), *map(plain, reversed(marks))):
            words.add(mark, before=False)
        return words.text()

    def _macro(self, name: str, waiting: list[str], words: _Words, closing: list[str]) -> None:
        if name in _AROUND:
            words.add(_AROUND[name][0], after=False)
            closing.append(_AROUND[name][1])
        elif name in _OPENED:
            words.add(_OPENED[name], after=False)
        elif name in _CLOSED:
            words.add(_CLOSED[name], before=False)
        elif name in ("Ns", "Ap", "Pf"):
            self._joined(name, waiting, words)
        elif name == "Ta":
            words.add("|")
        else:
            self._named(name, waiting, words)

    def _joined(self, name: str, waiting: list[str], words: _Words) -> None:
        if name == "Ap":
            words.add("'", before=False, after=False)
        elif name == "Pf" and waiting:
            words.add(plain(waiting.pop()), after=False)
        else:
            words.join()

    def _named(self, name: str, waiting: list[str], words: _Words) -> None:
        """Write a macro with its own words: those up to the next macro or mark."""
        own: list[str] = []
        while waiting and waiting[-1] not in _WORDS and plain(waiting[-1]) not in _CLOSING:
            own.append(plain(waiting.pop()))
        while own and own[0] in _OPENING:
            words.add(own.pop(0), after=False)
        if name == "Fl":
            self._flags(own, waiting, words)
            return
        if name == "Nm":
            self._name = self._name or " ".join(own)
        written = self._written(name, own)
        if written:
            words.add(written)

    def _written(self, name: str, own: Sequence[str]) -> str:
        if name in ("Fn", "Fo") and own:
            return f"{own[0]}({', '.join(own[1:])})"
        if name == "Xr" and len(own) > 1:
            return f"{own[0]}({own[1]})"
        if name in _SYSTEMS:
            return " ".join((_SYSTEMS[name], *own))
        said = " ".join(one for one in own if one not in ("-split", "-nosplit", "-std"))
        return said or {"Nm": self._name, "Ar": "file ..."}.get(name, "")

    def _flags(self, own: Sequence[str], waiting: Sequence[str], words: _Words) -> None:
        if own:
            words.add(" ".join(f"-{one}" for one in own))
        else:
            words.add("-", after=not (waiting and waiting[-1] in _WORDS and waiting[-1] != "Ar"))

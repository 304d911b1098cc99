"""The macros of man(7), those that Perl's and Debian's tools add to them, and the few requests that shape a page."""

from collections.abc import Callable

from twofold.ingest.readers.roff.escapes import plain
from twofold.ingest.readers.roff.lines import Call
from twofold.ingest.readers.roff.page import ManualPage

_FONTS = {"B": " ", "I": " ", "SM": " ", "SB": " ", "R": " ", "CW": " "}
_JOINED = frozenset({"BR", "BI", "IB", "IR", "RB", "RI"})


class ManMacros:
    """Takes the calls of one page. Some macros want the next line: a heading, an entry's name, a word in bold."""

    def __init__(self, page: ManualPage) -> None:
        self._page = page
        self._wanted: Callable[[str], None] | None = None
        self._link = ""

    def take(self, call: Call) -> bool:
        """Do what a call says; False for a macro that is not known."""
        name = call.macro
        if not name:
            self._text(call.rest)
        elif name in _FONTS:
            self._words(_FONTS[name].join(call.arguments))
        elif name in _JOINED:
            self._words("".join(call.arguments))
        elif name in _MACROS:
            _MACROS[name](self, call)
        else:
            return False
        return True

    def _words(self, words: str) -> None:
        if words:
            self._text(words)

    def _text(self, line: str) -> None:
        joins = line.endswith("\\c")
        words = plain(line)
        if self._wanted and words.strip():
            wanted, self._wanted = self._wanted, None
            wanted(words)
        else:
            self._page.text(words, joins=joins)

    def title(self, call: Call) -> None:
        """Take `.TH LS 1 …`."""
        given = [plain(one).strip() for one in call.arguments[:2]]
        name = given[0] if given else ""
        self._page.name = name.lower() if name.isupper() else name
        self._page.section = given[1] if len(given) > 1 else ""

    def section(self, call: Call) -> None:
        """Begin a section, or a subsection."""
        level = 1 if call.macro == "SH" else 2
        title = plain(" ".join(call.arguments))
        self._page.end_code()
        if title.strip():
            self._page.heading(level, title)
        else:
            self._wanted = lambda words: self._page.heading(level, words)

    def paragraph(self, _call: Call) -> None:
        """Begin a paragraph at the margin."""
        self._page.margin()

    def blank(self, _call: Call) -> None:
        """Leave a line blank: the text goes on where it was."""
        if self._page.in_code:
            self._page.text("")
        else:
            self._page.paragraph()

    def line_break(self, _call: Call) -> None:
        """Begin a new line."""
        self._page.line_break()

    def tagged(self, _call: Call) -> None:
        """Take the next line as an entry's name."""
        self._page.end_code()
        self._wanted = self._page.entry

    def indented(self, call: Call) -> None:
        """Begin an entry named by the first argument, or go on in the one that is open."""
        name = plain(call.arguments[0]) if call.arguments else ""
        self._page.end_code()
        if name.strip():
            self._page.entry(name)
        else:
            self._page.paragraph()

    def margin_in(self, _call: Call) -> None:
        """Set the margin in."""
        self._page.open_margin()

    def margin_out(self, _call: Call) -> None:
        """Set the margin back."""
        self._page.close_margin()

    def code(self, _call: Call) -> None:
        """Keep lines as they are."""
        self._page.begin_code()

    def code_end(self, _call: Call) -> None:
        """Fill lines again."""
        self._page.end_code()

    def synopsis(self, call: Call) -> None:
        """Begin the synopsis of a command."""
        self._page.line_break()
        self._words(plain(" ".join(call.arguments)))

    def option(self, call: Call) -> None:
        """Write an option that may be left out: `[-x name]`."""
        self._page.text(f"[{plain(' '.join(call.arguments))}]")

    def link(self, call: Call) -> None:
        """Begin the words of a link."""
        self._link = plain(call.arguments[0]) if call.arguments else ""

    def link_end(self, call: Call) -> None:
        """End a link: its address follows its words."""
        after = "".join(call.arguments[:1])
        self._page.text(f"<{self._link}>{plain(after)}" if self._link else plain(after))

    def named_link(self, call: Call) -> None:
        """Write a link: address, words, what follows."""
        address, words, after = (*map(plain, call.arguments), "", "", "")[:3]
        self._page.text(f"{words} <{address}>{after}" if words else f"<{address}>{after}")

    def reference(self, call: Call) -> None:
        """Write the name of another page: `ls(1)`."""
        name, section, after = (*map(plain, call.arguments), "", "", "")[:3]
        self._page.text(f"{name}({section}){after}")


_MACROS: dict[str, Callable[[ManMacros, Call], None]] = {
    "TH": ManMacros.title,
    **dict.fromkeys(("SH", "SS"), ManMacros.section),
    **dict.fromkeys(("PP", "P", "LP", "HP"), ManMacros.paragraph),
    **dict.fromkeys(("sp", "Sp"), ManMacros.blank),
    **dict.fromkeys(("br", "ti"), ManMacros.line_break),
    **dict.fromkeys(("TP", "TQ"), ManMacros.tagged),
    "IP": ManMacros.indented,
    "RS": ManMacros.margin_in,
    "RE": ManMacros.margin_out,
    **dict.fromkeys(("nf", "EX", "Vb", "CS"), ManMacros.code),
    **dict.fromkeys(("fi", "EE", "Ve", "CE"), ManMacros.code_end),
    "SY": ManMacros.synopsis,
    "YS": ManMacros.line_break,
    "OP": ManMacros.option,
    **dict.fromkeys(("UR", "MT"), ManMacros.link),
    **dict.fromkeys(("UE", "ME"), ManMacros.link_end),
    **dict.fromkeys(("URL", "MTO"), ManMacros.named_link),
    "MR": ManMacros.reference,
}

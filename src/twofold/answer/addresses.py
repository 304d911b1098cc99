r"""Addresses as a text may hold them: plain, without slashes, with dots and colons in disguise.

A browser or a reader opens more than `https://host`: `https:host` is the same, so are full-width and ideographic dots,
`%2e`, `&period;`, and what reports write to keep an address from being opened, `hxxps://host[.]org`. All of these count
as addresses. A host name alone, `host.org`, does not, since `notes.md` looks the same; neither do words between spaces,
`host dot org` and `host [.] org`, which nothing opens.

>>> ADDRESS.findall("hxxps://a[.]org/x, https:b.org and c.org/y; not notes.md, std::vector or https: alone")
['hxxps://a[.]org/x,', 'https:b.org', 'c.org/y;']
"""

import re

_AGAIN = r"%(?:25){0,3}"  # `%` that was itself encoded, up to three times
_COLON = rf"(?:\[[:\uff1a](?=//)|\[?[:\uff1a\ufe55]\]?|{_AGAIN}3a|&(?:colon|\#0{{0,4}}58|\#x0{{0,4}}3a);?)"
_SLASH = rf"(?:[/\\\uff0f\uff3c]|{_AGAIN}(?:2f|5c)|&(?:b?sol|\#0{{0,4}}47|\#x0{{0,4}}2f);?)"
_HIDDEN_DOT = rf"(?:[\u2024\ufe52]|[\[({{](?:\.|dot)[\])}}]|{_AGAIN}2e|&(?:period|\#0{{0,4}}46|\#x0{{0,4}}2e);?)"
_WIDE_DOT = r"[\u3002\uff0e\uff61]"
_DOT = rf"(?:\.|{_WIDE_DOT}|{_HIDDEN_DOT})"
# Letters of host names in alphabets, also full-width. Ideographs are left out: a sentence before a host has no space.
LETTERS = r"a-z0-9\u00c0-\u1fff\u2c00-\u2dff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
_BEGIN = rf"(?<![{LETTERS}@./-])"
_LABELS = rf"[{LETTERS}-]{{1,63}}(?:(?:\.|{_HIDDEN_DOT})[{LETTERS}-]{{1,63}}){{0,5}}"
_LAST = r"(?:xn--[a-z0-9-]{2,59}|[a-z\u00c0-\u1fff\uff21-\uff3a\uff41-\uff5a]{2,24})"
# Behind a dot that ends sentences in Chinese and Japanese only what ends hosts: `main。src/app.py` is no address.
_KNOWN_LAST = (
    r"(?:xn--[a-z0-9-]{2,59}|[a-z]{2}|com|net|org|edu|gov|mil|int|info|biz|name|pro|app|dev|xyz|top|site|online|shop|club|live"
    r"|link|click|icu|cloud|tech|store|space|website|page|test|example|invalid|local|onion|arpa)"
)
_REST = r"[^\s<>\"'`|]{0,2000}"
_PATH = rf"(?::\d{{1,5}})?(?:/|{_AGAIN}2f|[?#](?=\w)){_REST}"
_PROGRAMS = r"javascript|data|vbscript|blob|file"
_WEB = r"(?:h(?:tt|xx)ps?|f[tx]ps?|wss?|gopher)"
_OPENERS = (
    rf"(?:{_PROGRAMS}|mailto|tel|sms|magnet|skype|facetime|callto|sips?|xmpp|whatsapp|view-source|vscode|search-ms)"
)
_OFFICE = r"(?<![a-z-])ms-[a-z-]{2,20}"  # `ms-word:ofe|u|host` has bars, which else end an address, as in a table
ADDRESS = re.compile(
    rf"{_OFFICE}{_COLON}[^\s<>\"'`]{{1,2000}}|(?:[a-z\uff41-\uff5a\uff21-\uff3a][a-z0-9+.\uff10-\uff5a-]{{0,20}}(?:{_COLON}{_SLASH}{{2}}|\[:{_SLASH}{{2}}\])"
    rf"|(?<![a-z]){_WEB}{_COLON}{_SLASH}{{0,4}}(?=[^\s/\\])|(?<![a-z-]){_OPENERS}{_COLON}(?=\S)"
    rf"|(?<![\w:/.\\]){_SLASH}{{2}}(?=[{LETTERS}-]{{1,63}}{_DOT})|(?<![a-z0-9-])www{_DOT})"
    r"(?:\[\.\]|[^\s<>\"'`\u3002\uff0c\u3001|]|\u3002(?=[a-z0-9-]{1,63}(?![^\s/?#])))"
    r"{0,2000}"
    rf"|{_BEGIN}{_LABELS}(?:(?:\.|{_HIDDEN_DOT}){_LAST}{_PATH}|{_WIDE_DOT}{_KNOWN_LAST}{_PATH}|{_HIDDEN_DOT}{_LAST}{_REST})",
    re.IGNORECASE,
)
NEVER = re.compile(rf"\s*(?:{_PROGRAMS}){_COLON}", re.IGNORECASE)
"""What runs, or opens what lies on the reader's own machine, stands in no answer, no matter who wrote it first."""
_TRAILING = ".,;:!?)]}*_~>\u201d\u2019\u3002"


def trimmed(address: str) -> str:
    """Return an address without the punctuation behind it; a bracket that it opened itself stays."""
    while (
        address and address[-1] in _TRAILING and not (address[-1] == ")" and address.count("(") >= address.count(")"))
    ):
        address = address[:-1]
    return address

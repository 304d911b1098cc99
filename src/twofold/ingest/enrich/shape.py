"""A passage's text cut into words and phrases, in any script, and what can be counted of it."""

import re
from functools import cache

from twofold.domain.dataclass import dataclass
from twofold.kernels import shape_tokens

# Marks that belong to a word and that `\w` leaves out: accents, vowel signs, points, joiners.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0816-\u082d\u08d3-\u0903"
    "\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51"
    "\u0a70\u0a71\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0ae2\u0ae3\u0b01-\u0b03\u0b3c-\u0b57\u0b62\u0b63\u0b82\u0bbe-\u0bcd"
    "\u0bd7\u0c00-\u0c04\u0c3e-\u0c56\u0c62\u0c63\u0c81-\u0c83\u0cbc-\u0cd6\u0ce2\u0ce3\u0d00-\u0d03\u0d3b-\u0d4d"
    "\u0d57\u0d62\u0d63\u0d81-\u0d83\u0dca-\u0df3\u0f18\u0f19\u0f35-\u0f39\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f"
    "\u1712-\u1734\u180b-\u180d\u1b00-\u1b04\u1b34-\u1b44\u1dc0-\u1dff\u200c\u200d\u20d0-\u20f0\ufe00-\ufe0f"
    "\ufe20-\ufe2f"
)
_PAIRED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han and kana
_UNSPACED = "\u0e00-\u0e4e\u0e80-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
_LETTERS = rf"[^\W_{_PAIRED}{_UNSPACED}]"
_WORD = rf"(?:{_LETTERS}|[{_MARKS}])(?:{_LETTERS}+|[{_MARKS}]+)*"
CLOSING = ".!?…。！？।॥؟۔።"  # noqa: RUF001
PARAGRAPH = "\n"
_LATIN_SIGNS = r"[.!?,;:…](?=[\s\"')\]’”]|\Z)|[()\[\]{}|\t«»“”]|\n(?=[ \t\r]*\n)"  # noqa: RUF001
_OTHER_SIGNS = r"[。！？；，、：।॥؟۔።「」『』《》（）]"  # noqa: RUF001
# Compiled when first used, and kept by `re`: a search imports this and needs none of it.
_LATIN = rf"[^\W_]+(?:['’\-./_][^\W_]+)*|{_LATIN_SIGNS}"  # noqa: RUF001
_ANY = rf"[{_PAIRED}]{{1,2}}|[{_UNSPACED}]{{1,4}}|{_WORD}(?:['’\-./_]{_WORD})*|{_LATIN_SIGNS}|{_OTHER_SIGNS}"  # noqa: RUF001
_OTHER_SCRIPTS = "[\u0300-\u036f\u0590-\u1fff\u2c00-\ufaff\ufe00-\uffef\U00010000-\U0003ffff]"
_SIGNS = frozenset(".!?,;:…()[]{}|\t«»“”\n。！？；，、：।॥؟۔।「」『』《》（）")  # noqa: RUF001
_SPACES = " \n\t\r\u00a0\u3000"
_TABLE = 0x2C00  # characters below it that are no other scripts are cut in C

CLOSES, BLANK_LINE, OTHER_SIGN = ".", "-", ","
PLAIN, PLAIN_LETTER, NAME, NAME_LETTER = "w", "s", "N", "S"
ABBREVIATION, MIXED_ABBREVIATION, ROMAN, CODE, YEAR, NUMBER = "A", "B", "R", "C", "Y", "D"
"""What a token is, in one letter: a sign of three kinds; a word without a capital or a digit, or with a first capital,
each also of one cased letter; or what looks like an abbreviation (one begins without a capital), a code, a number."""
MAX_ABBREVIATION_LENGTH = 8
FIRST_YEAR, LAST_YEAR = 1500, 2099
DIGITS_OF_A_YEAR = 4
_ROMAN = frozenset("IVX")


@dataclass(frozen=True, slots=True)
class Shape:
    """A text's words and the signs between them, in order, and what can be counted of it.

    `codes` has a letter for each token, `count` is that of words, `different` holds each of them once. Blank lines are
    no `lines`. `letters` and `signs` count the characters that stand in words and those that do not, spaces apart.
    """

    text: str
    tokens: list[str]
    codes: str
    count: int
    different: frozenset[str]
    lines: int
    sentences: int
    letters: int
    signs: int

    @property
    def words(self) -> list[str]:
        """The tokens that are no signs."""
        return [token for token in self.tokens if token not in _SIGNS]


def shape_of(text: str) -> Shape:
    """Cut a text. A sentence is counted where its closing sign stands before a space, a quote or the end.

    Scripts that put no spaces between words are cut by length: two characters of Han or kana to a word, four of Thai,
    Lao, Burmese or Khmer. `"第370条规定克什米尔"` has the words 第, 370, 条规, 定克, 什米, 尔: six.
    """
    tokens, codes = _tokens_of(text)
    sentences = codes.count(CLOSES)
    signs = sentences + codes.count(OTHER_SIGN) + codes.count(BLANK_LINE)  # of one character each
    inside = sum(map(len, tokens)) - signs
    return Shape(
        text=text,
        tokens=tokens,
        codes=codes,
        count=len(tokens) - signs,
        different=frozenset(tokens) - _SIGNS,
        lines=1 if "\n" not in text else len([line for line in text.split("\n") if line and not line.isspace()]),
        sentences=sentences,
        letters=inside,
        signs=len(text) - inside - sum(map(text.count, _SPACES)),
    )


def _tokens_of(text: str) -> tuple[list[str], str]:
    return shape_tokens(text, _classes()) or tokens_by_pattern(text)


def tokens_by_pattern(text: str) -> tuple[list[str], str]:
    """Return a text's tokens and their letters: the oracle of `shape_tokens` in C, and what serves other scripts."""
    any_script = not text.isascii() and re.search(_OTHER_SCRIPTS, text)
    tokens = re.compile(_ANY if any_script else _LATIN).findall(text)
    return tokens, "".join(map(_code_of, tokens))


@cache
def _classes() -> bytes:
    """Return what Python says of each character, in the bits that `_analyzer.c` names."""
    bits = (str.isalnum, str.isalpha, str.isdecimal, str.isupper, str.islower, _is_title, str.isspace, _is_other)
    return bytes(sum(bit(chr(code)) << place for place, bit in enumerate(bits)) for code in range(_TABLE))


def _is_title(character: str) -> bool:
    return character.istitle() and not character.isupper()


def _is_other(character: str) -> bool:
    return re.match(_OTHER_SCRIPTS, character) is not None


def _code_of(token: str) -> str:
    if token in _SIGNS:
        return BLANK_LINE if token == PARAGRAPH else CLOSES if token in CLOSING else OTHER_SIGN
    if token.isalpha():
        if 1 < len(token) <= MAX_ABBREVIATION_LENGTH and token.isupper():
            return _abbreviation(token)
    elif token.isdecimal():
        is_year = len(token) == DIGITS_OF_A_YEAR and FIRST_YEAR <= int(token) <= LAST_YEAR
        return YEAR if is_year else NUMBER
    elif any(map(str.isdecimal, token)):
        return CODE if any(map(str.isalpha, token)) else NUMBER
    if len(token) == 1:
        return NAME_LETTER if token.isupper() else PLAIN_LETTER if token.islower() else PLAIN
    return NAME if token[0].isupper() else PLAIN


def _abbreviation(token: str) -> str:
    if _ROMAN.issuperset(token):
        return ROMAN
    return ABBREVIATION if token[0].isupper() else MIXED_ABBREVIATION

"""Enrichment by rule: each rule on a text that fits it, any script, any nonsense, endless repetition."""

# ruff: noqa: E501, RUF001 - sentences of many scripts

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.types import Chunk
from twofold.ingest.enrich import enrich
from twofold.ingest.enrich.content_type import Kind
from twofold.ingest.enrich.shape import shape_of, tokens_by_pattern

STORY = "The river rose at night and nobody slept, since the old bridge was weak. "
GOOD = {
    "en": STORY * 2,
    "de": "Der Fluss stieg in der Nacht, und niemand schlief, denn die alte Brücke war schwach. Am Morgen stand sie noch da.",
    "zh": "河水在夜里上涨，没有人睡觉，因为那座旧桥很不结实。到了早上，桥还在那里，人们都松了一口气，然后回家去了。",
    "ja": "夜のうちに川の水が増え、古い橋が弱かったので、誰も眠らなかった。朝になっても橋はまだそこにあった。みんな家に帰った。",
    "ko": "밤사이 강물이 불어났고 낡은 다리가 약해서 아무도 잠들지 못했다. 아침에도 다리는 그대로 있었고 사람들은 집으로 돌아갔다.",
    "ru": "ночью река поднялась, и никто не спал, потому что старый мост был слаб. утром мост всё ещё стоял на своём месте.",
    "ar": "ارتفع النهر في الليل ولم ينم أحد لأن الجسر القديم كان ضعيفا. وفي الصباح كان الجسر لا يزال في مكانه وعاد الناس.",
    "he": "הנהר עלה בלילה ואיש לא ישן כי הגשר הישן היה חלש. בבוקר הגשר עדיין עמד במקומו והאנשים חזרו הביתה.",
    "hi": "रात में नदी बढ़ गई और कोई नहीं सोया क्योंकि पुराना पुल कमज़ोर था। सुबह पुल अभी भी वहीं था और लोग घर लौट गए।",
    "th": "แม่น้ำสูงขึ้นในตอนกลางคืนและไม่มีใครนอนหลับเพราะสะพานเก่าอ่อนแอ ตอนเช้าสะพานยังอยู่ที่เดิมและผู้คนก็กลับบ้าน",
    "ta": "இரவில் ஆறு உயர்ந்தது, பழைய பாலம் பலவீனமாக இருந்ததால் யாரும் தூங்கவில்லை. காலையில் பாலம் அங்கேயே இருந்தது.",
    "am": "ወንዙ በሌሊት ከፍ አለ፣ አሮጌው ድልድይ ደካማ ስለነበር ማንም አልተኛም። ጠዋት ድልድዩ አሁንም እዚያ ነበር።",
}


def passage(text: str, *heading: str, header: str = "") -> Chunk:
    return Chunk("doc", 0, text, 0, len(text), heading, header=header)


@pytest.mark.parametrize("language", sorted(GOOD))
def test_good_text_is_good_in_any_script(language: str) -> None:
    fields = enrich(passage(GOOD[language]))

    assert fields["chunk_quality"] != "poor"
    assert fields["omit_flag"] is False
    assert fields["semantic_type_primary"] == "narrative"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("two words", 2),
        ("l'avion v1.2.3 ERR-12345", 3),
        ("第370条规定克什米尔", 6),
        ("हिन्दी भाषा", 2),
        ("naïve café", 2),
    ],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert len(shape_of(text).words) == words


@pytest.mark.parametrize(
    ("chunk", "kind"),
    [
        (passage("GDP is the value of all goods."), Kind.DEFINITION),
        (passage("GDP is the value of all goods.", "Guide", "Examples"), Kind.EXAMPLE),
        (passage("They may, for example, be red."), Kind.EXAMPLE),
        (passage("All went well.", "How to undo a commit"), Kind.PROCEDURE),
        (passage("1. Open it.\n2. Close it."), Kind.PROCEDURE),
        (passage("- one\n- two\n- three"), Kind.LIST),
        (passage("a | b | c\n1 | 2 | 3"), Kind.TABLE),
        (passage("1 2 3", header="a b c"), Kind.TABLE),
        (passage("def add(a, b):\n    return a + b\n"), Kind.CODE),
        (passage("```\nanything\n```"), Kind.CODE),
        (passage("int x = 1;\nfor (;;) {\n}\nx += 1;"), Kind.CODE),
        (passage("[1] A. doi 10.1\n[2] B et al\n[3] https://x.example"), Kind.REFERENCE),
        (passage("A, B and C.", "References"), Kind.REFERENCE),
        (passage("是指一种方法。"), Kind.DEFINITION),
        (passage(STORY), Kind.NARRATIVE),
    ],
)
def test_each_kind_is_told_by_its_rule(chunk: Chunk, kind: Kind) -> None:
    assert enrich(chunk)["semantic_type_primary"] == kind


@pytest.mark.parametrize(
    "chunk",
    [
        passage(""),
        passage("  \n \n"),
        passage("17"),
        passage("Page 3 of 12"),
        passage("— 17 —"),
        passage("Introduction ........ 1\nMethods ............. 12\nResults ............. 40"),
        passage("Introduction\t1\nMethods\t12\nResults\t40"),
        passage("Introduction 1\nMethods 12\nResults 40", "Contents"),
        passage("Home | About | Contact | Login | Search"),
        passage("© 2024 Example Ltd. All rights reserved."),
        passage("This page is intentionally left blank"),
    ],
)
def test_what_nobody_looks_for_is_left_out_and_poor(chunk: Chunk) -> None:
    fields = enrich(chunk)

    assert (fields["omit_flag"], fields["chunk_quality"]) == (True, "poor")


@pytest.mark.parametrize(
    "text",
    [
        "t h i s i s w h a t a b a d s c a n g i v e s",
        "##@@!!%% ^^&&**(( ))__++ == ab cd ef ~~ ,,.. ;;::",
        "spam eggs " * 40,
        "some words and \ufffd\ufffd\ufffd\ufffd and others",
    ],
)
def test_garbage_is_poor(text: str) -> None:
    assert enrich(passage(text))["chunk_quality"] == "poor"


@pytest.mark.parametrize(
    ("text", "density"),
    [
        ("nothing of the kind here", 0.0),
        ("The first word of a sentence counts for nothing. Nor does It.", 0.0833),
        ("We met Ada Lovelace of London in 1843.", 0.375),
        ("we saw NASA, ESA, and JAXA", 0.5),
        ("卡万·肖特读《红楼梦》", 0.4),
    ],
)
def test_density_is_mentions_per_word(text: str, density: float) -> None:
    assert enrich(passage(text))["entity_density"] == density


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("by Section 12A and § 5 of the act", ("Section 12A", "§ 5")),
        ("第370条规定", ("第370条",)),
        ("in 1499, 1500, 2099 and 2100", ("1500", "2099")),
        ("SEZ GDP and GDP of one and two and three words", ("GDP", "SEZ")),
        ("THE WHOLE LINE IS IN CAPITALS", ()),
        ("see ERR-12345 or TICKET-7 in v1.2.3", ("ERR-12345", "TICKET-7", "v1.2.3")),
        ("x" * 70 + "-1 is long", ()),
    ],
)
def test_keywords_are_the_focused_ones(text: str, keywords: tuple[str, ...]) -> None:
    assert enrich(passage(text))["keywords"] == keywords


PIECES = st.sampled_from(
    [
        *"aAéÉßIVX09 _\t\n\r\u00a0\u2028.,!?;:…()[]{}|'’-/«»“”\"·ªⅣ²ǅЖж҃水ก", "IV", "ERR-12", "1999", "2999", "ISO", "DNA's", "\n \n", "U.S.A.",
        "CONSTITUTION",
    ]
)  # fmt: skip


@given(st.lists(PIECES | st.characters(), max_size=40).map("".join))
def test_words_and_signs_are_those_of_the_pattern_wherever_they_are_cut(text: str) -> None:
    shape = shape_of(text)

    assert (shape.tokens, shape.codes) == tokens_by_pattern(text)
    assert len(shape.codes) == len(shape.tokens) == shape.count + len(shape.tokens) - len(shape.words)


def test_a_token_has_the_letter_of_what_it_is() -> None:
    text = "The ISO of Article 370, in IV. A b ERR-12 since 1950 (3000)…\n\nCONSTITUTIONAL x's éé"

    assert shape_of(text).codes == "NAwND,wR.SsCwY,D,.-Nww"


@given(st.text(max_size=400), st.lists(st.text(max_size=20), max_size=2))
def test_any_text_has_fields_that_a_store_keeps(text: str, heading: list[str]) -> None:
    fields = enrich(passage(text, *heading))

    assert fields == enrich(passage(text, *heading))
    assert fields["chunk_quality"] in {"poor", "ok", "high"}
    assert isinstance(fields["entity_density"], float)
    assert 0.0 <= fields["entity_density"] <= 1.0
    assert isinstance(fields["keywords"], tuple)
    assert len(fields["keywords"]) <= 5
    assert json.loads(json.dumps(fields)) == {**fields, "keywords": list(fields["keywords"])}


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "A",
        "1",
        "A1-",
        "a.b",
        ".",
        " ",
        "\n",
        "\t",
        "|",
        "Ab ",
        "A ",
        "1 . ",
        "《",
        "第",
        "·",
        "a\u0301",
        "漢",
        "[1] ",
        "{;",
        "<a",
        "\u0e01",
    ],
)
def test_endless_repetition_takes_a_bounded_time(unit: str) -> None:
    text = unit * (300_000 // len(unit))

    assert enrich(passage(text))["chunk_quality"] in {"poor", "ok"}

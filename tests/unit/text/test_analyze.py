from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twofold.domain.errors import InvalidInputError
from twofold.domain.types import TermCounts, TermQuery
from twofold.text.analyzer import EXACT, MAX_EXPANSIONS_OF_A_TERM, WEIGHTS
from twofold.text.analyzers import analyzer_for
from twofold.text.bm25 import reference_scores
from twofold.text.tokenizer import Kind


def scores(spec: str, question: str, *passages: str) -> list[float]:
    analyzer = analyzer_for(spec)
    return reference_scores(TermQuery(analyzer.query(question)), [analyzer.counts(passage) for passage in passages])


def exact_forms(text: str, spec: str = "english") -> set[str]:
    return {
        token.term
        for token in analyzer_for(spec).tokens(text)
        if token.kind.name in ("CODE", "COMPOUND", "PAIR", "ACRONYM")
    }


@given(text=st.text(alphabet="\u6c34\u706b\u3400\u9fff \u3000", max_size=30), spec=st.sampled_from(["english", "cjk"]))
def test_a_question_in_ideographs_is_weighed_by_its_tokens(text: str, spec: str) -> None:
    analyzer = analyzer_for(spec)
    weights: dict[str, float] = {}
    for token in analyzer.tokens(text):
        weights[token.term] = weights.get(token.term, 0.0) + WEIGHTS[token.kind]
    by_run = [list(analyzer.query(run)) for run in text.split()]

    assert analyzer.query(text) == weights
    assert list(analyzer.query(text)) == list(dict.fromkeys(term for run in by_run for term in run))


def test_checklist_12_stop_words_leave_dbt() -> None:
    assert analyzer_for("english").query("  What is dbt?  ") == {"dbt": 1.0}
    assert list(analyzer_for("simple").query("  What is dbt?  ")) == ["what", "is", "dbt"]


@pytest.mark.parametrize(("question", "passage"), [("fundamental", "a fund"), ("amendment", "to amend")])
def test_checklist_13_simple_does_not_stem(question: str, passage: str) -> None:
    assert scores("simple", question, passage, question) == [
        0.0,
        pytest.approx(scores("simple", question, passage, question)[1]),
    ]
    assert scores("simple", question, passage, question)[1] > 0


@pytest.mark.parametrize("name", ["GDP", "SEZ", "NABARD", "DPSP", "Article 370", "Section 12A"])
@pytest.mark.parametrize("spec", ["english", "simple"])
def test_checklist_13_names_outrank_their_parts(spec: str, name: str) -> None:
    parts = " and ".join(name.lower().split())
    with_name, with_parts = scores(spec, name, f"here {name} stands", f"here {parts} stand", "neither of them")[:2]

    assert with_name > with_parts > 0


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("ERR-12345", "12345 was no err"),
        ("v1.2.3", "v1 and 2 and 3"),
        ("TICKET-99", "99 for a ticket"),
        ("C++", "plan c"),
        ("C#", "plan c"),
        (".NET", "a net"),
        ("foo_bar", "bar and foo"),
        ("10.0.0.1", "1 0 0 10"),
        ("git-reset.html", "html of reset in git"),
        ("--hard", "a hard problem"),
        ("git-reset", "reset git"),
        ("TCP/IP", "tcp or ip"),
    ],
)
def test_codes_outrank_their_parts_in_whatever_case(code: str, parts: str) -> None:
    for question in (code, code.lower()):
        whole, apart = scores("english", question, f"See {code}, above.", f"See {parts}, above.")
        assert whole > apart > 0


def test_an_option_is_found_without_its_dashes() -> None:
    assert scores("english", "hard", "git reset --hard")[0] > 0


def test_plain_words_give_no_exact_forms() -> None:
    counts = analyzer_for("english").counts("Running dogs barked loudly, however; cats slept.")

    assert not any(term.startswith(EXACT) for term in counts.counts)
    assert counts.length == 7


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("(see git-reset.html)", {"=git-reset.html"}),
        ("Art. 370, not Article, 12", {"=art 370"}),
        ("the 5 and of 12", set()),
        ("well-known", {"=well-known"}),
        ("__init__", {"=__init__"}),
        ("name@example.org.", {"=name@example.org"}),
        ("10:30, 1,000 and 3.14", {"=10:30", "=1,000", "=3.14"}),
        ("AT&T", {"=at&t", "=AT"}),
        ("U.S.A.", {"=USA", "=u.s.a"}),
        ("- -- -> ... a,b some/thing", set()),
        ("使用git-reset命令", {"=git-reset"}),
    ],
)
def test_what_is_an_exact_form(text: str, forms: set[str]) -> None:
    assert exact_forms(text) == forms


def test_exact_forms_add_nothing_to_the_length() -> None:
    assert analyzer_for("english").counts("ERR-12345 GDP").length == 3


def test_a_question_of_stop_words_alone_finds_them() -> None:
    to_be, other = scores("english", "to be or not to be", "To be, or not to be: that is the question", "a question")

    assert to_be > other == 0.0


def test_stop_words_weigh_nothing_beside_others() -> None:
    assert set(analyzer_for("english").query("the question of being")) == {"question"}


def test_an_acronym_that_spells_a_stop_word_stands_for_itself() -> None:
    who, others = scores("english", "WHO guidelines", "WHO guidelines", "guidelines for those who ask")

    assert who > others > 0


def test_a_shouted_question_asks_for_words() -> None:
    assert analyzer_for("english").query("WHAT IS A SOFT RESET") == {"soft": 1.0, "reset": 1.0}


def test_one_ideograph_finds_words_that_hold_it() -> None:
    for spec in ("cjk", "english"):
        assert scores(spec, "水", "自来水道路", "道路")[0] > 0 == scores(spec, "水", "自来水道路", "道路")[1]


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert analyzer_for("cjk").counts("東京都 iPhone") == TermCounts(
        {"東京": 1, "京都": 1, "=東": 1, "=京": 1, "=都": 1, "iphone": 1}, 3
    )


def test_code_parts_identifiers_at_their_humps() -> None:
    terms = analyzer_for("code").counts("parseHTTPResponse2(foo_barBaz)").counts

    assert {"parsehttpresponse2", "parse", "http", "response2", "foo", "barbaz", "bar", "baz", "=foo_barbaz"} <= set(
        terms
    )


@pytest.mark.parametrize("text", ["A.A.a", "U.S.a"])
def test_initials_have_no_humps(text: str) -> None:
    """Their full stops are left out, so that a part of them would stand beside its letters."""
    word = text.replace(".", "").lower()

    assert [(one.term, one.start, one.end) for one in analyzer_for("code").tokens(text) if one.kind is Kind.WORD] == [
        (word, 0, len(text))
    ]


@pytest.mark.parametrize(
    ("spec", "text", "terms"),
    [
        ("english", "the dogs\u2019 don\u2019t o'clock dog's", {"dog", "oclock"}),
        ("french", "L'avion qu'il aime", {"avion", "aim"}),
        ("turkish", "Ankara'da IRMAK İzmir", {"ankar", "\u0131rmak", "izmir"}),
        ("german", "Die Häuser der STRASSE, Straße", {"haus", "strass"}),
        ("russian", "Собаки лаяли", {"собак", "лая"}),
        ("greek", "Σκύλοι", {"σκυλ"}),
        ("hindi", "हिन्दी", {"हिन्द"}),
    ],
)
def test_languages_have_their_own_customs(spec: str, text: str, terms: set[str]) -> None:
    assert {term for term in analyzer_for(spec).counts(text).counts if not term.startswith(EXACT)} == terms


def test_spaces_soft_hyphens_and_ligatures_do_not_hide_a_word() -> None:
    assert analyzer_for("english").query("ex\u00adample \ufb01le\u3000\uff37\uff29\uff24\uff25") == {
        "exampl": 1.0,
        "file": 1.0,
        "wide": 1.0,
        "=WIDE": 0.25,
    }


def test_a_term_is_found_where_it_stands() -> None:
    text = "Ünï ex\u00adamples: ERR-1 (Article  370)."
    found = {token.term: text[token.start : token.end] for token in analyzer_for("english").tokens(text)}

    assert found["exampl"] == "ex\u00adamples"
    assert found["=err-1"] == "ERR-1"
    assert found["=article 370"] == "(Article  370"[1:]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("commits", ("commit",)),
        ("git-reset", ("=git-reset",)),
        ("C#", ("=c#",)),
        ("IT", ("=IT",)),
        ("it", ("=it",)),
        ("GDP", ("gdp",)),
        ("foo/bar.html", ("=bar.html", "foo")),
        ("\U0001f389", ()),
    ],
)
def test_a_clause_asks_for_a_word_as_it_was_meant(text: str, terms: tuple[str, ...]) -> None:
    assert analyzer_for("english").clause_terms(text) == terms


def test_a_phrase_asks_for_its_words_and_for_stop_words_only_without_any() -> None:
    assert analyzer_for("english").phrase_terms("the git-reset commands") == ("git", "reset", "command")
    assert analyzer_for("english").phrase_terms("to be") == ("=to", "=be")


@pytest.mark.parametrize("spec", ["klingon", "", "../english", "english\x00"])
def test_an_unknown_analyzer_is_refused_with_the_known_ones(spec: str) -> None:
    with pytest.raises(InvalidInputError, match="german"):
        analyzer_for(spec)


def test_analyzers_describe_themselves_apart() -> None:
    specs = ["english", "porter", "german", "simple", "code", "cjk"]

    assert len({analyzer_for(spec).describe() for spec in specs}) == len(specs)
    assert analyzer_for(" English ").describe() == analyzer_for("english").describe()


def test_counts_end_where_sixteen_bits_do() -> None:
    assert analyzer_for("english").counts("dog " * 70_000) == TermCounts({"dog": MAX_EXPANSIONS_OF_A_TERM}, 70_000)


def test_one_word_of_a_million_letters_is_one_short_term() -> None:
    counts = analyzer_for("english").counts("z" * 1_000_000)

    assert counts == TermCounts({"z" * 255: 1}, 1)


def test_threads_get_the_same_terms() -> None:
    shared = analyzer_for("english")
    texts = [" ".join(f"running{letter}{number} flies GDP-{number}" for letter in "abc") for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(shared.counts, texts * 4))

    assert found == [analyzer_for("english").counts(text) for text in texts] * 4


def test_a_genitive_of_a_stop_word_is_one_too() -> None:
    assert analyzer_for("english").counts("each other's").counts == {"=each": 1, "=other": 1}


def test_more_words_than_are_remembered_are_counted_alike() -> None:
    analyzer = analyzer_for("simple")
    many = " ".join(f"w{number:x}" for number in range(70_000))

    assert analyzer.counts(many) == TermCounts(dict.fromkeys(many.split(), 1), 70_000)
    assert analyzer.counts("w0 w1") == TermCounts({"w0": 1, "w1": 1}, 2)

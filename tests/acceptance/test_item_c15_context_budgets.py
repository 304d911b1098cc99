"""Contradiction C15 (items 57, 58, 59): whole documents in 6,000 tokens, a cut at 12,000 characters, neighbors."""

from support.fake_llm_server import Heard, Send, chatting, finished
from twofold import Index
from twofold.config.load import grouped, load_settings
from twofold.factory.answer import answer_plan_of
from twofold.models.embedders.hashing import HashingEmbedder

PARAGRAPH = "The {0} valve opens at {1} bar. It is painted {0}, and it was made in {1}. " * 6
TEXT = "\n\n".join(
    f"# Valve {number}\n\n{PARAGRAPH.format(color, number)}"
    for number, color in enumerate(("red", "blue", "green", "white", "black", "grey", "pink", "gold"))
)


def told(**settings: object) -> str:
    """Give what a model is told of the passages."""
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(finished())

    own = {
        "answer.min_answerability": 0.0,
        **grouped({key.replace("__", "."): value for key, value in settings.items()}),
    }
    with Index(":memory:", embedder=HashingEmbedder()) as index, chatting(noting) as address:
        index.add(TEXT, source="valves.md")
        index.ask("blue valve", llm=f"{address}#m&context=100000", settings=own)
    return heard[0].prompt.partition("<passages>\n")[2].partition("\n</passages>")[0]


def test_each_profile_has_its_own_reading() -> None:
    names = ("orchestrator", "aanae", "localgpt")
    plans = {name: answer_plan_of(load_settings(overrides={"profile": name})) for name in names}

    assert (plans["orchestrator"].budget.tokens, plans["orchestrator"].context_fit) == (6_000, "whole")
    assert plans["orchestrator"].template.startswith("Document {index}: {filename}\nSource: {source_type}\n")
    assert (plans["aanae"].budget.tokens, plans["aanae"].budget.characters) == (0, 12_000)
    assert plans["aanae"].context_fit == "truncate"
    assert load_settings(overrides={"profile": "localgpt"}).search.context_window == 5


def test_whole_passages_alone_or_a_cut_wherever_it_falls() -> None:
    whole = told(answer__context__tokens=700, answer__template="{content}")
    cut = told(
        answer__context__tokens=0,
        answer__context__characters=1_000,
        answer__context__fit="truncate",
        answer__template="{content}",
    )

    assert whole.endswith("\n\n...")
    assert all(block in TEXT for block in whole.removesuffix("\n\n...").split("\n\n"))
    assert len(whole) <= 4 * 700
    assert len(cut) == 1_000
    assert cut.endswith("...")


def test_item_58_the_joined_passages_are_cut_at_12000_characters() -> None:
    """Three texts of 5,000 characters and the two blank lines between them are more than 12,000."""
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(finished())

    own = {
        "answer.min_answerability": 0.0,
        "search.default_filter": "()",
        "rerank.model": "none",
        "answer.template": "{content}",
    }
    overrides = {"chunk.size": 8192}
    with Index(":memory:", embedder=HashingEmbedder(), overrides=overrides) as index, chatting(noting) as address:
        for letter in "abc":
            index.add(("valve " + letter * 43 + " ") * 100, source=f"{letter}.txt")
        index.ask("valve", llm=f"{address}#m&context=100000", profile="aanae", settings=own)
    context = heard[0].prompt.partition("<passages>\n")[2].partition("\n</passages>")[0]

    assert len(context) == 12_000
    assert context.endswith("...")
    assert len({letter for letter in "abc" if letter * 43 in context}) == 3


def test_neighbors_are_joined_and_never_repeated() -> None:
    joined = told(search__k=1, search__context_window=1, answer__template="{content}", answer__context__tokens=0)

    assert joined in TEXT
    assert joined.count("# Valve") >= 2


def test_a_model_s_own_room_is_never_exceeded() -> None:
    heard: list[Heard] = []

    def noting(asked: Heard, send: Send) -> None:
        heard.append(asked)
        send(finished())

    with Index(":memory:", embedder=HashingEmbedder()) as index, chatting(noting) as address:
        index.add(TEXT, source="valves.md")
        index.ask(
            "blue valve",
            llm=f"{address}#m&context=2048",
            settings={"answer.min_answerability": 0.0, "answer.context": {"tokens": 0}},
        )

    characters = sum(len(message["content"]) for message in heard[0].body["messages"])
    assert characters / 4 + heard[0].body["max_tokens"] <= 2_048

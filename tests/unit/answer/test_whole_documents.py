"""The template of three documents, 6,000 tokens, whole documents only, `...`."""

import pytest

from support.source_files import source
from twofold.answer.context import Budget, approximate_tokens, build_context, template_named
from twofold.answer.types import Source
from twofold.domain.errors import InvalidInputError

INTRODUCTION = (
    "dbt (data build tool) is a transformation workflow that helps teams quickly and collaboratively deploy analytics "
    "code following software engineering best practices like modularity, portability, CI/CD, and documentation."
)
MODEL = (
    "{{ config(materialized='incremental') }}\n\nSELECT\n    claim_id,\n    patient_id,\n    claim_amount\n"
    "FROM {{ ref('raw_claims') }}"
)
PRACTICES = (
    "Best practices for dbt models:\n1. Use staging models for one-to-one source mapping\n"
    "2. Apply business logic in intermediate models\n3. Create marts for end-user consumption"
)


def three() -> list[Source]:
    return [
        source(INTRODUCTION, 1, "dbt_introduction.md", kind="azure_devops"),
        source(MODEL, 2, "models_staging.sql", kind="azure_devops"),
        source(PRACTICES, 3, "dbt_best_practices.md", kind="local_file"),
    ]


def test_the_example_of_three_documents() -> None:
    context = build_context(three(), template_named("orchestrator"), Budget(tokens=6_000))

    assert context.text == (
        f"Document 1: dbt_introduction.md\nSource: azure_devops\n\n{INTRODUCTION}\n\n---\n\n"
        f"Document 2: models_staging.sql\nSource: azure_devops\n\n{MODEL}\n\n---\n\n"
        f"Document 3: dbt_best_practices.md\nSource: local_file\n\n{PRACTICES}\n\n---"
    )
    assert not context.cut


def test_6000_tokens_are_about_24000_characters() -> None:
    assert approximate_tokens("word " * 4_800) == 6_000
    assert Budget().tokens == 6_000


def test_documents_are_kept_whole_and_the_best_of_them_with_dots_where_some_are_missing() -> None:
    context = build_context(three(), template_named("orchestrator"), Budget(tokens=130))

    assert context.text.endswith(f"{MODEL}\n\n---\n\n...")
    assert INTRODUCTION in context.text
    assert "dbt_best_practices.md" not in context.text
    assert context.cut
    assert [one.given for one in context.sources] == [True, True, False]
    assert [one.number for one in context.citations] == [1, 2]
    assert context.tokens <= 130


def test_what_stands_in_a_document_is_never_read_as_a_place_of_the_template() -> None:
    context = build_context([source("{filename} {content}", 1, "{content}.md")], "{filename}: {content}", Budget())

    assert context.text == "{content}.md: {filename} {content}"


def test_where_not_even_the_best_fits_it_is_cut_and_says_so() -> None:
    context = build_context(three(), template_named("orchestrator"), Budget(tokens=20))

    assert context.text.startswith("Document 1: dbt_introduction.md")
    assert context.text.endswith("...")
    assert context.tokens <= 20
    assert [one.given for one in context.sources] == [True, False, False]


@pytest.mark.parametrize("spec", ["no such template", "{content} {password}", "{content.__class__}", ""])
def test_what_is_no_template_is_refused(spec: str) -> None:
    with pytest.raises(InvalidInputError):
        template_named(spec)

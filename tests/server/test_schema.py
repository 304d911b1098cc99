"""Every operation of the OpenAPI description, tried with made-up requests: no failure of ours, nothing undescribed."""

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from support.api_client import Visit, fill, visiting

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.core.result import Ok
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FEW = 4
MANY = 60
"""For each operation, that fit its description, and as many again that do not."""


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    home = tmp_path_factory.mktemp("described")
    fill(home)
    with visiting(home) as one:
        yield one


def operations_of(visit: Visit) -> Iterator[Any]:
    schema = schemathesis.openapi.from_dict(visit.client.get("/openapi.json").json())
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        yield found.ok()


def aim(case: Any) -> None:  # noqa: ANN401  # schemathesis' own
    """Turn a request to the index that there is, unless it would delete it."""
    if "index" in (case.path_parameters or {}) and case.operation.label != "DELETE /v1/indexes/{index}":
        case.path_parameters["index"] = "notes"
    if isinstance(case.body, dict):
        for name in {"model", "index", "knowledge_id"} & case.body.keys():
            case.body[name] = "notes"


def try_out(visit: Visit, operation: Any, cases: int, mode: GenerationMode) -> int:  # noqa: ANN401  # schemathesis' own
    """Try an operation with so many requests, that fit or do not; give how many there were."""
    tried = 0

    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def request(case: Any) -> None:  # noqa: ANN401  # schemathesis' own
        nonlocal tried
        tried += 1
        if tried % 2:
            aim(case)
        case.call_and_validate(base_url=visit.address, checks=CHECKS, timeout=30)

    request()
    return tried


def try_all(visit: Visit, cases: int) -> dict[str, int]:
    """Try all operations; give how many requests each had."""
    return {
        operation.label: try_out(visit, operation, cases, GenerationMode.POSITIVE)
        + (try_out(visit, operation, cases, GenerationMode.NEGATIVE) if has_input(operation) else 0)
        for operation in operations_of(visit)
    }


def references(part: Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    """Yield what a part of the description refers to."""
    if isinstance(part, dict):
        yield from [part["$ref"]] if "$ref" in part else []
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from references(one)


def test_whatever_the_description_refers_to_is_in_it(visit: Visit) -> None:
    described = visit.client.get("/openapi.json").json()
    found = set(references(described))

    assert "#/components/schemas/TextRequest" in found
    assert found == {one for one in found if one.rpartition("/")[2] in described["components"]["schemas"]}


def test_every_operation_bears_whatever_comes(visit: Visit) -> None:
    tried = try_all(visit, FEW)

    assert len(tried) >= 25
    assert all(tried.values())


@pytest.mark.soak
def test_two_thousand_requests_are_borne(visit: Visit) -> None:
    tried = try_all(visit, MANY)

    assert sum(tried.values()) >= 2_000, tried


def has_input(operation: Any) -> bool:  # noqa: ANN401  # schemathesis' own
    return bool(list(operation.iter_parameters()) or operation.body)

"""An evaluation as a JUnit report, which build servers read: a test for each figure, and for each condition on it."""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from twofold.domain.errors import InvalidInputError
from twofold.evaluation.report import Row
from twofold.evaluation.run import Evaluation
from twofold.evaluation.significance import Interval
from twofold.evaluation.thresholds import Condition


def write_junit(path: Path, done: Evaluation, conditions: Sequence[Condition]) -> None:
    """Write a suite for each configuration. Raises InvalidInputError where the file cannot be written."""
    suites = ET.Element("testsuites", name="twofold eval")
    for row in done.rows:
        suites.append(_suite(done, row, conditions))
    ET.indent(suites)
    try:
        path.write_bytes(ET.tostring(suites, encoding="utf-8", xml_declaration=True) + b"\n")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be written: {error.strerror}.", "Name another --junit.") from error


def _suite(done: Evaluation, row: Row, conditions: Sequence[Condition]) -> ET.Element:
    suite = ET.Element("testsuite", name=_text(f"{done.collection}: {row.name}"))
    seconds = 0.0 if row.ms_per_query is None else row.ms_per_query * done.queries / 1e3
    for figure in row.figures:
        case = ET.SubElement(suite, "testcase", classname=_text(row.name), name=figure.metric, time="0")
        ET.SubElement(case, "system-out").text = f"{stated(figure.interval)}, over {done.queries:,} questions"
    failed = {one.condition: one.value for one in done.failed if one.name == row.name}
    is_baseline = bool(done.comparisons) and row is done.rows[-1]
    for condition in () if is_baseline else conditions:
        case = ET.SubElement(suite, "testcase", classname=_text(row.name), name=f"not {condition.text}", time="0")
        if condition.text in failed:
            message = f"{condition.text} holds, at {failed[condition.text]:.4f}"
            ET.SubElement(case, "failure", type="condition", message=message)
    suite.attrib |= {"tests": str(len(suite)), "failures": str(len(failed)), "errors": "0", "time": f"{seconds:.3f}"}
    return suite


def stated(interval: Interval) -> str:
    """Return a mean with its interval in words."""
    return f"{interval.mean:.3f}, at 95 % between {interval.low:.3f} and {interval.high:.3f}"


def _text(text: str) -> str:
    """Return a text without characters that XML cannot hold."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)

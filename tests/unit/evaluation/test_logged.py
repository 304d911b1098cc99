"""Weak questions by week, worked out by hand."""

from twofold.evaluation.query_log import WeakQuestion, Week, reasons, weak_report
from twofold.stores.query_log import LoggedQuery


def asked(at: str, question: str, chance: float | None = 0.9, total: float = 10.0, hits: int = 1) -> LoggedQuery:
    return LoggedQuery(
        at=f"{at}T12:00:00+00:00",
        kind="search",
        question=question,
        hits=tuple(f"passage {number}" for number in range(hits)),
        p_answerable=chance,
        timings_ms={"total": total},
    )


def test_weeks_begin_on_monday_and_count_what_went_badly() -> None:
    """16 November 2026 is a Monday. Mean chance of the first week: (.9 + .3 + .6) / 3 = .6; median of 10, 20, 60."""
    entries = [
        asked("2026-11-16", "a", 0.9, 10.0),
        asked("2026-11-20", "b", 0.3, 20.0),
        asked("2026-11-22", "c", 0.6, 60.0),
        asked("2026-11-23", "b", None, 5.0, hits=0),
    ]

    report = weak_report(entries)

    assert [(one.begins, one.asked, one.weak, one.unfound, one.median_ms) for one in report.weeks] == [
        ("2026-11-16", 3, 1, 0, 20.0),
        ("2026-11-23", 1, 1, 1, 5.0),
    ]
    assert report.weeks[0].p_answerable is not None
    assert abs(report.weeks[0].p_answerable - 0.6) < 1e-12
    assert report.weeks[1].p_answerable is None


def test_questions_come_by_how_often_they_went_badly_then_by_chance() -> None:
    entries = [
        asked("2026-11-16", "fine", 0.4),
        asked("2026-11-16", "Twice weak", 0.39),
        asked("2026-11-17", "twice  WEAK", 0.2),
        asked("2026-11-17", "weak", 0.1),
        asked("2026-11-18", "weaker", 0.05),
        asked("2026-11-18", "weak", 0.8),
    ]

    found = weak_report(entries).questions

    assert found == (
        WeakQuestion("twice  WEAK", 2, 2, ("unlikely",), 0.2, None, "2026-11-17"),
        WeakQuestion("weaker", 1, 1, ("unlikely",), 0.05, None, "2026-11-18"),
        WeakQuestion("weak", 2, 1, ("unlikely",), 0.1, None, "2026-11-18"),
    )


def test_confidence_counts_only_where_there_is_no_chance() -> None:
    sure = LoggedQuery("2026-11-16T12:00:00+00:00", "search", "q", hits=("a",), confidence=0.6)
    unsure = LoggedQuery("2026-11-16T12:00:00+00:00", "search", "q", hits=("a",), confidence=0.59)
    likely = LoggedQuery("2026-11-16T12:00:00+00:00", "search", "q", hits=("a",), confidence=0.5, p_answerable=0.4)

    assert [reasons(one) for one in (sure, unsure, likely)] == [(), ("unsure",), ()]


def test_errors_and_refusals_are_weak_as_well() -> None:
    failed = LoggedQuery("2026-11-16T12:00:00+00:00", "search", "q", error="ModelError")
    refused = LoggedQuery("2026-11-16T12:00:00+00:00", "ask", "q", hits=("a",), p_answerable=0.2, refused=True)

    assert [reasons(one) for one in (failed, refused)] == [("ModelError",), ("refused", "unlikely")]


def test_a_week_without_times_has_no_median() -> None:
    assert weak_report([LoggedQuery("2026-11-16T12:00:00+00:00", "search", "q", error="ModelError")]).weeks == (
        Week("2026-11-16", 1, 1, 0, None, None),
    )

"""At most 2 passages of one (source, page); five of one page leave two, in their order."""

from twofold.ranking.diversify import Candidate, Dropped, Limits, Reason, diversified

CAP = Limits(per_page=2)


def test_of_five_passages_of_one_page_the_first_two_survive_in_order() -> None:
    page = [Candidate(key, "report.pdf", 3, f"passage {key}") for key in (50, 10, 40, 20, 30)]

    made = diversified(page, CAP, k=10)

    assert made.kept == (50, 10)
    assert made.dropped == tuple(Dropped(key, Reason.PAGE, 50) for key in (40, 20, 30))


def test_other_pages_and_other_files_have_room_of_their_own() -> None:
    places = [("a.pdf", 1), ("a.pdf", 1), ("a.pdf", 1), ("a.pdf", 2), ("b.pdf", 1)]
    candidates = [Candidate(key, source, page, "") for key, (source, page) in enumerate(places)]

    assert diversified(candidates, CAP, k=10).kept == (0, 1, 3, 4)

"""Every call to the disk fails once, and the process dies once at every call: what is left is always legal."""

import logging
from pathlib import Path

import pytest

from reliability.disk import Faults, FaultyVFS, faulty_system
from reliability.workload import LATER, Model, Step, after, difference, do, open_busy
from support.factories import fingerprint
from twofold.domain.errors import TwofoldError
from twofold.stores.local.store import LocalStore

PLAN = (
    Step("upsert", texts=tuple((f"{n}.txt", f"every cat {n}\nevery dog {n}\nevery mat {n}") for n in range(3))),
    Step("upsert", texts=(("1.txt", "every new word\nevery other"), ("3.txt", "every fox\nevery log\nevery the cat"))),
    Step("upsert", texts=(("4.txt", f"{LATER}every cat 4\nevery dog 4"), ("5.txt", f"{LATER}every mat 5"))),
    Step("upsert", texts=(("5.txt", f"{LATER}every cat 5"),)),
    Step("snapshot", sources=("mon",)),
    Step("vectors"),
    Step("delete", sources=("0.txt",)),
    Step("reopen"),
    Step("snapshot", sources=("tue",)),
    Step("rebuild"),
    Step("upsert", texts=tuple((f"{n}.txt", f"every run {n}\nevery sat {n}") for n in range(2, 9))),
    Step("compact"),
    Step("upsert", texts=(("9.txt", "every last one"),)),
)

logger = logging.getLogger(__name__)


class Patient:
    """Takes steps on a failing disk; a step that failed may be taken again."""

    def __init__(self, folder: Path, disk: FaultyVFS) -> None:
        self.model: Model = {}
        self._folder = folder
        self._disk = disk
        self._store: LocalStore | None = None

    def fails(self, step: Step) -> bool:
        """Take a step, and say whether it failed; a failure must be one of ours."""
        try:
            if self._store is None:
                self._store = open_busy(self._folder, self._disk.name)
            self._store.ensure_fingerprint(fingerprint())
            if step.kind == "reopen":
                leaving, self._store = self._store, None
                leaving.close()
            else:
                do(self._store, step)
        except TwofoldError:
            return True
        self.model = after(self.model, step)
        return False

    def abandon(self) -> None:
        """Leave everything as it is, like a process that dies."""
        if self._store is not None:
            self._store._connections.close()


def count_calls(folder: Path) -> int:
    faults = Faults(0, lasting=False)
    patient = Patient(folder, FaultyVFS(faults))
    with faulty_system(faults):
        assert not any(patient.fails(step) for step in PLAN)
    patient.abandon()
    return faults.calls


def illegal(folder: Path, *models: Model) -> str:
    """Open a folder on a sound disk and say what is wrong with it; one of the models must be what it holds."""
    store = open_busy(folder)
    store.ensure_fingerprint(fingerprint())
    wrongs = [difference(store, model) for model in models]
    findings = [finding for finding in store.verify() if not finding.repairable]
    store._connections.close()
    return "" if "" in wrongs and not findings else f"{wrongs} {findings}"


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.soak)])
def test_an_error_at_any_call_is_typed_and_costs_nothing(quick_path: Path, every: int) -> None:
    total, failures = count_calls(quick_path / "count"), 0
    for at in range(1, total + 1, every):
        faults, folder = Faults(at, lasting=False), quick_path / str(at)
        patient = Patient(folder, FaultyVFS(faults))
        for step in PLAN:
            with faulty_system(faults):
                failed = patient.fails(step)
            if failed:
                failures += 1
                assert illegal(folder, patient.model, after(patient.model, step)) == "", at
                assert not patient.fails(step), "what failed once succeeds when it is done again"
        assert illegal(folder, patient.model) == "", at
        patient.abandon()
    logger.info("%d calls; %d errors at every %dth reached the caller", total, failures, every)
    assert failures > total // every // 2


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.soak)])
def test_a_death_at_any_call_leaves_a_legal_state(quick_path: Path, every: int) -> None:
    for at in range(1, count_calls(quick_path / "count") + 1, every):
        faults, folder = Faults(at, lasting=True), quick_path / str(at)
        patient = Patient(folder, FaultyVFS(faults))
        with faulty_system(faults):
            died = next((step for step in PLAN if patient.fails(step)), PLAN[-1])
        patient.abandon()
        assert illegal(folder, patient.model, after(patient.model, died)) == "", at

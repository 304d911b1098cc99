"""Counting documents by what their passages hold in a field: from the segments' columns, without reading a row."""

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from twofold.domain.filters import Label
from twofold.stores.local.snapshot import SegmentSnapshot

Located = tuple[int, NDArray[np.int64], NDArray[np.uint32]]
"""A part of the snapshot, and the slots of passages in it; what is between does not matter here."""


def documents_by_label(
    snapshot: SegmentSnapshot, located: Sequence[Located], field: str, label: Label
) -> Mapping[Hashable, NDArray[np.int64]]:
    """Return for each label of a field's values the documents that hold such a value in one of the located passages.

    They are rows of the catalog. A document is there once, also where two passages of it hold the value.
    """
    numbers: dict[Hashable, int] = {}
    held, documents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for place, _, slots in located:
        segment = snapshot.parts[place].segment
        among = np.zeros(len(segment), dtype=np.bool_)
        among[slots] = True
        for values, which, holders in segment.lookup.holders(field):
            names = [label(value) for value in values]
            of_value = np.array([-1 if one is None else numbers.setdefault(one, len(numbers)) for one in names])
            labels = of_value[which]
            counting = among[holders] & (labels >= 0)
            held.append(labels[counting].astype(np.int64))
            documents.append(segment.documents[holders[counting]])
    distinct, document = np.unique(np.concatenate(documents), return_inverse=True)
    pairs = np.unique(np.concatenate(held) * max(len(distinct), 1) + document)
    counts = np.bincount(pairs // max(len(distinct), 1), minlength=len(numbers))
    some = np.split(distinct[pairs % max(len(distinct), 1)], np.cumsum(counts)[:-1]) if len(pairs) else []
    return {name: rows for name, rows in zip(numbers, some, strict=False) if len(rows)}

"""A sync over a Ray cluster of two nodes, one of which is killed on the way; run as a program of its own.

Ray's processes and threads outlast what starts them, so none of it runs in the process of the tests.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from support.ray_processes import actor_of
from twofold import Index
from twofold.factory.ray_workers import Worker
from twofold.indexing.types import SyncProgress

BYTES = 100 * 1024**2


def main(folder: str, where: str, victim: str) -> None:
    cluster: Any = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "object_store_memory": BYTES, "include_dashboard": False},
    )
    other = cluster.add_node(num_cpus=1, object_store_memory=BYTES)
    cluster.wait_for_nodes()
    killed: list[str] = []

    def look(progress: SyncProgress) -> None:
        """Kill once, when the first batch is committed and others are on their way."""
        if progress.passages and not killed:
            killed.append(victim)
            if victim == "node":
                cluster.remove_node(other, allow_graceful=False)
            else:
                os.kill(actor_of(os.getpid(), Worker.__name__), signal.SIGKILL)

    with Index(where, overrides={"embedder": "hashing"}) as index:
        report = index.sync(Path(folder), progress=look, on=f"ray:{cluster.address}")
    print(len(report.added), len(report.failed), len(killed))  # noqa: T201
    cluster.shutdown()


if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    main(*sys.argv[1:])

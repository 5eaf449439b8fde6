"""Tests the process of a server that a run starts."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any, cast

from benchbrief.runners.engines.server_job import ServerJob


def test_a_question_that_blocks_counts_as_time_waited() -> None:
    host = SimpleNamespace(host=SimpleNamespace(id="box"))
    server = ServerJob(cast(Any, host), "key", "a server")
    server._job = cast(Any, SimpleNamespace(wait=lambda _: False))
    asked: list[str] = []

    def silent() -> str:
        time.sleep(0.2)
        asked.append("no answer")
        return asked[-1]

    wrong = server.wait_for(silent, 0.5, threading.Event())
    assert wrong is not None
    assert wrong.code == "process_deaf"
    assert len(asked) <= 3

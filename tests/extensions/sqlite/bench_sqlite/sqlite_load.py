"""The load generator, which runs on the host under test and needs nothing but Python."""

import json
import random
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any


def connect(task: dict[str, Any]) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{task['path']}/bench.sqlite", timeout=30, isolation_level=None)
    for pragma, value in task["pragmas"].items():
        connection.execute(f"PRAGMA {pragma} = {value}")
    return connection


def fill(task: dict[str, Any]) -> dict[str, Any]:
    connection = connect(task)
    connection.execute("CREATE TABLE bench (key INTEGER PRIMARY KEY, value BLOB)")
    connection.execute("BEGIN")
    dice = random.Random(1)  # noqa: S311  # rows that can be had again, no secrets
    rows = ((key, dice.randbytes(task["row_size"])) for key in range(task["records"]))
    connection.executemany("INSERT INTO bench VALUES (?, ?)", rows)
    connection.execute("COMMIT")
    return {"records": connection.execute("SELECT count(*) FROM bench").fetchone()[0]}


def work(task: dict[str, Any], seed: int, until: float, found: list[tuple[str, float, float, bool]]) -> None:
    connection, dice = connect(task), random.Random(seed)  # noqa: S311  # the same keys again, no secrets
    while (began := time.monotonic()) < until:
        key, reads = dice.randrange(task["records"]), dice.random() < task["read"]
        if reads:
            done = connection.execute("SELECT value FROM bench WHERE key = ?", (key,)).fetchone() is not None
        else:
            value = dice.randbytes(task["row_size"])
            done = connection.execute("UPDATE bench SET value = ? WHERE key = ?", (value, key)).rowcount == 1
        ended = time.monotonic()
        found.append(("read" if reads else "update", ended, ended - began, done))


def measure(task: dict[str, Any]) -> dict[str, Any]:
    found: list[list[tuple[str, float, float, bool]]] = [[] for _ in range(task["threads"])]
    began_at, began, cpu_s = time.time(), time.monotonic(), time.process_time()
    threads = [
        threading.Thread(target=work, args=(task, 1000 * task["seed"] + n, began + task["seconds"], each))
        for n, each in enumerate(found)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    latencies: dict[str, dict[str, int]] = {}
    slowest: dict[str, float] = {}
    errors = 0
    for operation, ended, latency, done in (row for each in found for row in each):
        errors += not done
        second = str(int(ended - began))
        slowest[second] = max(slowest.get(second, 0.0), latency)
        if done:
            micros = str(round(latency * 1e6))
            counts = latencies.setdefault(operation, {})
            counts[micros] = counts.get(micros, 0) + 1
    used = {"cpu_s": time.process_time() - cpu_s, "slowest": slowest}
    return {"began_at": began_at, "seconds": seconds, "errors": errors, "latencies": latencies, **used}


given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
print(json.dumps(fill(given) if given["step"] == "load" else measure(given)))

"""Measures the time to push a run of 1 GB to a shared store, and to query one run out of 10,000.

The push goes to gofakes3, a server on this machine that keeps its data in memory. For comparison, boto3 alone sends the
same files as `aws s3 cp --recursive` does: several at once, and those above 16 MB in parts. The two are separate
processes that take turns. The store of 10,000 runs is a folder in which each run has its own manifest and a copy of the
tables of one small run. The query is `bench query`, including its start-up.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchbrief.history.shared_store.push_and_pull import Push, push_run
from benchbrief.history.shared_store.run_manifest import manifest_key, manifest_text, table_key
from benchbrief.history.shared_store.shared_store import open_store
from benchmarks.timing import BENCH, spread, verdict
from tests.support.s3_servers import BUCKET, gofakes3, make_bucket, settings

RUNS = 10_000
FILES, FILE_BYTES = 200, 5_000_000
PAIRS = 3
ASKED_S = 1.0
LIMIT = 1.5
"""The limit, as a multiple of the plain upload's time. Besides uploading, a push computes each file's SHA-256 once and
builds the tables of all views."""
UPLOAD = """\
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

s3 = boto3.client("s3", region_name="us-east-1", config=Config(max_pool_connections=32))
how = TransferConfig(multipart_threshold=16 << 20, multipart_chunksize=16 << 20)
root, bucket = Path(sys.argv[1]), sys.argv[2]

def upload(path):
    s3.upload_file(str(path), bucket, f"plain/{path.relative_to(root)}", Config=how)

with ThreadPoolExecutor(16) as pool:
    list(pool.map(upload, [path for path in root.rglob("*") if path.is_file()]))
"""


def a_run(folder: Path) -> Path:
    """Make a simulated run without a brief."""
    subprocess.run([BENCH, "init", "brief.bench"], cwd=folder, check=True, capture_output=True)
    command = [BENCH, "run", "brief.bench", "--simulate", "--quiet", "--no-report"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (run_dir,) = (folder / "bench-out").iterdir()
    return run_dir


def seconds(command: list[str], **env: str) -> float:
    begun = time.perf_counter()
    subprocess.run(command, env=os.environ | env, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def push_a_gigabyte(run_dir: Path) -> bool:
    for n in range(FILES):
        (run_dir / "raw" / f"output-{n}").write_bytes(os.urandom(FILE_BYTES))
    (run_dir / "raw" / "long-output").write_bytes(os.urandom(50_000_000))
    ours, theirs = list[float](), list[float]()
    for _ in range(PAIRS):
        with gofakes3() as endpoint:
            make_bucket(endpoint)
            env = settings(endpoint)
            theirs.append(seconds([sys.executable, "-c", UPLOAD, str(run_dir), BUCKET], **env))
            ours.append(seconds([BENCH, "push", str(run_dir), "--quiet", "--to", f"s3://{BUCKET}/ours"], **env))
    ratios = [mine / plain for mine, plain in zip(ours, theirs, strict=True)]
    size = sum(path.stat().st_size for path in run_dir.rglob("*") if path.is_file())
    print(f"push of {size / 1e9:.2f} GB: {spread(ours, 's', 1)}; plain upload {spread(theirs, 's', 1)}")
    return verdict("of a plain upload", statistics.median(ratios), LIMIT, "times")


def ask_one_of_many(run_dir: Path, folder: Path) -> bool:
    store = open_store(str(folder / "shared"))
    first = push_run(run_dir, store, Push()).manifest
    root = folder / "shared"
    sources = {name: root / table_key(first.id, name, file.sha256) for name, file in first.tables.items()}
    for n in range(RUNS):
        made = replace(first, id=f"2026-{n:05}", simulated=False, measured_at=first.measured_at + n)
        for name, file in first.tables.items():
            path = root / table_key(made.id, name, file.sha256)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.hardlink_to(sources[name])
        (root / manifest_key(made.id, 1)).write_bytes(manifest_text(made))
    sql = "SELECT run, avg(value) FROM measure.throughput WHERE run = '2026-07777' GROUP BY run"
    command = [BENCH, "query", "--json", "--from", str(root), sql]
    assert json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[0]["run"] == "2026-07777"
    one = [BENCH, "query", "--json", "--run", str(run_dir), "SELECT avg(value) FROM measure.throughput"]
    taken, bare = [seconds(command) for _ in range(5)], [seconds(one) for _ in range(5)]
    listed = seconds([BENCH, "runs", "--json", "--from", str(root)])
    print(f"query of one run of {RUNS:,}: {spread(taken, 's')}; of a run in a folder: {spread(bare, 's')}")
    print(f"listing all {RUNS:,}: {listed:.2f} s; a manifest has {len(manifest_text(first)):,} bytes")
    return verdict("a query", statistics.median(taken), ASKED_S, "s")


def main() -> bool:
    print(f"load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_dir = a_run(folder)
        asked = ask_one_of_many(run_dir, folder)
        return push_a_gigabyte(run_dir) and asked


if __name__ == "__main__":
    main()

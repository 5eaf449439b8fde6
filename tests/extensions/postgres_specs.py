"""Specs for the package with PostgreSQL and pgbench, and the registration of the package in this process."""

from __future__ import annotations

from pathlib import Path

from tests.support.postgres import Postgres

SQL = """\
\\set aid random(1, 100000 * :scale)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + 1 WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, :aid, 1, CURRENT_TIMESTAMP);
END;
"""

SPEC = """\
hardware box "This machine" { hosts = @HOST@ }
client load { hosts = @HOST@  tool = pgbench }
database shop "PostgreSQL" {
  engine     = postgresql
  uri        = "@URI@"
  version    = "15"
  checkpoint = true
  reset      = after_writes
}
workload reads  "Reads"  from pgbench.select_only { protocol = prepared }
workload orders "Orders" from pgbench.sql { file = "orders.sql" }

experiment ramp {
  hardware  = box
  workloads = [reads, orders]
  threads   = 2
  measure   = 2 s
  probes    = [postgresql every 250 ms]
}
experiment offered {
  hardware  = box
  workloads = reads
  threads   = 2
  target    = 500 ops/s
  warm_up   = 1 s
  measure   = 2 s
}
report english "PostgreSQL" {
  table "Latency" { rows = workload  column "p99" = latency.p99[transaction, ramp] }
  table "Server" {
    rows   = workload
    column = mean(postgresql.wal[ramp] over time)
    column = max(postgresql.lag_bytes[ramp] over time)
    column = postgresql.buffer_hits[ramp]
  }
  text = "Transactions waited {mean(pgbench.schedule_lag[offered] over time, hardware, workload):.3fu}."
  disclosure = automatic
}
report japanese "PostgreSQL の測定" {
  language = ja
  figure "WAL の推移" { line = postgresql.wal[ramp] by time, color workload }
  figure "レイテンシー" { bars = latency.p99[transaction, ramp] by workload }
  disclosure = automatic
}
"""


def written(folder: Path, server: Postgres, host: str = "local", old: str = "", new: str = "") -> Path:
    """Write the spec and its SQL, after replacing a text of the spec."""
    assert old in SPEC
    (folder / "orders.sql").write_text(SQL)
    path = folder / "shop.bench"
    path.write_text(SPEC.replace("@HOST@", host).replace("@URI@", server.uri).replace(old or "\0", new))
    return path


def small(folder: Path, server: Postgres, host: str = "local", measure: str = "2 s") -> Path:
    """Write the spec with one cell at a low rate, and without a report."""
    path = written(folder, server, host)
    text = (
        path.read_text().partition("experiment offered")[0].replace("workloads = [reads, orders]", "workloads = orders")
    )
    path.write_text(text.replace("measure   = 2 s", f"target = 300 ops/s  measure = {measure}"))
    return path

"""Flags of db_bench that no database option may be: checked in a spec, and held by the driver that sets them."""

from __future__ import annotations

import re

RESERVED = (
    *("benchmarks", "db", "use_existing_db", "wal_dir", "num", "key_size", "value_size", "threads", "seed", "duration"),
    *("histogram", "report_file", "report_interval_seconds", "stats_interval", "stats_interval_seconds"),
    "options_file",
)
"""Those that the driver sets itself, or that would move the data elsewhere."""

FLAG = re.compile(r"[a-z][a-z0-9_]*\Z")
"""What every flag of db_bench looks like."""

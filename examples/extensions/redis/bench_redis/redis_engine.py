"""The Redis engine. Its server is started by benchbrief for the run or already runs, and is accessed through
redis-cli."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

from benchbrief.extend.common import (
    Cell,
    CommandWord,
    Endpoint,
    Interrupted,
    LoadShort,
    Message,
    RunnerError,
    ServerFailed,
    now,
    printable,
    say,
    speaker,
)
from benchbrief.extend.engines import StartedServer, writes

_NOTE = "benchbrief"  # the key of our note, which names the data set and its number of keys
_NOTED = re.compile(r"\S{1,100} (\d{1,12})")
_OURS, _SCANS, _AT_ONCE = re.compile(r"key:(\d{12})"), 8, 1000  # a reset first looks at some names
_COUNTERS = ("total_commands_processed", "keyspace_hits", "keyspace_misses", "evicted_keys", "expired_keys")
_BUSY = ("loading", "rdb_bgsave_in_progress", "aof_rewrite_in_progress")


class RedisMessages(Protocol):
    def redis_in_memory(self) -> Message: ...
    def redis_not_ours(self, *, database: object, keys: object) -> Message: ...
    def redis_not_ours_hint(self) -> Message: ...


say_redis: RedisMessages = speaker(
    RedisMessages,
    {
        "en": {
            "redis_in_memory": "in memory; a restart reads what was written to disk",
            "redis_not_ours": "the database {database} has keys that benchbrief did not load: {keys}",
            "redis_not_ours_hint": "name an empty one by its number, as in redis://host:6379/1, or empty it yourself",
        },
        "ja": {
            "redis_in_memory": "メモリ上 (再起動時はディスクに書かれた内容を読み込みます)",
            "redis_not_ours": "データベース {database} に benchbrief が読み込んでいないキーがあります: {keys}",
            "redis_not_ours_hint": "redis://host:6379/1 のように空のデータベースを番号で指定するか、空にしてください",
        },
    },
)


class Redis(StartedServer):
    name: ClassVar[str] = "redis"
    _run_id = ""

    def arguments(self) -> Sequence[CommandWord]:
        """Return the server's arguments. They turn off protected mode, which refuses all other hosts, whatever `--bind`
        allows."""
        given = (
            word
            for name, value in self.database.options.items()
            for word in (f"--{name}", f"{value:.0f}" if isinstance(value, float) else f"{value}")
        )
        own = ("--port", str(self.port), "--bind", self.address, "--dir", self.directory, "--protected-mode", "no")
        return (*given, *own, "--daemonize", "no")

    def uri(self) -> str:
        return f"redis://{self.address}:{self.port}"

    def ready(self) -> str:
        try:
            return "it reads its data" if self._info()["loading"] != "0" else ""
        except (RunnerError, KeyError) as error:
            return str(error)

    def start(self) -> Endpoint:
        endpoint, info = super().start(), self._info()
        if info.get("redis_mode") != "standalone" or info.get("role") != "master":
            said = f"database {self.database.name} is {info.get('redis_mode')} and {info.get('role')}"
            raise ServerFailed(said, "name a single server that takes writes: clusters and replicas are not supported")
        self._run_id = info.get("run_id", "")
        return endpoint

    def healthy(self) -> None:
        super().healthy()
        if self._run_id and self._info().get("run_id") != self._run_id:
            raise ServerFailed(say.server_anew(database=self.database.name), say.hint_server_log())

    def require_running_since(self, at: float) -> None:
        super().require_running_since(at)
        up = float(self._info().get("uptime_in_seconds", "0"))
        if now() - up > at + 1.0:  # Redis reports whole seconds
            raise ServerFailed(say.server_restarted(database=self.database.name, seconds=f"{up:.0f}"))

    def describe(self) -> dict[str, str]:
        info, config = self._info(), self._settings()
        persistence = (f"{name} {config.get(name, '?') or '(never)'}" for name in ("appendonly", "appendfsync", "save"))
        return {
            "server": "Redis",
            "version": info.get("redis_version", ""),
            "data": say_redis.redis_in_memory(),
            "durability": " / ".join(persistence),
            "maxmemory": f"{info.get('maxmemory')} B / {info.get('maxmemory_policy')}",
            "io_threads": config.get("io-threads", "?"),
            "allocator": info.get("mem_allocator", ""),
        }

    # --- the data set ---

    def holds(self, cell: Cell) -> bool:
        """Return whether the cell's data are complete and no cell has written to them since the load."""
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        noted = self._ask("GET", _NOTE) == f"{cell.dataset.hash} {cell.dataset.records}"
        return noted and self._records() == cell.dataset.records

    def reset(self, cell: Cell) -> None:
        """Empty the database. If the server was there before the run, refuses to delete keys that are not ours."""
        if self.attached:
            self._require_ours()
        self._ask("FLUSHDB")
        self._note(cell, "loading")

    def _require_ours(self) -> None:
        """Raise RunnerError if the database has more keys than our note counts, or keys with foreign names."""
        note = self._ask("GET", _NOTE)
        ours = int(noted[1]) if (noted := _NOTED.fullmatch(note)) else 0
        more = int(self._ask("DBSIZE")) - ours - bool(note)
        if others := _NOTE if note and not noted else str(more) if more > 0 else self._foreign_name(ours):
            said = say_redis.redis_not_ours(database=self.database.name, keys=others)
            raise RunnerError(said, say_redis.redis_not_ours_hint())

    def _foreign_name(self, ours: int) -> str:
        """Return a key that we have not loaded (`ours` is the number of keys that we have), or "" if no inspected key
        is foreign."""
        cursor = "0"
        for _ in range(_SCANS):
            cursor, *names = self._ask("SCAN", cursor, "COUNT", str(_AT_ONCE)).splitlines()
            of_others = (each for each in names if not (at := _OURS.fullmatch(each)) or int(at[1]) >= ours)
            other = next((printable(each[:100]) or "''" for each in of_others if each != _NOTE), "")
            if other or cursor == "0":
                return other
        return ""

    def _note(self, cell: Cell, state: str) -> None:
        """Note in the server which data set it holds, with the number of its records. `state` is the data set's hash
        or, while the data can't be reused, a word such as `loading`."""
        self._ask("SET", _NOTE, f"{state} {cell.dataset.records if cell.dataset else 0}")

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if (found := self._records()) != cell.dataset.records:
            said = f"{cell.dataset.records} values were to be loaded, and there are {found}"
            raise LoadShort(said, "see what the load printed, and whether `maxmemory` has room for them")
        self._note(cell, cell.dataset.hash)

    def settle(self, cell: Cell) -> tuple[str, ...]:
        """After a load, write the snapshot that is due and wait until it is complete, so that none is written during
        the measurement."""
        if self._settings().get("save"):
            self._ask("BGSAVE", "SCHEDULE")
        while any(self._info().get(name, "0") != "0" for name in _BUSY):
            if self.stopping.is_set():
                raise Interrupted
            time.sleep(0.2)
        return ()

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Before a cell that writes, overwrite the note, so that the next cell loads again."""
        written = writes(self.plan.workload_of(cell), cell.events)
        if cell.dataset is not None and written and self.database.reset != "reuse":
            self._note(cell, "written")
        return ()

    def counters(self) -> dict[str, float]:
        return {name: value for name, value in self.status().items() if name in _COUNTERS}

    def status(self) -> dict[str, float]:
        return {name: float(value) for name, value in self._info().items() if re.fullmatch(r"\d{1,18}(\.\d+)?", value)}

    def _info(self) -> dict[str, str]:
        return dict(line.split(":", 1) for line in self._ask("INFO").splitlines() if ":" in line)

    def _settings(self) -> dict[str, str]:
        """Return the server's settings, or no settings if a hosted server hides them."""
        try:
            lines = self._ask("CONFIG", "GET", "*").splitlines()
        except ServerFailed:
            return {}
        return dict(zip(lines[::2], lines[1::2], strict=False))

    def _records(self) -> int:
        return int(self._ask("DBSIZE")) - 1

    def _ask(self, *words: str) -> str:
        """Send a command from the server's own host or from a load generator's host. Raises ServerFailed."""
        uri = self.endpoint().uri
        at = urlsplit(uri.value if uri else "")
        to = ("-h", at.hostname or "", "-p", str(at.port or 6379), "-n", at.path.strip("/") or "0")
        done = self.run("redis-cli", "-e", *to, *words)
        if done.exit_code:
            said = printable((done.stderr or done.stdout).strip()[:200])
            raise ServerFailed(f"the server of database {self.database.name} does not do {words[0]}: {said}")
        return done.stdout.strip()

"""Observed facts of a host.

Facts are texts with the names that a spec uses, so that declared and observed ones can be compared:

    hostname os kernel virtualization clock_source governor transparent_huge_pages
    cpu                     model, sockets, cores and threads: "AMD EPYC 9654 96-Core Processor, 96 cores, 192 threads"
    sockets cores threads numa_nodes, and usable_threads when it differs
    memory memory_limit swap            "754.2 GiB"; memory_limit is the smallest limit of the control groups around us
    filesystem                          when all data paths have the same
    filesystem of PATH, device of PATH, disks of PATH, mount of PATH, free space of PATH
    disk NAME                           size, model, "rotating" or "not rotating"
    block_devices                       all names, with partitions and mapped devices

Unknown facts are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchbrief.model.message import joined
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.shell_scripts import read_script
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Transport

_MAX_LINES = 5000
_MAX_VALUE = 500
_NOT_DISKS = re.compile(r"(loop|ram|zram|sr|fd|dm-|md|nbd|nullb)\d")

_SCRIPT = read_script(__file__, "scripts/host_facts.sh")


def observe(transport: Transport, paths: Sequence[str]) -> dict[str, str]:
    """Return facts of a host, and of the file systems that hold `paths`, which need not exist yet."""
    done = run_persistently(transport, Command(("sh", "-s", "--", *paths)), stdin=_SCRIPT, timeout_s=30)
    if done.exit_code != 0:
        raise HostError(f"{transport.host.id}: can't read its facts: {done.stderr.strip()[-200:]}")
    return _facts(done.stdout, paths)


# --- reading what the script printed -----------------------------------------------------------------------------


class _Said:
    """What the script printed: {key: values}, without characters that can't be shown."""

    def __init__(self, text: str) -> None:
        self._values: dict[str, list[str]] = {}
        for line in text.splitlines()[:_MAX_LINES]:
            key, tab, value = line.partition("\t")
            if tab:
                clean = "".join(c if c.isprintable() else " " for c in value[:_MAX_VALUE])
                self._values.setdefault(key, []).append(" ".join(clean.split()))

    def all(self, key: str) -> list[str]:
        return self._values.get(key, [])

    def one(self, key: str) -> str:
        return next(iter(self.all(key)), "")

    def number(self, key: str) -> int | None:
        text = self.one(key)
        return int(text) if re.fullmatch(r"\d{1,18}", text) else None


def _facts(text: str, paths: Sequence[str]) -> dict[str, str]:
    said = _Said(text)
    facts = {
        "hostname": said.one("hostname"),
        "os": said.one("os").strip("\"'"),
        "kernel": said.one("kernel"),
        **_processors(said),
        **_memory(said),
        "virtualization": said.one("virtualization"),
        "clock_source": said.one("clock_source"),
        "governor": said.one("governor"),
        "transparent_huge_pages": (re.findall(r"\[(\w+)\]", said.one("huge_pages")) or [""])[0],
        **_disks(said),
        **_paths(said, paths),
    }
    return {name: value for name, value in facts.items() if value}


def _processors(said: _Said) -> dict[str, str]:
    table = dict(line.split(":", 1) for line in said.all("lscpu") if ":" in line)
    table = {key.strip(): value.strip() for key, value in table.items()}

    def count(key: str) -> int | None:
        return int(table[key]) if re.fullmatch(r"\d{1,6}", table.get(key, "")) else None

    threads = count("CPU(s)") or said.number("processors")
    sockets, per_socket = count("Socket(s)"), count("Core(s) per socket")
    cores = sockets * per_socket if sockets and per_socket else None
    model = said.one("model") or table.get("Model name", "")
    parts: list[str] = [model] if model else []
    parts += [say.sockets(n=sockets)] if sockets and sockets > 1 else []
    parts += [say.cores_of(n=cores)] if cores else []
    parts += [say.threads_of(n=threads)] if threads else []
    usable = said.number("usable")
    numbers = {
        "sockets": sockets,
        "cores": cores,
        "threads": threads,
        "numa_nodes": count("NUMA node(s)"),
        "usable_threads": usable if usable != threads else None,
    }
    return {"cpu": joined(parts, say.comma)} | {name: str(number) for name, number in numbers.items() if number}


def _memory(said: _Said) -> dict[str, str]:
    total, swap = said.number("MemTotal:"), said.number("SwapTotal:")
    limits = [int(text) for text in said.all("limit") if re.fullmatch(r"\d{1,18}", text)]
    facts = {"memory": size_text(total * 1024)} if total else {}
    if total and limits and min(limits) < total * 1024:
        facts["memory_limit"] = size_text(min(limits))
    return facts | ({"swap": size_text(swap * 1024)} if swap else {})


def _disks(said: _Said) -> dict[str, str]:
    below = _below(said)

    def used(name: str) -> bool:
        return bool(said.number(f"sectors {name}"))

    facts = {"block_devices": " ".join([*filter(used, said.all("block")), *_mapped(said)])}
    for name in said.all("block"):
        if name in below or _NOT_DISKS.match(name) or not used(name):
            continue
        turns = {"0": say.not_turning, "1": say.turning}.get(said.one(f"rotating {name}"))
        size = size_text((said.number(f"sectors {name}") or 0) * 512)
        known = filter(None, [size, said.one(f"model {name}"), turns() if turns else ""])
        facts[f"disk {name}"] = joined(known, say.comma)
    return facts


def _below(said: _Said) -> dict[str, list[str]]:
    """Return the devices below each partition or mapped device."""
    found: dict[str, list[str]] = {}
    for pair in said.all("below"):
        upper, _, lower = pair.partition(" ")
        found.setdefault(upper, []).append(lower)
    return found


def _mapped(said: _Said) -> list[str]:
    """Return the other names of mapped devices: `mapper/vg-data`."""
    return [f"mapper/{alias}" for name in said.all("block") if (alias := said.one(f"mapped {name}"))]


def _paths(said: _Said, paths: Sequence[str]) -> dict[str, str]:
    facts: dict[str, str] = {}
    types: set[str] = set()
    # The last mount on a place hides the earlier ones.
    mounted = {_unescaped(words[1]): words[2] for line in said.all("mounted") if len(words := line.split()) > 3}
    lines = dict(line.split(" ", 1) for line in said.all("path") if " " in line)
    real = dict(line.split(" ", 1) for line in said.all("real") if " " in line)
    for index, path in enumerate(paths):
        match = re.fullmatch(r"(.+?) (\d+) (\d+) (-?\d+) (\S+) (/.*)", lines.get(str(index), ""))
        if match is None:
            continue
        source, free, mount = match[1], int(match[4]), match[6]
        facts[f"filesystem of {path}"] = mounted.get(mount, "")
        facts[f"device of {path}"] = source
        name = real.get(str(index), "").removeprefix("/dev/")
        facts[f"disks of {path}"] = " ".join(_lowest(name, _below(said))) if name in said.all("block") else ""
        facts[f"mount of {path}"] = mount
        facts[f"free space of {path}"] = size_text(free * 1024)
        types.add(mounted.get(mount, ""))
    return facts | ({"filesystem": types.pop()} if len(types) == 1 else {})


def _lowest(name: str, below: Mapping[str, list[str]]) -> list[str]:
    """Return the whole disks below a device."""
    waiting, found, seen = [name], [], set()
    while waiting:
        upper = waiting.pop()
        if upper not in seen:
            seen.add(upper)
            lower = below.get(upper, [])
            waiting += lower
            if not lower:
                found.append(upper)
    return sorted(found)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def size_text(size: float) -> str:
    """Format a number of bytes for people."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.1f} {unit}" if unit != "B" else f"{size:.0f} B"
        size /= 1024
    return f"{size:.2f} TiB"


def bytes_of(text: str) -> float | None:
    """Parse what `size_text` wrote; None for any other text."""
    match = re.fullmatch(r"([\d.]+) (B|KiB|MiB|GiB|TiB)", text)
    return float(match[1]) * 1024 ** ("B", "KiB", "MiB", "GiB", "TiB").index(match[2]) if match else None

"""Observes the facts of a host, and finds facts that contradict the spec."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.message import joined
from benchbrief.model.plan import Fact, Hardware, Quantity
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError
from benchbrief.runners.jobs.commands import read_script
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.seams import Transport

_MAX_LINES = 5000
_MAX_VALUE = 500
_NOT_DISKS = re.compile(r"(loop|ram|zram|sr|fd|dm-|md|nbd|nullb)\d")

_SCRIPT = read_script(__file__, "scripts/host_facts.sh")


def observe(transport: Transport, paths: Sequence[str]) -> dict[str, str]:
    """Return facts about a host, and about the file systems that hold `paths`, which need not exist yet."""
    done = run_persistently(transport, Command(("sh", "-s", "--", *paths)), stdin=_SCRIPT, timeout_s=30)
    if done.exit_code != 0:
        raise HostError(say.facts_unread(host=transport.host.id, said=done.stderr.strip()[-200:]))
    return _facts(done.stdout, paths)


# --- reading what the script printed -----------------------------------------------------------------------------


class _Said:
    """The script's output: values by key, without unprintable characters."""

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
        turns = say.virtual_disk if _VIRTUAL.match(name) else turns
        size = size_text((said.number(f"sectors {name}") or 0) * 512)
        known = filter(None, [size, said.one(f"model {name}"), turns() if turns else ""])
        facts[f"disk {name}"] = joined(known, say.comma)
    return facts


_VIRTUAL = re.compile(r"x?vd[a-z]+\Z")
"""Matches disks that a hypervisor provides. What they say of rotating is not known to be true."""


def _below(said: _Said) -> dict[str, list[str]]:
    """Return the devices on which each partition or mapped device lies."""
    found: dict[str, list[str]] = {}
    for pair in said.all("below"):
        upper, _, lower = pair.partition(" ")
        found.setdefault(upper, []).append(lower)
    return found


def _mapped(said: _Said) -> list[str]:
    """Return the other names of mapped devices, such as `mapper/vg-data`."""
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
    """Return the whole disks on which a device lies."""
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
    """Return the number of bytes in a text made by `size_text`, or None for any other text."""
    match = re.fullmatch(r"([\d.]+) (B|KiB|MiB|GiB|TiB)", text)
    return float(match[1]) * 1024 ** ("B", "KiB", "MiB", "GiB", "TiB").index(match[2]) if match else None


_TOLERANCE = 0.1
"""How far an amount may be from the declared one, as a share, since kernels reserve memory, and people mix up GB and
GiB."""


@dataclass(frozen=True)
class _Compared:
    hardware: Hardware
    facts: Mapping[str, str]

    def declared(self, name: str) -> Fact:
        return self.hardware.facts.get(name, "")

    def text(self, name: str) -> str:
        value = self.declared(name)
        return value if isinstance(value, str) else value.text if isinstance(value, Quantity) else ""

    def amount(self, name: str) -> float | None:
        value = self.declared(name)
        return value.value if isinstance(value, Quantity) else None


def find_contradictions(hardware: Hardware, facts: Mapping[str, str]) -> list[str]:
    """Return sentences about facts that contradict the declared ones. Ignores facts that are unknown or worded
    differently."""
    compared = _Compared(hardware, facts)
    checks: tuple[Callable[[_Compared], Iterable[str]], ...] = (_cpu, _memory_size, _filesystem, _device, _storage)
    return [text for check in checks for text in check(compared)]


_MAKERS = {
    "AMD": ("amd", "epyc", "ryzen", "opteron", "threadripper"),
    "Intel": ("intel", "xeon"),
    "Arm": ("graviton", "neoverse", "ampere", "altra", "aarch64", "cortex"),
}
_COUNT = re.compile(r"(?:(\d+)\s*[x×]\s*)?(\d+)[ -]*(vcpus?|cpus?|cores?|threads?)\b", re.IGNORECASE)


def _cpu(compared: _Compared) -> Iterable[str]:
    declared, observed = compared.text("cpu"), compared.facts.get("cpu", "")
    if not declared or not observed:
        return
    wanted, seen = _makers(declared), _makers(observed)
    # Model numbers are compared only when the host shows one: some hypervisors invent a name.
    model = _model_words(_COUNT.sub(" ", declared))
    shown = _model_words(observed.split(",")[0])
    if (wanted and seen and not wanted & seen) or (model and shown and not model & shown):
        yield say.processor(found=observed, declared=declared)
        return
    for times, number, _ in _COUNT.findall(declared):
        numbers = {int(number), int(number) * int(times or 1)}
        if not numbers & _processor_counts(compared.facts):
            yield say.cores(found=observed, declared=declared)
            return


def _makers(text: str) -> set[str]:
    return {maker for maker, words in _MAKERS.items() if any(word in text.lower() for word in words)}


def _model_words(text: str) -> set[str]:
    """Return the model numbers in a text, such as `E5-2680`, `9654` or `8259CL`, but not `2.40GHz`, `v4` or
    `96-Core`."""
    words = re.findall(r"(?<![\w.])[a-z]{0,3}\d?-?\d{3,5}[a-z]{0,3}(?![\w.])", text.lower())
    return set(words)


def _processor_counts(facts: Mapping[str, str]) -> set[int]:
    """Return every number that a declared number of cores may mean: per host or per socket, threads or cores, all or
    only the usable ones."""
    counts = {name: int(facts[name]) for name in ("cores", "threads", "usable_threads") if facts.get(name)}
    sockets = int(facts.get("sockets", "1"))
    return {*counts.values(), *(count // sockets for count in counts.values())}


def _memory_size(compared: _Compared) -> Iterable[str]:
    total, limit = bytes_of(compared.facts.get("memory", "")), bytes_of(compared.facts.get("memory_limit", ""))
    declared, declared_limit = compared.amount("memory"), compared.amount("memory_limit")
    if total is None:
        return
    # A limit that was set at boot hides the rest of the memory.
    amounts = [amount for amount in (declared, declared_limit) if amount]
    if declared and not any(abs(total - amount) <= _TOLERANCE * amount for amount in amounts):
        yield say.memory(found=compared.facts["memory"], declared=compared.text("memory"))
    elif not declared and declared_limit and total < (1 - _TOLERANCE) * declared_limit:
        yield say.memory_limit(found=compared.facts["memory"], declared=compared.text("memory_limit"))
    elif limit and amounts and limit < (1 - _TOLERANCE) * min(amounts):
        name = "memory_limit" if declared_limit else "memory"
        text = compared.text(name)
        yield say.group_limit(found=compared.facts["memory_limit"], declared=text)


def _filesystem(compared: _Compared) -> Iterable[str]:
    declared = compared.text("filesystem").lower()
    found = {
        name.removeprefix("filesystem of "): value
        for name, value in compared.facts.items()
        if name.startswith("filesystem of ")
    }
    mine = _own_paths(compared, found)
    if declared and mine and not any(re.search(rf"\b{re.escape(found[path].lower())}\b", declared) for path in mine):
        path = mine[0]
        yield say.filesystem(path=path, found=found[path], declared=compared.text("filesystem"))


def _own_paths(compared: _Compared, observed: Mapping[str, str]) -> list[str]:
    """Return the observed paths of this group: those below its `mount` or `path`, or all paths if it has neither."""
    places = [compared.text(name).rstrip("/") for name in ("mount", "path") if compared.text(name)]
    return [p for p in observed if not places or any(p == place or p.startswith(f"{place}/") for place in places)]


def _device(compared: _Compared) -> Iterable[str]:
    device, present = compared.text("device"), compared.facts.get("block_devices", "").split()
    name = device.removeprefix("/dev/")
    if not device.startswith("/dev/") or "/" in name.removeprefix("mapper/") or not present:
        return  # a link such as /dev/disk/by-id/… has no name of its own
    if name not in present:
        yield say.no_device(device=device)
        return
    if name.startswith(("mapper/", "dm-", "md")):
        return
    found = {key.removeprefix("disks of "): v for key, v in compared.facts.items() if key.startswith("disks of ")}
    for path in _own_paths(compared, found):
        on = compared.facts.get(f"device of {path}", "").removeprefix("/dev/")
        if name not in (*found[path].split(), on):
            yield say.device(path=path, found=found[path].replace(" ", ", /dev/"), declared=device)


_SOLID = re.compile(r"\b(nvme|ssds?|flash|optane)\b", re.IGNORECASE)
_TURNING = re.compile(r"\b(hdds?|rpm|hard disks?)\b|\d+(\.\d+)?k\b", re.IGNORECASE)


def _storage(compared: _Compared) -> Iterable[str]:
    """Compare whether disks rotate. In a virtual machine, only NVMe devices reliably show that they don't rotate."""
    declared = compared.text("storage")
    solid, turning = bool(_SOLID.search(declared)), bool(_TURNING.search(declared))
    if solid == turning:
        return
    found = {key.removeprefix("disks of "): v for key, v in compared.facts.items() if key.startswith("disks of ")}
    bare = compared.facts.get("virtualization", "none") == "none" and "virtualization" in compared.facts
    for path in _own_paths(compared, found):
        for disk in found[path].split():
            what = compared.facts.get(f"disk {disk}", "")
            if solid and bare and what.endswith(", rotating"):
                yield say.rotating(path=path, disk=disk, declared=declared)
            if turning and (disk.startswith("nvme") or (bare and what.endswith(", not rotating"))):
                yield say.not_rotating(path=path, disk=disk, declared=declared)

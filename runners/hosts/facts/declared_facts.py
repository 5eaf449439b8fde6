"""Where the observed facts of a host contradict the facts that the spec declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from benchbrief.model.plan import Fact, Hardware, Quantity
from benchbrief.model.run_messages import say
from benchbrief.runners.hosts.facts.host_facts import bytes_of

_TOLERANCE = 0.1
"""As a share of a declared amount: the kernel keeps some memory for itself, and people mix up GB and GiB."""


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
    """Return sentences on facts that contradict what was declared. Ignores what is unknown or worded differently."""
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
    """Return the model numbers in a text: `E5-2680`, `9654`, `8259CL`; not `2.40GHz`, `v4` or `96-Core`."""
    words = re.findall(r"(?<![\w.])[a-z]{0,3}\d?-?\d{3,5}[a-z]{0,3}(?![\w.])", text.lower())
    return set(words)


def _processor_counts(facts: Mapping[str, str]) -> set[int]:
    """Return what a number of cores may mean: of the host or a socket, threads or cores, all or the usable ones."""
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
    """Return the observed paths of this group: those below its `mount` or `path`, or all when it has neither."""
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
    """Compare whether disks rotate. In a virtual machine, only an NVMe device shows that."""
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

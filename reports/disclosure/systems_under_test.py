"""Describes the systems under test and their power meters for the disclosure.

For each database, it lists everything that all variants share, and then their differences.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from benchbrief.compiler.registry import ENGINE_SPECS, SNAPSHOT_SPECS, TOOL_SPECS
from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Boundary, word_of_fact
from benchbrief.model.message import Message
from benchbrief.model.plan import Fact, Hardware, Quantity
from benchbrief.model.points import Curve
from benchbrief.model.tool_spec import Texts, in_language
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.place_labels import database_name
from benchbrief.reports.data.report_data import Results, reads_of, run_row
from benchbrief.reports.data.view_model import FactGroup, FactLine, Item
from benchbrief.reports.text.number_format import bytes_text, locale
from benchbrief.reports.words.brief_words import Words


def disclose_power_meters(results: Results) -> Iterable[Item]:
    """Return what the watts of each meter cover, and then the watts that were declared without a meter. Identical
    meters are listed once."""
    read = probed_hardware("power", results)
    yield from (Item("", text) for text in _boundaries(results))
    for key, hardware in results.plan.hardware.items():
        if key in read and hardware.power:
            meter = hardware.power[0]
            if meter.shared:
                yield Item("", results.words["d_power_shared"].format(hardware=hardware.label))
            elif len(hardware.power) > 1:
                summed = results.words["d_power_summed"]
                yield Item("", summed.format(hardware=hardware.label, n=len(hardware.power)))
        elif isinstance(declared := hardware.facts.get("power"), p.Quantity):
            yield Item("", results.words["d_power_declared"].format(hardware=hardware.label, power=declared.text))


def probed_hardware(name: str, results: Results) -> set[str]:
    """Return the hardware that the probe is planned for. The plan of imported results did not run, so for them, return
    the hardware that has the probe's samples."""
    if is_imported(results):
        rows = results.store.sql(
            "SELECT probe, hardware FROM coverage JOIN cells USING (run_id, cell_id) WHERE status = 'ok' "
            "GROUP BY probe, hardware, cell_id HAVING min(share) > 0"
        ).rows
        return {hardware for probe, hardware in rows if probe == name}
    return {cell.hardware for cell in results.plan.cells for probe in cell.probes if probe.name == name}


def meters_of(boundary: Boundary, results: Results) -> list[str]:
    """Return the hardware whose sampled watts come from meters with this boundary."""
    read = probed_hardware("power", results)
    return [
        each.label
        for key, each in results.plan.hardware.items()
        if key in read and each.power and each.power[0].boundary == boundary
    ]


def one_machine(results: Results) -> Literal["", "machine", "disk"]:
    """Return "machine" if all measured hardware is one machine with the same disks, "disk" if it is only folders on one
    disk, or "" otherwise. Variants of one hardware group are meant to share a machine, so they count only if their data
    are in separate folders on one disk.
    """
    used = [results.plan.hardware[key] for key in dict.fromkeys(cell.hardware for cell in results.plan.cells)]
    if len(used) < 2 or is_imported(results) or run_row(results)["simulated"]:
        return ""
    paths = {each.key: _data_paths(each, results) for each in used}
    devices = {each.key: _devices(each, paths[each.key], results) for each in used}
    first = used[0]
    if any(each.hosts != first.hosts or devices[each.key] != devices[first.key] for each in used):
        return ""
    if len({each.group for each in used}) == len(used):
        return "machine"
    apart = len(set(map(frozenset, paths.values()))) == len(used)
    return "disk" if apart and len(devices[first.key]) == 1 else ""


def _data_paths(hardware: Hardware, results: Results) -> set[str]:
    return {d.path for key, d in results.plan.databases.items() if key.hardware == hardware.key and d.path}


def _devices(hardware: Hardware, paths: Collection[str], results: Results) -> set[str]:
    """Return the devices that hold the data of a hardware, as its hosts saw them."""
    names = {f"device of {path}" for path in paths}
    of_hosts = (fact for fact in results.observed if fact.kind == "host" and fact.name in names)
    return {fact.value for fact in of_hosts if fact.hardware == hardware.key or fact.node in hardware.hosts}


def is_of_power(query: p.Query) -> bool:
    """Return whether a number comes from sampled watts."""
    return any(read.probe == "power" for read in reads_of(query))


def cpu_packages_only(results: Results) -> Iterator[str]:
    """Yield a remark on hardware whose watts cover only its processors."""
    return _boundaries(results, only="cpu")


def _boundaries(results: Results, only: str = "") -> Iterator[str]:
    """Yield what the watts cover, together with the hardware whose meters have this boundary. With `only`, yield just
    one boundary."""
    read, words = probed_hardware("power", results), results.words
    alike: dict[tuple[str, str], list[str]] = {}
    for key, hardware in results.plan.hardware.items():
        if key in read and hardware.power and only in ("", hardware.power[0].boundary):
            alike.setdefault((hardware.power[0].boundary, hardware.power[0].kind), []).append(hardware.label)
    for (boundary, kind), labels in alike.items():
        meter = words.get(f"d_meter_{kind}", kind)
        yield words[f"d_power_{boundary}"].format(hardware=words.locale.in_a_sentence(labels), meter=meter)


def data_set_text(family: str, records: str, results: Results) -> str:
    """Return the origin of a data set with this many records. If its tool is not installed, return a general text."""
    return (_text(family, "data", results) or results.words["d_data_loaded"]).format(records=records)


def always_texts(results: Results) -> tuple[str, ...]:
    """Return the statements that tools make about all of their runs. A statement is left out if an option of the
    databases makes it untrue."""
    found: dict[str, None] = {}
    for driver, database in dict.fromkeys((cell.tool.driver, cell.database) for cell in results.plan.cells):
        spec = TOOL_SPECS.usable(driver)
        if spec and spec.always_unless not in results.plan.databases[database].options:
            found[_text(spec.name, "always", results)] = None
    return tuple(text for text in found if text)


def engine_text(engine: str, results: Results) -> str:
    """Return a phrase for the kind of database, or "" if it is a server or a library."""
    key, spec = f"d_engine_{engine}", ENGINE_SPECS.usable(engine)
    return _in_words(key, spec.texts if spec else {}, results)


def reset_text(reset: str, results: Results) -> str:
    """Return a text on how the data were restored between measurements, and on the effects that remain."""
    key, spec = f"d_reset_{reset}", SNAPSHOT_SPECS.usable(reset)
    return _in_words(key, spec.texts if spec else {}, results) or reset


def _text(tool: str, what: str, results: Results) -> str:
    key, spec = f"d_{what}_{tool}", TOOL_SPECS.usable(tool)
    return _in_words(key, spec.texts if spec else {}, results)


def _in_words(key: str, texts: Mapping[str, Texts], results: Results) -> str:
    own = texts.get(key)
    return results.words.get(key) or (in_language(own, results.words.language) if own else "")


def property_texts(driver: str, results: Results) -> Iterable[str]:
    """Return the properties that a tool's numbers depend on, as found in its runs. If a property has more than two
    values, only the first is named."""
    its = {Curve.of(cell) for cell in results.plan.cells if cell.tool.driver == driver}
    found: dict[str, dict[str, None]] = {}
    # The first three values of each place are enough: the text names two at most.
    rows = results.store.sql(
        "SELECT experiment, hardware, workload, levels, name, value FROM properties JOIN cells USING (run_id, cell_id) "
        "WHERE name <> 'version' GROUP BY experiment, hardware, workload, levels, name, value QUALIFY row_number() "
        "OVER (PARTITION BY experiment, hardware, workload, levels, name ORDER BY min(cell_id), value) <= 3 "
        "ORDER BY min(cell_id), name, value"
    ).rows
    for *place, name, value in rows:
        if tuple(place) in its:
            found.setdefault(str(name), {})[str(value)] = None
    for name, values in found.items():
        first, *others = (results.words.said(value) for value in values)
        # Two values, such as service and intended latency, are both named.
        second = others[0] if len(others) == 1 else results.words["d_other_values"]
        listed = results.words["d_elsewhere"].format(first=first, second=second) if others else first
        yield f"{results.words.named(name)}{results.words['colon']}{listed}"


_FOR_CHECKS_ALONE = frozenset({"block_devices"})  # only for checks, of no use to a reader
_FILE = "file "
_ORDER = (
    "hostname", "os", "kernel", "virtualization", "cpu", "sockets", "cores", "threads", "usable_threads", "numa_nodes",
    "governor", "clock_source", "memory", "memory_limit", "swap", "transparent_huge_pages", "filesystem",
)  # fmt: skip


def fact_groups(hardware: Sequence[str], results: Results, *, in_full: bool = False) -> tuple[FactGroup, ...]:
    """Return the facts that all groups share, then the differences of each group. Unless `in_full`, a brief for
    customers leaves out hosts and paths, and the number of nodes if it is 1."""
    machines = [results.plan.hardware[key] for key in hardware]
    per_group = {each.key: fact_lines(each, results, machines, in_full=in_full) for each in machines}
    shared = _shared(list(per_group.values())) if len(per_group) > 1 else []
    groups = [FactGroup(results.words["all_hardware"], tuple(shared))] if shared else []
    for key, lines in per_group.items():
        own = tuple(line for line in lines if line not in shared)
        if own:
            groups.append(FactGroup(results.plan.hardware[key].label, own))
    return tuple(groups)


def _shared(lines: Sequence[Sequence[FactLine]]) -> list[FactLine]:
    return [line for line in lines[0] if all(line in other for other in lines[1:])]


_OF_THE_LAB = ("hostname", "path", "device", "mount", "disks", "free space")
"""Facts of no interest to readers, because only the machines' owner needs them or because they change all the time."""
_TELLING = ("os", "kernel", "virtualization", "cpu", "memory", "memory_limit", "filesystem")
"""The observed facts that a brief for customers shows even if they are the same for all machines."""


def fact_lines(
    hardware: Hardware, results: Results, compared: Sequence[Hardware], *, in_full: bool = False
) -> list[FactLine]:
    """Return the lines with the facts of a hardware group, for a table of the groups `compared`.

    A customer's brief leaves some facts out, unless `in_full`. The first line has the number of nodes.
    """
    words, told = results.words, results.for_customers and not in_full
    known = results.disclosed_facts
    declared = {name: fact_text(fact, words) for name, fact in hardware.facts.items() if known is None or name in known}
    # Simulated hosts do not exist, so there is nothing to show of them.
    observed = {} if told and run_row(results)["simulated"] else observed_facts(hardware, results)
    counted = not told or any(each.nodes > 1 for each in compared)
    lines = [FactLine(words["nodes"], str(hardware.nodes), "", differs=False)] if counted else []
    if not is_imported(results) and not told:  # the plan's hosts did not measure imported results
        lines.append(FactLine(words["hosts"], words.locale.listed(hardware.hosts), "", differs=False))
    for name in [*declared, *(n for n in _ordered(observed) if n not in declared)]:
        if told and (name in _OF_THE_LAB or name.startswith(_FILE)):
            continue
        text = declared.get(name, "")
        differs = any(remark.endswith(text) for remark in contradictions(hardware, results)) if text else False
        detail = name not in declared and name not in _TELLING
        lines.append(FactLine(fact_name(name, words), text, observed.get(name, ""), differs, detail))
    named = {line.name for line in lines}
    return [*lines, *(line for line in _paths(hardware, results, told=told) if not told or line.name not in named)]


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))


def _paths(hardware: Hardware, results: Results, *, told: bool) -> list[FactLine]:
    """For each storage with the group's data paths, return a line with its file system, device, mount and free space.
    If `told` is set (in briefs for customers), return a line for each kind of fact instead, without the paths, and with
    the sizes and models of the disks in place of the devices' names."""
    words = results.words
    own, disks = _data_paths(hardware, results), observed_facts(hardware, results)
    found: dict[str, dict[str, str]] = {}
    for name, value in observed_facts(hardware, results, of_paths=True).items():
        what, _, path = name.partition(" of ")
        known = [disks.get(f"disk {name}", "") for name in value.split()] if told and what == "disks" else []
        if path in own and known and all(known):
            found.setdefault(path, {})["device"] = words.locale.listed(known)
        elif path in own and not (told and what in _OF_THE_LAB):
            found.setdefault(path, {})[what] = value
    if told:
        by_fact: dict[str, dict[str, None]] = {}
        for what, value in ((what, value) for facts in found.values() for what, value in facts.items()):
            by_fact.setdefault(what, {})[value] = None
        return [FactLine(fact_name(what, words), "", words.locale.listed(its), False) for what, its in by_fact.items()]
    together: dict[str, list[str]] = {}
    for path, facts in found.items():
        text = words.locale.listed(f"{fact_name(what, words)} {facts[what]}" for what in sorted(facts))
        together.setdefault(text, []).append(path)
    named = _first_of if results.plan.factors else lambda paths, words: words.locale.listed(paths)
    return [FactLine(named(paths, words), "", text, differs=False) for text, paths in together.items()]


def contradictions(hardware: Hardware, results: Results) -> list[str]:
    """Return the run's own sentences on hosts that contradict their declarations."""
    declared = {text for fact in hardware.facts.values() if (text := fact_text(fact, results.words))}
    return [remark for remark in results.remarks if _contradicts(remark, hardware.label, declared)]


def _contradicts(remark: str, group: str, declared: Collection[str]) -> bool:
    match remark:
        case Message(code="at", args={"group": str(of), "what": Message(args=args)}):
            return of == group and args.get("declared", args.get("device")) in declared
    return False


def fact_name(name: str, words: Words) -> str:
    """Turn `memory_limit` into "Memory limit", or into the report's language if that has a word for the fact."""
    if name.startswith(_FILE):  # a path stays as it is
        return words["fact_file"].format(path=name.removeprefix(_FILE))
    stem, of, place = name.partition(" of ")
    if stem.startswith("disk "):
        return words["fact_disk"].format(name=stem.removeprefix("disk "))
    known = words.get(word_of_fact(stem)) or re.sub("_+", " ", stem[:1].upper() + stem[1:])
    return words["fact_of"].format(fact=known, place=place) if of else known


def within_sentence(name: str) -> str:
    """Return a fact's name for use within a sentence: "memory" in lower case, but "NAND" unchanged."""
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def fold_facts(facts: Mapping[str, str], hosts: Sequence[str]) -> dict[str, str]:
    """If all hosts have the same file, merge the facts of that file into one fact without a host's name."""
    found: dict[str, str] = {}
    for name, value in facts.items():
        path, _, host = name.rpartition(" on ")
        of_a_file = name.startswith(_FILE) and host in hosts
        same = of_a_file and all(facts.get(f"{path} on {each}") == value for each in hosts)
        found[path if same else name] = value
    return found


def fold_paths(facts: Mapping[str, str], words: Words) -> dict[str, str]:
    """Merge the facts that are equal for several paths. There are several because each level has its data set at its
    own path."""
    paths: dict[tuple[str, str], list[str]] = {}
    for name, value in facts.items():
        stem, of, path = name.partition(" of /")
        paths.setdefault((stem, value), []).append(of and f"/{path}")
    return {
        " of ".join(filter(None, (stem, _first_of(list(filter(None, places)), words)))): value
        for (stem, value), places in paths.items()
    }


def fact_text(fact: Fact, words: Words) -> str:
    if isinstance(fact, Quantity):
        return fact.text
    if isinstance(fact, bool):
        return words["yes" if fact else "no"]
    return fact


def observed_facts(hardware: Hardware, results: Results, *, of_paths: bool = False) -> dict[str, str]:
    """Return one text for each fact (of the hosts, or of paths on them). If the hosts differ, the text has the value of
    each host."""
    found: dict[str, dict[str, list[str]]] = {}
    for fact in results.observed:
        of_group = fact.hardware == hardware.key or (fact.node or "") in hardware.hosts
        wanted = fact.name not in _FOR_CHECKS_ALONE and (" of /" in fact.name) == of_paths
        if fact.kind == "host" and wanted and of_group:
            nodes = found.setdefault(fact.name, {}).setdefault(results.words.said(fact.value), [])
            if fact.node and fact.node not in nodes:
                nodes.append(fact.node)
    return {
        name: next(iter(values))
        if len(values) == 1
        else results.words["semicolon"].join(
            value + results.words["aside"].format(text=results.words.locale.listed(nodes))
            for value, nodes in values.items()
        )
        for name, values in found.items()
    }


_BYTES = frozenset(
    [
        *("cache", "block_size", "write_buffer", "record_size", "field_length", "key_size", "value_size"),
        *("cache_size", "write_buffer_size"),  # db_bench's own names
    ]
)
"""Settings whose values are in bytes. The disclosure must add the unit, because a plan has only numbers in base units.
"""
_LEFT_OUT = ("stand_in", "other_server", "size on disk")
"""Facts that the disclosure does not list here: it gives them elsewhere, or earlier versions observed them before a
cell had loaded its data."""


def disclose_systems(results: Results) -> Iterable[Item]:
    """For each database, yield an item with its common settings, and then an item for each hardware group with settings
    of its own."""
    words = results.words
    by_name: dict[str, dict[str, list[p.DatabaseKey]]] = {}
    for key, database in results.plan.databases.items():
        by_name.setdefault(database.name, {}).setdefault(key.hardware, []).append(key)
    for name, groups in by_name.items():
        label = next(database.label for database in results.plan.databases.values() if database.name == name)
        found = {hardware: _Described.of(keys, results) for hardware, keys in groups.items()}
        shared = _Described.shared(list(found.values()))
        yield Item(label, shared.text(words))
        for hardware, one in found.items():
            if own := one.without(shared).text(words):
                known = results.plan.hardware.get(hardware)
                on = known.label if known else hardware
                yield Item(words["d_system_on"].format(name=label, hardware=on), own)
    for name, word in (("stand_in", "d_stand_in"), ("other_server", "d_other_server")):
        for sentence, labels in served_by(name, results).items():
            yield Item(words[word], f"{', '.join(labels)}{words['colon']}{words.said(sentence)}", emphasis=True)


def served_by(name: str, results: Results) -> dict[str, list[str]]:
    """Return the databases that were served by a stand-in or by another product's server. The keys are the sentences
    that say so."""
    found: dict[str, list[str]] = {}
    for fact in results.observed:
        if fact.kind == "database" and fact.name == name and fact.value:
            database = results.plan.databases.get(p.DatabaseKey(fact.node or ""))
            labels = found.setdefault(fact.value, [])
            label = database_name(database, results.plan) if database else fact.node or ""
            if label not in labels:
                labels.append(label)
    return found


def settings_text(settings: Mapping[str, p.Option], *others: Mapping[str, p.Option]) -> str:
    """Return settings such as `compression = none, cache = 1 MiB`. Several values are written as `cache = 1 MiB / 8
    MiB`."""
    each = (settings, *others)
    values = {name: dict.fromkeys(option_text(name, of[name]) for of in each if name in of) for name in settings}
    return locale().listed(f"{name} = {' / '.join(texts)}" for name, texts in values.items())


class _Described:
    """A description of a database on a hardware group for the disclosure: parts, options, and the reset of its data."""

    def __init__(self, before: Sequence[str], options: Sequence[str], after: Sequence[str]) -> None:
        self.before, self.options, self.after = before, options, after

    @classmethod
    def of(cls, keys: Sequence[p.DatabaseKey], results: Results) -> _Described:
        """Describe a database on one hardware group. `keys` has the database's key at each combination of levels.

        Options that differ between levels are left out, because a table of the levels has them.
        """
        words, hosts = results.words, results.plan.hardware[keys[0].hardware].hosts
        database, *others = (results.plan.databases[key] for key in keys)
        what = engine_text(database.engine, results) or words[f"d_server_{database.server}"]
        before = [words.locale.listed((database.engine, what))]
        facts: dict[str, dict[str, None]] = {}
        for key in keys:
            observed = {f.name: f.value for f in results.observed if f.kind == "database" and f.node == key}
            for name, value in fold_facts(observed, hosts).items():
                facts.setdefault(name, {})[words.said(value)] = None
        shown = {name: values for name, values in facts.items() if name not in _LEFT_OUT}
        before += [f"{fact_name(name, words)} {_first_of(list(values), words)}" for name, values in shown.items()]
        before += (
            [database.topology] if database.topology and database.topology not in facts.get("topology", ()) else []
        )
        options = [
            f"{name} = {option_text(name, value)}"
            for name, value in database.options.items()
            if all(other.options.get(name) == value for other in others)
        ]
        options += [f"options_file = {database.options_file}"] if database.options_file else []
        after = [reset_text(database.reset, results)]
        after += [words["d_drop_caches"]] if database.drop_caches else []
        after += _sizes(keys, results)
        return cls(before, options, after)

    @classmethod
    def shared(cls, all_of_them: Sequence[_Described]) -> _Described:
        def common(lists: Sequence[Sequence[str]]) -> list[str]:
            return [text for text in lists[0] if all(text in other for other in lists[1:])]

        return cls(
            common([t.before for t in all_of_them]),
            common([t.options for t in all_of_them]),
            common([t.after for t in all_of_them]),
        )

    def without(self, shared: _Described) -> _Described:
        return _Described(
            [t for t in self.before if t not in shared.before],
            [t for t in self.options if t not in shared.options],
            [t for t in self.after if t not in shared.after],
        )

    def text(self, words: Words) -> str:
        options = [f"{words['d_options']} {', '.join(self.options)}"] if self.options else []
        return words["semicolon"].join([*self.before, *options, *self.after])


def _first_of(texts: Sequence[str], words: Words) -> str:
    """List the first few texts, and say how many more there are."""
    more = [words["notice_and_more"].format(n=len(texts) - _MOST_LISTED)] if len(texts) > _MOST_LISTED else []
    return words.locale.listed((*texts[:_MOST_LISTED], *more))


_MOST_LISTED = 3
"""The most paths, or facts of factors' levels, to list."""


def option_text(name: str, value: p.Option) -> str:
    """Return the value of an option as a disclosure writes it. An option in bytes is written like `8 MiB`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    return bytes_text(value) if name in _BYTES else f"{value:,.15g}"


def _sizes(keys: Collection[str], results: Results) -> Iterable[str]:
    """Yield the loaded and the measured size of a database, each as a range over the cells that used it. `keys` are the
    database's keys, one for each combination of levels."""
    rows = results.store.sql(
        "SELECT database, measure, min(value), max(value) FROM sizes JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND unit = 'B' AND value IS NOT NULL GROUP BY ALL ORDER BY measure DESC"
    ).rows
    found: dict[str, list[float]] = {}
    for of, measure, *ends in rows:
        if of in keys:
            found.setdefault(measure, []).extend(map(float, ends))
    for measure, sizes in found.items():
        texts = dict.fromkeys(bytes_text(end, exact=False) for end in (min(sizes), max(sizes)))
        word = "d_size_loaded" if measure == "database.size_loaded" else "d_size_measured"
        yield results.words[word].format(size=" – ".join(texts))

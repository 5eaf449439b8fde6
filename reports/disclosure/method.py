"""Describes in half a page how the measurement was done, with sentences for a brief that are based on the plan and on
the run's observations. The disclosure has the details."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.model import plan as p
from benchbrief.model.budgets import is_budgeted
from benchbrief.model.precision import formatted, to_digits
from benchbrief.reports.data import imported_briefs
from benchbrief.reports.data.place_labels import database_name
from benchbrief.reports.data.report_data import ReportedCell, Results, run_row
from benchbrief.reports.data.view_model import Item, Method
from benchbrief.reports.disclosure.disclosure import disclose_latency, smallest_memory
from benchbrief.reports.disclosure.run_origin import disclose_source, versions
from benchbrief.reports.disclosure.systems_under_test import disclose_power_meters, reset_text, served_by
from benchbrief.reports.notices.repeat_variation import tested
from benchbrief.reports.text.number_format import bytes_text, duration, exact_percent, fixed, points, quantity
from benchbrief.reports.words.brief_words import Words, counted, sentences

_MOST_LOADS = 6
"""The most loads that are listed."""
_MOST_STATED = 8
"""The most items that are quoted from a source. The disclosure has all of them."""


def method(results: Results, *, shows_percentiles: bool = True) -> Method:
    """Return a text on what was run and how or, for imported results, on what their source says. If the brief shows
    percentiles, the text includes their origin."""
    if imported_briefs.is_imported(results):
        return Method(tuple(_of_source(results)))
    words, is_simulated = results.words, bool(run_row(results)["simulated"])
    percentiles = [item.text for item in disclose_latency(results)]
    topics = (
        ("notice_simulated", [words["m_simulated"]] if is_simulated else []),
        ("m_load", [_tools(results, named=is_simulated), *_letters(results), *_loads(results)]),
        ("m_data_set", _data_sets(results)),
        ("m_time", _times(results)),
        ("m_data", _resets(results)),
        ("m_latency", [] if is_simulated or not shows_percentiles else percentiles),
        ("m_power", [] if is_simulated else [item.text for item in disclose_power_meters(results)]),
        ("m_noise", [tested(results)]),
    )
    said = ((words[topic], [text for text in texts if text]) for topic, texts in topics)
    return Method(tuple(Item(topic, sentences(texts, words)) for topic, texts in said if texts))


def with_numbers(method: Method, said: Sequence[str], words: Words) -> Method:
    """Return the method with one more item about the numbers, made of the sentences in `said`. Without sentences,
    return the method unchanged."""
    return Method((*method.items, Item(words["m_numbers"], sentences(said, words)))) if said else method


def repeat(results: Results) -> str:
    """Return a sentence on the measured runs, with the command for measuring them again."""
    words, spec = results.words, results.plan.spec
    simulated, here = run_row(results)["simulated"], not imported_briefs.is_imported(results)
    fresh = " --fresh" if here and not simulated else ""  # this run's measurements would be taken again
    profile = f" --profile {shlex.quote(spec.profile)}" if spec.profile else ""
    command = f"bench run{fresh} {shlex.quote(PurePath(spec.name).name)}{profile}"
    measured = [cell for cell in results.cells if cell.status == "ok"]
    what = _what(measured if here and measured else results.cells, results)  # a source may have few of the points
    holes = {"command": command, "what": what}
    if simulated:
        return words["m_repeat_simulated"].format(**holes)
    if not here:
        return words["m_repeat_published"].format(**holes)
    return counted(words, "m_repeat_measured", len(measured), **holes) if measured else ""


def _what(cells: Iterable[ReportedCell], results: Results) -> str:
    """Return the workloads, the systems that ran them and what was varied, such as "5 workloads on RAM disk and Local
    disk"."""
    words, plan = results.words, results.plan
    places = [(cell.workload, cell.hardware) for cell in cells]
    loads, sides = (dict.fromkeys(names) for names in zip(*places, strict=True))
    what = counted(words, "m_repeat_workloads", len({plan.workloads[name].name for name in loads}))
    if len(sides) > 1:
        listed = words.locale.in_a_sentence(plan.hardware[key].label for key in sides)
        what = words["m_repeat_on"].format(what=what, hardware=listed)
    if plan.factors:
        named = words.locale.in_a_sentence(words.dimension_within(name) for name in plan.factors)
        what = words["m_repeat_by"].format(what=what, factors=named)
    return what


def _of_source(results: Results) -> Iterator[Item]:
    """Return the source and its statements. For outputs of tools, return the details that the outputs lack."""
    for source in imported_briefs.sources(results):
        yield Item(results.words["m_source"], imported_briefs.cited(source))
    stated = [Item(name, text) for name, text in results.stated]
    if stated or not results.published:
        yield from stated[:_MOST_STATED] or disclose_source(results)


def _tools(results: Results, *, named: bool) -> str:
    """Return a text about the load generators and the databases that they drove. It has the observed versions or, with
    `named`, only the names."""
    words, cells = results.words, results.plan.cells
    drivers = dict.fromkeys(cell.tool.driver for cell in cells)
    engines = dict.fromkeys(results.plan.databases[cell.database].engine for cell in cells)
    tools = [tool.label if (tool := TOOL_SPECS.usable(name)) else name for name in drivers]
    systems = [engine.label if (engine := ENGINE_SPECS.usable(name)) else name for name in engines]
    if not named:
        tools, systems = list(versions("tool", results)) or tools, list(versions("database", results)) or systems
    for name, word in (("stand_in", "m_stand_in"), ("other_server", "m_other_server")):
        others = tuple(label for labels in served_by(name, results).values() for label in labels)
        systems = [words[word].format(name=one) if one.startswith(others) else one for one in systems]
    listed = words.locale.in_a_sentence
    return words["m_drove"].format(tools=listed(dict.fromkeys(tools)), systems=listed(dict.fromkeys(systems)))


def _letters(results: Results) -> Iterator[str]:
    """If the load's tool names its workloads by letters, yield these workloads, as in "A (Session store) and C
    (Photos)"."""
    words = results.words
    labels: dict[str, dict[str, list[str]]] = {}
    for name in dict.fromkeys(cell.workload for cell in results.cells if cell.status == "ok"):
        each = results.plan.workloads[name]
        if len(each.benchmark) == 1:
            letter = each.benchmark.upper()
            bare = re.sub(rf"\s*[(（]{letter}[)）]\Z", "", each.label)  # a label may have it already
            labels.setdefault(each.family, {}).setdefault(letter, []).append(bare)
    for family, of_family in labels.items():
        tool = TOOL_SPECS.usable(family)
        named = [letter + words["aside"].format(text=" / ".join(its)) for letter, its in sorted(of_family.items())]
        listed = words.locale.in_a_sentence(named)
        yield words["m_letters"].format(tool=tool.label if tool else family, listed=listed)


def _data_sets(results: Results) -> Iterator[str]:
    """Yield the number and size of the records, how the data compare with the memory of the smallest host, and how much
    of the data the engine and the kernel may cache."""
    words, plan = results.words, results.plan
    cells = [cell for cell in plan.cells if cell.dataset and cell.dataset.records]
    found: dict[tuple[float, float], None] = {}
    of_each: dict[str, dict[tuple[float, float], None]] = {}
    for cell in cells:
        of = plan.workloads[cell.workload_key or cell.workload].properties
        sizes = [of[name] for name in ("record_size",) if name in of] or [
            of[name] for name in ("key_size", "value_size") if name in of
        ]
        size = sum(each for each in sizes if isinstance(each, float))
        if cell.dataset and cell.dataset.records:
            data = float(cell.dataset.records), size
            found[data] = None
            of_each.setdefault(database_name(plan.databases[cell.database], plan), {})[data] = None
    if not found:
        return
    alike: dict[str, list[str]] = {}
    for name, of_one in of_each.items():
        alike.setdefault(_records(of_one, results), []).append(name)
    yield from _said_of(alike, results)
    used = {cell.hardware for cell in cells}
    memories = [smallest_memory(plan.hardware[key], results) for key in sorted(used)]
    known = [memory for memory in memories if memory]
    most = max(count * size for count, size in found)
    if known and len(known) == len(memories) and most:
        key = "m_in_memory" if most <= min(known) else "m_beyond_memory"
        times = words.locale.numerals(formatted(most / min(known), ".2g"))
        yield words[key].format(memory=bytes_text(min(known), exact=False), times=times)
    options = [plan.databases[name].options for name in sorted({cell.database for cell in cells})]
    caches = sorted({float(of["cache"]) for of in options if isinstance(of.get("cache"), int | float)})
    if caches:
        yield words["m_cache"].format(size=_ends([bytes_text(each) for each in caches], results))
    if options and all(of.get("direct_io") is True for of in options):
        yield words["m_direct_io"]


def _records(found: Collection[tuple[float, float]], results: Results) -> str:
    """Return a phrase with the number of records, their size and the total size. Values that differ between data sets
    become ranges.

    `found` has the number of records and their size for each data set. If the size is 0, the phrase has only the
    number.
    """
    counts, record_sizes = (sorted(set(values)) for values in zip(*found, strict=True))
    totals = sorted({count * size for count, size in found})
    return results.words["m_records" if record_sizes[0] else "m_records_alone"].format(
        records=_ends([fixed(count, 0) for count in counts], results),
        size=_ends([quantity(to_digits(size, 3), "B") for size in record_sizes], results),
        total=_ends([quantity(to_digits(end, 2), "B") for end in totals], results),
    )


def _ends(texts: Sequence[str], results: Results) -> str:
    """Return the first and the last text as a range, or only one if they are equal."""
    return texts[0] if texts[0] == texts[-1] else results.words["to"].join((texts[0], texts[-1]))


def _loads(results: Results) -> Iterator[str]:
    """Yield sentences on the kind of loop (closed, paced or open), on the loads, and on how a run chose them. In a
    paced loop, requests are due at a rate, but a thread that waits for an answer sends none."""
    words, measured = results.words, {cell.experiment for cell in results.cells}
    planned = [each for each in results.plan.experiments.values() if each.name in measured]
    for axis in ("threads", "target"):
        of_axis = {each.name for each in planned if each.axis == axis}
        cells = [cell for cell in results.cells if cell.experiment in of_axis and cell.status == "ok"]
        threads, loads = (
            sorted({float(value) for cell in cells if (value := getattr(cell, name))}) for name in ("threads", axis)
        )
        drivers = {each.tool.driver for each in results.plan.cells if each.experiment in of_axis}
        specs = [spec for driver in drivers if (spec := TOOL_SPECS.usable(driver))]
        of_rates = "m_target" if any(spec.bounds for spec in specs) else "m_paced"
        key = of_rates if axis == "target" else "m_threads"
        if of_axis:
            yield words[key].format(points=_points(loads, results), threads=_points(threads, results))
    rules = {
        "m_knee": any(each.search for each in planned),
        "m_adaptive": any(each.adaptive for each in planned),
        "m_promise": any(each.promise for each in planned),
    }
    yield from (words[rule] for rule, is_used in rules.items() if is_used)


def _points(loads: list[float], results: Results) -> str:
    """Return loads for use in a sentence. If there are many, return the lowest, the highest and the number of loads."""
    words = results.words
    if len(loads) <= _MOST_LOADS:
        return words.locale.in_a_sentence(points([load]) for load in loads) or words["missing"]
    return counted(words, "m_loads", len(loads), low=points(loads[:1]), high=points(loads[-1:]))


def _times(results: Results) -> Iterator[str]:
    """Yield sentences on how long and how often each point was measured. If all experiments are alike, there is only
    one."""
    planned = results.plan.experiments.values()
    alike: dict[str, list[str]] = {}
    for experiment in planned:
        alike.setdefault(_time(experiment, results), []).append(experiment.label)
    yield from _said_of(alike, results)


def _said_of(alike: Mapping[str, Iterable[str]], results: Results) -> Iterator[str]:
    """Yield each text. If it does not apply to everything, the names of the things that it applies to are added."""
    words = results.words
    for text, labels in alike.items():
        named = words.locale.in_a_sentence(labels)
        yield text if len(alike) == 1 else words["m_of"].format(labels=named, text=text[:1].lower() + text[1:])


def _time(experiment: p.Experiment, results: Results) -> str:
    words, rule, confident = results.words, experiment.until_steady, experiment.confident
    as_needed = is_budgeted(results.plan, experiment) or confident or experiment.promise
    often = counted(words, "m_often_at_most" if as_needed else "m_often", experiment.repeats)
    lasting = words["m_for"].format(time=duration(experiment.measure_s))
    if rule:
        times = {"first": duration(rule.from_s), "last": duration(experiment.measure_s)}
        lasting = words["m_until"].format(within=exact_percent(rule.within), **times)
    after = words["m_after" if experiment.warm_up_s else "m_without"].format(time=duration(experiment.warm_up_s))
    return words["m_measured"].format(often=often, lasting=lasting, after=after)


def _resets(results: Results) -> Iterator[str]:
    """Yield how the data were treated before each measurement. Any effects that remain are in the disclosure."""
    words = results.words
    opening = words["aside"].partition("{text}")[0]
    used = {cell.database for cell in results.plan.cells}
    alike: dict[str, dict[str, None]] = {}
    for key, database in results.plan.databases.items():
        if key in used:
            text = reset_text(database.reset, results)
            alike.setdefault(text.rpartition(opening)[0] or text, {})[database_name(database, results.plan)] = None
    yield from _said_of(alike, results)
    if any(database.drop_caches for key, database in results.plan.databases.items() if key in used):
        yield words["d_drop_caches"]

"""Describes the difference between two plans in words, with the user's units. Cells that changed alike share a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchbrief.compiler.explain.explain_plan import option_text
from benchbrief.compiler.explain.plain_text import Page, number
from benchbrief.compiler.planning.plan_diff import CellDiff, ChangedPart, Kind, OutsideDiff, PlanDiff, SearchDiff
from benchbrief.dsl.diagnostics.plain_amounts import duration, plural, quantity_of_bytes
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.planned_cells import most_of, planned_cells

_SIGNS: dict[str, str] = {"changed": "~", "new": "+", "gone": "-", "same": "="}
_WORDS: dict[Kind, str] = {"changed": "changed", "new": "new", "gone": "gone", "same": "the same"}
_SHOWN = 8


def explain_diff(
    found: PlanDiff, against: str, closing: Iterable[str] = (), *, width: int = 100, color: bool = False
) -> str:
    """Return lines of at most `width` columns, unless a word is longer. `against` describes the older plan."""
    page = Page(max(40, width), color)
    page.strong(f"{found.after.spec.name} against {against}")
    for experiment in dict.fromkeys(each.cell.experiment for each in found.cells):
        _experiment(found, experiment, page)
    if found.outside:
        page.heading("Besides (no cell is measured again for these)")
        for each in found.outside:
            page.change(_SIGNS[each.kind], _outside(each))
    page.heading("Total")
    page.paragraph(_total(found))
    for line in closing:
        page.paragraph(line)
    return page.text()


def as_dict(found: PlanDiff) -> dict[str, object]:
    """Return the difference for `--json`, with values in base units and the text that users see."""
    return {
        "differs": found.differs,
        "cells": [
            {
                "cell": each.cell.id,
                "change": each.kind,
                "was": each.was.id if each.was else None,
                "parts": [_part_dict(part) for part in each.parts],
            }
            for each in found.cells
        ],
        "searches": [
            {"experiment": each.experiment, "parts": [_part_dict(part) for part in each.parts]}
            for each in found.searches
        ],
        "besides": [
            {"what": each.what, "name": each.name, "change": each.kind, "fields": list(each.fields)}
            for each in found.outside
        ],
    }


def _part_dict(part: ChangedPart) -> dict[str, object]:
    return {
        "part": part_name(part),
        "before": part.before,
        "after": part.after,
        "before_text": value_text(part, part.before),
        "after_text": value_text(part, part.after),
    }


# --- cells -------------------------------------------------------------------------------------------------------


def _experiment(found: PlanDiff, name: str, page: Page) -> None:
    mine = [each for each in found.cells if each.cell.experiment == name]
    plan = found.after if name in found.after.experiments else found.before
    label = plan.experiments[name].label
    page.heading(f"Experiment {name}", "" if label == name else label)
    for search in found.searches:
        if search.experiment == name:
            page.change("~", _search(found, search))
    older, newer = ([c for c in plan.cells if c.experiment == name] for plan in (found.before, found.after))
    changed = [each for each in mine if each.kind == "changed"]
    if changed:
        cells = [each.cell for each in changed]
        details = list(_parts(changed)) or ["another version of benchbrief made that plan"]
        if len(details) == 1:
            page.change("~", f"{_line('changed', cells, newer, found.after)}: {details[0]}")
        else:
            page.change("~", _line("changed", cells, newer, found.after), details)
    for kind, whole, others, of_plan in (("new", newer, older, found.after), ("gone", older, newer, found.before)):
        by_dim: dict[str, list[Cell]] = {}
        seen = {dim: {_key(dim, cell) for cell in others} for dim in _dims(others)}
        for each in mine:
            if each.kind == kind:
                by_dim.setdefault(_unseen(each.cell, seen), []).append(each.cell)
        for dim, cells in by_dim.items():
            page.change(_SIGNS[kind], _line(kind, cells, whole, of_plan, dim))
    same = [each for each in mine if each.kind == "same"]
    if same:
        page.change("=", _line("the same", [each.cell for each in same], newer, found.after), _renames(same))


def _search(found: PlanDiff, search: SearchDiff) -> str:
    metrics = ", ".join(part_text(part).partition(".")[2] for part in search.parts)
    was, now = found.before.experiments[search.experiment], found.after.experiments[search.experiment]
    if was.adaptive or now.adaptive:
        return f"its points are chosen anew ({metrics})" if now.adaptive else "no adaptive ramp any more"
    if was.promise or now.promise:
        return f"its rate is searched again ({metrics})" if now.promise else "no search for a promise any more"
    if was.search is None:
        return "a search now: its knee is decided for the first time"
    if now.search is None:
        return "no search any more"
    return f"criterion changed: the knee is decided again ({metrics})"


def _parts(changed: Sequence[CellDiff]) -> Iterator[str]:
    """Yield each change once, with its cells unless the change concerns all cells."""
    concerned: dict[tuple[str, str], list[Cell]] = {}
    for each in changed:
        for part in each.parts:
            concerned.setdefault((part_text(part), part.owner), []).append(each.cell)
    for (text, owner), cells in concerned.items():
        where = _where(cells, [each.cell for each in changed])
        yield f"{text} ({where})" if where not in ("", owner) else text


def _line(what: str, cells: Sequence[Cell], whole: Sequence[Cell], plan: Plan, dim: str = "") -> str:
    """Return a line such as `8 of 32 cells new (threads 8, 16)`. `dim` is the dimension that distinguishes the cells,
    if there is one. For a search or an adaptive ramp, the line counts the most cells that it may measure, as all totals
    do.
    """
    count, up_to = most_of(plan, cells), "up to " if most_of(plan, whole) < len(whole) else ""
    if len(cells) == len(whole):
        every = ("all of " if up_to else "all ") if count > 1 else ""
        return f"{every}{up_to}{plural(count, 'cell')} {what}"
    where = _values(dim, cells) if dim else _where(cells, whole)
    of_all = plural(most_of(plan, whole), "cell")
    return f"{up_to}{count:,} of {of_all} {what}{f' ({where})' if where else ''}"


def _unseen(cell: Cell, seen: Mapping[str, set[object]]) -> str:
    """Return the first dimension whose key no other cell has, such as `workload` if this cell's workload is new."""
    return next((dim for dim, values in seen.items() if values and _key(dim, cell) not in values), "")


_DIMS: dict[str, Callable[[Cell], object]] = {
    "hardware": lambda cell: cell.hardware,
    "workload": lambda cell: cell.workload,
    "threads": lambda cell: cell.threads,
    "target": lambda cell: cell.target,
    "repeat": lambda cell: cell.repeat,
}


def _dims(cells: Iterable[Cell]) -> dict[str, None]:
    """Return the dimensions of the cells: the hardware, the workload, the factors, and then all others."""
    factors = dict.fromkeys(name for levels in {cell.levels for cell in cells} for name in levels.keys)
    return dict.fromkeys(("hardware", "workload", *factors, *_DIMS))


def _key(dim: str, cell: Cell) -> object:
    return _DIMS[dim](cell) if dim in _DIMS else cell.levels.keys.get(dim)


def _where(cells: Iterable[Cell], whole: Iterable[Cell]) -> str:
    """Return the keys that set these cells apart in their experiment: `workload a; threads 8, 16`."""
    cells, whole = list(cells), list(whole)

    def keys(dim: str, of: Iterable[Cell]) -> int:
        return len({_key(dim, cell) for cell in of})

    return "; ".join(_values(dim, cells) for dim in _dims(whole) if keys(dim, cells) < keys(dim, whole))


def _values(dim: str, cells: Iterable[Cell]) -> str:
    values = dict.fromkeys(_key(dim, cell) for cell in cells)
    texts = [number(value) if isinstance(value, int | float) else str(value) for value in values if value is not None]
    more = len(texts) - _SHOWN
    return f"{dim} {', '.join(texts if more <= 0 else [*texts[:_SHOWN], f'and {more} more'])}"


def _renames(group: Sequence[CellDiff]) -> Iterator[str]:
    """Return a line about the earlier names of cells: `6 under another name: hardware ram -> fast`."""
    found: dict[tuple[str, ...], int] = {}
    for each in group:
        if each.was is not None and each.renamed:
            names = [("experiment", each.was.experiment, each.cell.experiment)]
            names += [(dim, str(of(each.was)), str(of(each.cell))) for dim, of in _DIMS.items()]
            names.insert(3, ("levels", each.was.levels or "none", each.cell.levels or "none"))
            texts = tuple(f"{dim} {old} -> {new}" for dim, old, new in names if old != new)
            found[texts] = found.get(texts, 0) + 1
    for texts, count in found.items():
        yield f"{count:,} under another name: {', '.join(texts)}"


def _total(found: PlanDiff) -> str:
    plans = {kind: found.before if kind == "gone" else found.after for kind in _WORDS}
    counts = {kind: most_of(plan, (e.cell for e in found.cells if e.kind == kind)) for kind, plan in plans.items()}
    gone, most = counts.pop("gone"), planned_cells(found.after)
    total = f"{'up to ' if most < len(found.after.cells) else ''}{plural(most, 'cell')}"
    of_each = ", ".join(f"{count:,} {_WORDS[kind]}" for kind, count in counts.items() if count)
    text = f"{total}: {of_each}" + (f"; {gone:,} gone" if gone else "")
    return text if found.differs else f"nothing differs: {total} the same"


def _outside(each: OutsideDiff) -> str:
    words = {"new": "new", "gone": "gone", "changed": "changed"}[each.kind]
    fields = f": {', '.join(field.replace('_', ' ') for field in each.fields)}" if each.fields else ""
    return f"{each.what} {each.name}: {words}" if not fields else f"{each.what} {each.name}{fields}"


# --- parts, in the user's words ----------------------------------------------------------------------------------

_SAID = {
    "warm_up_s": "warm_up",
    "cool_down_s": "cool_down",
    "measure_s": "measure",
    "max_error_share": "max_errors",
    "until_steady.from_s": "until_steady.from",
    "hooks": "commands",
}
_OF_BYTES = ("record_size", "field_length", "key_size", "value_size")
_SHARES = ("read", "update", "insert", "scan", "read_modify_write", "max_error_share", "rise", "gain", "within")


def part_text(part: ChangedPart) -> str:
    """Return the line of a change: `workload a.records 2,000 -> 75,000,000`."""
    if part.name.endswith(".cells"):
        return f"{part.name.removesuffix('.cells')}: what its search may try"
    before, after = value_text(part, part.before), value_text(part, part.after)
    if before == after:  # the words don't show the difference
        before, after = json.dumps(part.before), json.dumps(part.after)
    return f"{part_name(part)} {before} -> {after}"


def part_name(part: ChangedPart) -> str:
    name = _SAID.get(part.name, part.name)
    return f"{part.owner}.{name}" if part.owner else name


def value_text(part: ChangedPart, value: object) -> str:
    name = part.name.rpartition(".")[2]
    match value:
        case None | [] | "":
            return "none"
        case bool():
            return str(value).lower()
        case list():
            return _list_text(part.name, value)
        case dict():
            return _probe(value)
        case int() | float():
            if name.endswith("_s"):
                return duration(value) if value else "0 s"
            if name in _SHARES:
                return f"{100 * value:g} %"
            if name in _OF_BYTES:
                return quantity_of_bytes(value)
            if name == "write_rate":
                return f"{quantity_of_bytes(value)}/s"
            return option_text(name, value) if part.name.startswith("options.") else number(value)
        case _:
            return str(value)


def _list_text(name: str, values: Sequence[object]) -> str:
    match name:
        case "hosts":
            return ", ".join(map(_host, values))
        case "uri":
            return "".join(map(_template, values))
        case _:
            return ", ".join(map(_item, values))


def _item(value: object) -> str:
    """Return the line of a command, or any other item as it is."""
    match value:
        case {"line": str(line)}:
            return line
    return str(value)


def _host(value: object) -> str:
    match value:
        case ["local", *_]:
            return "local"
        case [_, name, None]:
            return str(name)
        case [_, name, port]:
            return f"{name}:{port}"
    return str(value)


def _probe(value: object) -> str:
    match value:
        case {"every_s": float() | int() as every, "options": dict() as options, **more_parts}:
            named = options.get("device") or options.get("interface")
            device = f" on {named}" if named else ""
            apart = ("device", "interface", "of")
            more = "".join(f", {key} {text}" for key, text in options.items() if key not in apart)
            return f"every {duration(every)}{device}{more}{_meters(more_parts.get('meters'))}"
    return str(value)


def _meters(value: object) -> str:
    return "".join(map(_meter, value)) if isinstance(value, list) else ""


def _meter(value: object) -> str:
    match value:
        case {
            "kind": kind,
            "addresses": list() as addresses,
            "parts": list() as parts,
            "options": dict() as options,
            **others,
        }:
            # A PDU with several outlets is one address.
            at = f" at {' and '.join(dict.fromkeys(map(str, addresses)))}" if addresses else ""
            of = f" of {' and '.join(dict.fromkeys(map(str, parts)))}" if parts else ""
            shared = ", shared" if others.get("shared") else ""
            return f" by {kind}{at}{of}{shared}" + "".join(f", {key} {text}" for key, text in options.items())
    return ""


def _template(value: object) -> str:
    match value:
        case {"kind": kind, "name": name}:
            return f'{{{kind}("{name}")}}'
    return str(value)

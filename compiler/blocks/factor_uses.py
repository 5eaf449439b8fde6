"""Checks the uses of factors: whether their names are free, whether they are used in allowed places, and which factors
nothing uses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from benchbrief.compiler.blocks import factor_errors as wrong
from benchbrief.compiler.blocks.factors import Factors
from benchbrief.compiler.frontend.declarations import Declarations, Entry
from benchbrief.compiler.measure_catalogue import FAMILIES, KINDS, VIEW_COLUMNS
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.registry import ENGINE_SPECS
from benchbrief.compiler.schemas import DATABASE, HARDWARE, WORKLOAD
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import DIMENSIONS
from benchbrief.model.units import parse_unit
from benchbrief.model.value_shapes import Login, Number, Shape, Special, Word

RESERVED: Mapping[str, str] = {
    **{name: f"attribute `{name}` of hardware" for name in HARDWARE.keys},
    **dict.fromkeys(VIEW_COLUMNS, "a column of results"),
    **{name: f"the measure `{name}`" for name in (*(kind.partition(".")[0] for kind in KINDS), *FAMILIES)},
    **{name: f"the word `{name}`" for name in ("true", "false", "none", "nodes")},
    "host": "the variable `$BENCH_HOST` of commands",
    **{name: f"the dimension `{name}`" for name in DIMENSIONS},
}
"""Maps the names that no factor may have, because every spec already uses them, to what they mean there."""
_REFERENCES = frozenset({"hardware", "client", "database", "workloads", "vary", "when"})
"""Attributes of an experiment that name declarations or the factors themselves."""
_FIXED = frozenset({"engine", "server", "description"})
"""Attributes of databases and workloads that can't use a factor, because they must be the same at every level."""
_TIME = parse_unit("s").dimension


def check_names(found: Declarations, findings: Findings) -> None:
    """Report factors whose name already means something else in expressions, in paths or in the views of results."""
    taken = {name: f"parameter `{name}`" for name in found.params}
    taken |= {name: f"metric `{name}`" for name in found.metrics}
    for entry in found.blocks["hardware"].values():
        for block in (entry, *entry.all("variant")):
            taken |= {name: f"fact `{name}` of hardware `{entry.name}`" for name in block.attributes}
    taken |= RESERVED
    by_case = {name.casefold(): what for name, what in taken.items()}
    for name, entry in found.blocks["factor"].items():
        what = by_case.get(name.casefold())  # the names of columns ignore case
        if what is not None:
            findings.add(wrong.TakenName(entry.head, name, what))
        by_case[name.casefold()] = f"factor `{name}`"


class _Use(NamedTuple):
    """A use of a factor in an expression, with the setting after the dot, and the calls around it, outermost first."""

    name: ast.Name
    setting: ast.Name | None
    calls: tuple[ast.Call, ...]

    @property
    def call(self) -> str:
        """The innermost call, or "with" if the factor is passed to a command."""
        if not self.calls:
            return ""
        call = self.calls[-1]
        given = (each for each in call.arguments if each.key and each.key.text == "with")
        is_given = any(each.value.span.start <= self.name.span.start < each.value.span.end for each in given)
        return "with" if call.function.text == "command" and is_given else call.function.text


def check_places(found: Declarations, factors: Factors, findings: Findings) -> frozenset[tuple[str, str]]:
    """Report factors in forbidden places. Return the kinds and names of the blocks that have one."""
    places = _Places(factors, findings)
    for kind, entries in found.blocks.items():
        for entry in entries.values() if factors and kind != "report" else ():
            places.check(kind, entry)
    return frozenset(places.wrong)


class _Places:
    def __init__(self, factors: Factors, findings: Findings) -> None:
        self.factors, self.findings = factors, findings
        self.wrong: set[tuple[str, str]] = set()

    def check(self, kind: str, entry: Entry) -> None:
        before = len(self.findings)
        for key, attribute in entry.attributes.items():
            if not (kind == "experiment" and key in _REFERENCES):
                self._attribute(kind, entry, entry.kind, key, attribute)
        for block in entry.blocks:
            if block.kind == "override" and block.subject:
                self.check(block.subject.text, block)
            elif block.kind == "at" and block.base:
                for use in _uses(block.base, self.factors):
                    self._refuse(use, "the time of an event")
                self.check("event", block)
            else:
                for key, attribute in block.attributes.items():
                    self._attribute(kind, entry, block.kind, key, attribute)
        if len(self.findings) > before:
            self.wrong.add((kind, entry.name))

    def _attribute(self, kind: str, entry: Entry, block: str, key: str, attribute: ast.Attribute) -> None:
        in_options = kind == "database" and block == "options"
        shape = self._shape(kind, key) if not in_options else None
        words = _words(entry, key) if in_options else shape.choices if isinstance(shape, Word) else ()
        for value in attribute.values:
            for item in value.items if isinstance(value, ast.List) else (value,):
                if isinstance(item, ast.Name) and item.text in self.factors and item.text in words:
                    self.findings.add(wrong.FactorIsWord(item.span, item.text, key))
                    return
        where = f"`{key}` of {_called(kind, entry)}"
        may = in_options or (kind in ("database", "workload") and key not in _FIXED and _is_setting(shape))
        for use in _uses(attribute.values, self.factors):
            if use.call in ("env", "secret"):
                self._refuse(use, f"`{use.call}(...)`")
            elif (use.call == "with" and kind == "database") or (may and not use.call):
                self._setting(use)
            else:
                self._refuse(use, where)

    def _shape(self, kind: str, key: str) -> Shape | None:
        found = {"database": DATABASE, "workload": WORKLOAD}.get(kind)
        return found.keys[key].shape if found and key in found.keys else None

    def _refuse(self, use: _Use, where: str) -> None:
        self.findings.add(wrong.FactorNotHere(use.name.span, use.name.text, where))
        self.findings.silence(use.name.span, *(call.span for call in use.calls))

    def _setting(self, use: _Use) -> None:
        """Report a bundle that is used without naming one of its settings, or with a setting that it does not have."""
        factor = self.factors[use.name.text]
        if use.setting is None and factor.is_bundle:
            self.findings.add(wrong.WholeBundle(use.name.span, use.name.text, factor.settings))
        elif use.setting is not None and use.setting.text not in factor.settings:
            found = use.name.text, factor.settings
            self.findings.add(wrong.UnknownSetting(use.setting.span, "setting", use.setting.text, found[1], found[0]))


def _is_setting(shape: Shape | None) -> bool:
    """Return whether an attribute of this shape is a setting, rather than a time or a part of a login."""
    return not (isinstance(shape, Login | Special) or (isinstance(shape, Number) and shape.dimension == _TIME))


def _words(entry: Entry, key: str) -> tuple[str, ...]:
    """Return the words that are allowed as the value of a database's option."""
    said = entry.attributes.get("engine")
    engine = ENGINE_SPECS.usable(said.values[0].text) if said and isinstance(said.values[0], ast.Name) else None
    option = engine.options.get(key) if engine else None
    if option is None:
        return ()
    shape = option.key.shape
    return (*(shape.choices if isinstance(shape, Word) else ()), *option.word_or, *option.list_of, *option.words)


def _called(kind: str, entry: Entry) -> str:
    return f"{kind} `{entry.name}`" if entry.name else f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _uses(node: object, factors: Factors, calls: tuple[ast.Call, ...] = ()) -> Iterator[_Use]:
    """Yield each use of a factor in a node of the syntax tree."""
    match node:
        case ast.Name() if node.text in factors:
            yield _Use(node, None, calls)
        case ast.Attr(base=ast.Name() as name, field=field) if name.text in factors:
            yield _Use(name, field, calls)
        case ast.Call():
            for each in node.arguments:
                yield from _uses(each.value, factors, (*calls, node))
        case tuple():
            for each in node:
                yield from _uses(each, factors, calls)
        case ast.Name() | str():
            pass
        case _:
            for each in ast.children(node):
                yield from _uses(each, factors, calls)


def check_used(
    found: Declarations, factors: Factors, varied: Collection[str], profile: str | None, findings: Findings
) -> bool:
    """Report factors and settings that no database and no workload uses, and return whether there are any. Warn about
    factors that no experiment varies."""
    entries = [entry for kind in ("database", "workload") for entry in found.blocks[kind].values()]
    used: dict[str, set[str]] = {}
    for block in (block for entry in entries for block in (entry, *entry.blocks)):
        for use in _uses(tuple(block.attributes.values()), factors):
            used.setdefault(use.name.text, set()).add(use.setting.text if use.setting else "")
    for name, factor in factors.items():
        if factor.imported:
            continue
        if name not in used:
            findings.add(wrong.UnusedFactor(factor.span, name, name))
        elif unused := [setting for setting in factor.settings if setting not in used[name]]:
            findings.add(wrong.UnusedFactor(factor.span, name, f"{name}.{unused[0]}"))
        elif name not in varied and profile is None:
            findings.add(wrong.FactorNotVaried(factor.span, name))
    return findings.failed

"""The installed extensions: benchbrief's own, found by folder, and those of other packages, found by entry point.

Another package is imported only when somebody asks for its extension by name.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.model.engine_spec import EVERYWHERE, WAYS, EngineSpec
from benchbrief.model.extension_spec import (
    API,
    ExtensionSpec,
    ImporterSpec,
    MeterSpec,
    ProbeSpec,
    SchedulerSpec,
    SnapshotSpec,
    TemplateSpec,
    TransportSpec,
    raised,
)
from benchbrief.model.tool_spec import Capability, ToolSpec, in_language

PREFIX = "benchbrief.specs."
"""The prefix of all groups of entry points, as in `benchbrief.specs.probes`."""


@dataclass(frozen=True)
class Offer:
    """An extension that a package offers by an entry point. `target` is "module:name". `package` and `version` belong
    to the distribution, and are "" if unknown."""

    group: str
    name: str
    target: str
    package: str
    version: str

    @property
    def source(self) -> str:
        return " ".join(part for part in (self.package, self.version) if part)


@cache
def find_offers() -> tuple[Offer, ...]:
    """Return the offers of all packages. Each is listed once, even if a package is installed twice, as a build and as
    an editable install."""
    found = {
        (group, name, target, package): Offer(group, name, target, package, version)
        for folder, text in reversed(list(_entry_points()))
        for package, version in [_package(folder)]
        for group, name, target in _lines(text)
        if group.startswith(PREFIX)
    }
    return tuple(sorted(found.values(), key=lambda offer: (offer.group, offer.name, offer.package)))


def _entry_points() -> Iterator[tuple[str, str]]:
    """Yield the metadata of each package with extensions, in the order of `sys.path`."""
    for place in dict.fromkeys(sys.path):
        try:
            names = os.listdir(place or ".")  # noqa: PTH208  # a tenth of the time of Path.iterdir
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                folder = f"{place or '.'}/{name}"
                try:
                    text = Path(folder, "entry_points.txt").read_text(encoding="utf-8", errors="replace")
                except OSError:
                    continue
                if PREFIX in text:
                    yield folder, text


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the group, name and target of each entry point
    (https://packaging.python.org/en/latest/specifications/entry-points/)."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            yield group, name.strip(), target.partition("[")[0].replace(" ", "")


def _package(folder: str) -> tuple[str, str]:
    """Return the name and version of a distribution, read from the head of its metadata."""
    said: dict[str, str] = {}
    for file in ("METADATA", "PKG-INFO"):
        try:
            text = Path(folder, file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            if not line:
                break
            key, _, value = line.partition(":")
            said.setdefault(key.lower(), value.strip())
        break
    return said.get("name", Path(folder).stem), said.get("version", "")


@cache
def package_files(target: str) -> tuple[Path, ...]:
    """Return the files of an extension's package in order, or () if the package is not found. Nothing is imported."""
    return tuple(sorted(path for _, path in _placed_files(target)))


def _placed_files(target: str) -> Iterator[tuple[Path, Path]]:
    """Yield each file of a package, and the package's folder that contains it. A package without `__init__.py` may have
    several folders."""
    found = find_spec(target.partition(":")[0].partition(".")[0])
    if found is None:
        return
    folders = [Path(each) for each in found.submodule_search_locations or ()]
    if not folders and found.origin:
        yield Path(found.origin).parent, Path(found.origin)
    for folder in folders:
        files = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
        yield from ((folder, path) for path in files if path.is_file())


@cache
def code_digest(target: str) -> str:
    """Return a short digest of a package's files and their names within the package, or "" if there are no files or if
    one can't be read."""
    made = hashlib.sha256()
    try:
        files = sorted((path.relative_to(folder), path) for folder, path in _placed_files(target))
        for name, path in files:
            made.update(f"{name.as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    except OSError:
        return ""
    return made.hexdigest()[:8] if files else ""


Spec_co = TypeVar("Spec_co", bound=ExtensionSpec, covariant=True)


@dataclass(frozen=True)
class RefusedExtension:
    """An extension that can't be used, with the reason and advice. `kind` is a word for users, such as "probe"."""

    kind: str
    name: str
    source: str
    why: str
    hint: str


@dataclass(frozen=True)
class Registry(Generic[Spec_co]):
    """All extensions of one kind. Other packages offer theirs in the entry points `benchbrief.specs.<plural>`.

    `package` holds benchbrief's own extensions, one folder each, with `SPEC` in its `spec.py`. If there is no such
    package, benchbrief has no extensions of this kind.
    """

    spec: type[Spec_co]
    plural: str
    spare: str = ""
    """The package of an extension to use if benchbrief's own folder of this kind has none, or "" if there is no such
    package."""

    @property
    def package(self) -> str:
        return f"benchbrief.extensions.{self.plural}"

    @property
    def kind(self) -> str:
        return self.spec.kind

    @property
    def group(self) -> str:
        return f"{PREFIX}{self.plural}"

    @cached_property
    def own(self) -> Mapping[str, Spec_co]:
        """Benchbrief's own extensions of this kind, by name."""
        return MappingProxyType({spec.name: spec for spec in map(self._own, self._own_packages)})

    @property
    def _own_packages(self) -> tuple[str, ...]:
        packages = tuple(f"{self.package}.{folder}" for folder in _folders(self.package)) or (self.spare,)
        return tuple(filter(None, packages))

    def own_offer(self, name: str) -> Offer:
        """Return one of benchbrief's own extensions in the form of an offer, as if a package offered it by an entry
        point."""
        package = next(each for each in self._own_packages if self._own(each).name == name)
        return Offer(self.group, name, f"{package}.spec:SPEC", "", "")

    def find(self, name: str) -> Spec_co | RefusedExtension | None:
        """Return the extension of that name, a RefusedExtension if it can't be used, or None if no package has it.

        Only the extension's spec is imported.
        """
        if name in self.own:
            return self.own[name]
        offers = self.offered(name)
        if not offers:
            return self._own(self.spare) if self.spare.endswith(f".{name}") else None
        if len(offers) > 1:
            packages = " and ".join(offer.source or offer.target for offer in offers)
            why = f"{len(offers)} packages have a {self.kind} of that name: {packages}"
            return RefusedExtension(self.kind, name, packages, why, "uninstall all of them but one")
        return self.load(offers[0])

    def usable(self, name: str) -> Spec_co | None:
        """Return the extension of that name, or None if there is none or it can't be used."""
        found = self.find(name)
        return found if isinstance(found, self.spec) else None

    def offered(self, name: str | None = None) -> tuple[Offer, ...]:
        """Return the extensions of other packages sorted by name, or only those called `name`, without importing
        anything."""
        return tuple(
            offer for offer in find_offers() if offer.group == self.group and (name is None or offer.name == name)
        )

    def source(self, name: str) -> str:
        """Return the package of an extension with its version ("bench-entropy 0.1.0"), or "" for benchbrief's own."""
        offers = () if name in self.own else self.offered(name)
        return offers[0].source if offers else ""

    def build(self, name: str) -> str:
        """Return the package of an extension with its version and a digest of its code, for the identity of a cell
        ("bench-entropy 0.1.0+3f9ac21b"), or "" for benchbrief's own."""
        offers = () if name in self.own else self.offered(name)
        digest = code_digest(offers[0].target) if offers else ""
        return f"{offers[0].source}+{digest}" if digest else self.source(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all installed extensions, benchbrief's own first, found without importing them."""
        return tuple(dict.fromkeys((*self.own, *(offer.name for offer in self.offered()))))

    def load(self, offer: Offer) -> Spec_co | RefusedExtension:
        """Import an offered spec. Return a RefusedExtension if the spec can't be used, or if benchbrief has an
        extension of that name."""
        if offer.name in self.own:
            why = f"benchbrief has a {self.kind} of that name, which is used in its place"
            hint = f"uninstall {offer.package}, or ask its authors for another name"
            return RefusedExtension(self.kind, offer.name, offer.source, why, hint)
        found = _load(offer, self.spec)  # type: ignore[arg-type]  # mypy takes the hash of its objects for that of the class
        return found if isinstance(found, RefusedExtension) else cast(Spec_co, found)

    def _own(self, package: str) -> Spec_co:
        return cast(Spec_co, importlib.import_module(f"{package}.spec").SPEC)


ENGINE_SPECS = Registry(EngineSpec, "engines")
TOOL_SPECS = Registry(ToolSpec, "tools")
PROBE_SPECS = Registry(ProbeSpec, "probes")
IMPORTER_SPECS = Registry(ImporterSpec, "importers")
METER_SPECS = Registry(MeterSpec, "meters")
TEMPLATE_SPECS = Registry(TemplateSpec, "templates", "benchbrief.reports.templates.plain")
TRANSPORT_SPECS = Registry(TransportSpec, "transports")
SCHEDULER_SPECS = Registry(SchedulerSpec, "schedulers")
SNAPSHOT_SPECS = Registry(SnapshotSpec, "snapshots")

REGISTRIES: tuple[Registry[ExtensionSpec], ...] = (
    ENGINE_SPECS,
    TOOL_SPECS,
    PROBE_SPECS,
    IMPORTER_SPECS,
    METER_SPECS,
    TEMPLATE_SPECS,
    TRANSPORT_SPECS,
    SCHEDULER_SPECS,
    SNAPSHOT_SPECS,
)


@cache
def _load(offer: Offer, wanted: type[ExtensionSpec]) -> ExtensionSpec | RefusedExtension:
    def refused(why: str, hint: str) -> RefusedExtension:
        return RefusedExtension(wanted.kind, offer.name, offer.source, why, hint)

    again = f"install {offer.package} again, or ask its authors"
    module, _, attribute = offer.target.partition(":")
    try:
        spec: object = getattr(importlib.import_module(module), attribute)
    except BaseException as error:  # a third party's module may raise anything
        return refused(f"`{offer.target}` can't be imported: {raised(error)}", again)
    if not isinstance(spec, wanted):
        what = spec.__name__ if isinstance(spec, type) else type(spec).__name__
        return refused(f"`{offer.target}` is no {wanted.__name__} but {what}", again)
    api: object = spec.api
    if not isinstance(api, int):
        problem = f"its `api` is {api!r}, which is no whole number such as {API}"
        return refused(f"`{offer.target}` is wrong: {problem}", f"ask the authors of {offer.package}")
    if spec.api != API:
        which = "benchbrief" if spec.api > API else offer.package
        return refused(
            f"it is made for version {spec.api} of the interface of extensions, and this benchbrief has version {API}",
            f"install a newer version of {which}",
        )
    try:
        wrong = spec.mistake(offer.name)
    except BaseException as error:
        wrong = raised(error)
    return refused(f"`{offer.target}` is wrong: {wrong}", f"ask the authors of {offer.package}") if wrong else spec


@cache
def hung_checks() -> set[str]:
    """The targets of `check` that did not end in time. They are not called again until installed packages are looked up
    again."""
    return set()


def look_again() -> None:
    """Forget which packages are installed. A program that installs a package has to call this function."""
    for cached in (find_offers, package_files, code_digest, hung_checks, _folders):
        cached.cache_clear()
    _load.cache_clear()


@cache
def _folders(package: str) -> tuple[str, ...]:
    """Return the folders of our own extensions of a kind. They take the place of entry points.

    Entry points are in a package's metadata, which is written when the package is installed. After a folder is added to
    a clone or removed from it, its entry points would be wrong until the next installation. In a wheel without some of
    the folders, the entry points would still name all of them. Nothing else in benchbrief lists its own extensions, or
    those of other packages.
    """
    try:
        found = find_spec(package)
    except ModuleNotFoundError:  # the parent folder does not exist either
        found = None
    places = found.submodule_search_locations if found else None
    return tuple(sorted(path.parent.name for place in places or () for path in Path(place).glob("*/spec.py")))


def own_words(language: str) -> Mapping[str, str]:
    """Return the words of benchbrief's own templates, probes and tools by their keys in a catalogue."""
    telling = (
        *(each.measures for each in PROBE_SPECS.own.values()),
        *(each.measures for each in TOOL_SPECS.own.values()),
    )
    measures = (pair for each in telling for pair in each.items())
    speaking = (
        *(each.texts for each in TOOL_SPECS.own.values()),
        *(each.texts for each in ENGINE_SPECS.own.values()),
        *(each.texts for each in SNAPSHOT_SPECS.own.values()),
    )
    tools = (pair for each in speaking for pair in each.items())
    return {
        **{spec.word: spec.label(language) for spec in TEMPLATE_SPECS.own.values()},
        **{word_of(name): measure.label(language) for name, measure in measures},
        **{key: in_language(texts, language) for key, texts in tools},
    }


def own_catalogues(language: str) -> Iterator[str]:
    """Yield the text of each `words/LANGUAGE.toml` that benchbrief's own extensions have."""
    for registry in REGISTRIES:
        for folder in _folders(registry.package):
            found = resources.files(f"{registry.package}.{folder}") / "words" / f"{language}.toml"
            if found.is_file():
                yield found.read_text(encoding="utf-8")


def tool_word(name: str) -> str:
    """Return the name that specs use for a tool."""
    spec = TOOL_SPECS.usable(name)
    return spec.word if spec else name


def tool_words(engine: EngineSpec) -> tuple[str, ...]:
    """Return the names that specs use for the tools of an engine."""
    return tuple(dict.fromkeys(map(tool_word, engine.tools)))


def tools_able(engine: EngineSpec, can: Callable[[ToolSpec], object]) -> tuple[str, ...]:
    """Return the names, as written in specs, of the engine's tools for which `can` is true."""
    tools = (TOOL_SPECS.usable(name) for name in engine.tools)
    return tuple(dict.fromkeys(each.word for each in tools if each and can(each)))


def tools_from_due(engine: EngineSpec) -> tuple[str, ...]:
    """Return the names of an engine's tools that can offer a load and measure latency from when an operation was
    due."""
    return tools_able(engine, lambda each: each.open_loop and each.intended_latency)


def remedy(tool: ToolSpec, engine: EngineSpec, lacking: Capability) -> str:
    """Return advice for a tool that lacks an ability: the tool's own advice, or else a tool of the engine that has the
    ability, or "" if there is none."""
    able = tools_able(engine, lambda each: getattr(each, lacking))
    return tool.advice.get(lacking) or (f"use `tool = {able[0]}`" if able else "")


def resets_of(engine: EngineSpec) -> tuple[str, ...]:
    """Return the ways to reset the data of an engine, except by a command."""
    own = (*EVERYWHERE, *(each for each in engine.resets if each != "command"))
    return (*(each for each in WAYS if each in own), *(snapshot_names() if engine.snapshots else ()))


def snapshot_names() -> tuple[str, ...]:
    """Return the names of all kinds of snapshots. Every check needs these names. Benchbrief's own kinds have the names
    of their folders, so nothing has to be imported."""
    offered = (offer.name for offer in SNAPSHOT_SPECS.offered())
    return tuple(dict.fromkeys((*_folders(SNAPSHOT_SPECS.package), *offered)))


def can_ask(probe: ProbeSpec, engine: EngineSpec) -> bool:
    """Return whether a probe that queries the database supports this engine."""
    return probe.name in engine.probes or engine.name in probe.engines


def word_of(measure: str) -> str:
    """Return the key of a measure in a catalogue of words."""
    return f"measure_{measure.replace('.', '_')}"


def usual_template() -> str:
    """Return the template that a brief uses if it names none."""
    return next((name for name, spec in TEMPLATE_SPECS.own.items() if spec.usual), next(iter(TEMPLATE_SPECS.own)))


def stray_errors(driver: str) -> float:
    """Return the share of a tool's operations that may fail although the spec allows no errors."""
    spec = TOOL_SPECS.usable(driver)
    return spec.stray_errors if spec else 0.0


def accepted_errors(declared: float, driver: str) -> float:
    """Return the share of operations that may fail.

    `declared` is the share that the spec allows. A plan can't distinguish `max_errors = 0 %` from a spec without
    `max_errors`.
    """
    return declared or stray_errors(driver)


_A_PATH = 'path = "/var/tmp/db"'


def own_tools() -> tuple[str, ...]:
    """Return the names that specs use for benchbrief's own tools, in the order of their engines."""
    return tuple(dict.fromkeys(word for engine in ENGINE_SPECS.own.values() for word in tool_words(engine)))


def own_families() -> dict[str, ToolSpec]:
    """Return benchbrief's own tools that define workloads."""
    return {name: TOOL_SPECS.own[name] for name in own_tools() if TOOL_SPECS.own[name].workloads}


def known_operations() -> tuple[str, ...]:
    """Return the operations that the workloads of benchbrief's own tools perform."""
    families = own_families().values()
    done = (name for spec in families for each in spec.workloads.values() for name in each.operations)
    return tuple(dict.fromkeys((*(name for spec in families for name in spec.shares), *done)))


def sample_databases(family: str) -> tuple[str, ...]:
    """Return a sample declaration of each engine that a tool of this family can load. If there is none, return samples
    of every engine."""
    engines = ENGINE_SPECS.own.values()
    by = {engine.name: [tool for tool in engine.tools if TOOL_SPECS.own[tool].family == family] for engine in engines}
    loaded = [engine for engine in engines if by[engine.name]]
    return tuple(_sample(engine, (by[engine.name] or engine.tools)[0]) for engine in loaded or engines)


def _sample(engine: EngineSpec, tool: str) -> str:
    place = "server = embedded" if engine.has_stand_in else _A_PATH
    said = f"  tool = {tool_word(tool)}" if engine.in_process and tool != engine.default_tool else ""
    return f"`database db {{ engine = {engine.name}  {place}{said} }}`"

"""Loads the code of tools, engines, probes and meters by name, whether it is benchbrief's own or another package's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dis import get_instructions
from importlib.metadata import EntryPoint
from inspect import Parameter, Signature, getattr_static, isfunction, signature
from typing import TYPE_CHECKING, TypeVar, cast

from benchbrief.compiler.registry import ENGINE_SPECS, METER_SPECS, PROBE_SPECS, TOOL_SPECS, RefusedExtension, Registry
from benchbrief.model.engine_spec import WAYS, EngineSpec, Reset, is_restored
from benchbrief.model.extension_spec import ExtensionSpec, ProbeSpec, raised
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.sampling import ReadsFiles
from benchbrief.runners.seams import (
    ChecksPlace,
    CountsWriters,
    Driver,
    Engine,
    HasStandIn,
    KnowsChanges,
    ProbeKind,
    ReadsAfter,
    Restores,
    TellsNow,
    Transport,
    Undoes,
)

if TYPE_CHECKING:
    from benchbrief.runners.meters.meter_base import AnyMeter

Spec = TypeVar("Spec", bound=ExtensionSpec)


def driver(name: str) -> Driver:
    """Return the driver of that name. Raises RunnerError if there is none, or if it can't be loaded."""
    return cast(Driver, create(TOOL_SPECS, name, Driver))


def engine_class(name: str) -> type[Engine]:
    """Return the engine of that name. Raises the same errors as `driver`."""
    return cast(type[Engine], implementation(ENGINE_SPECS, name, Engine))


def find_stand_in(engine: str, transport: Transport) -> str:
    """Return the path of an engine's stand-in on a host. Raises ToolMissing, and the same errors as `driver`."""
    return cast(type[HasStandIn], implementation(ENGINE_SPECS, engine, HasStandIn)).find_stand_in(transport)


def probe_kind(name: str) -> ProbeKind:
    """Return the probe of that name. Raises the same errors as `driver`."""
    return cast(ProbeKind, create(PROBE_SPECS, name, ProbeKind))


def meter_kind(name: str) -> AnyMeter:
    """Return the power meter of that name. Raises the same errors as `driver`."""
    from benchbrief.runners.meters.meter_base import AnyMeter  # imports this module

    return cast(AnyMeter, create(METER_SPECS, name, AnyMeter))


def create(registry: Registry[ExtensionSpec], name: str, seam: type, *arguments: object) -> object:
    """Return a new object of the class that the extension's spec names. Raises the same errors as `driver`."""
    made = cast(Callable[..., object], implementation(registry, name, seam))
    with _guarded(registry.kind, name, spec_of(registry, name).implementation):
        return made(*arguments)


def implementation(registry: Registry[ExtensionSpec], name: str, seam: type = object) -> object:
    """Return the class that the extension's spec names. Raises RunnerError if the class does not implement the seam, or
    lacks the methods for a reset that it offers."""
    spec = spec_of(registry, name)
    with _guarded(registry.kind, name, spec.implementation):
        made: object = EntryPoint(name, spec.implementation, "").load()
    if wrong := find_misfit(made, seam) or find_private(made) or find_unhonoured(made, spec):
        source = registry.source(name) or "benchbrief"
        raise RunnerError(
            f"the {registry.kind} `{name}` of {source} can't be used: its class {spec.implementation} {wrong}",
            "install a version that fits, or ask its authors",
        )
    return made


def find_misfit(made: object, seam: type) -> str:
    """Return why a class does not implement a seam (a protocol or an abstract class), or "" if it does."""
    if not isinstance(made, type):
        return "is no class"
    if getattr(seam, "_is_protocol", False):
        needed = {name: method for name, method in vars(seam).items() if callable(method) and name[0] != "_"}
        lacking = [name for name, method in needed.items() if getattr(made, name, method) is method]
    elif issubclass(made, seam):
        lacking = sorted(getattr(made, "__abstractmethods__", ()))
    else:
        return f"is not below {seam.__name__}"
    methods = ", ".join(f"`{name}`" for name in lacking)
    return f"lacks the method{'s' * (len(lacking) > 1)} {methods}" if lacking else find_misshapen(made, seam)


def find_misshapen(made: type, seam: type) -> str:
    """Compare a class's methods with those of a seam. Return a sentence on the first method that can't be called in the
    seam's way, or "" if there is none."""
    for name, method in vars(seam).items():
        found = getattr_static(made, name, None)
        if name[0] != "_" and isfunction(method) and isfunction(found):
            wanted = signature(method).parameters.values()
            named = {each.name: each for each in wanted if each.kind is Parameter.KEYWORD_ONLY}
            try:
                signature(found).bind(*(each for each in wanted if each.name not in named), **named)
            except TypeError:
                return f"has `{name}{_bare(found)}`, and it is called as `{name}{_bare(method)}`"
    return ""


def _bare(function: Callable[..., object]) -> Signature:
    """Return the signature of a function without types and defaults."""
    empty = Parameter.empty
    bare = [each.replace(annotation=empty, default=empty) for each in signature(function).parameters.values()]
    return Signature(bare)


def find_private(made: object) -> str:
    """Return a sentence about the first private name of a benchbrief base class that this class also uses, or "" if
    there is none."""
    if not isinstance(made, type):
        return ""
    theirs: dict[str, str] = {}
    for owner in reversed(made.__mro__):
        own, module = _private_names(owner), owner.__module__
        if module.startswith("benchbrief.") and not module.startswith("benchbrief.extensions."):
            theirs |= dict.fromkeys(own, owner.__name__)
        elif taken := sorted(own & theirs.keys()):
            return f"takes the name `{taken[0]}`, which {theirs[taken[0]]} has for itself: call yours otherwise"
    return ""


def _private_names(owner: type) -> set[str]:
    """Return the names with a leading underscore that a class has, or that its methods set on its objects."""
    names = {*vars(owner), *vars(owner).get("__annotations__", {})}
    for value in vars(owner).values():
        code = getattr(value, "__code__", None) or getattr(getattr(value, "fget", None), "__code__", None)
        names |= {str(each.argval) for each in get_instructions(code) if each.opname == "STORE_ATTR"} if code else set()
    return {name for name in names if re.fullmatch(r"_[a-z][a-z0-9_]*", name) and not name.startswith("_abc")}


_METHODS_OF_RESETS: Mapping[Reset, tuple[type, ...]] = {
    **dict.fromkeys(filter(is_restored, WAYS), (Restores,)),
    "undo": (Undoes, KnowsChanges, CountsWriters),
}


def find_unhonoured(made: object, spec: ExtensionSpec) -> str:
    """Return what an extension offers without having the methods for it, such as a reset of an engine, or "" if there
    is nothing."""
    if isinstance(spec, ProbeSpec) and isinstance(made, type):
        offered = (ReadsFiles, TellsNow, ReadsAfter)
        return next((wrong for seam in offered if (wrong := find_misshapen(made, seam))), "")
    for reset in spec.resets if isinstance(spec, EngineSpec) else ():
        for seam in _METHODS_OF_RESETS.get(reset, ()):
            if wrong := find_misfit(made, seam):
                return f"offers the reset `{reset}`, and {wrong}"
    for seam in (Restores, ChecksPlace) if isinstance(spec, EngineSpec) and spec.snapshots else ():
        if wrong := find_misfit(made, seam):
            return f"offers snapshots by file systems, and {wrong}"
    return ""


def spec_of(registry: Registry[Spec], name: str) -> Spec:
    """Return the spec of the extension of that name. Raises RunnerError if the extension can't be used."""
    found = registry.find(name)
    if isinstance(found, RefusedExtension):
        raise RunnerError(f"the {found.kind} `{name}` of {found.source} can't be used: {found.why}", found.hint)
    if found is None:
        raise RunnerError(
            f"there is no {registry.kind} named `{name}`",
            f"there are: {', '.join(registry.names)}; "
            "install the package that has it, on the machine that runs `bench`",
        )
    return found


@contextmanager
def _guarded(kind: str, name: str, target: str) -> Iterator[None]:
    """Turn any error that an extension's code raises while it is loaded into a RunnerError."""
    try:
        yield
    except RunnerError:
        raise
    except BaseException as error:
        raise RunnerError(
            f"the {kind} `{name}` ({target}) can't be loaded: {raised(error)}",
            "install the package that provides it again",
        ) from error

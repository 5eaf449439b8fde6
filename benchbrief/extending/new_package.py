"""Writes a package with a working extension, from the texts in `data/kit`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from benchbrief.compiler.registry import REGISTRIES
from benchbrief.dsl.bench_error import BenchError
from benchbrief.model.extension_spec import NAME

KINDS = ("engine", "probe", "meter", "importer", "transport", "scheduler", "snapshot", "template")
_ENDING = ".in"


class NotMade(BenchError):
    """Raised when the package can't be written."""

    code = "extension"


def new_package(kind: str, name: str, into: Path) -> Path:
    """Write a package with an extension of this kind in a new folder, `bench-NAME`, and return the folder. Raises
    NotMade."""
    if not NAME.fullmatch(name):
        raise NotMade(f"`{name}` can't be the name of {kind}: it is no word in small letters", "such as `my_store`")
    for registry in REGISTRIES:
        if registry.kind == kind and registry.find(name) is not None:
            owner = registry.source(name) or "benchbrief"
            raise NotMade(f"`{name}` is the {kind} of {owner} already", "take another name")
    folder = into / f"bench-{name.replace('_', '-')}"
    if folder.exists():
        raise NotMade(f"{folder} is there already", "give another name, or remove it")
    label = name.replace("_", " ").title()
    packages = [f"bench_{name}", *([f"bench_{name}.layout"] if kind == "template" else [])]
    values = {
        "name": name,
        "dashed": name.replace("_", "-"),
        "kind": kind,
        "Label": label,
        "Class": label.replace(" ", ""),
        "entries": "".join(_entries(kind, name)),
        "packages": ", ".join(f'"{each}"' for each in packages),
    }
    texts = dict(_texts("common")) | dict(_texts(kind))
    try:
        for path, text in texts.items():
            to = folder / path.replace("NAME", name)
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(re.sub(r"@(\w+)@", lambda hole: values[hole[1]], text), encoding="utf-8")
    except OSError as error:
        raise NotMade(f"{folder} can't be written: {error.strerror}", "choose another folder") from error
    return folder


def _texts(part: str) -> Iterator[tuple[str, str]]:
    def below(folder: Traversable, path: str) -> Iterator[tuple[str, str]]:
        for each in folder.iterdir():
            if each.is_dir():
                yield from below(each, f"{path}{each.name}/")
            elif each.name.endswith(_ENDING):
                yield path + each.name.removesuffix(_ENDING), each.read_text(encoding="utf-8")

    yield from below(files("benchbrief") / "data" / "kit" / part, "")


def _entries(kind: str, name: str) -> Iterator[str]:
    """Yield the package's entry points. benchbrief finds the specs by them."""
    package = f"bench_{name}.spec"
    found = (
        {kind: (name, "SPEC")} if kind != "engine" else {"engine": (name, "ENGINE"), "tool": (f"{name}_load", "TOOL")}
    )
    for each, (called, target) in found.items():
        group = next(registry.group for registry in REGISTRIES if registry.kind == each)
        yield f'\n[project.entry-points."{group}"]\n{called} = "{package}:{target}"\n'

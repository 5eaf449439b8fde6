"""The templates by name: their specs, and the places of their files."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

from benchbrief.compiler.extensions import TemplateSpec
from benchbrief.compiler.registry import TEMPLATE_SPECS, RefusedExtension
from benchbrief.model.extension_spec import raised
from benchbrief.reports.brief_error import ReportError

FIRST = "brief.html.j2"
"""The file of a template that includes the others."""


def template_of(name: str) -> TemplateSpec:
    """Return the spec of a template. Raises ReportError when it can't be used."""
    match TEMPLATE_SPECS.find(name):
        case TemplateSpec() as spec:
            return spec
        case RefusedExtension(source=source, why=why, hint=hint):
            raise ReportError(f"the template `{name}` of {source} can't be used: {why}", hint)
    known = ", ".join(TEMPLATE_SPECS.names)
    raise ReportError(f"there is no template `{name}`", f"install the package that has it, or write one of: {known}")


def folder_of(spec: TemplateSpec) -> Traversable:
    """Return the folder of a template's files. Raises ReportError when there is none."""
    try:
        folder = files(spec.implementation)
    except BaseException as error:  # importing another package may raise anything
        raise _unusable(spec, f"`{spec.implementation}` can't be imported: {raised(error)}") from error
    if not (folder / FIRST).is_file():
        raise _unusable(spec, f"`{spec.implementation}` has no file {FIRST}")
    return folder


def files_of_others(spec: TemplateSpec) -> tuple[str, ...]:
    """Return the paths of another package's template. Mistakes in them are reported by file and line."""
    own = spec.name in TEMPLATE_SPECS.own
    return () if own else tuple(str(file) for file in folder_of(spec).iterdir() if file.is_file())


def _unusable(spec: TemplateSpec, why: str) -> ReportError:
    package = TEMPLATE_SPECS.source(spec.name) or "benchbrief"
    return ReportError(f"the template `{spec.name}` of {package} can't be used: {why}", "install the package again")

"""Values that a spec only names, and that are read from this process's environment when needed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Database, Origin, Plan, Reference
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.secret_masking import KNOWN

_KINDS = {"env": "environment variable", "secret": "secret"}


def read_reference(reference: Reference, needed_by: str) -> str:
    """Return the value of a reference. Raises RunnerError if the value is not set. `needed_by` is the subject of the
    error's sentence ("the uri of database db")."""
    value = os.environ.get(reference.name)
    if not value:
        raise RunnerError(
            f"{needed_by} needs the {_KINDS[reference.kind]} {reference.name}, which is not set",
            _how_to_set([reference.name]),
        )
    if reference.kind == "secret":
        KNOWN.add(value)
    return value


def secrets_of(database: Database) -> tuple[str, ...]:
    """Return the values of the database's secrets that are set in the environment."""
    auth = database.start.auth if database.start else None
    named = [*database.uri, *((auth.user, auth.password, auth.key) if auth else ())]
    secret = (part for part in named if isinstance(part, Reference) and part.kind == "secret")
    return tuple(value for part in secret if (value := os.environ.get(part.name)))


@dataclass(frozen=True)
class Unset:
    """A reference without a value, what needs it, and where the need is declared."""

    reference: Reference
    needed_by: str
    origin: Origin

    @property
    def what(self) -> str:
        return f"{_KINDS[self.reference.kind]} {self.reference.name}"

    @property
    def hint(self) -> str:
        return _how_to_set([self.reference.name])


def find_unset(plan: Plan) -> list[Unset]:
    """Return the unset references that the plan's cells need, each with the first place that needs it."""
    missing: dict[tuple[str, str], Unset] = {}
    for each in _needed(plan):
        if not os.environ.get(each.reference.name):
            missing.setdefault((each.reference.kind, each.reference.name), each)
    return list(missing.values())


def refuse_unset(plan: Plan) -> None:
    """Raise RunnerError if the plan's cells need references that are not set. The error names all of them."""
    missing = find_unset(plan)
    if missing:
        listed = "; ".join(f"{each.needed_by} ({each.origin}) needs the {each.what}" for each in missing)
        are = "which is not set" if len(missing) == 1 else "which are not set"
        raise RunnerError(f"{listed}, {are}", _how_to_set([each.reference.name for each in missing]))


def _needed(plan: Plan) -> Iterator[Unset]:
    for key in dict.fromkeys(cell.database for cell in plan.cells):
        database = plan.databases[key]
        for part in database.uri:
            if isinstance(part, Reference):
                yield Unset(part, f"the uri of database {database.name}", database.origin)
        if database.start and (auth := database.start.auth):
            for what, value in (("user", auth.user), ("password", auth.password), ("key", auth.key)):
                if isinstance(value, Reference):
                    yield Unset(value, f"the {what} of database {database.name}", database.origin)
    metered = (cell.hardware for cell in plan.cells if any(probe.name == "power" for probe in cell.probes))
    for hardware in dict.fromkeys(metered):
        for meter in plan.hardware[hardware].power:
            for option in meter.options.values():
                if isinstance(option, Reference):
                    yield Unset(option, f"the power meter of {hardware}", meter.origin)


def _how_to_set(names: list[str]) -> str:
    exports = " ".join(f"{name}=..." for name in dict.fromkeys(names))
    return f"set {'it' if len(names) == 1 else 'them'} in the environment of `bench`: export {exports}"

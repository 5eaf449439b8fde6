"""Values that a spec only names, read from this process's environment when they are needed."""

from __future__ import annotations

import os

from benchbrief.compiler.plan import Reference
from benchbrief.runners.seams import RunnerError

_KINDS = {"env": "environment variable", "secret": "secret"}


def read_reference(reference: Reference, needed_by: str) -> str:
    """Raises RunnerError when it is not set, with `needed_by` as the sentence's subject ("the uri of database db")."""
    value = os.environ.get(reference.name)
    if not value:
        raise RunnerError(
            f"{needed_by} needs the {_KINDS[reference.kind]} {reference.name}, which is not set",
            f"set it in the environment of `bench`: export {reference.name}=...",
        )
    return value

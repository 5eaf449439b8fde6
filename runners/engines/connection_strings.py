"""Resolves references in servers' connection strings (RFC 3986), and percent-encodes credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote as percent_encode

from benchbrief.model.plan import Database, Template
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.journal.secret_references import read_reference, secrets_of


def resolve_uri(template: Template, database: Database) -> Secret:
    """Return the connection string, with references replaced by values from this process's environment.

    Values before the @ are percent-encoded, so that a password may contain any character. If one reference is the whole
    part before the @, its value is `user:password`. Raises RunnerError.
    """
    needed_by = f"the uri of database {database.name}"
    values = [part if isinstance(part, str) else read_reference(part, needed_by) for part in template]
    for index, whole in _credentials(template):
        user, colon, password = values[index].partition(":") if whole else (values[index], "", "")
        values[index] = percent_encode(user, safe="") + colon + percent_encode(password, safe="")
    return Secret("".join(values), name=f"uri of {database.name}", of=secrets_of(database))


def _credentials(template: Template) -> Iterator[tuple[int, bool]]:
    """Yield the index of each reference between :// and @, and whether the reference is all that is between them."""
    # A NUL replaces each reference, as no text of a spec contains one.
    text = "".join(part if isinstance(part, str) else "\0" for part in template)
    userinfo = re.match(r"[a-z][a-z0-9+.-]*://([^/?]*)@", text)
    if userinfo is None:
        return
    start, end = userinfo.span(1)
    references = [index for index, part in enumerate(template) if not isinstance(part, str)]
    places = [match.start() for match in re.finditer("\0", text)]
    for index, place in zip(references, places, strict=True):
        if start <= place < end:
            yield index, end - start == 1

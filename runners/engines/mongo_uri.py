"""MongoDB connection strings, taken apart and put together as text: looking their hosts up is for other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote as percent_encode

from benchbrief.compiler.plan import Database, Option, Template
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.references import read_reference
from benchbrief.runners.tasks import Secret

DEFAULT_PORT = 27017
DEFAULT_DATABASE = "ycsb"
_TLS = ("tls=true", "ssl=true", "tlscafile=", "tlscertificatekeyfile=")
"""Options that ask for TLS; those that name a file imply it."""
_URI = re.compile(r"(mongodb(?:\+srv)?://)(?:(.*)@)?([^/?@]+)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)


@dataclass(frozen=True)
class MongoUri:
    """`user` is the part before the @ ("" when there is none), `hosts` pairs names with ports."""

    scheme: str
    user: str
    hosts: tuple[tuple[str, int], ...]
    database: str
    options: tuple[str, ...]

    @property
    def looked_up(self) -> bool:
        """Whether the hosts are found by DNS (mongodb+srv)."""
        return self.scheme == "mongodb+srv://"

    @property
    def encrypted(self) -> bool:
        """Whether the server shows a certificate, which fits only the name that it is reached by."""
        return any(option.lower().startswith(_TLS) for option in self.options)

    @property
    def text(self) -> str:
        user = f"{self.user}@" if self.user else ""
        hosts = ",".join(name if self.looked_up else f"{_bracketed(name)}:{port}" for name, port in self.hosts)
        options = f"?{'&'.join(self.options)}" if self.options else ""
        return f"{self.scheme}{user}{hosts}/{self.database}{options}"

    def having(self, options: Mapping[str, Option]) -> MongoUri:
        """With more options, by the connection string's names for them."""
        return replace(self, options=(*self.options, *(f"{name}={_told(value)}" for name, value in options.items())))

    def direct(self, host: str, port: int) -> MongoUri:
        """The same credentials for one server at another address, without looking for the rest of its replica set."""
        dropped = ("replicaset=", "directconnection=", "loadbalanced=")
        kept = tuple(option for option in self.options if not option.lower().startswith(dropped))
        return replace(self, hosts=((host, port),), options=(*kept, "directConnection=true"))


def _told(value: Option) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return percent_encode(value, safe=",") if isinstance(value, str) else f"{value:.0f}"


def parse(uri: str) -> MongoUri:
    """Raises RunnerError, without showing the text, for what is no connection string."""
    match = _URI.fullmatch(uri)
    if match is None:
        raise RunnerError("the database's uri is not a MongoDB connection string", 'it is like "mongodb://host/ycsb"')
    scheme, user, hosts, database, options = match.groups()
    return MongoUri(
        scheme,
        user or "",
        tuple(_host(part) for part in hosts.split(",")),
        database or DEFAULT_DATABASE,
        tuple(option for option in (options or "").split("&") if option),
    )


def _host(text: str) -> tuple[str, int]:
    name, colon, port = text.rpartition(":")
    if text.startswith("[") and text.endswith("]"):
        return text[1:-1], DEFAULT_PORT
    if not colon:
        return text, DEFAULT_PORT
    if not port.isdigit():
        raise RunnerError("a port in the database's uri is not a number", 'it is like "mongodb://host:27017/ycsb"')
    return name.strip("[]"), int(port)


def _bracketed(name: str) -> str:
    return f"[{name}]" if ":" in name else name


def resolved(template: Template, database: Database) -> Secret:
    """The connection string with its references read from this process's environment. Raises RunnerError.

    What stands before the @ is percent-encoded, so that a password may hold any character. A reference that is all of
    it is `user:password`.
    """
    needed_by = f"the uri of database {database.name}"
    values = [part if isinstance(part, str) else read_reference(part, needed_by) for part in template]
    for index, whole in _credentials(template):
        user, colon, password = values[index].partition(":") if whole else (values[index], "", "")
        values[index] = percent_encode(user, safe="") + colon + percent_encode(password, safe="")
    return Secret("".join(values), name=f"uri of {database.name}")


def _credentials(template: Template) -> Iterator[tuple[int, bool]]:
    """The index of each reference between :// and @, and whether it is all that stands there."""
    # A reference holds the place of one NUL, which no text of a spec has.
    text = "".join(part if isinstance(part, str) else "\0" for part in template)
    userinfo = re.match(r"mongodb(?:\+srv)?://([^/?]*)@", text)
    if userinfo is None:
        return
    start, end = userinfo.span(1)
    references = [index for index, part in enumerate(template) if not isinstance(part, str)]
    places = [match.start() for match in re.finditer("\0", text)]
    for index, place in zip(references, places, strict=True):
        if start <= place < end:
            yield index, end - start == 1

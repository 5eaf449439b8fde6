"""A connection to one MongoDB server, and what goes wrong on it in our words. The only module that imports pymongo."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from benchbrief.compiler.plan import Database
from benchbrief.runners.errors import RunnerError, ServerFailed

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection

Address = tuple[str, int]
"""Host and port."""

_SELECT_TIMEOUT_MS = 10_000
_SOCKET_TIMEOUT_MS = 600_000
_NO_SUCH_COMMAND = 59


class Refused(ServerFailed):
    """The server answers, and will not do what was asked; `code` is its number for why."""

    def __init__(self, message: str, hint: str, code: int | None) -> None:
        super().__init__(message, hint)
        self.code = code


class Connection:
    """Every method raises ServerFailed: Refused where the server answers."""

    def __init__(
        self,
        uri: str,
        database: Database,
        last_words: Callable[[], str] = lambda: "",
        select_timeout_ms: int | None = None,
        *,
        tunnel: Address | None = None,
        to: Address | None = None,
    ) -> None:
        """Connects. `last_words` are those of the server's process, where it is ours.

        A `tunnel` is an address of this machine that leads `to` the server, which is the one to be told of.

        Raises RunnerError, too, for a uri that can't be read.
        """
        self._select_timeout_ms = select_timeout_ms or _SELECT_TIMEOUT_MS
        self._database = database
        self._last_words = last_words
        self._tunnel, self._to = tunnel, to
        self._client = self._connected(uri)
        self._beside = ExitStack()

    def also_close(self, opened: ExitStack) -> None:
        """What is needed for as long as the connection."""
        self._beside.push(opened)

    def command(self, name: str, value: object = 1, **more: object) -> Mapping[str, Any]:
        """The answer to an administrative command."""
        asked: dict[str, Any] = {name: value, **more}
        with self.reaching():
            return self._client.admin.command(asked)

    def hello(self) -> Mapping[str, Any]:
        """The server's role; `isMaster` is the name that older servers know."""
        try:
            return self.command("hello")
        except Refused as error:
            if error.code != _NO_SUCH_COMMAND:
                raise
            return self.command("isMaster")

    def collection(self, database: str, name: str) -> Collection[dict[str, Any]]:
        """To be used within `reaching`."""
        return self._client[database][name]

    def close(self) -> None:
        self._client.close()
        self._beside.close()

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Turns what pymongo raises into ServerFailed; its messages hold addresses, never credentials."""
        from pymongo.errors import OperationFailure, PyMongoError

        try:
            yield
        except OperationFailure as error:
            raise Refused(
                f"the server of database {self._database.name} refuses: {self._short(error)}",
                "are the credentials right, and allowed to drop and count collections?",
                error.code,
            ) from None
        except PyMongoError as error:
            words = self._last_words()
            said = f"; its last words: {words}" if words else ""
            raise ServerFailed(
                f"the server of database {self._database.name} can't be reached: {self._short(error)}{said}",
                "is it running, and the address right?",
            ) from None

    def _connected(self, uri: str) -> MongoClient[dict[str, Any]]:
        from pymongo import MongoClient
        from pymongo.errors import InvalidURI

        name, origin = self._database.name, self._database.origin
        with self.reaching():
            # It only warns of an option that it does not know or can't read, and goes on without it.
            with warnings.catch_warnings(record=True) as ignored:
                warnings.simplefilter("always")
                try:
                    client: MongoClient[dict[str, Any]] = MongoClient(
                        uri,
                        appname="benchbrief",
                        serverSelectionTimeoutMS=self._select_timeout_ms,
                        socketTimeoutMS=_SOCKET_TIMEOUT_MS,
                    )
                except (InvalidURI, ValueError):  # what they say may quote a part of the password
                    raise RunnerError(
                        f"the uri of database {name} can't be read",
                        "a `/`, `?`, `@`, `:` or `%` in a user or password must be percent-encoded, or come from "
                        f"{{secret(NAME)}}; a port is at most 65535 ({origin})",
                    ) from None
            try:
                for warning in ignored:
                    if issubclass(warning.category, UserWarning):
                        raise RunnerError(
                            f"the uri of database {name}: {warning.message}", f"mend the uri's options ({origin})"
                        )
                client.admin.command("ping")
            except BaseException:
                client.close()
                raise
        return client

    def _short(self, error: Exception) -> str:
        """The first sentence: pymongo appends its whole view of the cluster."""
        text = str(error).split(", Timeout:")[0].split(", full error:")[0]
        if self._tunnel and self._to:
            tunnel, to = (f"{host}:{port}" for host, port in (self._tunnel, self._to))
            text = re.sub(rf"(?<![\w.]){re.escape(tunnel)}(?!\d)", lambda _: to, text)
        return text[:300]

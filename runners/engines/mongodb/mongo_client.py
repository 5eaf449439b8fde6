"""A connection to one MongoDB server, and its errors in our words. Only this module imports pymongo."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from benchbrief.model.message import Message, speaker
from benchbrief.model.plan import Database
from benchbrief.model.run_messages import RunMessages
from benchbrief.runners.errors import PlanRefused, RunnerError, ServerFailed

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection

    Records = Collection[dict[str, Any]]


class MongodbMessages(RunMessages, Protocol):
    def sent_by_controller(self, *, why: object) -> Message: ...
    def certificate_names(self) -> Message: ...
    def not_undone(self, *, name: object, found: object, n: object) -> Message: ...
    def keys_unknown(self, *, name: object, tool: object) -> Message: ...
    def count_changed(self, *, name: object, found: object, n: object) -> Message: ...
    def size_not_told(self, *, name: object) -> Message: ...
    def warm_up_embedded(self, *, seconds: object) -> Message: ...
    def other_server(self, *, product: object, speaks: object) -> Message: ...
    def nameless_server(self, *, speaks: object) -> Message: ...
    def unknown_server(self) -> Message: ...
    def stand_in(self, *, product: object) -> Message: ...
    def stand_in_memory(self, *, product: object) -> Message: ...
    def stand_in_file(self, *, product: object) -> Message: ...
    def server_unreachable(self, *, database: object, said: object) -> Message: ...
    def stepped_down(self, *, database: object, said: object) -> Message: ...
    def primary_moved(self, *, database: object, now: object, before: object) -> Message: ...
    def no_writable(self, *, database: object, said: object) -> Message: ...
    def in_no_set(self, *, database: object, asked: object, at: object) -> Message: ...
    def in_other_set(self, *, database: object, asked: object, at: object, its: object) -> Message: ...
    def not_caught_up(self, *, database: object, seconds: object, said: object) -> Message: ...
    def no_login(self, *, database: object, said: object) -> Message: ...
    def embedded_ended(self, *, host: object, said: object) -> Message: ...
    def embedded_deaf(self, *, host: object, seconds: object, said: object) -> Message: ...
    def documents_left(self, *, n: object, collection: object) -> Message: ...
    def too_many_documents(self, *, collection: object, found: object, n: object) -> Message: ...
    def member_ended(self, *, member: object, host: object, said: object) -> Message: ...
    def last_words(self, *, said: object, words: object) -> Message: ...
    def generator_says(self, *, n: object) -> Message: ...
    def foreign_changes(self, *, name: object, found: object, n: object) -> Message: ...
    def foreign_values(self, *, what: object) -> Message: ...
    def values_changed(self, *, name: object, n: object) -> Message: ...
    def hint_password(self) -> Message: ...
    def hint_server_output(self) -> Message: ...
    def hint_election(self) -> Message: ...
    def hint_running(self) -> Message: ...
    def hint_running_origin(self, *, origin: object) -> Message: ...
    def hint_set(self, *, origin: object) -> Message: ...
    def hint_load_log(self) -> Message: ...
    def hint_writable(self) -> Message: ...
    def hint_lag(self, *, origin: object) -> Message: ...
    def of_database(self, *, database: object, what: object) -> Message: ...


say: MongodbMessages = speaker(MongodbMessages)


Address = tuple[str, int]
"""A host and a port."""

_SELECT_TIMEOUT_MS = 10_000
_SOCKET_TIMEOUT_MS = 600_000
_NO_SUCH_COMMAND = 59


def encoded(record: Mapping[str, Any]) -> bytes:
    """Return a record as BSON, the form in which MongoDB keeps it."""
    from bson import encode

    return encode(record)


class RefusedByServer(ServerFailed):
    """The server answers, but refuses the request. `server_code` is its error number."""

    def __init__(self, message: str, hint: str, code: int | None) -> None:
        super().__init__(message, hint)
        self.server_code = code


class Connection:
    """A connection to one server. Every method raises ServerFailed, or RefusedByServer when the server answers."""

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
        """Connect. `last_words` returns the end of the output of a server process that we started.

        `tunnel` is an address on this machine that leads to the server at `to`; messages name `to`. Raises RunnerError
        for a URI that can't be read.
        """
        self._select_timeout_ms = select_timeout_ms or _SELECT_TIMEOUT_MS
        self._database = database
        self._last_words = last_words
        self._tunnel, self._to = tunnel, to
        self._client = self._connected(uri)
        self._beside = ExitStack()

    def also_close(self, opened: ExitStack) -> None:
        """Close `opened` together with the connection."""
        self._beside.push(opened)

    def command(self, name: str, value: object = 1, *, on: str = "admin", **more: object) -> Mapping[str, Any]:
        """Return the answer to a command, sent to the database `on`."""
        asked: dict[str, Any] = {name: value, **more}
        with self.reaching():
            return self._client[on].command(asked)

    def hello(self) -> Mapping[str, Any]:
        """Return the server's role. Older servers know the command as `isMaster`."""
        try:
            return self.command("hello")
        except RefusedByServer as error:
            if error.server_code != _NO_SUCH_COMMAND:
                raise
            return self.command("isMaster")

    def collection(self, database: str, name: str) -> Records:
        """Return a collection, for use within `reaching`. Raises RunnerError for an invalid database name."""
        from pymongo.errors import InvalidName

        try:
            return self._client[database][name]
        except InvalidName:
            raise PlanRefused(
                f"the uri of database {self._database.name} names a database that can't be",
                'its name, after the last `/`, has no blank and none of / \\ . " $ * < > : | ? '
                f"({self._database.origin})",
            ) from None

    def close(self) -> None:
        self._client.close()
        self._beside.close()

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Convert pymongo's errors to ServerFailed. Its messages contain addresses, never credentials."""
        from pymongo.errors import NotPrimaryError, OperationFailure, PyMongoError

        try:
            yield
        except NotPrimaryError as error:
            remark = say.stepped_down(database=self._database.name, said=self._short(error))
            raise ServerFailed(remark, say.hint_election()) from None
        except OperationFailure as error:
            raise RefusedByServer(
                f"the server of database {self._database.name} refuses: {self._short(error)}",
                "are the credentials right, and allowed to drop and count collections?",
                error.code,
            ) from None
        except PyMongoError as error:
            words, said = self._last_words(), self._short(error)
            raise ServerFailed(
                say.server_unreachable(
                    database=self._database.name, said=say.last_words(said=said, words=words) if words else said
                ),
                say.hint_running(),
            ) from None

    def _connected(self, uri: str) -> MongoClient[dict[str, Any]]:
        from pymongo import MongoClient
        from pymongo.errors import InvalidURI

        name, origin = self._database.name, self._database.origin
        with self.reaching():
            # pymongo only warns of an option that it does not know or can't read, and continues without it.
            with warnings.catch_warnings(record=True) as ignored:
                warnings.simplefilter("always")
                try:
                    client: MongoClient[dict[str, Any]] = MongoClient(
                        uri,
                        appname="benchbrief",
                        serverSelectionTimeoutMS=self._select_timeout_ms,
                        socketTimeoutMS=_SOCKET_TIMEOUT_MS,
                    )
                except (InvalidURI, ValueError):  # the message may quote a part of the password
                    raise PlanRefused(
                        f"the uri of database {name} can't be read",
                        "a `/`, `?`, `@`, `:` or `%` in a user or password must be percent-encoded, or come from "
                        f"{{secret(NAME)}}; a port is at most 65535 ({origin})",
                    ) from None
                except OSError as error:  # from a certificate or a key file
                    raise RunnerError(
                        f"a file that the uri of database {name} names can't be used: {error.strerror or error}",
                        f"the controller reads it, too: it has to be there under the same path ({origin})",
                    ) from None
            try:
                for warning in ignored:
                    if issubclass(warning.category, UserWarning):
                        raise PlanRefused(
                            f"the uri of database {name}: {warning.message}", f"mend the uri's options ({origin})"
                        )
                client.admin.command("ping")
            except BaseException:
                client.close()
                raise
        return client

    def _short(self, error: Exception) -> str:
        """Return the first sentence: pymongo appends its whole view of the cluster."""
        text = str(error).split(", Timeout:")[0].split(", full error:")[0]
        if self._tunnel and self._to:
            tunnel, to = (f"{host}:{port}" for host, port in (self._tunnel, self._to))
            text = re.sub(rf"(?<![\w.]){re.escape(tunnel)}(?!\d)", lambda _: to, text)
        return text[:300]

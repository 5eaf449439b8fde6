"""A language client for tests, which starts the real `bench lsp` and speaks the protocol over its pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any
from urllib.parse import quote

BENCH = str(Path(sys.executable).with_name("bench"))
COMMAND = (BENCH, "lsp")
PATIENCE_S = 60.0  # machines that run tests are busy
Message = dict[str, Any]


class RequestError(Exception):
    def __init__(self, error: Message) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """One session. `start` sends `initialize`. The messages that the server sends on its own are collected in `inbox`,
    in order."""

    def __init__(self, folder: Path, command: tuple[str, ...] = COMMAND) -> None:
        self.folder = folder
        self.errors = (folder / "stderr.txt").open("w+b")
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors
        )
        assert self.process.stdin
        assert self.process.stdout
        self._stdin: IO[bytes] = self.process.stdin
        self._stdout: IO[bytes] = self.process.stdout
        self._messages: Queue[Message | None] = Queue()
        self.inbox: list[Message] = []
        self._replies: dict[int, Message] = {}
        self._last_id = 0
        self._holds = False
        self._versions: dict[str, int] = {}
        self.capabilities: Message = {}
        threading.Thread(target=self._read, daemon=True).start()

    # --- the wire ---

    def _read(self) -> None:
        try:
            while header := self._stdout.readline():
                length = int(header.removeprefix(b"Content-Length: "))
                while self._stdout.readline().strip():
                    pass
                self._messages.put(json.loads(self._stdout.read(length)))
        finally:
            self._messages.put(None)

    def send_bytes(self, body: bytes) -> None:
        self._stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        if not self._holds:
            self._stdin.flush()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send all messages of the block to the server at once."""
        self._holds = True
        yield
        self._holds = False
        self._stdin.flush()

    def send(self, message: Message) -> None:
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def next_message(self) -> Message:
        try:
            message = self._messages.get(timeout=PATIENCE_S)
        except Empty:
            raise AssertionError("the server is silent") from None
        assert message is not None, f"the server is gone: {self.said_on_stderr()}"
        return message

    def said_on_stderr(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode()

    # --- requests and notifications ---

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request, and return its id."""
        self._last_id += 1
        self.send({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def answer(self, request: int) -> Any:
        """Return the result of a request. Raises RequestError."""
        while request not in self._replies:
            self._take(self.next_message())
        reply = self._replies.pop(request)
        if "error" in reply:
            raise RequestError(reply["error"])
        return reply["result"]

    def _take(self, message: Message) -> None:
        if "method" not in message:
            self._replies[message["id"]] = message
            return
        self.inbox.append(message)
        if "id" in message:  # the server asks; all that ours asks may be answered with nothing
            self.send({"id": message["id"], "result": None})

    def request(self, method: str, params: Any = None) -> Any:
        return self.answer(self.ask(method, params))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def wait_for(self, wanted: Callable[[Message], bool]) -> Message:
        """Return the first message for which `wanted` holds, and remove it from the inbox. Only messages that the
        server sends on its own count, whether they have arrived already or not."""
        seen = 0
        while True:
            for index in range(seen, len(self.inbox)):
                if wanted(self.inbox[index]):
                    return self.inbox.pop(index)
            seen = len(self.inbox)
            self._take(self.next_message())

    # --- the life of a session ---

    def start(self, capabilities: Message | None = None) -> Client:
        result = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": self.folder.as_uri(),
                "workspaceFolders": [{"uri": self.folder.as_uri(), "name": "specs"}],
                "capabilities": capabilities or {},
            },
        )
        self.capabilities = result["capabilities"]
        self.notify("initialized", {})
        return self

    def stop(self) -> int:
        """Shut the server down as an editor does, and return its exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(PATIENCE_S)

    def hang_up(self) -> int:
        """Disconnect without a message, and return the server's exit code."""
        self._stdin.close()
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        try:
            self.hang_up()
        finally:
            self.process.kill()
            self.process.wait()
            self.errors.close()

    # --- documents ---

    def uri(self, name: str) -> str:
        return name if ":" in name else "file://" + quote(str(self.folder / name))

    def open(self, name: str, text: str) -> str:
        uri = self.uri(name)
        self._versions[uri] = 1
        document = {"uri": uri, "languageId": "bench", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, *changes: Message) -> int:
        """Send changes (`{"range": ..., "text": ...}`, or `{"text": ...}` for the whole text), and return the new
        version."""
        self._versions[uri] += 1
        identifier = {"uri": uri, "version": self._versions[uri]}
        self.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": list(changes)})
        return self._versions[uri]

    def close_document(self, uri: str) -> None:
        del self._versions[uri]
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def close_all(self) -> None:
        """Close all open documents, and forget their diagnostics."""
        for uri in list(self._versions):
            self.close_document(uri)
        # The answer comes after the diagnostics of what is open now: none of them reaches the next test.
        self.at("hover", self.uri("none.bench"), 0, 0)
        self.inbox.clear()

    def diagnostics(self, uri: str) -> list[Message]:
        """Wait for the diagnostics of the document's last version, and return them."""
        version = self._versions.get(uri)

        def wanted(message: Message) -> bool:
            params: Message = message.get("params") or {}
            is_wanted = message["method"] == "textDocument/publishDiagnostics"
            return bool(is_wanted and params["uri"] == uri and params.get("version") == version)

        found: list[Message] = self.wait_for(wanted)["params"]["diagnostics"]
        return found

    def at(self, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """Return the answer to a request about a position."""
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.request(f"textDocument/{method}", {**place, **more})


@contextmanager
def session(folder: Path, capabilities: Message | None = None, command: tuple[str, ...] = COMMAND) -> Iterator[Client]:
    client = Client(folder, command)
    try:
        yield client.start(capabilities)
    finally:
        client.close()

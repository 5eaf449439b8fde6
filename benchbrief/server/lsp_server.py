"""The state of the language server: our documents, and what was found in them.

Checking is in a thread of its own and never piles up: while one check runs, later changes only mark that another is
due, and what was found is sent only if no change came meanwhile. It says of which versions it is.
"""

from __future__ import annotations

import asyncio
import traceback
from concurrent.futures import ThreadPoolExecutor

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

import benchbrief
from benchbrief.server.check_open_files import Checked, check_all
from benchbrief.server.documents import Documents
from benchbrief.server.protocol import Protocol
from benchbrief.server.spec_view import Views


class BenchServer(LanguageServer):
    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("bench", benchbrief.__version__, protocol_cls=Protocol)
        self.documents = Documents()
        self.protocol.documents = self.documents
        self.views = Views(self.documents)
        self.checked: Checked | None = None
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        """What the client was sent last, by URI."""
        self._due = False
        self._checking: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(1, "check")

    def check_soon(self) -> None:
        """Check what is open, after the check that may be under way."""
        self._due = True
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._check())

    async def _check(self) -> None:
        while self._due:
            self._due = False
            snapshot = self.documents.snapshot()
            loop = asyncio.get_running_loop()
            try:
                checked = await loop.run_in_executor(self._pool, check_all, snapshot, self.checked)
            except Exception:
                self.log_error("checking failed", traceback.format_exc())
                continue
            self.checked = checked
            if not self._due:
                self._publish(checked)

    async def newest(self) -> Checked | None:
        """What was found in the documents as they are now."""
        if self._checking is not None:
            await asyncio.shield(self._checking)
        return self.checked

    @property
    def takes_snippets(self) -> bool:
        document = self.client_capabilities.text_document
        items = document.completion.completion_item if document and document.completion else None
        return bool(items and items.snippet_support)

    def _publish(self, checked: Checked) -> None:
        findings = checked.findings()
        versions = {buffer.uri: buffer.version for buffer in checked.snapshot.open.values()}
        for uri in self.published.keys() - findings.keys():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            del self.published[uri]
        for uri, found in findings.items():
            params = types.PublishDiagnosticsParams(uri, [finding.shown for finding in found], versions.get(uri))
            if self.published.get(uri) != params:
                self.text_document_publish_diagnostics(params)
                self.published[uri] = params

    def log_error(self, what: str, detail: str) -> None:
        """For the client's log: a mistake of ours, which the user can only report."""
        message = f"bench lsp: {what}; this is a bug, please report it\n{detail}"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def report_server_error(self, error: Exception, source: object) -> None:
        if source is not FeatureRequestError:  # those are in the answer to the request
            self.log_error(str(error), "".join(traceback.format_exception(error)))

"""The state of the language server: our documents, and what was found in them.

Checking is in a thread of its own and never piles up: while one check runs, later changes only mark that another is
due, and what was found is sent only if no change came meanwhile. It says of which versions it is."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lsprotocol import types
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

import benchbrief
from benchbrief.server.check_open_files import Checked, check_all
from benchbrief.server.documents import Documents
from benchbrief.server.spec_view import Views


class Protocol(LanguageServerProtocol):
    documents: Documents
    """The server's: what its client has open."""

    @property
    def was_shut_down(self) -> bool:
        return self._shutdown

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    def handle_message(self, message: Any) -> None:
        request = getattr(message, "id", None) is not None and hasattr(message, "method")
        if self._shutdown and request:
            error = JsonRpcInvalidRequest("the server is shutting down")
            self._send_response(message.id, error=error.to_response_error())
        elif self._workspace is None and request and message.method != types.INITIALIZE:
            code = int(types.ErrorCodes.ServerNotInitialized)
            self._send_response(message.id, error=types.ResponseError(code, "the server is not initialized yet"))
        else:
            super().handle_message(message)

    # Overridden under the names that pygls has for them: it registers what it finds.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        document = params.text_document
        self.documents.opened(document.uri, document.version, document.text)
        yield from self._then(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        document = params.text_document
        self.documents.changed(document.uri, document.version, list(params.content_changes))
        yield from self._then(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        self.documents.closed(params.text_document.uri)
        yield from self._then(types.TEXT_DOCUMENT_DID_CLOSE, params)

    def _then(self, method: str, params: Any) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None


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

"""What the protocol asks of a server beside its features, where pygls leaves it to us.

Documents are kept here and not in pygls' workspace, whose lines end where `str.splitlines` says. A request that can't
be understood, or comes after `shutdown`, is answered with an error.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method

from benchbrief.server.documents import Documents


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

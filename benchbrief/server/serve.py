"""The language server: pygls with our features, its state, and its loop over standard input and output.

Checks run in a separate thread and never pile up. If a file changes during a check, another check follows. Findings are
sent only if nothing has changed meanwhile.
"""

from __future__ import annotations

import asyncio
import difflib
import gc
import io
import logging
import os
import re
import sys
import traceback
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from lsprotocol import types
from pygls import uris
from pygls.exceptions import FeatureRequestError, JsonRpcException, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

import benchbrief
from benchbrief.dsl.diagnostics.diagnostic import SpecError, Suggestion
from benchbrief.dsl.formatter import edited, format_source
from benchbrief.server import complete_word, hover, navigation
from benchbrief.server.check_open_files import Analysis, Checked, ShownFinding, check_all
from benchbrief.server.documents import Documents, DocumentText, Parsed
from benchbrief.server.spec_view import View, Views


class BenchProtocol(LanguageServerProtocol):
    documents: Documents
    """The documents that the client has open."""

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

    # These override pygls's methods of the same names, since pygls registers the methods that it finds.

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
    protocol: BenchProtocol

    def __init__(self) -> None:
        super().__init__("bench", benchbrief.__version__, protocol_cls=BenchProtocol)
        self.documents = Documents()
        self.protocol.documents = self.documents
        self.views = Views(self.documents)
        self.checked: Checked | None = None
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        """The diagnostics that were last sent to the client, by URI."""
        self._due = False
        self._checking: asyncio.Task[None] | None = None
        self._pool = ThreadPoolExecutor(1, "check")

    def check_soon(self) -> None:
        """Check the open files or, if a check is running, check them again after it."""
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
        """Wait for the current check, if there is one, and return the latest results."""
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
        """Write a bug in the server to the client's log, so that a user can report it."""
        message = f"bench lsp: {what}; this is a bug, please report it\n{detail}"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, message))

    def report_server_error(self, error: Exception, source: object) -> None:
        if source is not FeatureRequestError:  # those errors are in the answer to the request
            self.log_error(str(error), "".join(traceback.format_exception(error)))


_USE = re.compile(r'^[ \t]*use[ \t]+"([^"\r\n]*)', re.MULTILINE)
_PLACES = ("*.bench", "*/*.bench", "../*.bench", "../*/*.bench")
_MOST = 200


def used_files(document: DocumentText, position: types.Position, path: Path) -> list[types.CompletionItem] | None:
    """Return completion items for a cursor in the text after `use`, or None if the cursor is elsewhere."""
    offset = document.offset(position)
    here = next((use for use in _USE.finditer(document.text) if use.start(1) <= offset <= use.end(1)), None)
    if here is None:
        return None
    folder, place = path.parent, document.range(*here.span(1))
    found = (file for pattern in _PLACES for file in sorted(folder.glob(pattern)))
    names = (os.path.relpath(file, folder) for file in found if file.resolve() != path.resolve())
    items = {
        name: types.CompletionItem(
            name, kind=types.CompletionItemKind.File, text_edit=types.TextEdit(place, name), filter_text=name
        )
        for name in islice(names, _MOST)
    }
    for rank, item in enumerate(items.values()):
        item.sort_text = f"{rank:04}"
    return list(items.values())


def formatted(file: Parsed) -> list[types.TextEdit]:
    """Return edits for the lines that `bench fmt` would change. Raises SpecError on a syntax error."""
    return changed_lines(file.text, format_source(file.whole))


def changed_lines(text: DocumentText, after: str) -> list[types.TextEdit]:
    """Return an edit for each group of consecutive lines that differ."""
    old, new = text.lines, DocumentText(after, text.encoding).lines
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    offsets = [*text.line_starts, len(text.text)]
    return [
        types.TextEdit(text.range(offsets[first], offsets[last]), "".join(new[start:end]))
        for tag, first, last, start, end in matcher.get_opcodes()
        if tag != "equal"
    ]


def fixes(analysis: Analysis, findings: list[ShownFinding], where: types.Range) -> list[types.CodeAction]:
    """Return a quick fix for each suggestion whose diagnostic touches the range."""
    actions = []
    for finding in findings:
        suggestion = finding.diagnostic.suggestion
        marked = finding.shown.range
        changes = _changes(analysis, suggestion) if suggestion else {}
        if suggestion is None or not changes or marked.end < where.start or where.end < marked.start:
            continue
        actions.append(
            types.CodeAction(
                title=_title(finding.diagnostic.help, suggestion),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[finding.shown],
                is_preferred=True,
                edit=types.WorkspaceEdit(changes=changes),
            )
        )
    if len(actions) > 1:
        for action in actions:
            action.is_preferred = len({each.title for each in actions}) == 1
    return actions


def _changes(analysis: Analysis, suggestion: Suggestion) -> dict[str, list[types.TextEdit]]:
    """Return a fix's edits by file, or no edits if one of them belongs to an unknown file. If a fix has several edits,
    the file's layout is restored afterwards."""
    changes: dict[str, list[types.TextEdit]] = {}
    for file in analysis.files:
        spans = [edit for edit in suggestion.edits if file.holds(edit.span)]
        if spans and not suggestion.also:
            changes[file.uri] = [types.TextEdit(file.range(suggestion.span), suggestion.replacement)]
        elif spans:
            starts = [file.offset(edit.span) for edit in spans]
            edits = [
                (start, start + edit.span.end - edit.span.start, edit.replacement)
                for start, edit in zip(starts, spans, strict=True)
            ]
            changes[file.uri] = changed_lines(file.text, edited(file.whole, edits))
    found = sum(file.holds(edit.span) for file in analysis.files for edit in suggestion.edits)
    return changes if found == len(suggestion.edits) else {}


def _title(advice: str, suggestion: Suggestion) -> str:
    """Describe a fix in one line."""
    if suggestion.also:
        return advice[:1].upper() + advice[1:]
    return f"Change to `{suggestion.replacement}`" if suggestion.replacement else "Take it away"


class _Positioned(Protocol):
    @property
    def text_document(self) -> types.TextDocumentIdentifier: ...
    @property
    def position(self) -> types.Position: ...


def add_features(server: BenchServer) -> None:
    _add_session(server)
    _add_navigation(server)
    _add_writing(server)


def _add_session(server: BenchServer) -> None:
    @server.feature(types.INITIALIZE)
    def _initialize(params: types.InitializeParams) -> None:
        folders = params.workspace_folders
        uri = folders[0].uri if folders else params.root_uri
        path = uris.to_fs_path(uri) if uri else params.root_path
        named = [uris.to_fs_path(folder.uri) for folder in folders] if folders else [path]
        server.documents.folders = tuple(Path(name) for name in named if name and Path(name).is_dir())
        if path and Path(path).is_dir():
            server.documents.root = Path(path)
            os.chdir(path)  # files are called by their names from here, as on the command line
        server.documents.encoding = types.PositionEncodingKind(server.workspace.position_encoding)

    @server.feature(types.INITIALIZED)
    def _initialized(_params: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(glob_pattern="**/*.bench")]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
            wanted = types.Registration("bench-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([wanted]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def _opened(params: types.DidOpenTextDocumentParams) -> None:
        server.published.pop(params.text_document.uri, None)  # a new editor has not been sent anything yet
        server.check_soon()

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _changed(_params: Any) -> None:
        server.check_soon()


def _add_navigation(server: BenchServer) -> None:
    views = server.views

    def at(params: _Positioned) -> tuple[View, int] | None:
        view = views.of(params.text_document.uri)
        return (view, view.file.text.offset(params.position)) if view else None

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def _definition(params: types.DefinitionParams) -> list[types.Location]:
        here = at(params)
        return navigation.definitions(*here) if here else []

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def _references(params: types.ReferenceParams) -> list[types.Location]:
        here = at(params)
        declaration = params.context.include_declaration
        known = views.with_users(params.text_document.uri)
        return navigation.references(known, *here, declaration=declaration) if here else []

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def _highlight(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        here = at(params)
        return navigation.highlights(*here) if here else []

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def _prepare_rename(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        here = at(params)
        if here is None:
            return None
        occurrence, where = navigation.renamable(*here)
        return types.PrepareRenamePlaceholder(where, occurrence.symbol.word)

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    def _rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        here = at(params)
        known = views.with_users(params.text_document.uri)
        return navigation.rename(known, *here, params.new_name) if here else None

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def _outline(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        view = views.of(params.text_document.uri)
        return navigation.outline(view) if view else []

    @server.feature(types.WORKSPACE_SYMBOL)
    def _symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        every = [view for buffer in server.documents.open.values() for view in views.every(buffer.uri)]
        return navigation.named(every, params.query)


def _add_writing(server: BenchServer) -> None:
    views = server.views

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=list(complete_word.TRIGGERS))
    )
    def _complete(params: types.CompletionParams) -> types.CompletionList:
        view = views.of(params.text_document.uri)
        after = params.context.trigger_character if params.context else None
        files = used_files(view.file.text, params.position, view.file.path) if view else None
        if files is not None:
            return types.CompletionList(is_incomplete=False, items=files)
        takes = server.takes_snippets
        complete = complete_word.complete
        items = complete(view.file.text, params.position, view.index, snippets=takes, after=after) if view else []
        return types.CompletionList(is_incomplete=False, items=items)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def _hover(params: types.HoverParams) -> types.Hover | None:
        checked = await server.newest()
        uri = params.text_document.uri
        view = views.of(uri)
        if view is None:
            return None
        analysis = checked.of(uri) if checked else None
        findings = list(analysis.found.get(uri, ())) if analysis else []
        return hover.hover(view, analysis.model if analysis else None, findings, params.position)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def _format(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        view = views.of(params.text_document.uri)
        try:
            return formatted(view.file) if view else None
        except SpecError:
            return None  # the diagnostics say where it can't be read

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    async def _fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        only = params.context.only
        if only and types.CodeActionKind.QuickFix not in only and types.CodeActionKind.Empty not in only:
            return []
        checked = await server.newest()
        uri = params.text_document.uri
        analysis = checked.of(uri) if checked else None
        return fixes(analysis, list(analysis.found.get(uri, ())), params.range) if analysis else []


_READ_AT_ONCE = 1 << 16
_LONGEST = 1 << 28
"""The largest accepted message, in bytes."""
_SWITCH_S = 0.0005  # so that a check under way delays the reading of messages by little
_COLLECT_AT = 100_000  # objects, several checks' worth: what a check leaves behind has no cycles


class _Bounded(io.BufferedReader):
    """Standard input that refuses messages longer than any spec. The server reserves the memory for a message before
    the message arrives."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size) if size is not None and size <= _LONGEST else b"{}"  # invalid, so the client is told


def serve() -> int:
    """Speak the protocol on standard input and output until `exit`, or until the client is gone.

    Returns the exit code: 0 after `shutdown`, otherwise 1.
    """
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()  # modules stay in memory, so garbage collection can skip them
    gc.set_threshold(_COLLECT_AT)
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    # Nothing that code prints may get between the messages.
    channel = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = BenchServer()
    add_features(server)
    server.start_io(_Bounded(io.FileIO(sys.stdin.fileno(), closefd=False), _READ_AT_ONCE), channel)
    return 0 if server.protocol.was_shut_down else 1

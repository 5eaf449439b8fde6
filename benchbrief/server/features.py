"""The features of the protocol, each answered by the module that it is about."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lsprotocol import types
from pygls import uris

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.server import edits, hover, navigation, symbols
from benchbrief.server.completing import complete_word
from benchbrief.server.spec_view import View
from benchbrief.server.used_file_completion import used_files

if TYPE_CHECKING:
    from benchbrief.server.lsp_server import BenchServer


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
        server.published.pop(params.text_document.uri, None)  # its editor is a new one, which was sent nothing
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
        return symbols.outline(view) if view else []

    @server.feature(types.WORKSPACE_SYMBOL)
    def _symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        every = [view for buffer in server.documents.open.values() for view in views.every(buffer.uri)]
        return symbols.named(every, params.query)


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
            return edits.formatted(view.file) if view else None
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
        return edits.fixes(analysis, list(analysis.found.get(uri, ())), params.range) if analysis else []

"""Tests the life of a session: its start, its end, and events that must not end it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchbrief.server.documents import Documents
from tests.server.specs import SMALL
from tests.support.lsp import BENCH, PATIENCE_S, Client, RequestError, session


def test_a_session_from_before_its_start_to_after_its_end(tmp_path: Path) -> None:
    """Requests are answered only between the start and the end. The start lists the server's abilities, and the end has
    code 0."""
    client = Client(tmp_path)
    try:
        with pytest.raises(RequestError, match="not initialized") as refused:
            client.at("hover", "file:///x", 0, 0)
        assert refused.value.code == -32002

        able = client.start({"textDocument": {"rename": {"prepareSupport": True}}}).capabilities
        assert able["textDocumentSync"]["change"] == 2
        assert able["textDocumentSync"]["openClose"] is True
        assert able["renameProvider"] == {"prepareProvider": True}
        assert able["codeActionProvider"]["codeActionKinds"] == ["quickfix"]
        assert "." in able["completionProvider"]["triggerCharacters"]
        for feature in ("hover", "definition", "references", "documentHighlight", "documentSymbol"):
            assert able[f"{feature}Provider"], feature
        assert able["documentFormattingProvider"]

        client.request("shutdown")
        with pytest.raises(RequestError, match="shutting down") as refused:
            client.at("hover", "file:///x", 0, 0)
        assert refused.value.code == -32600
        client.notify("exit")
        assert client.process.wait(PATIENCE_S) == 0
    finally:
        client.close()


def test_without_shutdown_exit_ends_with_code_1(tmp_path: Path) -> None:
    with session(tmp_path) as client:
        client.notify("exit")
        assert client.process.wait(PATIENCE_S) == 1


def test_the_server_ends_when_its_client_goes_away(tmp_path: Path) -> None:
    with session(tmp_path) as client:
        client.open("small.bench", SMALL)
        assert client.hang_up() == 1
        assert client.said_on_stderr() == ""


def test_a_message_of_a_tebibyte_is_passed_over(client: Client) -> None:
    assert client.process.stdin is not None
    client.process.stdin.write(b"Content-Length: 1099511627776\r\n\r\n")
    with pytest.raises(RequestError):
        client.request("no/such/request")
    assert client.process.poll() is None


def test_an_unknown_request_is_refused_and_an_unknown_notification_ignored(client: Client) -> None:
    with pytest.raises(RequestError) as refused:
        client.request("bench/unheardOf", {})
    assert refused.value.code == -32601
    client.notify("bench/unheardOf", {})
    assert client.request("workspace/symbol", {"query": ""}) == []


def test_a_request_that_makes_no_sense_is_answered_with_an_error(client: Client) -> None:
    with pytest.raises(RequestError):
        client.request("textDocument/hover", {"textDocument": 7})
    uri = client.open("small.bench", SMALL)
    with pytest.raises(RequestError):
        client.at("hover", uri, -1, 3)
    assert client.diagnostics(uri) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"no json", id="no JSON"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"{}", id="nothing"),
        pytest.param(b'{"jsonrpc": "1.0", "id": 1, "method": "shutdown"}', id="another version"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"[" * 100_000, id="deeply nested"),
        pytest.param(b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {}}', id="half a change"),
    ],
)
def test_no_message_ends_the_server(client: Client, body: bytes) -> None:
    client.send_bytes(body)
    uri = client.open("small.bench", SMALL)
    assert client.diagnostics(uri) == []


def test_a_change_to_a_document_that_is_not_open_is_logged(client: Client) -> None:
    identifier = {"uri": client.uri("never.bench"), "version": 2}
    client.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": [{"text": "x"}]})
    logged = client.wait_for(lambda message: message["method"] == "window/logMessage")
    assert "please report" in logged["params"]["message"]
    uri = client.open("small.bench", SMALL)
    assert client.diagnostics(uri) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\0", id="NUL"),
        pytest.param("{" * 50_000, id="open brackets"),
        pytest.param('"""' + "x" * 100_000, id="an open text"),
        pytest.param('report r { text = "' + "{" * 1000, id="open holes"),
        pytest.param("metric m = " + "-" * 10_000 + "1", id="signs"),
        pytest.param("hardware\n" * 5_000, id="keywords"),
        pytest.param("#" * 100_000, id="comment"),
        pytest.param("x" * (5 << 20), id="too large"),
        pytest.param("param a = b\nparam b = a\n", id="circle"),
        pytest.param('use "."\nuse "/dev/null"\nuse ""\n', id="odd files"),
    ],
)
def test_no_text_ends_the_server_or_any_feature(client: Client, text: str) -> None:
    uri = client.open("hostile.bench", text)
    client.diagnostics(uri)
    end = {"line": text.count("\n"), "character": min(len(text), 500)}
    for method in ("completion", "hover", "definition", "documentHighlight"):
        client.at(method, uri, end["line"], end["character"])
    client.request("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    client.request(
        "textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}}
    )
    errors = [message for message in client.inbox if message["method"] == "window/logMessage"]
    assert errors == []


def test_a_mistake_of_ours_is_logged_to_the_client_and_the_next_check_works(tmp_path: Path) -> None:
    """The test starts the server from a script. The script replaces the check with one that prints, and that fails for
    one of the texts."""
    program = tmp_path / "failing.py"
    program.write_text(
        "import sys\n"
        "import benchbrief.server.serve as app\n"
        "from benchbrief.server.serve import serve\n"
        "check_all = app.check_all\n"
        "def failing(snapshot, before):\n"
        "    print('this must not get among the messages')\n"
        "    if any('fail' in buffer.text.text for buffer in snapshot.open.values()):\n"
        "        raise RuntimeError('on purpose')\n"
        "    return check_all(snapshot, before)\n"
        "app.check_all = failing\n"
        "sys.exit(serve())\n"
    )
    with session(tmp_path, command=(sys.executable, str(program))) as client:
        uri = client.open("small.bench", SMALL)
        assert client.diagnostics(uri) == []
        client.change(uri, {"text": "# fail\n"})
        logged = client.wait_for(lambda message: message["method"] == "window/logMessage")
        assert "on purpose" in logged["params"]["message"]
        client.change(uri, {"text": SMALL})
        assert client.diagnostics(uri) == []
        assert "this must not get among the messages" in client.said_on_stderr()


def test_the_protocol_library_is_imported_by_no_other_command() -> None:
    program = (
        "import sys, benchbrief.cli.command_line as cli\nfor name in cli.COMMANDS: cli.group.get_command(None, name)\n"
    )
    program += "from benchbrief.compiler.compile import check\n"
    program += "print([name for name in sys.modules if name.split('.')[0] in ('pygls', 'lsprotocol')])"
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_argument_that_editors_add_is_taken(tmp_path: Path) -> None:
    done = subprocess.run((BENCH, "lsp", "--stdio"), cwd=tmp_path, input=b"", capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout == b""


def test_a_declaration_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    documents = Documents(root=tmp_path)
    uri = (tmp_path / "small.bench").as_uri()
    documents.opened(uri, 1, SMALL)
    before = documents.snapshot().parsed(tmp_path / "small.bench")
    documents.opened(uri, 2, SMALL.replace("[rr]", "[r]"))
    after = documents.snapshot().parsed(tmp_path / "small.bench")
    same = [a.declarations is b.declarations for a, b in zip(before.parts, after.parts, strict=True)]
    assert same == [True, True, True, False, True, True, True]

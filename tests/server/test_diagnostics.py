"""Diagnostics while typing, over the real protocol."""

from __future__ import annotations

from pathlib import Path

from tests.server.specs import SMALL
from tests.support.lsp import session


def test_a_right_spec_has_no_diagnostics(tmp_path: Path) -> None:
    with session(tmp_path) as client:
        uri = client.open("small.bench", SMALL)
        assert client.diagnostics(uri) == []


def test_a_misspelt_name_is_underlined_while_typing_and_goes_when_mended(tmp_path: Path) -> None:
    with session(tmp_path) as client:
        uri = client.open("small.bench", SMALL)
        assert client.diagnostics(uri) == []
        end = {"line": 10, "character": 17}
        client.change(uri, {"range": {"start": end, "end": end}, "text": "r"})
        [found] = client.diagnostics(uri)
        assert found["range"] == {"start": {"line": 10, "character": 15}, "end": {"line": 10, "character": 18}}
        assert found["code"] == "E0201"
        assert found["severity"] == 1
        assert found["source"] == "bench"
        assert "did you mean `rr`?" in found["message"]
        client.change(uri, {"range": {"start": end, "end": {"line": 10, "character": 18}}, "text": ""})
        assert client.diagnostics(uri) == []

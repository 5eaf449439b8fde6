"""Splits specs into tokens with our TextMate grammar and VS Code's own tokeniser."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.tools import REPOSITORY, built_tool, system_tool

GRAMMAR = REPOSITORY / "editors/vscode/syntaxes/bench.tmLanguage.json"


@dataclass(frozen=True)
class Token:
    """A token. `start` is the offset of its first character in the file. `scopes` begin with the outermost one, without
    `.bench`."""

    start: int
    text: str
    scopes: tuple[str, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def scope(self) -> str:
        return self.scopes[-1] if self.scopes else ""


def tokenise(files: Sequence[Path]) -> dict[Path, list[Token]]:
    """Return the tokens of each file. Line ends belong to no token."""
    program = built_tool("vscode/out/tokens.js")
    command = [str(system_tool("node")), str(program), str(GRAMMAR), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return {Path(file): _placed(lines) for file, lines in json.loads(done.stdout).items()}


def _placed(lines: list[list[dict[str, object]]]) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    for line in lines:
        for raw in line:
            scopes = raw["scopes"]
            assert isinstance(scopes, list)
            tokens.append(Token(at, str(raw["text"]), tuple(str(scope).removesuffix(".bench") for scope in scopes)))
            at = tokens[-1].end
        at += 1
    return tokens

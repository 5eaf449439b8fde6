"""Tests that Helix's settings are TOML in Helix's format, and that their command exists."""

from __future__ import annotations

import tomllib

from click.testing import CliRunner

from benchbrief.cli.command_line import group
from tests.support.tools import REPOSITORY


def test_the_language_is_served_by_a_server_that_the_settings_declare() -> None:
    settings = tomllib.loads((REPOSITORY / "editors/helix/languages.toml").read_text(encoding="utf-8"))
    (language,) = settings["language"]
    assert language["file-types"] == ["bench"]
    assert language["language-servers"] == list(settings["language-server"])
    server = settings["language-server"]["benchbrief"]
    assert server["command"] == "bench"
    assert CliRunner().invoke(group, [*server["args"], "--help"]).exit_code == 0

"""Tests Neovim with the settings in editors/neovim: file type, highlighting, and the language server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.bench import PROGRAM
from tests.support.longer import longer
from tests.support.tools import REPOSITORY, system_tool

SETTINGS = REPOSITORY / "editors/neovim"
HERE = Path(__file__).parent
CORNERS = HERE / "scopes/corners.bench"
SKETCH = REPOSITORY / "tests/dsl/specs/power_efficiency.bench"
MISTAKE = "hardware box { hots = local }\n"
ATTACHED_AND_TOLD = """
vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
tell({ messages = vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0)) })
"""


@pytest.fixture
def nvim(tmp_path: Path) -> Callable[..., object]:
    """Return a function that opens a file in a Neovim with only our settings. It runs Lua there, and returns the
    argument that the Lua passes to `tell`."""
    program = system_tool("nvim")

    def run(file: Path, lua: str, *, before: str = "", **environment: str) -> object:
        answer, script, init = (tmp_path / name for name in ("answer.json", "script.lua", "init.lua"))
        answer.unlink(missing_ok=True)
        init.write_text(f'vim.opt.runtimepath:prepend("{SETTINGS}")\n{before}\n')
        telling = f'local function tell(it) vim.fn.writefile({{ vim.fn.json_encode(it) }}, "{answer}") end'
        script.write_text(f"{telling}\n{lua}\n")
        home = {name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        command = [str(program), "--headless", "-n", "-i", "NONE", "-u", str(init), str(file)]
        command += ["-c", "syntax on", "-c", f"luafile {script}", "-c", "qa!"]
        variables = os.environ | home | environment
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert not re.search(r"\bE\d+:|Error", done.stderr), done.stderr
        return json.loads(answer.read_text()) if answer.exists() else done.stderr

    return run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return a folder with bench in its `.venv`, and a spec with a mistake in a subfolder."""
    folder = tmp_path / "work"
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/bench").symlink_to(PROGRAM)
    (folder / ".git").mkdir()
    (folder / "specs").mkdir()
    (folder / "specs/spec.bench").write_text(MISTAKE)
    return folder


def test_a_spec_has_its_file_type_and_its_habits(nvim: Callable[..., object], workspace: Path) -> None:
    asked = "tell({ vim.bo.filetype, vim.bo.commentstring, vim.bo.shiftwidth, vim.bo.expandtab })"
    assert nvim(workspace / "specs/spec.bench", asked) == ["bench", "# %s", 2, True]


@pytest.mark.parametrize("spec", [*longer(CORNERS), SKETCH], ids=lambda spec: spec.stem)
def test_a_spec_is_highlighted_as_in_its_golden(
    spec: Path, nvim: Callable[..., object], tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    found = tmp_path / "groups"
    nvim(spec, f'dofile("{HERE / "groups.lua"}")', GROUPS=str(found))
    golden(HERE / f"groups/{spec.stem}.groups", found.read_text(encoding="utf-8"))


def test_the_server_of_the_folders_venv_reports_a_mistake(nvim: Callable[..., object], workspace: Path) -> None:
    setup = 'require("benchbrief").setup()'
    answer = nvim(workspace / "specs/spec.bench", ATTACHED_AND_TOLD, before=setup, PATH=_path_without_bench())
    assert isinstance(answer, dict)
    assert any("hosts" in message for message in answer["messages"])


@pytest.mark.long
def test_two_specs_of_a_folder_share_a_server(nvim: Callable[..., object], workspace: Path) -> None:
    other = workspace / "other.bench"
    other.write_text(MISTAKE)
    asked = f"""
    vim.cmd("edit {other}")
    vim.wait(30000, function() return #vim.diagnostic.get() >= 2 end, 20)
    local get = vim.lsp.get_clients or vim.lsp.get_active_clients
    tell({{ #get(), get()[1].config.root_dir }})
    """
    before = 'require("benchbrief").setup()'
    assert nvim(workspace / "specs/spec.bench", asked, before=before) == [1, str(workspace)]


@pytest.mark.long
def test_the_command_can_be_named(nvim: Callable[..., object], tmp_path: Path) -> None:
    spec = tmp_path / "spec.bench"
    spec.write_text(MISTAKE)
    setup = f'require("benchbrief").setup({{ cmd = {{ "{PROGRAM}", "lsp" }} }})'
    answer = nvim(spec, ATTACHED_AND_TOLD, before=setup, PATH=_path_without_bench())
    assert isinstance(answer, dict)
    assert answer["messages"]


def test_a_missing_command_is_reported_with_the_next_step(nvim: Callable[..., object], tmp_path: Path) -> None:
    spec = tmp_path / "spec.bench"
    spec.write_text(MISTAKE)
    said = nvim(spec, "", before='require("benchbrief").setup()', PATH=_path_without_bench())
    assert "there is no `bench` command" in str(said)
    assert 'setup({ cmd = { "/path/to/bench", "lsp" } })' in str(said)


def test_a_neovim_that_has_vim_lsp_enable_starts_the_server_by_it(nvim: Callable[..., object], workspace: Path) -> None:
    spec = workspace / "specs/spec.bench"
    if nvim(spec, "tell({ vim.fn.has('nvim-0.11') })") != [1]:
        pytest.skip("this Neovim is older than 0.11, which brought vim.lsp.enable")
    answer = nvim(spec, ATTACHED_AND_TOLD, before='vim.lsp.enable("benchbrief")')
    assert isinstance(answer, dict)
    assert answer["messages"]


def test_the_settings_for_vim_lsp_enable_find_the_same_command(nvim: Callable[..., object], workspace: Path) -> None:
    """The test does by hand what Neovim 0.11 does with the file, so that older versions are tested as well."""
    asked = """
    local settings = dofile(vim.api.nvim_get_runtime_file("lsp/benchbrief.lua", false)[1])
    vim.lsp.rpc.start = function(command) return command end
    tell({ settings.filetypes, settings.root_markers, settings.cmd({}) })
    """
    found = nvim(workspace / "specs/spec.bench", asked)
    assert found == [["bench"], [".git"], [str(workspace / ".venv/bin/bench"), "lsp"]]


def _path_without_bench() -> str:
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not shutil.which("bench", path=folder))

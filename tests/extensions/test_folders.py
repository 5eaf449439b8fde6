"""Tests that the folder of each of our extensions is complete: a description, code, words in each language, a page, and
tests."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from benchbrief.model.extension_spec import LANGUAGES, ImporterSpec
from benchbrief.model.tool_spec import ToolSpec
from tests.docs.samples import ROOT, samples
from tools.reference.extensions import MADE, folders, spec_in

FOLDERS = {f"{folder.parent.name}/{folder.name}": folder for folder in folders()}


def names_of_tests(module: Path) -> list[str]:
    """Return the names of a module's tests."""
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def is_command_that_uses(name: str, text: str) -> bool:
    return bool(re.search(rf"^bench import {name} |--samples {name} ", text, re.MULTILINE))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_page_says_what_it_is_how_it_is_used_and_where_it_ends(name: str) -> None:
    """The specs and commands on the page are checked together with those of all other pages."""
    folder, spec = FOLDERS[name], spec_in(FOLDERS[name])
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# ")
    written = text.partition(MADE)[0]
    assert len(written) > 400
    used = samples(f"extensions/{name}/README.md")
    if isinstance(spec, ImporterSpec):
        assert any(is_command_that_uses(spec.name, each.text) for each in used)
    else:
        word = spec.word if isinstance(spec, ToolSpec) else spec.name
        assert any(each.language == "bench" and word in each.text for each in used)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_has_code_words_in_each_language_and_tests(name: str) -> None:
    folder, spec = FOLDERS[name], spec_in(FOLDERS[name])
    module, _, made = spec.implementation.partition(":")
    if made and module.startswith("benchbrief.extensions."):
        assert (ROOT / f"{module.removeprefix('benchbrief.').replace('.', '/')}.py").is_relative_to(folder)
    words = [tomllib.loads(path.read_text(encoding="utf-8")).keys() for path in sorted(folder.glob("words/*.toml"))]
    assert [path.stem for path in sorted(folder.glob("words/*.toml"))] in ([], sorted(LANGUAGES))
    assert all(each == words[0] for each in words)
    assert any(names_of_tests(path) for path in folder.glob("tests/test_*.py"))


@pytest.mark.parametrize("name", [name for name in FOLDERS if name.startswith("tools/")])
def test_a_load_generator_has_recorded_outputs(name: str) -> None:
    spec = spec_in(FOLDERS[name])
    assert isinstance(spec, ToolSpec)
    folder = FOLDERS[name].parent / spec.stands_for if spec.stands_for else FOLDERS[name]
    assert any(path.is_file() for path in Path(folder / "outputs").rglob("*"))


def test_a_sentence_that_one_extension_alone_says_is_in_its_words() -> None:
    said: dict[str, set[str]] = {}
    rooms = ("model", "runners", "benchbrief/extend", "extensions")
    for path in (path for room in rooms for path in (ROOT / room).rglob("*.py")):
        room, kind, name, *_ = (*path.relative_to(ROOT).parts, "", "")
        for word in re.findall(r"def (\w+)\([^)]*\) -> Message: \.\.\.", path.read_text(encoding="utf-8")):
            said.setdefault(f"r_{word}", set()).add(f"{kind}/{name}" if room == "extensions" else room)
    shared = tomllib.loads((ROOT / "reports/words/en.toml").read_text(encoding="utf-8"))
    assert len(said) > 500
    assert [word for word, by in said.items() if word in shared and len(by) == 1 and by <= FOLDERS.keys()] == []

"""Tests names with shell syntax in every field that reaches a shell, including resets, hooks and dropped caches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import wrapped
from tests.support.bench import Bench
from tests.support.sshd import sshd
from tests.support.tools import system_tool

ODD = {
    "quotes": 'it\'s \\"quoted\\"  twice; touch $OWNED & touch $OWNED | touch $OWNED #',
    "substitution": "$(touch $OWNED) `touch $OWNED` ${{HOME}} größe 容量 \\\\ %s %n",
    "globs": "* ? [a-z] ~ !! -rf",
}


@pytest.mark.long
@pytest.mark.timeout(120)
def test_names_reach_tools_and_files_as_they_are_and_no_shell_obeys_them(bench: Bench, tmp_path: Path) -> None:
    system_tool("sshd")
    owned = tmp_path / "owned"
    folder = tmp_path / "tools $(touch owned); 'of' \"ours\""
    tool = wrapped.db_bench(folder)
    said = tmp_path / "hooks"
    variants = "\n".join(f'  variant {name} "{odd}" {{ kind = "{odd}" }}' for name, odd in ODD.items())
    drop = "true" if os.getuid() == 0 else "false"
    bench.spec(
        f"""\
hardware box "$(touch $OWNED)" {{
  hosts = "box"
{variants}
}}
database rocks "`touch $OWNED`" {{
  engine = rocksdb  path = "@DATA@/{{kind}}"  tool = db_bench(@TOOL@)
  reset = snapshot  drop_caches = {drop}
  prepare = command("echo 'before;' $BENCH_HOST >> @SAID@")  teardown = command("echo after $BENCH_HOST >> @SAID@")
  options {{ compression = "none" }}
}}
workload rw "rw; touch $OWNED" from db_bench.readrandomwriterandom {{ records = 1k }}
experiment e {{ hardware = box.variants  workloads = rw  threads = [1]  measure = 1 s  repeats = 2 }}
""",
        TOOL='"' + str(tool).replace('"', '\\"') + '"',
        SAID=said,
    )
    with sshd(config=f'SetEnv OWNED="{owned}"') as server:
        bench.env["HOME"] = str(server.home)
        bench.env["OWNED"] = str(owned)
        ended = bench("run", "brief.bench", "--no-report", timeout=110)
    assert ended.code == 0, ended.text
    assert not owned.exists()
    assert not list(bench.folder.rglob("owned"))
    found = {path.name for path in bench.data.iterdir()}
    for odd in ODD.values():
        assert odd.replace('\\"', '"').replace("\\\\", "\\").replace("{{", "{").replace("}}", "}") in found
    assert said.read_text() == "before; box\nafter box\n" * len(ODD)
    texts = [record["text"] for record in bench.journal("remark")]
    assert sum("copied back from the snapshot" in text for text in texts) == len(ODD)
    if os.getuid() == 0:
        assert sum("the page cache was dropped on box" in text for text in texts) == 2 * len(ODD)

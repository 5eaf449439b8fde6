"""What the list of moves can't say: run it in the clone's root after `merge_modules.py --write`.

Then: ruff check --select I,F401,F811,B033 --fix --unsafe-fixes, ruff format, mutants.py, ruff check, mypy, the tests.
"""

import re
import subprocess
from pathlib import Path


def sub(f, *pairs):
    p = Path(f)
    t = p.read_text()
    for a, b in pairs:
        if a not in t:
            print("not found:", f, repr(a)[:80])
        t = t.replace(a, b)
    p.write_text(t)


for room in ("model", "history"):
    link = Path("benchbrief") / room
    if not link.is_symlink():
        link.symlink_to(f"../{room}")
for folder, says in {
    "model": "What every room speaks of: plans, events of a journal, specs of extensions, units, and the rules they share.",
    "history": "Many runs: the shared store, series and their changes, gates, and sites.",
    "history/site": "The static site of many runs, and pages of trends and comparisons.",
    "history/shared_store": "The runs of a team, in a folder or a bucket: pushed, pulled, listed, queried and collected.",
    "history/object_stores": "Objects with names and digests, in a folder or on S3.",
}.items():
    if not (Path(folder) / "__init__.py").exists():
        (Path(folder) / "__init__.py").write_text(f'"""{says}"""\n')
OLD = '"dsl", "compiler", "runners", "results", "reports", "benchbrief"'
for f in (
    "tests/extensions/test_names.py",
    "tests/runners/test_shell_scripts.py",
    "tests/support/environment.py",
    "tests/packaging/test_rooms.py",
):
    sub(f, (OLD, '"dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief"'))
p = Path("compiler/blocks/databases.py")
t = p.read_text().replace("plan.Reset", "engine_spec.Reset")
t = re.sub(
    r"(from benchbrief.compiler.extensions import )EngineSpec, (ServerProgram)\n",
    r"\1\2\nfrom benchbrief.model import engine_spec\n",
    t,
)
p.write_text(t)
sub("tests/mutation/mutants/numbers.toml", ("rounding.magnitude", "precision.magnitude"))
sub(
    "tests/mutation/mutants/measurement.toml",
    ("yield from _in_log(run, recorded, log)", "yield from _steady_in_log(run, recorded, log)"),
)
place = '''class Place(NamedTuple):
    """Where a journal has a record: a line of so many bytes, with its end."""

    path: Path
    at: int
    length: int


'''
sub("runners/journal/journal_file.py", (place, ""))
p = Path("model/events.py")
t = p.read_text()
i = t.index("\n\n\nclass ")
t = t[:i] + "\n\n\n" + place.rstrip() + t[i:]
t = t.replace(
    "from __future__ import annotations\n",
    "from __future__ import annotations\n\nfrom pathlib import Path\nfrom typing import NamedTuple\n",
    1,
)
p.write_text(t)
import subprocess

for f in subprocess.run(["git", "grep", "-l", "journal_file import"], capture_output=True, text=True).stdout.split():
    q = Path(f)
    t = q.read_text()
    m = re.search(r"from benchbrief.runners.journal.journal_file import (\([^)]*\)|[^\n]*)", t)
    if not m or not re.search(r"\bPlace\b", m[1]):
        continue
    names = [x.strip() for x in m[1].strip("()").replace("\n", " ").split(",") if x.strip() and x.strip() != "Place"]
    new = (
        "from benchbrief.runners.journal.journal_file import " + ", ".join(names) + "\n" if names else ""
    ) + "from benchbrief.model.events import Place"
    q.write_text(t.replace(m[0], new))
q = Path("runners/journal/journal_file.py")
t = q.read_text()
if "import Place" not in t:
    q.write_text(t.replace("from benchbrief.model.events import ", "from benchbrief.model.events import Place, ", 1))
work = '''ResetWork = Literal["", "load", "undo", "copy", "links", "btrfs", "zfs", "lvm_thin", "command"]
"""How a cell gets its data set: by a load, by deleting what cells inserted, by copying, linking or putting a snapshot
back, or by the declared commands; "" when it is there already."""
'''
sub("compiler/planning/tolerated_changes.py", (work, ""))
q = Path("model/plan.py")
t = q.read_text()
t = t.replace("from benchbrief.compiler.planning.tolerated_changes import ResetWork\n", "")
t = t.replace('\n_T = TypeVar("_T")\n', '\n_T = TypeVar("_T")\n\n' + work, 1)
q.write_text(t)
for f in subprocess.run(
    ["git", "grep", "-l", "tolerated_changes import"], capture_output=True, text=True
).stdout.split():
    q = Path(f)
    t = q.read_text()
    m = re.search(r"from benchbrief.compiler.planning.tolerated_changes import (\([^)]*\)|[^\n]*)", t)
    if not m or not re.search(r"\bResetWork\b", m[1]):
        continue
    names = [
        x.strip() for x in m[1].strip("()").replace("\n", " ").split(",") if x.strip() and x.strip() != "ResetWork"
    ]
    q.write_text(
        t.replace(
            m[0],
            ("from benchbrief.compiler.planning.tolerated_changes import " + ", ".join(names) + "\n" if names else "")
            + "from benchbrief.model.plan import ResetWork",
        )
    )
q = Path("reports/provenance/verify_numbers.py")
t = q.read_text()
q.write_text(
    t.replace(
        "from benchbrief.runners.journal.atomic_files import sha256_of",
        "from benchbrief.results.store.digests import sha256_of",
    )
)
q = Path("tests/mutation/mutants/measurement.toml")
t = q.read_text()
q = next(
    p for p in Path("tests/mutation/mutants").glob("*.toml") if p.read_text().count("old = 'FEWEST_BATCHES = 10'") > 1
)
t = q.read_text()
i = t.index("old = 'FEWEST_BATCHES = 10'")
j = t.index("old = 'FEWEST_BATCHES = 10'", i + 5)
a = t.rfind("\n", 0, j)
b = t.index("\n", j)
q.write_text(t[:a] + t[b:])
q = Path("tests/packaging/test_rooms.py")
t = q.read_text()
j = t.index("def modules_of(")
t = (
    t[:j]
    + '''STILL_UP = {
    ("model/plan.py", "compiler"): "what the workloads of old plans do is filled in from the specs of their tools",
    ("model/text.py", "compiler"): "English words are read where a message becomes an exception's text",
}
"""Imports against the arrows that are left, each with its reason."""


'''
    + t[j:]
)
t = t.replace(
    """        if ROOMS.index(taken) > ROOMS.index(found.file.split("/")[0])
""",
    """        if ROOMS.index(taken) > ROOMS.index(found.file.split("/")[0]) and (found.file, taken) not in STILL_UP
""",
)
for a, b in (
    ('"duckdb": "results/"', '"duckdb": ("results/", "history/")'),
    ('"numpy": "results/"', '"numpy": ("results/", "history/")'),
    ('"pyarrow": ("results/", ', '"pyarrow": ("results/", "history/", '),
    ("results/object_stores/s3_", "history/object_stores/s3_"),
):
    if a not in t:
        print("HOMES", a)
    t = t.replace(a, b)
q.write_text(t)
q = Path("tests/packaging/test_doors.py")
t = q.read_text()
t = t.replace(
    """EXCEPTIONS = {
""",
    """EXCEPTIONS = {
    "reports/render/templating.py: render_template": "a template takes whatever its page gives",
    "results/statistics/change_points.py: p_of_means": "arrays of numpy, which is imported where it is used",
""",
    1,
)
q.write_text(t)
q = Path("runners/engines/mongodb/mongo_data.py")
t = q.read_text()
q.write_text(
    t.replace(
        "    for part in parts:\n        whole.update(part)\n", "    for each in parts:\n        whole.update(each)\n"
    )
)
sub(
    "tests/packaging/test_rooms.py",
    ('"jinja2": ("reports/", ', '"jinja2": ("reports/", "history/", '),
    ('"markupsafe": "reports/"', '"markupsafe": ("reports/", "history/")'),
)
q = Path("CONTRIBUTING.md")
t = q.read_text()
i = t.index("## The rooms, in the order")
j = t.index("`loadgen/` is no room")
q.write_text(t[:i] + Path("tools/house/rooms.md").read_text() + t[j:])

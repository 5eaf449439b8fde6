"""Joins the tables of mutants whose modules became one, and prints those that no longer apply exactly once."""

import re, sys, tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
D = ROOT / "tests/mutation/mutants"
# read raw tables in order
raw = {}
for p in sorted(D.glob("*.toml")):
    cur = None
    head = []
    blocks = []
    for line in p.read_text().splitlines(keepends=True):
        m = re.match(r'\["(.*)"\]\s*$', line)
        if m:
            cur = [m[1], [line]]
            blocks.append(cur)
        elif cur is None:
            head.append(line)
        else:
            cur[1].append(line)
    raw[p] = (head, blocks)
seen = {}
for p, (head, blocks) in raw.items():
    for b in blocks:
        seen.setdefault(b[0], []).append((p, b))
for name, places in seen.items():
    if len(places) < 2:
        continue
    tables = [tomllib.loads("".join(b[1]))[name] for _, b in places]
    sets = [tuple(t["tests"]) for t in tables]
    common = sets[0]
    p0, b0 = places[0]
    text = b0[1]
    end = max(i for i, l in enumerate(text) if l.strip() == "]")
    extra = []
    for (p, b), t in list(zip(places, tables))[1:]:
        lines = b[1]
        s = next(i for i, l in enumerate(lines) if l.startswith("mutants = ["))
        e = max(i for i, l in enumerate(lines) if l.strip() == "]")
        tests = ", ".join('"%s"' % x for x in t["tests"])
        for l in lines[s + 1 : e]:
            if tuple(t["tests"]) != common and l.rstrip().endswith("},") and " tests = [" not in l:
                l = l.rstrip()[: -len("},")].rstrip() + f", tests = [{tests}] }},\n"
            elif tuple(t["tests"]) != common and "old" in l and not l.rstrip().endswith("},"):
                print("look at", name, l)
            extra.append(l)
        raw[p][1].remove(b)
    text[end:end] = extra
for p, (head, blocks) in raw.items():
    p.write_text("".join(head) + "".join("".join(b[1]) for b in blocks))
sys.path.insert(0, str(ROOT))
for p in sorted(D.glob("*.toml")):
    for file, t in tomllib.loads(p.read_text()).items():
        src = (ROOT / file).read_text()
        for m in t["mutants"]:
            c = src.count(m["old"])
            if c != 1:
                print(p.name, file, c, repr(m["old"]))

"""Prints how large the house is: modules, lines of code, and modules that one other imports, by room."""

import ast
from pathlib import Path
from collections import defaultdict

ROOT = Path(__file__).resolve().parents[2]
ROOMS = [
    r
    for r in ["dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief", "extensions"]
    if (ROOT / r).is_dir()
]


def files():
    for r in ROOMS:
        for p in sorted((ROOT / r).rglob("*.py")):
            rel = p.relative_to(ROOT)
            # skip through symlinks
            if any((ROOT / Path(*rel.parts[:i])).is_symlink() for i in range(1, len(rel.parts) + 1)):
                continue
            yield p


def modname(p):
    rel = p.relative_to(ROOT).with_suffix("")
    parts = list(rel.parts)
    if parts[0] != "benchbrief":
        parts = ["benchbrief"] + parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


MODS = {modname(p): p for p in files()}


class I:
    __slots__ = ("src", "dst", "names", "kind", "line")


def imports(p, known):
    tree = ast.parse(p.read_text())
    out = []

    def visit(node, ctx):
        for ch in ast.iter_child_nodes(node):
            c = ctx
            if isinstance(ch, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                c = "lazy"
            if isinstance(ch, ast.If) and "TYPE_CHECKING" in ast.dump(ch.test):
                c = "typing"
            if isinstance(ch, ast.ImportFrom) and ch.module and ch.level == 0:
                for a in ch.names:
                    full = f"{ch.module}.{a.name}"
                    if full in known:
                        out.append((full, None, c, ch.lineno))
                    elif ch.module in known:
                        out.append((ch.module, a.name, c, ch.lineno))
            elif isinstance(ch, ast.Import):
                for a in ch.names:
                    if a.name in known:
                        out.append((a.name, None, c, ch.lineno))
            visit(ch, c)

    visit(tree, "top")
    return out


def loc(p):
    t = p.read_text()
    try:
        tree = ast.parse(t)
    except Exception:
        return 0
    doc = set()
    for n in ast.walk(tree):
        if (
            isinstance(n, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and n.body
            and isinstance(n.body[0], ast.Expr)
            and isinstance(n.body[0].value, ast.Constant)
            and isinstance(n.body[0].value.value, str)
        ):
            d = n.body[0]
            doc.update(range(d.lineno, d.end_lineno + 1))
    c = 0
    for i, l in enumerate(t.splitlines(), 1):
        s = l.strip()
        if s and not s.startswith("#") and i not in doc:
            c += 1
    return c


def load():
    G = {m: imports(p, MODS) for m, p in MODS.items()}
    return G


if __name__ == "__main__":
    G = load()
    print(
        "modules",
        len(MODS),
        "inits",
        sum(p.name == "__init__.py" for p in MODS.values()),
        "loc",
        sum(loc(p) for p in MODS.values()),
    )
    imp = defaultdict(lambda: defaultdict(set))
    for m, l in G.items():
        for d, n, c, _ in l:
            imp[d][m].add(c)
    rows = []
    for m, p in MODS.items():
        if p.name == "__init__.py":
            continue
        im = imp[m]
        rows.append((m, loc(p), len(im), {c for s in im.values() for c in s}))
    one = [r for r in rows if r[2] == 1]
    print("one importer", len(one), "of which top", sum("lazy" not in r[3] for r in one))
    byroom = defaultdict(lambda: [0, 0])
    for m, l, _, _ in rows:
        k = m.split(".")[1]
        byroom[k][0] += 1
        byroom[k][1] += l
    print(dict(byroom))

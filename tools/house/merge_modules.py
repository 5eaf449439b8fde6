"""Merges and moves modules by `moves.txt`, and rewrites all that imports or names them.

    .venv/bin/python tools/house/merge_modules.py tools/house/moves.txt           # what is in the way
    .venv/bin/python tools/house/merge_modules.py tools/house/moves.txt --write

A group of the list: the new module, then those that it is made of, then names of theirs that would meet.

    results/store/store.py
      results/store/{missing_values,sql_functions,store}
      ! results/store/missing_values:Key -> _PointKey
"""

from __future__ import annotations
import ast
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from graphlib import TopologicalSorter, CycleError
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = [
    r for r in ["dsl", "model", "compiler", "runners", "results", "reports", "history", "benchbrief", "extensions"]
]


def modname(rel: str) -> str:
    parts = rel.removesuffix(".py").split("/")
    if parts[0] in ROOMS and parts[0] != "benchbrief":
        parts = ["benchbrief", *parts]
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


@dataclass
class Group:
    target: str
    sources: list[str] = field(default_factory=list)
    renames: dict[tuple[str, str], str] = field(default_factory=dict)
    doc: str = ""


def read_plan(text: str) -> list[Group]:
    out = []
    g = None
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            g = Group(line.strip())
            out.append(g)
        elif line.strip().startswith("!"):
            left, new = [x.strip() for x in line.strip()[1:].split("->")]
            f, n = left.rsplit(":", 1)
            g.renames[(f if f.endswith(".py") else f + ".py", n)] = new
        elif line.strip().startswith('"'):
            g.doc += (" " if g.doc else "") + line.strip()[1:].strip()
        else:
            for word in line.split():
                m = re.match(r"(.*)\{(.*)\}(.*)$", word)
                for x in [m[1] + p + m[3] for p in m[2].split(",")] if m else [word]:
                    g.sources.append(x if x.endswith(".py") else x + ".py")
    return out


class Module:
    def __init__(self, rel):
        self.rel = rel
        self.name = modname(rel)
        self.text = (ROOT / rel).read_text()
        self.tree = ast.parse(self.text)
        self.lines = self.text.splitlines(keepends=True)
        self.starts = [0]
        for l in self.lines:
            self.starts.append(self.starts[-1] + len(l))
        self.imports = {}  # local -> (module, attr|None)   at top (also typing)
        self.defs = set()
        for st in self.tree.body:
            self._bind(st)

    def _bind(self, st):
        if isinstance(st, ast.ImportFrom):
            for a in st.names:
                self.imports[a.asname or a.name] = (st.module or "", a.name)
        elif isinstance(st, ast.Import):
            for a in st.names:
                self.imports[a.asname or a.name.split(".")[0]] = (a.name if a.asname else a.name.split(".")[0], None)
        elif isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.defs.add(st.name)
        elif isinstance(st, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for part in ("body", "orelse", "handlers", "finalbody"):
                for x in getattr(st, part, []):
                    for y in x.body if isinstance(x, ast.ExceptHandler) else [x]:
                        self._bind(y)
        else:
            for n in ast.walk(st):
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
                    self.defs.add(n.id)

    def off(self, line, col):
        l = self.lines[line - 1]
        if not l.isascii():
            col = len(l.encode()[:col].decode())
        return self.starts[line - 1] + col

    def span(self, n):
        return self.off(n.lineno, n.col_offset), self.off(n.end_lineno, n.end_col_offset)


def function_locals(fn):
    """Names bound in this function's own scope."""
    names = set()
    glob = set()
    args = fn.args
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if a:
            names.add(a.arg)

    def visit(n):
        for ch in ast.iter_child_nodes(n):
            if isinstance(ch, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(ch.name)
                for d in ch.decorator_list:
                    visit_one(d)
                continue
            if isinstance(ch, (ast.Lambda,)):
                continue
            visit_one(ch)

    def visit_one(ch):
        if isinstance(ch, ast.Name) and isinstance(ch.ctx, (ast.Store, ast.Del)):
            names.add(ch.id)
        elif isinstance(ch, ast.ExceptHandler) and ch.name:
            names.add(ch.name)
        elif isinstance(ch, (ast.Import, ast.ImportFrom)):
            for a in ch.names:
                names.add(a.asname or a.name.split(".")[0])
        elif isinstance(ch, (ast.Global,)):
            glob.update(ch.names)
        elif isinstance(ch, (ast.MatchAs, ast.MatchStar)) and ch.name:
            names.add(ch.name)
        elif isinstance(ch, ast.MatchMapping) and ch.rest:
            names.add(ch.rest)
        if isinstance(ch, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            # comprehension scope: targets are not function locals, but walrus are
            for x in ast.walk(ch):
                if isinstance(x, ast.NamedExpr):
                    names.add(x.target.id)
            return
        if isinstance(ch, ast.Lambda):
            return
        visit(ch)

    body = fn.body if isinstance(fn.body, list) else [fn.body]
    for st in body:
        if isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(st.name)
        else:
            visit_one(st)
    return names - glob


def global_names(mod: Module, wanted: set[str]):
    """Name nodes (and def statements) that resolve to the module's global of that name; shadowed: names bound in an inner scope somewhere."""
    out = []
    shadow = defaultdict(set)

    def walk(n, bound):
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for d in n.decorator_list:
                walk(d, bound)
            for d in [*n.args.defaults, *[x for x in n.args.kw_defaults if x]]:
                walk(d, bound)
            for a in [*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs, n.args.vararg, n.args.kwarg]:
                if a and a.annotation:
                    walk(a.annotation, bound)
            if n.returns:
                walk(n.returns, bound)
            tp = getattr(n, "type_params", [])
            inner = bound | function_locals(n)
            for x in wanted & function_locals(n):
                shadow[x].add(n.lineno)
            for st in n.body:
                walk(st, inner)
            return
        if isinstance(n, ast.Lambda):
            for d in [*n.args.defaults, *[x for x in n.args.kw_defaults if x]]:
                walk(d, bound)
            inner = bound | function_locals(n)
            for x in wanted & function_locals(n):
                shadow[x].add(n.lineno)
            walk(n.body, inner)
            return
        if isinstance(n, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            tg = {x.id for g in n.generators for x in ast.walk(g.target) if isinstance(x, ast.Name)}
            for x in wanted & tg:
                shadow[x].add(n.lineno)
            inner = bound | tg
            walk(n.generators[0].iter, bound)
            for i, g in enumerate(n.generators):
                if i:
                    walk(g.iter, inner)
                for c in g.ifs:
                    walk(c, inner)
            for part in ("elt", "key", "value"):
                if hasattr(n, part):
                    walk(getattr(n, part), inner)
            return
        if isinstance(n, ast.ClassDef):
            for d in [*n.decorator_list, *n.bases]:
                walk(d, bound)
            for k in n.keywords:
                walk(k.value, bound)
            # class-scope names bound in the body shadow only at class level
            cl = set()
            for st in n.body:
                if isinstance(st, ast.AnnAssign) and isinstance(st.target, ast.Name):
                    cl.add(st.target.id) if st.value is not None else None
                elif isinstance(st, ast.Assign):
                    for t in st.targets:
                        if isinstance(t, ast.Name):
                            cl.add(t.id)
                elif isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    cl.add(st.name)
            for x in wanted & cl:
                shadow[x].add(n.lineno)
            for st in n.body:
                if isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    walk(st, bound)
                else:
                    walk_class(st, bound, cl)
            return
        if isinstance(n, ast.Name):
            if n.id in wanted and n.id not in bound:
                out.append(n)
            return
        if isinstance(n, (ast.Global,)):
            return
        for ch in ast.iter_child_nodes(n):
            walk(ch, bound)

    def walk_class(st, bound, cl):
        # conservative: at class level, a name bound by the class body is the class's (Store), loads before may be global
        for ch in [st] if isinstance(st, ast.Name) else ast.iter_child_nodes(st):
            if isinstance(ch, ast.Name):
                if isinstance(ch.ctx, ast.Load) and ch.id in wanted and ch.id not in bound:
                    out.append(ch)
            elif isinstance(
                ch, (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
            ):
                walk(ch, bound)
            else:
                walk_class(ch, bound, cl)

    for st in mod.tree.body:
        walk(st, frozenset())
    return out, shadow


def def_name_spans(mod: Module, wanted):
    """Spans of names in def/class statements at top level (incl. under if/try)."""
    out = []

    def visit(st):
        if isinstance(st, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and st.name in wanted:
            kw = "class" if isinstance(st, ast.ClassDef) else "def"
            start = mod.off(st.lineno, st.col_offset)
            m = re.compile(r"\b" + kw + r"\s+(" + re.escape(st.name) + r")\b").search(mod.text, start)
            out.append((m.start(1), m.end(1), st.name))
        elif isinstance(st, (ast.If, ast.Try)):
            for part in ("body", "orelse", "finalbody"):
                for x in getattr(st, part, []):
                    visit(x)

    for st in mod.tree.body:
        visit(st)
    return out


def apply(text, edits):
    edits = sorted(set(edits), key=lambda e: (e[0], e[1]))
    out = []
    pos = 0
    for s, e, new in edits:
        if s < pos:
            raise RuntimeError(f"overlap {text[s:e]!r} {new!r}")
        out.append(text[pos:s])
        out.append(new)
        pos = e
    out.append(text[pos:])
    return "".join(out)


def main(plan_file, write):
    groups = read_plan(Path(plan_file).read_text())
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    py = [f for f in tracked if f.endswith(".py") and not (ROOT / f).is_symlink() and (ROOT / f).is_file()]
    mods = {f: Module(f) for f in py}
    house = {m.name: m for f, m in mods.items() if f.split("/")[0] in ROOMS}
    problems = []
    group_of = {}  # old module name -> Group
    new_name = {}  # old module name -> new module name
    for g in groups:
        for s in g.sources:
            if s not in mods:
                problems.append(f"{g.target}: no module {s}")
                continue
            n = modname(s)
            if n in group_of:
                problems.append(f"{s} in two groups")
            group_of[n] = g
            new_name[n] = modname(g.target)
        if (
            g.target in mods
            and g.target not in g.sources
            and modname(g.target) not in group_of
            and g.target not in [s for h in groups for s in h.sources]
        ):
            problems.append(f"{g.target} exists and is not among its sources")
    if problems:
        print("\n".join(problems))
        return 1
    renames = {(modname(f), n): new for g in groups for (f, n), new in g.renames.items()}
    for m, n in renames:
        if m not in house or n not in house[m].defs | set(house[m].imports):
            problems.append(f"rename of {m}:{n}: no such name")
    # ---- collisions within groups
    drops = defaultdict(set)  # module name -> top-level defs dropped as duplicates

    def segment(m, name):
        for st in m.tree.body:
            if isinstance(st, (ast.FunctionDef, ast.ClassDef)) and st.name == name:
                return ast.dump(st)
            if isinstance(st, (ast.Assign, ast.AnnAssign)) and any(
                isinstance(t, ast.Name) and t.id == name
                for t in (st.targets if isinstance(st, ast.Assign) else [st.target])
            ):
                return ast.dump(st)

    def chase(module, attr, seen=()):
        """(module, attr) -> the module that defines it"""
        m = house.get(module)
        if not m or (module, attr) in seen:
            return module, attr
        if attr in m.defs:
            return module, attr
        if attr in m.imports:
            mm, aa = m.imports[attr]
            if aa is None:
                return module, attr
            if f"{mm}.{aa}" in house:
                return f"{mm}.{aa}", None
            if mm in house:
                return chase(mm, aa, (*seen, (module, attr)))
        return module, attr

    order = {}
    for g in groups:
        names = [modname(s) for s in g.sources]
        inside = set(names)
        deps = {n: set() for n in names}
        for n in names:
            for st in house[n].tree.body:
                if isinstance(st, ast.ImportFrom):
                    for a in st.names:
                        full = f"{st.module}.{a.name}"
                        d = full if full in house else st.module
                        if d in inside and d != n:
                            deps[n].add(d)
        try:
            idx = {n: i for i, n in enumerate(names)}
            ts = TopologicalSorter(deps)
            ts.prepare()
            o = []
            ready = []
            while ts.is_active():
                ready += list(ts.get_ready())
                ready.sort(key=lambda n: idx[n])
                x = ready.pop(0)
                o.append(x)
                ts.done(x)
        except CycleError as e:
            problems.append(f"{g.target}: circle {e.args[1]}")
            continue
        order[g.target] = o
        owner = {}
        for n in o:
            for d in house[n].defs:
                if d in ("__all__",):
                    continue
                nn = renames.get((n, d), d)
                if nn in owner:
                    on, od = owner[nn]
                    if on != n and segment(house[n], d) == segment(house[on], od) is not None and nn == d == od:
                        drops[n].add(d)
                    elif on != n:
                        problems.append(f"{g.target}: {nn} is defined in {on} and {n}")
                else:
                    owner[nn] = (n, d)
        imported = {}
        for n in o:
            for local, (mm, aa) in house[n].imports.items():
                full = f"{mm}.{aa}" if aa else mm
                if full in inside:
                    continue
                local = renames.get((n, local), local)
                key = chase(mm, aa) if mm in house and aa else (mm, aa)
                if key[0] in inside and key[1]:
                    continue  # member's name
                if local in owner and owner[local][0] != n:
                    problems.append(
                        f"{g.target}: {local} is imported by {n} from {full} and defined in {owner[local][0]}"
                    )
                if local in imported and imported[local] != key and key[0] != "__future__":
                    problems.append(f"{g.target}: {local} is imported as {imported[local]} and as {key} ({n})")
                imported[local] = key
    if problems:
        print("\n".join(problems))
        return 1

    def newmod(m):
        return new_name.get(m, m)

    results = {}

    def rewrite(m: Module):
        """Edits for one module; returns list of edits, and for group members: import statements removed and kept apart."""
        edits = []
        here = group_of.get(m.name) if m.rel.split("/")[0] in ROOMS else None
        my_new = newmod(m.name) if here else None
        rename_global = {}  # local name -> new text  (only if global)
        rename_attr = {}  # module alias local -> dict or replacement prefix
        changed = []
        typing_nodes = set()
        for n in ast.walk(m.tree):
            if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test):
                for x in n.body:
                    typing_nodes.add(x)
        bound_any = (
            {a.arg for a in ast.walk(m.tree) if isinstance(a, ast.arg)}
            | {x.id for x in ast.walk(m.tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
            | m.defs
            | set(m.imports)
        )
        for st in ast.walk(m.tree):
            if (
                isinstance(st, ast.ImportFrom)
                and st.level == 0
                and st.module
                and st.module.split(".")[0] == "benchbrief"
            ):
                new = []  # (module, name, asname)
                dirty = False
                if here and any((m.name, a.asname or a.name) in renames for a in st.names):
                    changed_alias = {
                        a.asname or a.name: renames[(m.name, a.asname or a.name)]
                        for a in st.names
                        if (m.name, a.asname or a.name) in renames
                    }
                else:
                    changed_alias = {}
                for a in st.names:
                    full = f"{st.module}.{a.name}"
                    local = a.asname or a.name
                    if local in changed_alias:
                        d, attr = chase(st.module, a.name)
                        dirty = True
                        new.append((newmod(d), renames.get((d, attr), attr), changed_alias[local]))
                        continue
                    if full in house and not (st.module in house and a.name in house[st.module].defs):  # a module
                        if full in new_name:
                            dirty = True
                            nm = new_name[full]
                            base = nm.rsplit(".", 1)[1]
                            pkg = nm.rsplit(".", 1)[0]
                            if nm == my_new:
                                rename_attr[local] = (full, "")
                                continue
                            if local == base:
                                new.append((pkg, base, None))
                                rename_attr[local] = (full, local)
                                continue
                            if (
                                base in bound_any
                                and base
                                not in {
                                    x.asname or x.name
                                    for x in st.names
                                    if f"{st.module}.{x.name}" in new_name and new_name[f"{st.module}.{x.name}"] == nm
                                }
                            ) or a.asname:
                                if base in m.imports and not a.asname:
                                    mm2, aa2 = m.imports[base]
                                    f2 = f"{mm2}.{aa2}"
                                    if newmod(f2) == nm:
                                        new.append((pkg, base, None))
                                        rename_attr[local] = (full, base)
                                        continue
                                new.append((pkg, base, local))
                                rename_attr[local] = (full, local)
                            else:
                                new.append((pkg, base, None))
                                rename_attr[local] = (full, base)
                        else:
                            new.append((st.module, a.name, a.asname))
                        continue
                    if (
                        st.module in house
                        and house[st.module].rel.endswith("__init__.py")
                        and not (here and a.name in m.defs)
                    ):
                        d0, _ = chase(st.module, a.name)
                        if not (here and newmod(d0) == my_new):
                            new.append((st.module, a.name, a.asname))
                            continue
                    d, attr = chase(st.module, a.name)
                    if d in new_name and attr is not None:
                        nn = renames.get((d, attr), attr)
                        if new_name[d] == my_new:
                            dirty = True
                            if local != nn:
                                rename_global[local] = nn
                            continue
                        dirty = True
                        if nn != attr and not a.asname:
                            rename_global[local] = nn
                            new.append((new_name[d], nn, None))
                        else:
                            new.append((new_name[d], nn, a.asname))
                    elif st.module in new_name:
                        # re-exported from elsewhere through a merged module
                        dirty = True
                        if attr is None:
                            new.append((*newmod(d).rsplit(".", 1), a.asname))
                        else:
                            new.append(
                                (
                                    d if d not in new_name else new_name[d],
                                    attr,
                                    a.asname if a.asname else (a.name if a.name != attr else None),
                                )
                            )
                    else:
                        new.append((st.module, a.name, a.asname))
                if dirty or (here and st in m.tree.body):
                    changed.append((st, new))
            elif isinstance(st, ast.Import):
                for a in st.names:
                    if a.name in new_name:
                        problems.append(f"{m.rel}: import {a.name}")
        # own renames
        if here:
            for (mod, n), new in renames.items():
                if mod == m.name:
                    rename_global[n] = new
        # Name edits
        if rename_global:
            nodes, shadow = global_names(m, set(rename_global))
            lazies = {}
            for n in nodes:
                s, e = m.span(n)
                edits.append((s, e, rename_global[n.id]))
            for s, e, n in def_name_spans(m, set(rename_global)):
                edits.append((s, e, rename_global[n]))
            # names imported lazily within functions are function locals: rename there too
            for fn in ast.walk(m.tree):
                if isinstance(fn, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    inner = {a.asname or a.name for x in ast.walk(fn) if isinstance(x, ast.ImportFrom) for a in x.names}
                    for x in ast.walk(fn):
                        if isinstance(x, ast.Name) and x.id in inner & set(rename_global):
                            s, e = m.span(x)
                            edits.append((s, e, rename_global[x.id]))
        if rename_attr:
            free, _ = global_names(m, set(rename_attr))
            free = {id(x) for x in free}
            for fn in ast.walk(m.tree):
                if isinstance(fn, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    inner = {a.asname or a.name for x in ast.walk(fn) if isinstance(x, ast.ImportFrom) for a in x.names}
                    free |= {id(x) for x in ast.walk(fn) if isinstance(x, ast.Name) and x.id in inner}
            parents = {id(p.value) for p in ast.walk(m.tree) if isinstance(p, ast.Attribute)}
            for n in ast.walk(m.tree):
                if (isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and id(n.value) not in free) or (
                    isinstance(n, ast.Name) and id(n) not in free
                ):
                    continue
                if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in rename_attr:
                    full, prefix = rename_attr[n.value.id]
                    d, attr = chase(full, n.attr)
                    nn = renames.get((d, attr), attr) if attr else n.attr
                    s, _ = m.span(n)
                    e = m.span(n)[1]
                    newtext = f"{prefix}.{nn}" if prefix else nn
                    if m.text[s:e] != newtext:
                        edits.append((s, e, newtext))
                    if not prefix:
                        # shadow check: nn bound in an enclosing function?
                        pass
                elif isinstance(n, ast.Name) and n.id in rename_attr and rename_attr[n.id][1] != n.id:
                    # bare use of a module object (e.g. monkeypatch.setattr(mod, ...)): handled when not part of Attribute
                    if id(n) not in parents:
                        full, prefix = rename_attr[n.id]
                        if prefix:
                            s, e = m.span(n)
                            edits.append((s, e, prefix))
                        else:
                            problems.append(f"{m.rel}:{n.lineno}: bare use of module {n.id}")
            noprefix = {l for l, (f, p) in rename_attr.items() if not p}
            if noprefix:
                used = {
                    n.attr
                    for n in ast.walk(m.tree)
                    if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in noprefix
                }
                for fn in ast.walk(m.tree):
                    if isinstance(fn, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                        sh = function_locals(fn)
                        got = {
                            n.attr
                            for n in ast.walk(fn)
                            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id in noprefix
                        }
                        if sh & got:
                            problems.append(f"{m.rel}:{fn.lineno}: {sh & got} shadowed after merge")
                if used & m.defs - {x for x in used if False}:
                    for u in used & m.defs:
                        problems.append(f"{m.rel}: {u} of a merged module meets an own name")
        return edits, changed, typing_nodes

    def import_text(new, indent=""):
        by = defaultdict(list)
        for mod, n, a in new:
            by[mod].append(n if not a or a == n else f"{n} as {a}")
        return ("\n" + indent).join(f"from {mod} import {', '.join(sorted(set(ns)))}" for mod, ns in sorted(by.items()))

    outputs = {}
    rewritten = {}
    for f, m in mods.items():
        edits, changed, typing_nodes = rewrite(m)
        rewritten[f] = (edits, changed, typing_nodes)
    if problems:
        print("\n".join(problems))
        return 1
    # ---- files outside of groups
    for f, m in mods.items():
        if m.rel.split("/")[0] in ROOMS and m.name in group_of:
            continue
        edits, changed, _ = rewritten[f]
        for st, new in changed:
            s, e = m.span(st)
            indent = " " * st.col_offset
            edits.append((s, e, import_text(new, indent) if new else "pass"))
        if edits:
            outputs[f] = apply(m.text, edits)
    # ---- groups
    for g in groups:
        tops = []
        typings = []
        bodies = []
        future = False
        docs = []
        for n in order[g.target]:
            m = house[n]
            edits, changed, typing_nodes = rewritten[m.rel]
            cm = {id(st): new for st, new in changed}
            for st in ast.walk(m.tree):
                if id(st) in cm and st not in m.tree.body:
                    new = cm[id(st)]
                    s, e = m.span(st)
                    if st in typing_nodes:
                        continue
                    edits.append((s, e, import_text(new, " " * st.col_offset) if new else "@@DROP@@"))
            doc = ast.get_docstring(m.tree, clean=False)
            body = m.tree.body
            cut = []
            first = True
            for st in body:
                s, e = m.span(st)
                le = m.starts[st.end_lineno] if st.end_lineno < len(m.starts) else len(m.text)
                tail = m.text[e:le]
                if (
                    first
                    and isinstance(st, ast.Expr)
                    and isinstance(st.value, ast.Constant)
                    and isinstance(st.value.value, str)
                ):
                    docs.append((n, ast.get_docstring(m.tree)))
                    cut.append((s, le, ""))
                    first = False
                    continue
                first = False
                if isinstance(st, ast.ImportFrom) and st.module == "__future__":
                    future = True
                    cut.append((s, le, ""))
                    continue
                if isinstance(st, (ast.Import, ast.ImportFrom)):
                    c = tail.strip()
                    if id(st) in cm:
                        tops.append(import_text(cm[id(st)]) + (f"  {c}" if c and cm[id(st)] else ""))
                    else:
                        tops.append(m.text[s:le].rstrip("\n"))
                    edits[:] = [x for x in edits if not (s <= x[0] < le)]
                    cut.append((s, le, ""))
                    continue
                if isinstance(st, ast.If) and "TYPE_CHECKING" in ast.dump(st.test):
                    for x in st.body:
                        if id(x) in cm:
                            typings.append(import_text(cm[id(x)]))
                        else:
                            typings.append(ast.unparse(x))
                    edits[:] = [x for x in edits if not (s <= x[0] < le)]
                    cut.append((s, le, ""))
                    continue
                if (
                    isinstance(st, ast.Assign)
                    and isinstance(st.targets[0], ast.Name)
                    and (st.targets[0].id == "__all__" or st.targets[0].id in drops[n])
                ):
                    edits[:] = [x for x in edits if not (s <= x[0] < le)]
                    cut.append((s, le, ""))
                    continue
                if isinstance(st, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign)):
                    nm = st.name if not isinstance(st, ast.AnnAssign) else getattr(st.target, "id", "")
                    if nm in drops[n]:
                        ds = m.off(st.decorator_list[0].lineno, 0) if getattr(st, "decorator_list", []) else s
                        edits[:] = [x for x in edits if not (ds <= x[0] < le)]
                        cut.append((ds, le, ""))
                        continue
            text = apply(m.text, edits + cut)
            text = re.sub(r"^[ \t]*@@DROP@@[ \t]*(#.*)?\n", "", text, flags=re.M)
            if "@@DROP@@" in text:
                problems.append(f"{m.rel}: drop")
            bodies.append(text.strip("\n"))
        alldocs = [d for _, d in docs if d]
        own = [d for n, d in docs if n == modname(g.target)]
        doc = g.doc or (own[0] if own else (docs[-1][1] if docs else ""))
        out = f'"""{doc}"""\n\n' if doc else ""
        if future:
            out += "from __future__ import annotations\n\n"
        out += "\n".join(t for t in tops if t) + "\n\n"
        typ = [t for t in typings if t]
        if typ:
            out += (
                "if TYPE_CHECKING:\n"
                + "\n".join("    " + l for t in dict.fromkeys(typ) for l in t.splitlines())
                + "\n\n"
            )
        out += "\n\n\n".join(b for b in bodies if b) + "\n"
        outputs[g.target] = out
    if problems:
        print("\n".join(problems))
        return 1
    # ---- names in strings and other texts
    names = sorted(new_name, key=len, reverse=True)
    pat = (
        re.compile("|".join(r"\b" + re.escape(n) + r"(?![\w])(?!\.py\b)" for n in names if new_name[n] != n))
        if any(new_name[n] != n for n in names)
        else None
    )
    paths = {s: g.target for g in groups for s in g.sources if s != g.target}
    ppat = (
        re.compile("|".join(r"(?<![\w/.-])" + re.escape(p) + r"(?![\w])" for p in sorted(paths, key=len, reverse=True)))
        if paths
        else None
    )
    texts = [
        f
        for f in tracked
        if f.endswith((".py", ".toml", ".md", ".sh", ".yml", ".yaml", ".cfg", ".json", ".txt", ".mjs", ".ts", ".lua"))
        and not (ROOT / f).is_symlink()
        and (ROOT / f).is_file()
        and f != "CHANGELOG.md"
    ]
    for f in texts:
        if f in mods and mods[f].name in group_of and f.split("/")[0] in ROOMS and f not in {g.target for g in groups}:
            continue
        t = outputs.get(f) or (ROOT / f).read_text()
        new = t
        if pat:
            new = pat.sub(lambda x: new_name[x.group(0)], new)
        if ppat:
            new = ppat.sub(lambda x: paths[x.group(0)], new)
        if new != t:
            outputs[f] = new
    for g in groups:
        if g.target in outputs:
            pass
    # ---- circles of the new graph (imports at the top of modules)
    edges = defaultdict(set)
    for n, m in house.items():
        for st in m.tree.body:
            if isinstance(st, ast.ImportFrom) and st.module:
                for a in st.names:
                    full = f"{st.module}.{a.name}"
                    d = full if full in house else st.module
                    if d in house and a.name != "*":
                        if d == st.module:
                            d = chase(d, a.name)[0]
                        if d in house and newmod(d) != newmod(n):
                            edges[newmod(n)].add(newmod(d))
    index = {}
    low = {}
    stack = []
    on = set()
    comps = []
    sys.setrecursionlimit(10000)

    def strong(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in edges[v]:
            if w not in index:
                strong(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            c = []
            while True:
                w = stack.pop()
                on.discard(w)
                c.append(w)
                if w == v:
                    break
            if len(c) > 1:
                comps.append(c)

    for v in list(edges):
        if v not in index:
            strong(v)
    for c in comps:
        problems.append("circle: " + " ".join(sorted(c)))
        cs = set(c)
        for v in sorted(c):
            for w in sorted(edges[v] & cs):
                problems.append(f"    {v} -> {w}")
    if problems:
        print("\n".join(problems))
        return 1
    print(f"{len(groups)} groups, {sum(len(g.sources) for g in groups)} sources; {len(outputs)} files change")
    if not write:
        return 0
    for g in groups:
        big = max(g.sources, key=lambda s: len(mods[s].lines))
        keep = g.target if g.target in g.sources else big
        (ROOT / g.target).parent.mkdir(parents=True, exist_ok=True)
        if keep != g.target:
            subprocess.run(["git", "mv", keep, g.target], cwd=ROOT, check=True)
        for s in g.sources:
            if s != keep and (ROOT / s).exists() and s != g.target:
                subprocess.run(["git", "rm", "-q", "-f", s], cwd=ROOT, check=True)
    for f, t in outputs.items():
        (ROOT / f).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / f).write_text(t)
    # folders left with nothing but __init__
    for d in {str(Path(s).parent) for g in groups for s in g.sources}:
        p = ROOT / d
        if p.is_dir():
            left = [x for x in p.glob("*.py") if x.name != "__init__.py"]
            data = [
                x
                for x in subprocess.run(
                    ["git", "ls-files", d], cwd=ROOT, capture_output=True, text=True
                ).stdout.splitlines()
                if not x.endswith(".py")
            ]
            if not left and data:
                to = {str(Path(g.target).parent) for g in groups for s in g.sources if str(Path(s).parent) == d}
                print("data of", d, "->", to, data)
                if len(to) == 1:
                    t = to.pop()
                    for x in data:
                        dest = ROOT / t / Path(x).relative_to(d)
                        dest.parent.mkdir(parents=True, exist_ok=True)
                        subprocess.run(["git", "mv", x, str(dest)], cwd=ROOT, check=True)
            rest = [x for x in p.iterdir() if x.name not in ("__pycache__", "__init__.py")]
            if not rest and (p / "__init__.py").exists():
                subprocess.run(["git", "rm", "-q", "-f", f"{d}/__init__.py"], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--write" in sys.argv))

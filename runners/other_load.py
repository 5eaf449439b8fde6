"""What else keeps a host busy just before a cell begins: the process that takes the most of its processors."""

from __future__ import annotations

import re

from benchbrief.runners.commands import printable
from benchbrief.runners.job_scripts import ROOT
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.seams import Transport
from benchbrief.runners.tasks import Command

LOOK_S = 0.2
"""For so long, processes are watched where more than the one that looks is about to run."""
_MUCH = 0.5
"""Cores: less by a single process is let pass."""

# The processor time of a process is in fields 14 and 15 of its `stat`, in ticks, when it began in 22 (proc(5)); its
# name, in brackets, may hold blanks and brackets.
_SCRIPT = f"""\
LC_ALL=C; export LC_ALL
read -r _ _ _ tasks _ </proc/loadavg && [ "${{tasks%/*}}" -gt 1 ] || exit 0
look() {{ cat /proc/uptime /proc/[0-9]*/stat 2>/dev/null; }}
found=$({{ look; sleep {LOOK_S:g}; look; }} | awk -v apart="$apart" '
/^[0-9.]+ [0-9.]+$/ {{ round++; at[round] = $1; next }}
{{
    rest = $0; sub(/.*\\) /, "", rest); split(rest, field, " ")
    used = field[12] + field[13]; which = $1 " " field[20]
    if (round == 1) {{ before[which] = used; next }}
    if (!(which in before) || $1 == apart) next
    used -= before[which]
    name = $0; sub(/\\) [^)]*$/, "", name); sub(/^[0-9]+ \\(/, "", name)
    if (used) most[which] = used " @ " $1 " " name
}}
END {{ for (which in most) {{ sub(/@/, at[2] - at[1], most[which]); print most[which] }} }}' | sort -rn | head -n 20)
printf '%s\\n' "$found" | while read -r used seconds pid name; do
    [ -n "$pid" ] || continue
    job=$(tr '\\0' '\\n' 2>/dev/null <"/proc/$pid/environ" | grep '^BENCHBRIEF_JOB=')
    case ${{job#*=}} in "$root/${{ours:-/}}"-*) continue ;; esac
    echo "$(getconf CLK_TCK || echo 100) $(stat -c %U /proc/$pid) $used $seconds $pid $name"
    break
done
"""


def other_load(transport: Transport, apart: int | None = None, ours: str = "") -> str:
    """Which process takes the most, and how much; "" when the host is idle enough. Raises HostError.

    `apart` is a process that is left out: on the controller, its own; so are the jobs of the owner `ours`, such as a
    server that the run keeps up.
    """
    script = f"apart={apart or ''}\nours={ours}\n{ROOT}{_SCRIPT}"
    said = run_persistently(transport, Command(("sh",)), stdin=script).stdout
    match = re.fullmatch(r"(\d{1,6}) (\S{1,64}) (\d{1,9}) (\d{1,4}(?:\.\d{1,6})?) (\d{1,10}) (.{0,64})\n", said)
    if match is None:
        return ""
    ticks, user, used, seconds, pid, name = match.groups()
    cores = int(used) / int(ticks) / max(float(seconds), LOOK_S)
    return f"{printable(name)} (process {pid} of {user}) takes {cores:.1f} cores" if cores >= _MUCH else ""

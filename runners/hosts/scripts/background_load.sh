#!/bin/sh
# Prints the process that takes most, of those that are neither `apart` nor jobs of the owner `ours`: the ticks of a
# second, its user, the ticks that it took, in how many seconds, its number and name.
#
# A process's `stat` has its processor time in fields 14 and 15, in ticks, and its start in 22 (proc(5)). Its name, in
# brackets, may contain blanks and brackets.
: "${apart?}" "${ours?}" "${watch_s?}"
. ../../jobs/scripts/parts/root.sh
LC_ALL=C; export LC_ALL
read -r _ _ _ tasks _ </proc/loadavg && [ "${tasks%/*}" -gt 1 ] || exit 0
look() { cat /proc/uptime /proc/[0-9]*/stat 2>/dev/null; }
found=$({ look; sleep "$watch_s"; look; } | awk -v apart="$apart" '
/^[0-9.]+ [0-9.]+$/ { round++; at[round] = $1; next }
{
    rest = $0; sub(/.*\) /, "", rest); split(rest, field, " ")
    used = field[12] + field[13]; which = $1 " " field[20]
    if (round == 1) { before[which] = used; next }
    if (!(which in before) || $1 == apart) next
    used -= before[which]
    name = $0; sub(/\) [^)]*$/, "", name); sub(/^[0-9]+ \(/, "", name)
    if (used) most[which] = used " @ " $1 " " name
}
END { for (which in most) { sub(/@/, at[2] - at[1], most[which]); print most[which] } }' | sort -rn | head -n 20)
printf '%s\n' "$found" | while read -r used seconds pid name; do
    [ -n "$pid" ] || continue
    job=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep '^BENCHBRIEF_JOB=')
    case ${job#*=} in "$root/${ours:-/}"-*) continue ;; esac
    echo "$(getconf CLK_TCK || echo 100) $(stat -c %U "/proc/$pid") $used $seconds $pid $name"
    break
done

#!/bin/sh
# Prints facts of the host, and of the file systems that hold the paths among its arguments: a line each, with a key.
LC_ALL=C; export LC_ALL
say() { printf '%s\t%s\n' "$1" "$2"; }
file() {
    [ -r "$2" ] || return
    line=
    IFS= read -r line 2>/dev/null <"$2"
    printf '%s\t%.300s\n' "$1" "$line"
}
say hostname "$(uname -n)"
say kernel "$(uname -r)"
say os "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null)"
lscpu 2>/dev/null | while IFS= read -r line; do say lscpu "$line"; done
say model "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
say processors "$(grep -c '^processor' /proc/cpuinfo)"
say usable "$(nproc 2>/dev/null)"
say virtualization "$(systemd-detect-virt 2>/dev/null)"
file clock_source /sys/devices/system/clocksource/clocksource0/current_clocksource
file huge_pages /sys/kernel/mm/transparent_hugepage/enabled
say governor "$(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u | tr '\n' ' ')"
grep -E '^(MemTotal|SwapTotal):' /proc/meminfo | while read -r key value _; do say "$key" "$value"; done
group=$(sed -n 's/^0:://p' /proc/self/cgroup 2>/dev/null)
while [ -n "$group" ]; do
    file limit "/sys/fs/cgroup$group/memory.max"
    group=${group%/*}
done
file limit /sys/fs/cgroup/memory.max
file limit /sys/fs/cgroup/memory/memory.limit_in_bytes
for entry in /sys/class/block/*; do
    [ -e "$entry" ] || continue
    name=${entry##*/}
    say block "$name"
    if [ -e "$entry/partition" ]; then
        parent=$(readlink -f "$entry"); parent=${parent%/*}
        say below "$name ${parent##*/}"
    fi
    for slave in "$entry"/slaves/*; do [ -e "$slave" ] && say below "$name ${slave##*/}"; done
    file "mapped $name" "$entry/dm/name"
    file "sectors $name" "$entry/size"
    file "rotating $name" "$entry/queue/rotational"
    file "model $name" "$entry/device/model"
done
head -n 1000 /proc/self/mounts | while IFS= read -r line; do say mounted "$line"; done
path() {
    there=$1
    while [ ! -e "$there" ] && [ "$there" != / ] && [ "$there" != . ]; do there=$(dirname -- "$there"); done
    line=$(df -P -- "$there" 2>/dev/null | tail -n 1)
    say path "$2 $line"
    case $line in /dev/*) say real "$2 $(readlink -f -- "${line%% *}")";; esac
}
index=0
for each do
    path "$each" "$index"
    index=$((index + 1))
done
exit 0

#!/bin/sh
# Whether the group in `pid` is still this job's, in the job's directory. While its first process lives, its start
# decides; after that, members that carry the job's mark. Any other process got the number later.
. ./born.sh
ours() {
    [ "$(cat boot)" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
    if [ -d "/proc/$pid" ]; then [ "$(born "$pid")" = "$(cat born)" ]; return; fi
    # shellcheck disable=SC2013  # none of these paths has a blank
    for member in $(grep -lsE "\) [A-Za-z] [0-9]+ $pid " /proc/[0-9]*/stat); do
        tr '\0' '\n' 2>/dev/null <"${member%stat}environ" | grep -qxF "BENCHBRIEF_JOB=$PWD" && return 0
    done
    return 1
}

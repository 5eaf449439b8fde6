#!/bin/sh
# `end_jobs OWNER` ends an owner's jobs as groups, then what they started apart, and prints how many jobs and processes
# that were. What was started apart stays while jobs are kept, which may need it.
. ./stop.sh
is_kept() { case " ${kept-} " in *" ${1##*/} "*) return 0;; esac; return 1; }
end_jobs() {
    running=0
    for d in "$root/$1"-*; do
        [ -d "$d" ] && [ -O "$d" ] || continue
        is_kept "$d" && continue
        [ ! -s "$d/pid" ] || ! is_running "$d" || running=$((running + 1))
        (stop "$d") >/dev/null 2>&1
    done
    [ -n "${kept-}" ] || running=$((running + $(end_strayed "$root" "$1-")))
    echo "$running"
}

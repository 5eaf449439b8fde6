#!/bin/sh
# `end_jobs OWNER` ends an owner's jobs as groups, and prints how many still ran.
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
    echo "$running"
}

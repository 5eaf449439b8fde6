#!/bin/sh
# Ends a job that has ended but for what it left, and removes it.
: "${d?}" "${owner?}" "${grace?}"
. parts/root.sh
. parts/locked.sh
. parts/tidy.sh
. parts/erase.sh
. parts/stop.sh
discard() {
    if [ -d "$d" ]; then
        ! is_running "$d" || { echo running; exit 0; }
        [ -e "$d/rc" ] && [ ! -e "$d/forget" ] || (stop "$d") >/dev/null 2>&1
        cd / && erase "$d"
    fi
    tidy
    exit 0
}
with_root discard

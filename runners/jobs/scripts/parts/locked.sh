#!/bin/sh
# `with_root TASK` runs the task, which ends the script, under the lock. `create` is set when the root is to be made. A
# root that was removed while we waited for the lock, or before it was opened, is no longer the one at its path: then
# the new one is locked instead.
under_lock() {
    flock -w 20 -x 8 || { echo "locked $root"; exit 1; }
    [ "$root" -ef /proc/self/fd/8 ] && "$@"
}
with_root() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        if [ -n "$create" ]; then
            # shellcheck disable=SC2174  # the parent is TMPDIR
            [ -d "$root" ] || mkdir -p -m 711 -- "$root" 2>/dev/null
            if [ ! -d "$root" ] || [ -L "$root" ] || [ ! -O "$root" ]; then echo "unsafe $root"; exit 1; fi
        fi
        [ -d "$root" ] && [ -O "$root" ] || exit 0
        under_lock "$@" 8<"$root"
    done
    echo "locked $root"
    exit 1
}

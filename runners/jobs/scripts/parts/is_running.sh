#!/bin/sh
# `is_running DIRECTORY`: the job's script holds the lock. If the lock file was deleted, such as by a cleaner of
# temporary files, the script's own process decides.
#
# The lock is opened for reading, which makes no file: another process may be removing the directory, and one new file
# in it would keep it there.
. ./born.sh
is_running() {
    { flock -n -s 7 || return 0; } 2>/dev/null 7<"$1/lock"
    [ ! -e "$1/rc" ] && [ -s "$1/pid" ] && read -r its <"$1/pid" || return 1
    [ "$(cat "$1/boot")" = "$(cat /proc/sys/kernel/random/boot_id)" ] && [ "$(born "$its")" = "$(cat "$1/born")" ] &&
        ! grep -q ') [ZX] ' "/proc/$its/stat"
}
ends_within() {
    { flock -w "$2" -s 7 || return 1; } 2>/dev/null 7<"$1/lock"
    left=$2
    while is_running "$1"; do
        [ "$left" -gt 0 ] || return 1
        sleep 1
        left=$((left - 1))
    done
}

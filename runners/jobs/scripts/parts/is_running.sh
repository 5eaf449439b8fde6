#!/bin/sh
# `is_running DIRECTORY`: the job's script holds the lock. If the lock file was deleted, such as by a cleaner of
# temporary files, the script's own process decides.
. ./born.sh
is_running() {
    flock -n -s "$1/lock" true || return 0
    [ ! -e "$1/rc" ] && [ -s "$1/pid" ] && read -r its <"$1/pid" || return 1
    [ "$(cat "$1/boot")" = "$(cat /proc/sys/kernel/random/boot_id)" ] && [ "$(born "$its")" = "$(cat "$1/born")" ] &&
        ! grep -q ') [ZX] ' "/proc/$its/stat"
}
ends_within() {
    flock -w "$2" -s "$1/lock" true || return 1
    left=$2
    while is_running "$1"; do
        [ "$left" -gt 0 ] || return 1
        sleep 1
        left=$((left - 1))
    done
}

#!/bin/sh
# `end_strayed ROOT JOBS` ends the processes that `strayed` finds, and prints how many there were.
. ./strayed.sh
end_strayed() {
    strays=$(strayed "$1" "$2") tenths=$((grace * 10))
    # shellcheck disable=SC2086  # a list of numbers
    set -- "$1" "$2" $strays
    echo $(($# - 2))
    # shellcheck disable=SC2086
    [ -z "$strays" ] || kill -TERM $strays
    while [ -n "$strays" ] && [ "$tenths" -gt 0 ]; do
        sleep 0.1
        tenths=$((tenths - 1)) strays=$(strayed "$1" "$2")
    done
    # shellcheck disable=SC2086
    [ -z "$strays" ] || kill -KILL $strays
} 2>/dev/null

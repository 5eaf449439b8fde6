#!/bin/sh
# `born PID` prints when a process started, in ticks since the boot. Together with its number that identifies a process
# for good. The program's name, which may hold blanks and parentheses, comes before it in the line.
born() {
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    # shellcheck disable=SC2086  # the words after the name
    set -- ${stat##*) }
    echo "${20}"
}

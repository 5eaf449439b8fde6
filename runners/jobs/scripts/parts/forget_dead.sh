#!/bin/sh
# `forget_dead` does so for jobs that could not do it themselves: killed with their scripts, by a restart of the host,
# or on a full disk. Call it under the lock, where a job without a pid never began.
. ./is_running.sh
. ./forget.sh
forget_dead() {
    for d in "$root"/*-*; do
        [ -d "$d" ] && [ -O "$d" ] || continue
        if [ ! -e "$d/rc" ] && [ ! -s "$d/pid" ]; then rm -rf -- "$d"; continue; fi
        [ ! -e "$d/forget" ] || is_running "$d" || (cd -- "$d" && forget && rm -f -- env)
    done
}

#!/bin/sh
# `strayed ROOT JOBS` prints the processes of jobs that are not in the jobs' groups, such as those that `setsid` and
# `timeout` start: all have the job's mark in their environment. `JOBS` is a job's name, or the beginning of one.
strayed() {
    at=$(cd -- "$1" && pwd) || return 0
    for each in $(grep -lsF -- "BENCHBRIEF_JOB=$at/$2" /proc/[0-9]*/environ | tr -dc '0-9\n'); do
        read -r stat <"/proc/$each/stat" || continue
        # shellcheck disable=SC2086  # the words after the name; the third is the group
        set -- "$1" "$2" ${stat##*) }
        grep -qsxF "$5" "$at/$2"*/pid || echo "$each"
    done
} 2>/dev/null

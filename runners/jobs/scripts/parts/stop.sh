#!/bin/sh
# Prints what became of the job: nothing when it had ended before. Fails for one that can't be ended. Then what it started apart stays, as a server that
# `prepare` started is there for the whole run.
. ./ours.sh
. ./is_running.sh
. ./forget.sh
. ./end_strayed.sh
stop() {
    cd -- "$1" 2>/dev/null || return 0
    # shellcheck disable=SC2094  # a variable and a file
    read -r pid <pid || return 0
    if ! is_running .; then
        # It has ended; or its script alone was killed, and the rest of the group was not.
        [ -e rc ] || ! ours || kill -KILL "-$pid"
        [ -e rc ] || end_strayed "${PWD%/*}" "${PWD##*/}" >/dev/null
        forget
        return 0
    fi
    : >stopping
    kill -TERM "-$pid"
    ends_within . "$grace" && [ -e rc ] && { end_strayed "${PWD%/*}" "${PWD##*/}" >/dev/null; echo stopped; return 0; }
    kill -KILL "-$pid"
    ends_within . "$grace" || { echo immortal; return 1; }
    at=$(date +%s.%N)
    end_strayed "${PWD%/*}" "${PWD##*/}" >/dev/null
    forget
    echo "$at" >end
    head -c 65536 /dev/zero >room && rm room && echo stopped >rc
    echo stopped
}

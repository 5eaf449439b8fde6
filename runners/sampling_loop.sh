#!/bin/sh
# Reads again and again: the functions `header` and `read_all` stand before this. With `counts`, it reads once more
# when it is asked to end: counters tell what was until they are read. What the signal interrupts ends as well, and a
# reading of which that is true is not whole.
#
# The next reading is due at a multiple of the interval (`every`, in nanoseconds), so that readings do not drift. What
# is late is not caught up on, and a clock that was set begins anew. The number added keeps the nanoseconds' leading
# zeros.
: "${every?}" "${rounds?}" "${counts?}"
d=$PWD; n=0; due=0; over=
header
[ -z "$counts" ] || trap over=yes TERM
while [ $n -lt "$rounds" ] && [ -d "$d" ]; do
    n=$((n + 1)); last=$over; t=$(date +%s%N); read -r up _ </proc/uptime
    s=${t%?????????}
    printf '= %s.%s %s\n' "$s" "${t#"$s"}" "$up"
    read_all
    [ "$last" != "$over" ] || echo .
    [ -z "$last" ] || exit 0
    [ -z "$over" ] || continue
    due=$((due + every)); left=$((due - t))
    if [ $left -lt 0 ] || [ $left -gt "$every" ]; then due=$((t + every)); left=$every; fi
    left=$((left + 1000000000000000000)); s=${left%?????????}
    { sleep "$((s - 1000000000)).${left#"$s"}"; } 2>/dev/null || [ -n "$over" ] || exit 1
done

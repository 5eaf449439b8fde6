#!/bin/sh
# `state` says what is known of the job in the working directory, which has ended: a line each, a name and a value.
# There may be no `rc` for want of room.
state() {
    echo "running	no"
    for f in start end rc unattended; do
        [ -e $f ] && { read -r said <$f; printf '%s\t%.60s\n' $f "$said"; }
    done
    [ -e load ] && {
        said=
        while read -r line; do said="$said$line "; done <load
        printf 'load\t%.200s\n' "$said"
    }
    [ -e rc ] && return
    if printf '%65536s' '' >room; then echo "room	yes"; else echo "room	no"; fi
    rm -f room
}

#!/bin/sh
# `foreign` is true when a run of another Unix user holds the host, and reads its claim. That user's text is read only
# up to a limit, and never run. A claim whose process is `gone` counts while that user has a job, whichever: all users
# see the command line of a job's script.
. ./quiet.sh
is_number() { case $1 in '' | *[!0-9]*) return 1 ;; esac; }
has_jobs() {
    # shellcheck disable=SC2013  # none of these paths has a blank
    for each in $(grep -lsF ./run /proc/[0-9]*/cmdline); do
        [ "$(tr '\0' ' ' 2>/dev/null <"$each")" = "sh ./run " ] && [ "$(stat -c %u "$each" 2>/dev/null)" = "$1" ] && return
    done
    return 1
}
foreign() {
    for theirs in "${root%-*}"-*; do
        is_number "${theirs##*-}" && [ "$theirs" != "$root" ] && [ ! -L "$theirs" ] || continue
        [ -f "$theirs/claim" ] && [ ! -L "$theirs/claim" ] && [ -r "$theirs/claim" ] || continue
        # shellcheck disable=SC2046  # three words
        set -- $(stat -c '%u %s %U' -- "$theirs/claim" 2>/dev/null)
        is_number "$2" && [ "$1" = "${theirs##*-}" ] && [ "$2" -le 20000 ] || continue
        user=$3
        [ "$user" != UNKNOWN ] || user=$1
        holder= about_holder= void= since=
        said=$(timeout 5 head -c 20000 -- "$theirs/claim")
        { read -r holder; read -r about_holder; read -r void; read -r since; } <<END
$said
END
        case $holder in '' | *[!A-Za-z0-9_]*) continue ;; esac
        case $void in '' | *[!0-9]* | ??????????*) continue ;; esac
        [ -f "$theirs/$holder.alive" ] && [ ! -L "$theirs/$holder.alive" ] || continue
        if [ -n "${gone-}" ] && [ "$about_holder" = "$gone" ] && ! has_jobs "$1"; then continue; fi
        silent=$(quiet "$holder" "$theirs")
        [ "$silent" -gt "$void" ] || return 0
    done
    return 1
}

#!/bin/sh
# Names the disk that `path` means: a device itself, or the one that the path's file system is on. One in memory is on
# none.
: "${path?}"
x=$path
while [ ! -e "$x" ]; do
    case $x in /dev/shm/*) ;; /dev/*) echo "no device $x" >&2; exit 1;; /|.) break;; esac
    x=$(dirname -- "$x")
done
if [ ! -b "$x" ]; then
    s=$(LC_ALL=C df -P -- "$x" | tail -n 1)
    case $s in
        /dev/*) x=${s%% *};;
        tmpfs*|ramfs*|none*) echo memory; x=;;
        *) echo "no device under $x" >&2; exit 1;;
    esac
fi
[ -z "$x" ] || { x=$(readlink -f -- "$x"); echo "disks ${x##*/}"; }

#!/bin/sh
# Prints the last line of df for the path $1, then the KiB in that directory, then what it holds: `marked` where our marker
# names a data set, `empty` where the marker names none, else the first entry, if there is one. In /proc and /sys, where
# nothing can be made, it prints `kernel` instead.
: "${marker?}"
p=$1
while [ ! -e "$p" ]; do p=$(dirname -- "$p"); done
case $(stat -f -c %T -- "$p") in proc | sysfs) echo kernel; exit ;; esac
[ -d "$p" ] && [ -w "$p" ] || exit
df -Pk -- "$p" | tail -n 1
kept=$(du -sk -- "$1/." 2>/dev/null | awk '{ print $1 }')
echo "${kept:-0}"
if [ -s "$1/$marker" ]; then
    echo marked
elif [ -f "$1/$marker" ]; then
    echo empty
else
    # shellcheck disable=SC2010  # the name is only shown
    ls -A -- "$1" 2>/dev/null | grep -vxF lost+found | head -n 1
fi

#!/bin/sh
# Removes what a restore of the directory $1 that was cut short has left, and makes the directory where it is not there.
: "${real?}"
mend && can || exit 1
[ -e "$real" ] || make

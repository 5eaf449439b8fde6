#!/bin/sh
# Waits until $1 seconds since boot, then runs the line $2 in the directory $3 ("": the login directory). The file
# event.times then has when the line began and ended, in seconds since boot. Codes: 125 when it could not begin, else
# the line's own.
here=$PWD
wait=$(LC_ALL=C awk -v until="$1" '{ d = until - $1; printf "%.2f", (d > 0 ? d : 0) }' /proc/uptime) || exit 125
sleep "$wait" || exit 125
if [ -n "$3" ]; then cd -- "$3" || exit 125; else cd || exit 125; fi
read -r began _ </proc/uptime
sh -c "$2"
code=$?
read -r ended _ </proc/uptime
echo "$began $ended" >"$here/event.times"
exit "$code"

#!/bin/sh
# The directory of all claims and jobs of our Unix user. `id`, which each script would start, is asked only where the
# kernel does not say.
user=
while read -r word _ effective _; do
    [ "$word" != Uid: ] || { user=$effective; break; }
done 2>/dev/null </proc/self/status
root="${TMPDIR:-/tmp}/benchbrief-${user:-$(id -u)}"
user=

#!/bin/sh
# Waits for the end of a job, up to `slice` seconds.
: "${d?}" "${slice?}"
. parts/is_running.sh
cd -- "$d" 2>/dev/null || exit 0
ends_within . "$slice"

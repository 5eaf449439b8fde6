#!/bin/sh
# Waits for the end of a job, up to `slice` seconds, and says what is known of it then: nothing when it is gone.
: "${d?}" "${slice?}"
. parts/is_running.sh
. parts/state.sh
cd -- "$d" 2>/dev/null || exit 0
ends_within . "$slice" || exit
state
exit 0

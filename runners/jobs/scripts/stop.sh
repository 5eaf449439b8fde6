#!/bin/sh
# Prints what became of the job, nothing when it had ended before, and then what is known of it.
: "${d?}" "${grace?}"
. parts/stop.sh
. parts/state.sh
stop "$d" && cd -- "$d" 2>/dev/null && state
exit 0

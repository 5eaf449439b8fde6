#!/bin/sh
# Prints what became of the job: nothing when it had ended before.
: "${d?}" "${grace?}"
. parts/stop.sh
stop "$d"

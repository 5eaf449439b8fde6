#!/bin/sh
# What is known of a job.
: "${d?}"
. parts/is_running.sh
. parts/state.sh
cd -- "$d" || { echo "gone	yes"; exit 0; }
if is_running .; then echo "running	yes"; else state; fi
exit 0

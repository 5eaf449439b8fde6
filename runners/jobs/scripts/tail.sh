#!/bin/sh
# The end of what a job printed.
: "${d?}" "${limit?}"
cd -- "$d" && tail -q -c "$limit" stderr stdout

#!/bin/sh
# What is known of a job: a line each, a name and a value.
: "${d?}"
. parts/is_running.sh
cd -- "$d" || { echo "gone	yes"; exit 0; }
if is_running .; then echo "running	yes"; else echo "running	no"; fi
for f in start end rc unattended; do [ -e $f ] && printf '%s\t%s\n' $f "$(head -c 60 $f)"; done
[ -e load ] && printf 'load\t%s\n' "$(head -c 200 load | tr '\n' ' ')"
if head -c 65536 /dev/zero >room; then echo "room	yes"; else echo "room	no"; fi
rm -f room

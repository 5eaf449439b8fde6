#!/bin/sh
# What is known of a job: a line each, a name and a value.
: "${d?}"
. parts/is_running.sh
cd -- "$d" || { echo "gone	yes"; exit 0; }
if is_running .; then echo "running	yes"; else echo "running	no"; fi
for f in start end rc unattended; do
    [ -e $f ] && { read -r said <$f; printf '%s\t%.60s\n' $f "$said"; }
done
[ -e load ] && {
    said=
    while read -r line; do said="$said$line "; done <load
    printf 'load\t%.200s\n' "$said"
}
if printf '%65536s' '' >room; then echo "room	yes"; else echo "room	no"; fi
rm -f room

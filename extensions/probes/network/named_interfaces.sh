#!/bin/sh
# Names the interfaces that `names` has, with blanks between.
: "${names?}"
for i in $names; do
    [ -e "/sys/class/net/$i" ] || { echo "no network interface $i"; exit 1; }
done
echo "interfaces $names"

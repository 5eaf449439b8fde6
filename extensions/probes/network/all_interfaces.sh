#!/bin/sh
# Names the interfaces with a device behind them: bridges, bonds and tunnels would count what goes through those a
# second time. In a container or a virtual network none has one; then it is all but the loopback.
real=; all=
for e in /sys/class/net/*; do
    [ -e "$e/statistics" ] || continue
    i=${e##*/}
    [ "$i" = lo ] && continue
    all="$all $i"
    [ -e "$e/device" ] && real="$real $i"
done
echo "interfaces${real:-$all}"

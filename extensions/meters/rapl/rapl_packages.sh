#!/bin/sh
# Names the CPU packages below `powercap`, and the number at which the counter of each begins anew.
: "${powercap?}"
echo meter rapl; found=
for d in "$powercap"/intel-rapl:*; do
    case ${d##*:} in *[!0-9]*) continue;; esac
    case ${d#*intel-rapl:} in *:*) continue;; esac
    case $(cat "$d/name" 2>/dev/null) in package*) ;; *) continue;; esac
    found=yes
    [ -r "$d/energy_uj" ] || {
        until="until the next start of the host: sudo chmod a+r $powercap/intel-rapl:*/energy_uj"
        echo "$d/energy_uj can be read by root only; to let $(id -un) read it, $until" >&2
        exit 1
    }
    echo "package ${d##*/} $(cat "$d/max_energy_range_uj")"
done
[ -n "$found" ] || { echo "there is no CPU package in $powercap" >&2; exit 1; }

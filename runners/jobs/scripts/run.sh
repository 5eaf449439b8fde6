#!/bin/sh
# Runs the job: the function `job` stands before this.
#
# `exec 9>&-` keeps the lock out of the job, so that it stands for this script alone. Descriptor 8 is the root's lock,
# held until there is a pid. The job would inherit ignored signals, but not trapped ones. The last line of `ended` ends
# what the job left running in its group, this script included (dash's `kill` does not know `--`).
#
# `spent` writes the ticks in which the host's processors were busy (proc_stat(5)); `times` adds the processor time of
# the job and all that it waited for, in its second line.
#
# The watchdog counts its own ticks, not the seconds of a clock, which may be stepped. What ends the job does not end
# it, and it continues when this script was killed.
: "${alive?}" "${tick?}" "${ticks?}" "${unattended?}" "${grace?}" "${old_umask?}"
. parts/born.sh
. parts/forget.sh
. parts/end_strayed.sh
umask 077
exec 9>lock
flock -x 9 || exit 1
trap : TERM INT HUP
read -r boot </proc/sys/kernel/random/boot_id && echo "$boot" >boot
# shellcheck disable=SC2094  # a function and a file
born $$ >born
moment() {
    for _ in 1 2 3; do
        read -r up _ </proc/uptime && t=$(date +%s.%N) && read -r now _ </proc/uptime || return 1
        [ "$up" != "$now" ] || break
    done
    moment="$t $up $now"
}
spent() {
    read -r _ user nice system _ _ irq softirq _ </proc/stat && echo $((user + nice + system + irq + softirq))
}
moment && echo "$moment" >start || exit 1
spent >load
# A job may be stopped before it begins.
: >stdout
: >stderr
echo $$ >pid || exit 1
exec >/dev/null 2>&1
exec 8<&-
export BENCHBRIEF_JOB="$PWD"
ended() {
    moment
    { spent; times; getconf CLK_TCK; } >>load
    forget
    echo "$moment" >end
    { printf '%65536s' '' >rc.tmp && echo "$1" >rc.tmp && mv rc.tmp rc; } || : >rc.tmp
    kill -KILL -$$
}
watch() {
    trap '' TERM INT HUP
    seen= quiet=0
    while [ "$quiet" -lt "$ticks" ]; do
        sleep "$tick"
        now=
        read -r now <"$alive"
        if [ "$now" = "$seen" ]; then quiet=$((quiet + 1)); else quiet=0 seen=$now; fi
    done
    echo "$unattended" >unattended
    kill -TERM -$$
    sleep "$grace"
    end_strayed "${PWD%/*}" "${PWD##*/}"
    ended unattended
}
[ "$ticks" -eq 0 ] || (exec 9>&-; watch) &
(
    exec 9>&-
    cd work || exit 126
    # shellcheck source=/dev/null
    . ../env
    rm -f ../env
    umask "$old_umask"
    job
) </dev/null >stdout 2>stderr
rc=$?
[ -e stopping ] && rc=stopped
[ -e unattended ] && rc=unattended
ended $rc

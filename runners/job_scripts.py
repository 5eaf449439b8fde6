"""The shell scripts behind detached jobs; `runners/jobs.py` says what they keep on a host.

Each is fixed text: what differs is set before it as variables, by `with_values`. They need `sh`, `setsid` and `flock`.
What changes which names there are in the root directory is done under a lock on that directory, so that it can go when
nothing is left in it.
"""

from __future__ import annotations

from benchbrief.runners.commands import quote


def with_values(text: str, **values: str) -> str:
    """A script that begins by setting these variables."""
    return "".join(f"{name}={quote(value)}\n" for name, value in values.items()) + text


# --- parts ---

ROOT = 'root="${TMPDIR:-/tmp}/benchbrief-$(id -u)"\n'

# `with_root TASK` runs the task, which ends the script, under the lock; `create` is set where the root is to be made. A
# root that was removed while we waited for the lock, or before it was opened, is no longer the one at its path: then
# again, with the new one.
_LOCKED = """\
under_lock() {
    flock -w 20 -x 8 || { echo "locked $root"; exit 1; }
    [ "$root" -ef /proc/self/fd/8 ] && "$@"
}
with_root() {
    for attempt in 1 2 3 4 5 6 7 8 9; do
        if [ -n "$create" ]; then
            mkdir -p -- "$root" 2>/dev/null
            if [ ! -d "$root" ] || [ -L "$root" ] || [ ! -O "$root" ]; then echo "unsafe $root"; exit 1; fi
            chmod 711 -- "$root"
        fi
        [ -d "$root" ] && [ -O "$root" ] || exit 0
        under_lock "$@" 8<"$root"
    done
    echo "locked $root"
    exit 1
}
"""

# Without jobs and claims, an owner leaves nothing in the root, and without owners there is no root.
_TIDY = """\
tidy() {
    for left in "$root/$owner"-*; do [ -e "$left" ] && return; done
    holder=
    [ -e "$root/claim" ] && read -r holder <"$root/claim"
    [ "$holder" = "$owner" ] && return
    rm -f -- "$root/$owner.alive"
    rmdir -- "$root" 2>/dev/null
}
"""

# Other users may read it, as they may the claim: who holds a host is to be seen by all. What else is here they may not.
#
# What is written is changed each time, by a word of the controller's, and holds the boot and the time since it, which
# tell how old the sign is, whatever the clock does. It is as long each time, and written in place: no room is needed.
_SIGN = """\
sign() {
    read -r up rest </proc/uptime
    read -r boot </proc/sys/kernel/random/boot_id
    (umask 022 && printf '%s %s %16s\\n' "$token" "$boot" "$up" 1<>"$root/$owner.alive")
}
"""

# `quiet OWNER` prints for how many seconds an owner has given no sign of life; of an earlier boot, or without one,
# for as long as the host is up.
_QUIET = """\
quiet() {
    read -r up rest </proc/uptime
    read -r boot </proc/sys/kernel/random/boot_id
    then=0 its=
    [ -e "$root/$1.alive" ] && read -r word its then rest <"$root/$1.alive"
    [ "$its" = "$boot" ] || then=0
    case ${then%.*} in '' | *[!0-9]*) then=0 ;; esac
    echo $((${up%.*} - ${then%.*}))
}
"""

# `foreign` is true when a run of another Unix user holds the host, and reads its claim: what that user has written is
# believed as far as it can be read, and never run.
_FOREIGN = (
    _QUIET
    + """\
is_number() { case $1 in '' | *[!0-9]*) return 1 ;; esac; }
foreign() {
    for theirs in "${root%-*}"-*; do
        is_number "${theirs##*-}" && [ "$theirs" != "$root" ] && [ ! -L "$theirs" ] || continue
        [ -f "$theirs/claim" ] && [ ! -L "$theirs/claim" ] && [ -r "$theirs/claim" ] || continue
        set -- $(stat -c '%u %s %U' -- "$theirs/claim" 2>/dev/null)
        is_number "$2" && [ "$1" = "${theirs##*-}" ] && [ "$2" -le 20000 ] || continue
        user=$3
        [ "$user" != UNKNOWN ] || user=$1
        holder= about_holder= void= since=
        { read -r holder; read -r about_holder; read -r void; read -r since; } <"$theirs/claim"
        case $holder in '' | *[!A-Za-z0-9_]*) continue ;; esac
        [ -f "$theirs/$holder.alive" ] && is_number "$void" || continue
        silent=$(root=$theirs; quiet "$holder")
        [ "$silent" -gt "$void" ] || return 0
    done
    return 1
}
"""
)

# `write_claim SINCE`, for all to read: it is there either wholly or not at all.
_WRITE_CLAIM = """\
write_claim() {
    (umask 022 && printf '%s\\n%s\\n' "$claimed" "$1" >"$root/claim.new") && mv -- "$root/claim.new" "$root/claim"
}
"""

# `keep_claim` where the run has claimed the host: nothing when the claim is ours; one that went away with the root is
# made again, and another run's ends the script. Ours is void, too, when it was silent for so long that another user,
# who can't take it away, has claimed the host.
_KEEP_CLAIM = (
    _FOREIGN
    + _WRITE_CLAIM
    + """\
keep_claim() {
    holder= about_holder= void= since= user=
    [ -e "$root/claim" ] && { read -r holder; read -r about_holder; read -r void; read -r since; } <"$root/claim"
    if [ "$holder" = "$owner" ]; then
        [ "$(quiet "$owner")" -gt "$void" ] && foreign || return 0
    fi
    if [ -n "$holder" ]; then printf 'held\\n%s\\n%s\\n%s\\n' "$about_holder" "$since" "$user"; exit 1; fi
    write_claim "$(date +%s)"
}
"""
)

# `born PID` prints when a process was started, in ticks since the boot: with its number it names a process for good.
# The name of the program, which may hold blanks and parentheses, is before it in the line.
_BORN = """\
born() {
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    set -- ${stat##*) }
    echo "${20}"
}
"""

# Whether the group in `pid` is still this job's, in the job's directory. While its first process lives, that one's
# start tells; after that, members that carry the job's mark. Anything else has got the number since.
_OURS = (
    _BORN
    + """\
ours() {
    [ "$(cat boot)" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
    if [ -d "/proc/$pid" ]; then [ "$(born "$pid")" = "$(cat born)" ]; return; fi
    for member in $(grep -lsE "\\) [A-Za-z] [0-9]+ $pid " /proc/[0-9]*/stat); do
        tr '\\0' '\\n' 2>/dev/null <"${member%stat}environ" | grep -qxF "BENCHBRIEF_JOB=$PWD" && return 0
    done
    return 1
}
"""
)

# `forget` takes the secrets out of the files that the job in the working directory was given.
_FORGET = """\
forget() { [ ! -e forget ] || . ./forget; }
"""

# `forget_dead` does so for jobs that ended without: killed with their scripts, or by a restart of the host. It is to be
# called under the lock, where a job without a pid never began.
_FORGET_DEAD = """\
forget_dead() {
    for d in "$root"/*-*; do
        [ -d "$d" ] && [ -O "$d" ] && [ ! -e "$d/rc" ] || continue
        if [ ! -s "$d/pid" ]; then rm -rf -- "$d"; continue; fi
        [ ! -e "$d/forget" ] || ! flock -n -s "$d/lock" true || (cd -- "$d" && . ./forget && rm -f -- forget env)
    done
}
"""

# --- the job itself ---

# `exec 9>&-` keeps the lock out of the job, so that it tells of this script alone. Descriptor 8 is the root's lock,
# held until there is a pid. Ignored signals would be inherited by the job, trapped ones are not. The last line of
# `ended` ends what the job left running in its group, this script included (dash's `kill` knows no `--`).
#
# The watchdog counts its own ticks, not seconds by a clock, which may be stepped. It can't be ended by what ends the
# job, and counts on when this script was killed.
RUN = (
    _BORN
    + _FORGET
    + """\
umask 077
exec 9>lock
flock -x 9 || exit 1
trap : TERM INT HUP
cat /proc/sys/kernel/random/boot_id >boot
born $$ >born
moment() { t=$(date +%s.%N) && read -r up _ </proc/uptime && echo "$t $up"; }
moment >start || exit 1
echo $$ >pid || exit 1
exec >/dev/null 2>&1
exec 8<&-
export BENCHBRIEF_JOB="$PWD"
ended() {
    forget
    moment >end
    head -c 65536 /dev/zero >room && rm room && echo "$1" >rc.tmp && mv rc.tmp rc
    kill -KILL -$$
}
watch() {
    trap '' TERM INT HUP
    seen= quiet=0
    while [ $quiet -lt $ticks ]; do
        sleep $tick
        now=
        read -r now <"$alive"
        if [ "$now" = "$seen" ]; then quiet=$((quiet + 1)); else quiet=0 seen=$now; fi
    done
    echo "$unattended" >unattended
    kill -TERM -$$
    sleep $grace
    ended unattended
}
[ $ticks -eq 0 ] || (exec 9>&-; watch) &
(
    exec 9>&-
    cd work || exit 126
    . ../env
    rm -f ../env
    umask "$old_umask"
    job
) </dev/null >stdout 2>stderr
rc=$?
[ -e stopping ] && rc=stopped
[ -e unattended ] && rc=unattended
ended $rc
"""
)

START = (
    ROOT
    + _LOCKED
    + _TIDY
    + _SIGN
    + _KEEP_CLAIM
    + """\
old_umask=$(umask)
umask 077
d="$root/$id"
failed() {
    why=$(LC_ALL=C; export LC_ALL; { head -c 65536 /dev/zero >"$root/room"; } 2>&1)
    case $why in *"No space left"*|*"quota exceeded"*) echo "full $root";; *) echo failed; echo "$why" >&2;; esac
    rm -rf -- "$d" "$root/room"
    tidy
    exit 1
}
begin() {
    [ -z "$claimed" ] || keep_claim || failed
    sign
    if [ -s "$d/pid" ]; then echo "started $d"; exit 0; fi
    rm -rf -- "$d"
    if [ -n "$cwd" ] && [ ! -d "$cwd" ]; then echo failed; printf 'no directory %s\\n' "$cwd" >&2; tidy; exit 1; fi
    mkdir -- "$d" && mkdir -- "$d/work" && cd -- "$d/work" || failed
    write_files
    cd .. || failed
    [ -z "$forget" ] || printf %s "$forget" >forget || failed
    printf '%s\\n' "$about" >about && printf %s "$env" >env || failed
    { echo "old_umask=$old_umask"; printf %s "$run"; } >run || failed
    said=$(setsid -f sh ./run 2>&1 </dev/null)
    [ -s pid ] || { printf '%s\\n' "$said" >&2; failed; }
    echo "started $d"
    exit 0
}
for tool in setsid flock; do command -v $tool >/dev/null || { echo "lacks $tool"; exit 1; }; done
[ -r /proc/sys/kernel/random/boot_id ] || { echo "lacks /proc"; exit 1; }
create=yes
with_root begin
"""
)

ALIVE = (
    ROOT
    + _LOCKED
    + _SIGN
    + _KEEP_CLAIM
    + """\
beat() {
    [ -z "$claimed" ] || ! [ -e "$root/claim" ] || keep_claim
    [ -e "$root/$owner.alive" ] && sign
    exit 0
}
with_root beat
"""
)

# --- a started job ---

FIND = (
    ROOT
    + """\
cd -- "$root/$id" 2>/dev/null && [ -O . ] && [ -s pid ] || { echo none; exit 0; }
if ! flock -n -s lock true; then echo running; exit 0; fi
rc=; [ -e rc ] && read -r rc <rc
case $rc in ''|unattended) echo killed;; *) echo ended;; esac
"""
)

# Prints what became of it: nothing, when it had ended before.
STOP = (
    _OURS
    + _FORGET
    + """\
stop() {
    cd -- "$1" 2>/dev/null || return 0
    read -r pid <pid || return 0
    if flock -n -s lock true; then
        # It has ended; or its script alone was killed, and the rest of the group was not.
        [ -e rc ] || ! ours || kill -KILL "-$pid"
        forget
        return 0
    fi
    : >stopping
    kill -TERM "-$pid"
    flock -w "$grace" -s lock true && [ -e rc ] && { echo stopped; return 0; }
    kill -KILL "-$pid"
    flock -w "$grace" -s lock true || { echo immortal; return 0; }
    forget
    date +%s.%N >end
    head -c 65536 /dev/zero >room && rm room && echo stopped >rc
    echo stopped
}
"""
)

DISCARD = (
    ROOT
    + _LOCKED
    + _TIDY
    + STOP
    + """\
discard() {
    if [ -d "$d" ]; then
        flock -n -s "$d/lock" true || { echo running; exit 0; }
        (stop "$d") >/dev/null 2>&1
        cd / && rm -rf -- "$d"
    fi
    tidy
    exit 0
}
with_root discard
"""
)

# `end_jobs OWNER` ends an owner's jobs as groups, and prints how many still ran.
_END_JOBS = (
    STOP
    + """\
is_kept() { case " $kept " in *" ${1##*/} "*) return 0;; esac; return 1; }
end_jobs() {
    running=0
    for d in "$root/$1"-*; do
        [ -d "$d" ] && [ -O "$d" ] || continue
        is_kept "$d" && continue
        [ ! -s "$d/pid" ] || flock -n -s "$d/lock" true || running=$((running + 1))
        (stop "$d") >/dev/null 2>&1
    done
    echo $running
}
"""
)

# With `release`, the owner's claim goes too, unless jobs of it are left; with `keep`, its jobs stay; `kept` are
# directories that stay.
END_LEFTOVERS = (
    ROOT
    + _LOCKED
    + _TIDY
    + _END_JOBS
    + """\
[ -n "$keep" ] || end_jobs "$owner"
remove() {
    [ -n "$keep" ] || for d in "$root/$owner"-*; do is_kept "$d" || rm -rf -- "$d"; done
    for left in "$root/$owner"-*; do [ -e "$left" ] && release=; done
    holder=
    [ -e "$root/claim" ] && read -r holder <"$root/claim"
    [ -z "$release" ] || [ "$holder" != "$owner" ] || rm -f -- "$root/claim"
    tidy
    exit 0
}
with_root remove
"""
)

# --- claims ---

# The claim: its owner, what people are told of it (JSON), after how many seconds without a sign of life it is void,
# and since when it is held, by the host's clock.
CLAIM = (
    ROOT
    + _LOCKED
    + _TIDY
    + _SIGN
    + _FOREIGN
    + _WRITE_CLAIM
    + _END_JOBS
    + _FORGET_DEAD
    + """\
umask 077
create=yes
claim() {
    forget_dead
    holder= about_holder= void=0 since= mine=
    [ -e "$root/claim" ] && { read -r holder; read -r about_holder; read -r void; read -r since; } <"$root/claim"
    ended=0
    if [ -n "$holder" ] && [ "$holder" != "$owner" ]; then
        silent=$(quiet "$holder")
        if [ "$silent" -le "$void" ]; then
            printf 'held\\n%s\\n%s\\n\\n' "$about_holder" "$since"
            exit 0
        fi
        ended=$(end_jobs "$holder")
        for d in "$root/$holder"-*; do rm -rf -- "$d"; done
        rm -f -- "$root/$holder.alive"
        since=
    elif [ "$holder" = "$owner" ]; then
        holder=
        [ "$(quiet "$owner")" -gt "$void" ] || mine=yes
    else
        since=
    fi
    sign
    write_claim "${since:-$(date +%s)}" || { echo full; rm -f -- "$root/claim.new"; tidy; exit 1; }
    # Only now: of two users who claim at once, one sees the other at least.
    taken=$holder about_taken=$about_holder silent_taken=$silent
    if [ -z "$mine" ] && foreign; then
        rm -f -- "$root/claim"
        tidy
        printf 'held\\n%s\\n%s\\n%s\\n' "$about_holder" "$since" "$user"
        exit 0
    fi
    holder=$taken about_holder=$about_taken silent=$silent_taken
    if [ -n "$holder" ]; then printf 'taken\\n%s\\n%s\\n%s\\n' "$about_holder" "$silent" "$ended"; else echo free; fi
    exit 0
}
with_root claim
"""
)

# What the owner's claim tells people.
CLAIMED = (
    ROOT
    + """\
[ -e "$root/claim" ] && { read -r holder; read -r about; } <"$root/claim" && [ "$holder" = "$owner" ] || exit 0
printf '%s\\n' "$about"
"""
)

# One line for each claim and each job: kind, owner, seconds without a sign of life, when it began, its state, about.
LIST = (
    ROOT
    + _LOCKED
    + _QUIET
    + _FORGET_DEAD
    + """\
create=
forget_all() {
    forget_dead
    exit 0
}
(with_root forget_all) >/dev/null
cd -- "$root" 2>/dev/null && [ -O . ] || exit 0
if [ -e claim ]; then
    { read -r owner; read -r about; read -r void; read -r since; } <claim
    printf 'claim\\t%s\\t%s\\t%s\\theld\\t%s\\n' "$owner" "$(quiet "$owner")" "$since" "$about"
fi
for d in *-*; do
    [ -d "$d" ] && [ -e "$d/about" ] || continue
    owner=${d%-*} state=ended
    if ! [ -s "$d/pid" ]; then state=unstarted
    elif ! flock -n -s "$d/lock" true; then state=running
    elif ! [ -e "$d/rc" ]; then state=killed; fi
    printf 'job\\t%s\\t%s\\t%s\\t%s\\t%s\\n' "$owner" "$(quiet "$owner")" "$(head -c 40 "$d/start")" $state \\
        "$(head -c 8000 "$d/about")"
done
exit 0
"""
)

WAIT = 'cd -- "$d" 2>/dev/null || exit 0\nflock -w "$slice" -s lock true\n'
TAIL = 'cd -- "$d" && tail -q -c "$limit" stderr stdout\n'

STATE = """\
cd -- "$d" || { echo "gone	yes"; exit 0; }
if flock -n -s lock true; then echo "running	no"; else echo "running	yes"; fi
for f in start end rc unattended; do [ -e $f ] && printf '%s\\t%s\\n' $f "$(head -c 40 $f)"; done
if head -c 65536 /dev/zero >room; then echo "room	yes"; else echo "room	no"; fi
rm -f room
"""

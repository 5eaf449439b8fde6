#!/bin/sh
# One line for each claim, each job, and each process that an ended job left: kind, owner, seconds without a sign of
# life, when it began, its state, about. And one for the claim of another user that holds the host, with its user in the
# place of the state.

. parts/root.sh
. parts/locked.sh
. parts/quiet.sh
. parts/forget_dead.sh
. parts/strayed.sh
. parts/foreign.sh
create=
forget_all() {
    forget_dead
    exit 0
}
(with_root forget_all) >/dev/null
foreign && printf 'foreign\t%s\t%s\t%s\t%s\t%s\n' "$holder" "$silent" "$since" "$user" "$about_holder"
for pid in $(strayed "$root" ''); do
    job=$(tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | sed -n 's,^BENCHBRIEF_JOB=.*/,,p')
    case $job in '' | *[!0-9A-Za-z-]*) continue ;; esac
    ! [ -d "$root/$job" ] || ! is_running "$root/$job" || continue
    name=$(tr -dc '0-9A-Za-z._-' 2>/dev/null <"/proc/$pid/comm")
    printf 'process\t%s\t%s\t\trunning\t{"process": %s, "name": "%s"}\n' \
        "${job%-*}" "$(quiet "${job%-*}")" "$pid" "$name"
done
cd -- "$root" 2>/dev/null && [ -O . ] || exit 0
if [ -e claim ]; then
    { read -r owner; read -r about; read -r _; read -r since; } <claim
    printf 'claim\t%s\t%s\t%s\theld\t%s\n' "$owner" "$(quiet "$owner")" "$since" "$about"
fi
for d in *-*; do
    [ -d "$d" ] && [ -e "$d/about" ] || continue
    owner=${d%-*} state=ended
    if ! [ -s "$d/pid" ]; then state=unstarted
    elif is_running "$d"; then state=running
    elif ! [ -e "$d/rc" ]; then state=killed; fi
    printf 'job\t%s\t%s\t%s\t%s\t%s\n' "$owner" "$(quiet "$owner")" "$(head -c 40 "$d/start")" $state \
        "$(head -c 8000 "$d/about")"
done
exit 0

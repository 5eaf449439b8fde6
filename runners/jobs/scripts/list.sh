#!/bin/sh
# One line for each claim and each job: kind, owner, seconds without a sign of life, when it began, its state, about.

. parts/root.sh
. parts/locked.sh
. parts/quiet.sh
. parts/forget_dead.sh
create=
forget_all() {
    forget_dead
    exit 0
}
(with_root forget_all) >/dev/null
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

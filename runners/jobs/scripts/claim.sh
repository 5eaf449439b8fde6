#!/bin/sh
# The claim: its owner, what it says to people (JSON), after how many seconds without a sign of life it is void, when
# it began by the host's clock, and whether other users' claims were looked for after it was made. `gone` is what a
# claim says whose process is gone for certain: without jobs, it is void at once.
: "${owner?}" "${claimed?}" "${grace?}" "${token?}" "${gone?}"
. parts/root.sh
. parts/locked.sh
. parts/tidy.sh
. parts/sign.sh
. parts/foreign.sh
. parts/write_claim.sh
. parts/end_jobs.sh
. parts/forget_dead.sh
umask 077
create=yes
has_left() {
    for d in "$root/$1"-*; do [ -e "$d" ] && return; done
    return 1
}
claim() {
    forget_dead
    { read -r _; read -r about_ours; } <<END
$claimed
END
    holder= about_holder= void=0 since= checked= mine=
    [ -e "$root/claim" ] &&
        { read -r holder; read -r about_holder; read -r void; read -r since; read -r checked; } <"$root/claim"
    ended=0
    if [ -n "$holder" ] && [ "$holder" != "$owner" ]; then
        silent=$(quiet "$holder")
        [ -z "$gone" ] || [ "$about_holder" != "$gone" ] || has_left "$holder" || void=-1
        if [ "$silent" -le "$void" ]; then
            printf 'held\n%s\n%s\n\n' "$about_holder" "$since"
            exit 0
        fi
        ended=$(end_jobs "$holder")
        for d in "$root/$holder"-*; do rm -rf -- "$d"; done
        rm -f -- "$root/$holder.alive"
        since=
    elif [ "$holder" = "$owner" ]; then
        holder=
        # Another process of this run may have been taken for gone meanwhile.
        [ "$checked" != checked ] || [ "$about_holder" != "$about_ours" ] || [ "$(quiet "$owner")" -gt "$void" ] || mine=yes
    else
        since=
    fi
    sign
    began=${since:-$(date +%s)}
    [ -n "$mine" ] || write_claim "$began" "" || { echo full; rm -f -- "$root/claim.new"; tidy; exit 1; }
    # Only now: of two users who claim at once, one sees the other at least. A claim that was cut short here is checked
    # when it is made again.
    taken=$holder about_taken=$about_holder silent_taken=$silent
    if [ -z "$mine" ] && foreign; then
        rm -f -- "$root/claim"
        tidy
        printf 'held\n%s\n%s\n%s\n' "$about_holder" "$since" "$user"
        exit 0
    fi
    [ -n "$mine" ] || write_claim "$began" checked || rm -f -- "$root/claim.new"
    holder=$taken about_holder=$about_taken silent=$silent_taken
    if [ -n "$holder" ]; then printf 'taken\n%s\n%s\n%s\n' "$about_holder" "$silent" "$ended"; else echo free; fi
    exit 0
}
with_root claim

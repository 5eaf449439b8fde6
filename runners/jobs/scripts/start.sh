#!/bin/sh
# Starts a job: the function `write_files` stands before this.
: "${owner?}" "${id?}" "${token?}" "${claimed?}" "${cwd?}" "${about?}" "${env?}" "${run?}" "${forget?}"
. parts/root.sh
. parts/locked.sh
. parts/tidy.sh
. parts/sign.sh
. parts/keep_claim.sh
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
    [ ! -e "$d" ] || rm -rf -- "$d"
    if [ -n "$cwd" ] && [ ! -d "$cwd" ]; then echo failed; printf 'no directory %s\n' "$cwd" >&2; tidy; exit 1; fi
    mkdir -- "$d" "$d/work" && cd -- "$d/work" || failed
    write_files
    cd .. || failed
    [ -z "$forget" ] || printf %s "$forget" >forget || failed
    printf '%s\n' "$about" >about && printf %s "$env" >./env || failed
    { echo "old_umask=$old_umask"; printf %s "$run"; } >run || failed
    said=$(setsid -f sh ./run 2>&1 </dev/null)
    [ -s pid ] || { printf '%s\n' "$said" >&2; failed; }
    echo "started $d"
    exit 0
}
for tool in setsid flock; do command -v $tool >/dev/null || { echo "lacks $tool"; exit 1; }; done
[ -r /proc/sys/kernel/random/boot_id ] || { echo "lacks /proc"; exit 1; }
create=yes
with_root begin

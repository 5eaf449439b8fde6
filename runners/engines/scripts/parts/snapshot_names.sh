# What the scripts on the snapshots of all file systems have in common. The directory is $1.
: "${marker?}" "${snapshot?}" "${list?}"
PATH=$PATH:/usr/sbin:/sbin
real=$(readlink -m -- "$1")

# Prints the names, sizes and times of the files in $1, which are ours.
files_in() (cd -- "$1" && find . -name lost+found -prune -o -type f ! -name "$list" -printf '%P %s %T@\n' | LC_ALL=C sort)

# Whether the files in $1 are those of its list.
whole() { [ -f "$1/$marker" ] && [ "$(files_in "$1")" = "$(cat -- "$1/$list")" ]; }

# Prints the nearest directory above $1, or itself, that is there.
there() (
    place=$1
    while [ ! -e "$place" ]; do place=$(dirname -- "$place"); done
    printf '%s\n' "$place"
)

# Whether $1 is on the file system $2, in the words of stat, and the command $3 of the package $4 is there; or says why not.
is_on() {
    found=$(stat -f -c %T -- "$1")
    [ "$found" = "$2" ] || { echo "$1 is on $found, and not on $2"; return 1; }
    has "$3" "$4"
}

# Whether the command $1 is there; or says that it is in the package $2.
has() { command -v "$1" >/dev/null || { echo "the command $1 is not there (package $2)"; return 1; }; }

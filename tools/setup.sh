#!/usr/bin/env bash
# Puts together all that benchbrief and its tests need. `tools/setup.sh --help` says what and where.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: tools/setup.sh [PART]...

  all       everything below (what `make setup` does; the default)
  demo      what `make demo` needs: all but the parts for tests, editors, go-ycsb and openload

  system    Debian packages, by apt-get (as root, or by sudo)
  python    .venv/: the locked Python packages, and benchbrief itself (editable)
  runtime   .venv/: the same, without the packages that only tests and development need
  stand-in  .tools/mongo-stand-in/: a small server that speaks MongoDB's wire protocol
  ycsb      .tools/ycsb/: YCSB 0.17.0 with its MongoDB binding, in the layout of YCSB's release
  go-ycsb   .tools/go-ycsb/: go-ycsb 1.0.1 with its MongoDB binding
  openload  .tools/openload/: the project's own load generator, of loadgen/
  tools     the last four
  gofakes3  .tools/gofakes3/: gofakes3 1.2.0, a server that speaks S3, for the tests of shared stores
  axe       .tools/axe/: axe-core, by which the tests judge the accessibility of the HTML briefs
  verapdf   .tools/verapdf/: veraPDF, which the tests hold the PDF briefs to PDF/UA-1 with
  vscode    .tools/vscode/: the VS Code extension, as benchbrief.vsix, and its tests
  peers     .tools/peers/: Ansible and pyinfra, which benchmarks compare benchbrief with (not part of `all`)

What is there already is left alone, so a second call ends at once. Nothing is written outside this
folder but the Debian packages and the usual caches of pip, Maven and Go. Logs are in .tools/log/.
PYTHON names the Python to use (3.11 or later; python3 unless set).
TEXT
}

# need | Debian package | what it is for. Needs: a command, a library or a font family.
run_packages='
module ensurepip          | python3-venv            | the Python environment
file /etc/ssl/certs/ca-certificates.crt | ca-certificates | downloads from the package registries
command db_bench          | rocksdb-tools           | the load generator for RocksDB
command fio               | fio                     | the load generator for files and block devices
command javac             | default-jdk-headless    | YCSB and the MongoDB stand-in run on Java 17
command mvn               | maven                   | fetches and builds those two
command fc-list           | fontconfig              | finds the fonts of a brief
library libpango-1.0.so.0 | libpango-1.0-0          | lays out the text of PDF briefs
library libpangoft2-1.0.so.0 | libpangoft2-1.0-0    | the same
library libharfbuzz-subset.so.0 | libharfbuzz-subset0 | embeds fonts in PDF three times faster
font Inter                | fonts-inter             | the typeface of the briefs
font Noto_Sans_CJK_JP     | fonts-noto-cjk          | briefs in Japanese, Chinese and Korean
command ps                | procps                  | watches the processes of a run
command ssh               | openssh-client          | keys for hosts reached over SSH
'
test_packages='
command go                | golang-go               | builds go-ycsb, openload and gofakes3
command sshd              | openssh-server          | the tests start their own, on a high port
command ip                | iproute2                | the tests make networks of several hosts
command mkfs.btrfs        | btrfs-progs             | the tests make a file system that has snapshots
command pdftotext         | poppler-utils           | the tests read the PDF briefs
file /usr/lib/libreoffice/program/libswlo.so | libreoffice-writer | the tests open briefs for Word in it
file /usr/lib/libreoffice/program/libsdlo.so | libreoffice-impress | the same, of those for PowerPoint
file /usr/lib/libreoffice/program/libsclo.so | libreoffice-calc | the same, of those for Excel
command ipmitool          | ipmitool                | the tests read power from a BMC of their own
command ipmi_sim          | openipmi                | the tests start it: a BMC with sensors
command snmpd             | snmpd                   | the tests start it: a PDU
command snmpget           | snmp                    | the tests read power from that PDU
command slurmctld         | slurmctld               | the tests start it: the scheduler of a lab
command slurmd            | slurmd                  | the nodes of that scheduler
command sbatch            | slurm-client            | the tests give jobs to it
command munged            | munge                   | comes with them, and is not started
file /usr/lib/postgresql/15/bin/pgbench | postgresql-15 | the tests start their own servers, and load them
command mariadbd          | mariadb-server         | the tests start their own servers, and load them
command sysbench          | sysbench               | the load generator for those
command redis-server      | redis-server           | the tests start their own servers
command redis-benchmark   | redis-tools            | the load generator for those
command cc                | gcc                     | builds openload for RocksDB, and a clock that the tests set
file /usr/include/dlfcn.h | libc6-dev              | the same
command node              | nodejs                  | builds and tests the VS Code extension
command npm               | npm                     | the same
command chromium          | chromium                | the tests open HTML briefs in it
command nvim              | neovim                  | the tests open specs in it
command shellcheck        | shellcheck              | the lint of shell scripts
'

# Services that come with packages.
declare -A service=([openssh-server]=ssh.service [snmpd]=snmpd.service [openipmi]=openipmi.service
    [slurmctld]=slurmctld.service [slurmd]=slurmd.service [munge]=munge.service
    [mariadb-server]=mariadb.service [redis-server]=redis-server.service)

say() { echo "setup: $*"; }
fail() {
    echo "setup: $*" >&2
    exit 1
}

# ---- system ------------------------------------------------------------------------------------------

has() {
    case $1 in
        command) PATH="$PATH:/usr/sbin:/sbin" command -v "$2" >/dev/null ;;
        library) [[ $(PATH="$PATH:/usr/sbin:/sbin" ldconfig -p) == *"$2 "* ]] ;;
        font) fc-list --quiet "${2//_/ }" 2>/dev/null ;;
        module) "$python" -c "import $2" 2>/dev/null ;;
        file) [ -e "$2" ] ;;
    esac
}

# PostgreSQL's package makes and starts a cluster of databases where nothing forbids it. Uses `apt` and `as_root`.
no_main_cluster() {
    local settings=/etc/postgresql-common/createcluster.conf
    "${apt[@]}" install --no-install-recommends postgresql-common >>"$logs/system.log" 2>&1 &&
        "${as_root[@]}" sed -i 's/^#\?create_main_cluster = true/create_main_cluster = false/' "$settings"
}

missing_packages() {
    local kind name package reason
    while read -r kind name _ package _ reason; do
        [ -z "$kind" ] || has "$kind" "$name" || echo "$package|$reason"
    done <<<"$1"
}

# go-ycsb is one load generator of three, and the editors' settings work without being tested.
required() { grep -v -E '^(golang-go|nodejs|npm|neovim|chromium)\|' <<<"$1" || true; }

system() {
    local missing package packages reason as_root=()
    missing=$(missing_packages "$1")
    [ -n "$missing" ] || return 0
    say "missing, by the names of Debian's packages:"
    while IFS='|' read -r package reason; do
        echo "         $package: $reason"
    done <<<"$missing"
    packages=$(cut -d'|' -f1 <<<"$missing" | paste -s -d ' ')
    if ! command -v apt-get >/dev/null; then
        [ -n "$(required "$missing")" ] || return 0
        fail "there is no apt-get here: install what these packages hold, then run this again"
    fi
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "not root, and no sudo: as root run \`apt-get install $packages\`, then run this again"
        as_root=(sudo)
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    say "installing them with apt-get"
    "${apt[@]}" update >"$logs/system.log" 2>&1 || fail_with_log system "apt-get update failed"
    # The tests want the programs of these packages, not a machine that runs their services from now on.
    local keep_off=()
    if [ -d /run/systemd/system ]; then
        for package in "${!service[@]}"; do
            grep -q -w "$package" <<<"$packages" && keep_off+=("${service[$package]}")
        done
    fi
    [ ${#keep_off[@]} = 0 ] || "${as_root[@]}" systemctl --quiet mask "${keep_off[@]}"
    if grep -q -w postgresql-15 <<<"$packages"; then
        no_main_cluster || fail_with_log system "PostgreSQL can't be kept from making a cluster of its own"
    fi
    # shellcheck disable=SC2086  # a list of words
    "${apt[@]}" install --no-install-recommends $packages >>"$logs/system.log" 2>&1 ||
        fail_with_log system "apt-get install failed"
    if [ ${#keep_off[@]} != 0 ]; then
        "${as_root[@]}" systemctl --quiet unmask "${keep_off[@]}"
        "${as_root[@]}" systemctl --quiet disable "${keep_off[@]}"
        say "left switched off: ${keep_off[*]}"
    fi
    missing=$(required "$(missing_packages "$1")")
    [ -z "$missing" ] || fail "still missing after apt-get: $(cut -d'|' -f1 <<<"$missing" | tr '\n' ' ')(see $logs/system.log)"
}

# ---- the parts that are made: each has a folder, sources, and a function -----------------------------

declare -A folder=(
    [python]=.venv [runtime]=.venv [stand-in]=.tools/mongo-stand-in [ycsb]=.tools/ycsb [go-ycsb]=.tools/go-ycsb [openload]=.tools/openload
    [gofakes3]=.tools/gofakes3 [verapdf]=.tools/verapdf [axe]=.tools/axe [vscode]=.tools/vscode [peers]=.tools/peers
)
declare -A sources=(
    [python]="requirements-dev.txt pyproject.toml"
    [runtime]="requirements.txt pyproject.toml"
    [stand-in]=tools/mongo-stand-in
    [ycsb]=tools/ycsb
    [go-ycsb]=tools/go-ycsb
    [openload]="loadgen/go.mod loadgen/go.sum loadgen/cmd loadgen/internal"
    [gofakes3]=tools/gofakes3
    [verapdf]=tools/verapdf
    [axe]=tools/axe
    [vscode]=editors/vscode
    [peers]=benchmarks/peers
)

make_python() { environment requirements-dev.txt; }
make_runtime() { environment requirements.txt; }

environment() {  # .venv with the packages of a locked list, which has at least those of requirements.txt
    # A folder that was moved, or a Python that was replaced, leaves an environment that cannot run.
    [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)' 2>/dev/null)" = "$PWD/.venv" ] || "$python" -m venv --clear .venv
    # The locked list is whole, as the check proves: there is nothing to resolve.
    local install=(.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile) rest
    # What is in this list alone is installed beside the other packages, because pip uses one core.
    grep -v -x -F -f requirements.txt "$1" >.tools/more-requirements.txt || [ $? = 1 ]
    "${install[@]}" --require-hashes -r .tools/more-requirements.txt &
    rest=$!
    # A second try must not meet a pip that still writes.
    "${install[@]}" --require-hashes -r requirements.txt || { wait "$rest"; return 1; }
    wait "$rest"
    compile_libraries
    "${install[@]}" --no-build-isolation -e .
    .venv/bin/python -m pip --disable-pip-version-check check  # not quiet, which would hide what is wrong
    .venv/bin/python -c 'import benchbrief.dsl'
}

# A run imports less than a third of the libraries' modules. These are compiled here, and all others when they are needed.
compile_libraries() {
    env -u PYTHONDONTWRITEBYTECODE .venv/bin/python - <<'PYTHON'
import contextlib, importlib

for name in ("altair", "babel.numbers", "duckdb", "fabric", "pyarrow.parquet", "pymongo", "pypdf", "scipy.stats", "weasyprint"):
    with contextlib.suppress(OSError):  # a library of the system is missing: its users get an error
        importlib.import_module(name)
PYTHON
}

maven() {  # the folder under tools/ that is built to .tools/build/
    rm -rf ".tools/build/$1"
    # Maven's cache is not made for two at a time.
    flock .tools/maven.lock mvn --batch-mode --quiet --strict-checksums -Dstyle.color=never -f "tools/$1/pom.xml" package
}

make_stand-in() {
    maven mongo-stand-in
    local new
    new=$(empty_folder .tools/mongo-stand-in.new)
    mkdir "$new/lib"
    cp -r tools/mongo-stand-in/bin "$new/"
    cp .tools/build/mongo-stand-in/*.jar .tools/build/mongo-stand-in/dependency/*.jar "$new/lib/"
    replace .tools/mongo-stand-in
}

make_ycsb() {
    maven ycsb
    local new
    new=$(empty_folder .tools/ycsb.new)
    mkdir -p "$new/lib" "$new/mongodb-binding/lib"
    cp -r tools/ycsb/bin tools/ycsb/workloads "$new/"
    cp .tools/build/ycsb/core/*.jar "$new/lib/"
    cp .tools/build/ycsb/*.jar .tools/build/ycsb/binding/*.jar "$new/mongodb-binding/lib/"
    replace .tools/ycsb
}

make_verapdf() {
    maven verapdf
    local new
    new=$(empty_folder .tools/verapdf.new)
    mkdir "$new/lib"
    cp -r tools/verapdf/bin "$new/"
    cp .tools/build/verapdf/*.jar .tools/build/verapdf/dependency/*.jar "$new/lib/"
    replace .tools/verapdf
}

make_go-ycsb() {
    local build new module
    build=$(empty_folder .tools/build/go-ycsb)
    new=$(empty_folder .tools/go-ycsb.new)
    cp tools/go-ycsb/go.mod tools/go-ycsb/go.sum "$build/"
    cd "$build"
    # The command's own source, checked against go.sum, with two of its twenty database bindings.
    module=$(go mod download -json github.com/pingcap/go-ycsb | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    install -m 644 "$module"/cmd/go-ycsb/*.go .
    sed -i -E '\,go-ycsb/db/,{\,/(basic|mongodb)",!d}' main.go
    CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath -o "$new/bin/go-ycsb" .
    cd - >/dev/null
    "$new/bin/go-ycsb" --help >/dev/null
    replace .tools/go-ycsb
}

make_openload() {
    local new
    new=$(empty_folder .tools/openload.new)
    mkdir "$new/bin"
    cd loadgen
    local build=(env GOFLAGS=-buildvcs=false go build -trimpath '-ldflags=-s -w' -o "$new/bin/")
    # Without C, the program runs on a client host whatever its C library is.
    CGO_ENABLED=0 "${build[@]}" ./cmd/openload-mongodb
    CGO_ENABLED=1 "${build[@]}" ./cmd/openload-rocksdb
    cd - >/dev/null
    "$new/bin/openload-mongodb" version
    "$new/bin/openload-rocksdb" version || true # where there is another RocksDB, the program says so again when it is used
    replace .tools/openload
}

make_gofakes3() {
    local new
    new=$(empty_folder .tools/gofakes3.new)
    cd tools/gofakes3
    CGO_ENABLED=0 GOFLAGS=-buildvcs=false go build -trimpath '-ldflags=-s -w' -o "$new/bin/gofakes3" \
        github.com/johannesboyne/gofakes3/cmd/gofakes3
    cd - >/dev/null
    replace .tools/gofakes3
}

make_axe() {
    local new
    new=$(empty_folder .tools/axe.new)
    cp tools/axe/package.json tools/axe/package-lock.json "$new/"
    npm ci --prefer-offline --prefix "$new"
    replace .tools/axe
}

make_vscode() {
    local new
    new=$(empty_folder .tools/vscode.new)
    tar -C editors/vscode --exclude=./node_modules --exclude=./dist --exclude=./out --exclude='*.vsix' -c . | tar -C "$new" -x
    cd "$new"
    npm ci --prefer-offline
    npm run package
    npm run bundle-tests
    cd - >/dev/null
    replace .tools/vscode
}

make_peers() {
    "$python" -m venv --clear .tools/peers
    .tools/peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes \
        -r benchmarks/peers/requirements.txt
    .tools/peers/bin/ansible --version >/dev/null
}

empty_folder() { rm -rf "$1" && mkdir -p "$1" && echo "$PWD/$1"; }
replace() { rm -rf "$1" && mv "$1.new" "$1"; }

# ---- what is fresh is left alone; the rest is made side by side ------------------------------------------

digest() {  # of all that a part is made from
    # shellcheck disable=SC2086  # a list of words
    find ${sources[$1]} tools/setup.sh \( -name node_modules -o -name dist -o -name out \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum
}
is_made() { [ -e "${folder[$1]}/.setup" ] && [ "$(cat "${folder[$1]}/.setup")" = "$(digest "$1")" ]; }
fresh() { is_made "$1" || { [ "$1" = runtime ] && is_made python; }; }  # the whole environment has the smaller one

fail_with_log() {
    tail -n 20 "$logs/$1.log" >&2
    fail "$2; the whole log is $logs/$1.log"
}

make_parts() {
    local part failed='' left
    local -A jobs=()
    for part in "$@"; do
        fresh "$part" && continue
        say "making ${folder[$part]} (its log: $logs/$part.log)"
        (
            SECONDS=0
            "make_$part"
            digest "$part" >"${folder[$part]}/.setup"
            say "made ${folder[$part]} in $SECONDS s" >&3
            archive_classes
        ) 3>&1 >"$logs/$part.log" 2>&1 &
        jobs[$part]=$!
    done
    for part in "${!jobs[@]}"; do
        wait "${jobs[$part]}" || failed+=" $part"
    done
    for part in $failed; do
        tail -n 20 "$logs/$part.log" >&2
        say "could not make ${folder[$part]}; the whole log is $logs/$part.log" >&2
        [ "$part" != go-ycsb ] || say "all but specs and tests that use go-ycsb works without it" >&2
        [ "$part" != openload ] || say "all but specs and tests that use openload works without it" >&2
        [ "$part" != gofakes3 ] || say "all but the tests of stores on S3 works without it" >&2
        [ "$part" != verapdf ] || say "all but the tests of PDF/UA works without it" >&2
        [ "$part" != axe ] || say "all but the tests of accessibility works without it" >&2
        [ "$part" != vscode ] || say "all but the tests of the VS Code extension works without it" >&2
    done
    left=${failed/ go-ycsb/}
    left=${left/ openload/}
    left=${left/ gofakes3/}
    left=${left/ verapdf/}
    left=${left/ axe/}
    [ -z "${left/ vscode/}" ] || fail "once that is mended: tools/setup.sh$failed"
}

# The classes that Java has loaded when a server and a client of it end, as it can map them at the next start. A start
# takes a third of the processor time then; without these files all works as well.
archive_classes() {
    local server=.tools/mongo-stand-in client=.tools/ycsb address='' part turn
    for part in stand-in ycsb; do fresh "$part" || return 0; done
    exec {turn}>.tools/classes.lock
    flock "$turn"  # the last two parts may end together
    [ ! -e $server/classes.jsa ] || [ ! -e $client/classes.jsa ] || return 0
    rm -f $server/classes.jsa $client/classes.jsa
    (
        exec {heard}< <(JAVA_OPTS="-XX:ArchiveClassesAtExit=$server/classes.jsa" exec $server/bin/mongo-stand-in --port 0)
        server_pid=$!
        trap 'kill $server_pid' EXIT
        read -r -t 60 -u "$heard" _ address
        JAVA_OPTS="-XX:ArchiveClassesAtExit=$client/classes.jsa" $client/bin/ycsb.sh load mongodb \
            -P $client/workloads/workloada -p "mongodb.url=mongodb://$address/ycsb"
        kill "$server_pid"
        trap - EXIT
        wait "$server_pid"
    ) >"$logs/classes.log" 2>&1 9>&- || say "Java's classes could not be kept, so its programs start slower (see $logs/classes.log)"
}

main() {
    local packages='' parts=() word
    [ $# -gt 0 ] || set -- all
    for word in "$@"; do
        case $word in
            -h | --help)
                usage
                return
                ;;
            all)
                packages=$run_packages$test_packages
                parts+=(python stand-in ycsb go-ycsb openload gofakes3 verapdf axe vscode)
                ;;
            demo)
                packages=$run_packages
                parts+=(runtime stand-in ycsb)
                ;;
            system) packages=$run_packages$test_packages ;;
            tools) parts+=(stand-in ycsb go-ycsb openload) ;;
            python | runtime | stand-in | ycsb | go-ycsb | openload | gofakes3 | verapdf | axe | vscode | peers) parts+=("$word") ;;
            *) fail "there is no part '$word'; try tools/setup.sh --help" ;;
        esac
    done
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "benchbrief needs Python 3.11 or later: set PYTHON to one"
    mkdir -p "$logs"
    exec 9>.tools/setup.lock
    flock 9  # a second set-up waits for the first, then finds its work done
    [ -z "$packages" ] || system "$packages"
    make_parts "${parts[@]}"
    archive_classes
}

python=${PYTHON:-python3}
logs=.tools/log
main "$@"

#!/usr/bin/env bats
# The guest as its users see it. Boots are few: setup_file's serves most of the tests.

root=${BATS_TEST_DIRNAME%/*/*}
guest=$BATS_TEST_DIRNAME/guest

# What runs in the guest. Arguments: those the test wants to see arrive.
report_from_inside() {
    cat <<'END'
printf '%s\0' "$@" >"$KBLAT_OUT/arguments"
printf '%s' "$KBLAT_OUT" >"$KBLAT_OUT/path"
pwd >"$KBLAT_OUT/directory"
printf '%s' "$GREETING" >"$KBLAT_OUT/greeting"
echo "${UNWANTED-unset}" >"$KBLAT_OUT/unwanted"
touch here-only /etc/here-only /tmp/kblat-selftest-here-only && echo yes >"$KBLAT_OUT/could-write"
nproc >"$KBLAT_OUT/cpus"
cat /sys/devices/system/node/node[0-9]*/distance >"$KBLAT_OUT/distances"
cat /sys/class/infiniband/rxe0/ports/1/state >"$KBLAT_OUT/port"
cat /sys/fs/cgroup/cgroup.subtree_control >"$KBLAT_OUT/controllers"
cat /proc/filesystems >"$KBLAT_OUT/filesystems"
cat /sys/devices/system/clocksource/clocksource0/current_clocksource >"$KBLAT_OUT/clock"
hostname >"$KBLAT_OUT/hostname"
ulimit -l >"$KBLAT_OUT/memlock"
if command -v ib_send_lat >/dev/null; then
    ib_send_lat -d rxe0 -n 500 -s 32 >/dev/null &
    for try in 1 2 3 4 5 6 7 8 9 10; do
        sleep 1
        ib_send_lat -d rxe0 -n 500 -s 32 192.0.2.1 >"$KBLAT_OUT/latency" 2>&1 && break
    done
fi
"$KBLAT" run "$KBLAT_OUT/samples.yaml" --out "$KBLAT_OUT/runs" --no-state --quiet >/dev/null 2>"$KBLAT_OUT/samples-said"
mkdir "$KBLAT_OUT/sub" && mv "$KBLAT_OUT/memlock" "$KBLAT_OUT/sub/memlock"
head -c 4000000 "$KBLAT_OUT/noise"
sleep 1000 &
echo to standard error >/dev/stderr
exit 37
END
}

# shellcheck disable=SC2016 # nothing in there is to expand
awkward=('two words' '' "it's" '"$HOME" `id` $(id) \n *' $'new\nline\n' --out -- $'\t\x01\xff')

# A slow reader that writes to a file, so that output of the guest waits in every buffer on the way.
read_slowly() {
    while [ "$(head -c 100000 | tee -a "$1" | wc -c)" -gt 0 ]; do
        sleep 0.1
    done
}

setup_file() {
    work="$BATS_FILE_TMPDIR/a folder, with spaces"
    mkdir -p "$work/out"
    cd "$work" || return
    head -c 4000000 /dev/urandom >out/noise
    report_from_inside >script
    printf 'kblat: 1\nname: samples\nsettings: {kernel: rate, transport: shmem, rate: 1kHz, messages: 100, repetitions: 1, sink: file, missed_limit: 100%%}\n' >out/samples.yaml
    "$BATS_TEST_DIRNAME/accel" "$("$BATS_TEST_DIRNAME/prepare")" # so that guest prints nothing about it
    for _ in 1 2 3; do
        rm -f stdout
        UNWANTED=1 "$guest" --out out --env "KBLAT=${KBLAT:-$root/build/kblat}" --env $'GREETING=hello\nyou' -- \
            sh script "${awkward[@]}" 2>stderr | read_slowly stdout
        came_back=${PIPESTATUS[0]}
        [ "$came_back" -eq 75 ] || break # the emulator's fault: README.md
        rm -rf out/sub
    done
    export work came_back
}

setup() {
    cd "$work" || return
    TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir "$TMPDIR"
    export TMPDIR
}

# fails_with STATUS PATTERN COMMAND...
fails_with() {
    local status_wanted=$1 pattern=$2
    shift 2
    run "$@"
    echo "$output"
    [ "$status" -eq "$status_wanted" ] && [[ $output =~ $pattern ]]
}

# Processes that have our temporary folder in their command lines.
machines() { grep -las -- "$TMPDIR/[k]blat-guest" /proc/[0-9]*/cmdline || true; }

# eventually COMMAND...: must succeed within a minute.
eventually() {
    local _
    for _ in {1..600}; do
        ! "$@" || return 0
        sleep 0.1
    done
    echo "still not so after a minute: $*"
    return 1
}

nothing_runs() { [ -z "$(machines)" ]; }
something_runs() { [ -n "$(machines)" ]; }
nothing_is_left() { nothing_runs && [ -z "$(ls -A "$TMPDIR")" ]; }

@test "the command's exit status comes back" {
    cat stderr
    [ "$came_back" -eq 37 ]
}

@test "standard output comes back whole, by itself" {
    cmp stdout out/noise
}

@test "standard error comes back, by itself" {
    [ "$(cat stderr)" = 'to standard error' ]
}

@test "arguments arrive as they were given" {
    printf '%s\0' "${awkward[@]}" | cmp - out/arguments
}

@test "the command works where guest was called, and is told its output folder" {
    [ "$(cat out/directory)" = "$work" ]
    [ "$(cat out/path)" = "$work/out" ]
}

@test "--env reaches the command, other variables do not" {
    [ "$(cat out/greeting)" = $'hello\nyou' ]
    [ "$(cat out/unwanted)" = unset ]
}

@test "what is written to --out is on the host, with its folders, and its user's" {
    [ -f out/sub/memlock ]
    [ ! -e out/memlock ]
    [ -O out/sub ]
    [ -O out/sub/memlock ]
}

@test "kblat's file sink writes to --out, whose file system knows files by their names only" {
    cat out/samples-said
    [ "$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["status"])' out/runs/*/run.json)" != FAILED ]
    [ "$(/usr/bin/python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["points"][0]["sink"]["stored_bytes"] > 0)' out/runs/*/summary.json)" = True ]
}

@test "what is written elsewhere is not" {
    [ "$(cat out/could-write)" = yes ]
    [ ! -e here-only ]
    [ ! -e /etc/here-only ]
    [ ! -e /tmp/kblat-selftest-here-only ]
}

@test "four CPUs on two NUMA nodes" {
    [ "$(cat out/cpus)" = 4 ]
    [ "$(cat out/distances)" = $'10 20\n20 10' ]
}

@test "rxe0 has an active port" {
    [ "$(cat out/port)" = '4: ACTIVE' ]
}

@test "messages go over rxe0, with a path MTU of 4096" {
    cat out/latency # empty: the Debian package perftest is not installed
    grep -q 'Mtu *: 4096' out/latency
    grep -Eq '^ 32 +500 ' out/latency
}

@test "cpusets, locked memory, the clock and the name are as promised" {
    grep -qw cpuset out/controllers
    [ "$(cat out/sub/memlock)" = unlimited ]
    [ "$(cat out/clock)" = tsc ]
    [ "$(cat out/hostname)" = kblat-guest ]
}

@test "SIGINT reaches the command, whose output and exit status are returned, also with --in-memory and, if the kernel has them, cpusets v1" {
    local cgroup=v2 cpus=/sys/fs/cgroup/cpuset.cpus.effective
    ! grep -qw cpuset out/filesystems || cgroup=v1 cpus=/dev/cpuset/cpus
    mkdir kept
    echo old >kept/old
    env --default-signal=INT "$guest" --no-rdma --in-memory --out kept --timeout 100 --cgroup $cgroup --env "CPUS=$cpus" --cpus 2 --nodes 1 -- bash -c '
        trap "echo interrupted; exit 5" INT
        ls "$KBLAT_OUT" | wc -l >count; mv count "$KBLAT_OUT"; mkdir kept/sub; echo new >kept/sub/new
        cat "$CPUS"; ls -d /sys/devices/system/node/node*
        while :; do sleep 0.1; done' >said 3>&- &
    eventually grep -q node0 said
    kill -INT $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 5 ]
    [ "$(cat said)" = $'0-1\n/sys/devices/system/node/node0\ninterrupted' ]
    [ "$(cat kept/count)" = 0 ]
    [ "$(cat kept/old)" = old ]
    [ "$(cat kept/sub/new)" = new ]
    [ -O kept/sub/new ]
    [ -z "$(find kept -name '*.tar')" ]
    nothing_is_left
    fails_with 2 'goes with --out' "$guest" --in-memory -- true
}

@test "out of time: exit status 1, and nothing is left" {
    fails_with 1 'ran out of time after 1 s' "$guest" --timeout 1 -- sleep 1000
    nothing_is_left
}

@test "out of time while the command runs: it ends by itself, and what it has done is kept, also with --in-memory" {
    local limit
    for limit in 20 60 180; do # on a busy machine it has not begun before
        # shellcheck disable=SC2016 # the guest's shell expands it
        fails_with 1 "ran out of time after $limit s" "$guest" --no-rdma --in-memory --out late --timeout $limit -- bash -c '
            trap "echo ended >\"\$KBLAT_OUT/end\"; exit 0" TERM
            while :; do sleep 0.1; done'
        [ ! -e late/end ] || break
    done
    [[ $output == *"kept what it had done"* ]]
    [ "$(cat late/end)" = ended ]
    nothing_is_left
}

# qemu: the process of the machine.
qemu() {
    local file
    for file in /proc/[0-9]*/cmdline; do
        ! grep -qsa -- "^qemu-system.*$TMPDIR/[k]blat-guest" "$file" || basename "$(dirname "$file")"
    done
}

# struck SIGNAL WORDS: QEMU gets the signal while a command runs.
struck() {
    "$guest" --no-rdma -- sh -c 'echo ready; exec sleep 1000' >said 2>error 3>&- &
    eventually grep -q ready said
    kill "-$1" "$(qemu)"
    status=0
    wait $! || status=$?
    cat error
    [ "$status" -eq 75 ]
    grep -q "$2" error
    nothing_is_left
}

# bats test_tags=long
@test "a machine that does not run any more: exit status 75, and nothing is left" {
    export KBLAT_VM_PATIENCE=10
    struck STOP "shows no life since 10 s.*run 'sh' again"
}

# bats test_tags=long
@test "a QEMU that crashes: exit status 75, and nothing is left" {
    struck SEGV "segmentation fault: run 'sh' again"
}

# bats test_tags=long
@test "a task that the kernel never wakes up: exit status 75, and nothing is left" {
    status=0
    "$guest" --no-rdma --append sysctl.kernel.hung_task_timeout_secs=5 -- sh -c '
        modprobe loop && modprobe ext4 && truncate -s 20M /dev/shm/disk && mkfs.ext4 -q /dev/shm/disk && mkdir /run/disk &&
            mount -o loop /dev/shm/disk /run/disk && fsfreeze -f /run/disk && touch /run/disk/file' 2>error || status=$?
    cat error
    [ "$status" -eq 75 ]
    grep -q "has hung.*run 'sh' again" error
    nothing_is_left
}

# bats test_tags=long
@test "a command that sleeps is alive, as is one whose output nobody reads; a machine that does not tell of its end is not" {
    KBLAT_VM_PATIENCE=10 "$guest" --no-rdma -- sh -c 'sleep 25; head -c 300000 /dev/zero; exit 4' | { sleep 60; wc -c; } >said || true
    [ "$(cat said)" -eq 300000 ]
    # The processes that pass on its output.
    KBLAT_VM_PATIENCE=10 fails_with 75 "shows no life since 10 s" "$guest" --no-rdma -- pkill -STOP -x cat
    nothing_is_left
}

@test "SIGTERM before the command has started ends the guest" {
    "$guest" -- sleep 1000 3>&- &
    eventually something_runs
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" -eq 143 ]
    nothing_is_left
}

@test "killed, guest takes the machine with it" {
    "$guest" -- sleep 1000 3>&- &
    eventually something_runs
    kill -KILL $!
    eventually nothing_runs
}

@test "a guest that ends by itself is a failure that shows its console" {
    fails_with 1 'before .true. did.*Kernel panic' "$guest" --append rdinit=/none --memory 256M -- true
    nothing_is_left
}

@test "wrong usage: exit status 2" {
    fails_with 2 "unknown option '--bogus'" "$guest" --bogus -- true
    fails_with 2 "'--cpus' takes a value" "$guest" --cpus
    fails_with 2 'no command' "$guest" --no-rdma
    fails_with 2 "from 1 to 64, not 'many'" "$guest" --cpus many -- true
    fails_with 2 'each node has a CPU' "$guest" --cpus 1 --nodes 2 -- true
    fails_with 2 'such as 512M' "$guest" --memory lots -- true
    fails_with 2 'v1 or v2' "$guest" --cgroup v3 -- true
    fails_with 2 'NAME=VALUE' "$guest" --env 1=2 -- true
    fails_with 2 'not a kernel version' "$guest" --kernel ../../x -- true
    fails_with 2 'kvm or tcg' env KBLAT_VM_ACCEL=magic "$guest" -- true
    fails_with 0 'Usage:' "$guest" --help
}

@test "an output folder that cannot be made: exit status 1, and it is named" {
    fails_with 1 'cannot make the output folder script/out' "$guest" --out script/out -- true
}

# A PATH with all programs of this machine except one.
path_without() {
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s /usr/sbin/* /sbin/* /usr/bin/* /bin/* "$BATS_TEST_TMPDIR/bin/" 2>/dev/null || true
    rm "$BATS_TEST_TMPDIR/bin/$1"
}

@test "no QEMU, or no x86-64: exit status 77 with the reason" {
    path_without qemu-system-x86_64
    fails_with 77 'install the Debian package qemu-system-x86' env PATH="$BATS_TEST_TMPDIR/bin" "$guest" -- true
    rm "$BATS_TEST_TMPDIR/bin/uname"
    printf '#!/bin/sh\necho riscv64\n' >"$BATS_TEST_TMPDIR/bin/uname"
    chmod +x "$BATS_TEST_TMPDIR/bin/uname"
    fails_with 77 'riscv64' env PATH="$BATS_TEST_TMPDIR/bin" "$guest" -- true
}

@test "two that prepare at once get the same kernel, and a third has nothing to do" {
    "$BATS_TEST_DIRNAME/prepare" >first 3>&- &
    "$BATS_TEST_DIRNAME/prepare" >second
    wait $!
    cmp first second
    [ -s "$(cat first)/initramfs" ]
    fails_with 0 '^/' "$BATS_TEST_DIRNAME/prepare"
}

# Shared by the tests of the command line. KBLAT is the program under test; every test has a directory
# of its own, $T.

# Makes a folder: in memory if there is a gigabyte of it, because a run directory has thousands of small files.
scratch() {
	local where=${KBLAT_TEST_MEMORY:-${BATS_TMPDIR:-/tmp}}
	if [ -z "${TMPDIR:-}" ] && [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 1000000 ]; then
		where=/dev/shm
	fi
	mktemp -d "$where/tests-cli-$$-XXXXXX"
}

kblat_setup() {
	T=$(scratch)
	ROOT=${BATS_TEST_DIRNAME%/*/*}
	KBLAT=${KBLAT:-$ROOT/build/kblat}
	cd "$T" || return 1
}

setup() {
	kblat_setup
}

teardown() {
	local job
	# What a test that failed has left in the background.
	for job in $(jobs -p); do
		kill -9 "$job" 2>/dev/null || true
	done
	cd /
	rm -rf "$T" 2>/dev/null || {
		chmod -R u+rwx "$T"
		rm -rf "$T"
	}
}

# For tests of captured state: uses this machine, where tests/run uses a recorded one.
state_of_this_machine() {
	unset KBLAT_SYSROOT
}

# Words that run a command as somebody who has no rights: none if this user is one.
as_other=()
[ "$EUID" -ne 0 ] || as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all)

# is_root: may this user be somebody else, and so give files away? Root of a container may have no rights, and in a namespace there may be nobody else.
is_root() { [ "$EUID" -eq 0 ] && "${as_other[@]}" true 2>/dev/null; }

# need_root WHY: skips the test for everybody else.
need_root() { is_root || skip "needs root with all of its rights, $1"; }

# need_others FILE: skips the test if other users may not execute that file, as in a clone below /root.
need_others() {
	[ "$EUID" -ne 0 ] || need_root "to be somebody else"
	"${as_other[@]}" test -x "$1" || skip "other users may not reach $1"
}

# need_namespaces FLAG…: skips the test if this user may not make these namespaces, as in a container without rights.
need_namespaces() {
	unshare "$@" true 2>/dev/null || skip "this user may not: unshare $*"
}

# need_feature NAME…: skips the test if this build is without one of these libraries (common/features), with the packages to install.
need_feature() {
	local name without
	for name in "$@"; do
		without=$({ "$KBLAT" --version && { [ ! -x "${KBTUNE:-}" ] || "$KBTUNE" --version; }; } | grep -m 1 "^without $name:") && skip "this build is $without"
	done
	return 0
}

# looked_at PAGE…: these pages have no fault in a browser, where there is one (browser.py).
looked_at() {
	local chromium
	chromium=$(command -v chromium chromium-headless-shell google-chrome | head -n 1) || true
	[ -z "$chromium" ] || "$BATS_TEST_DIRNAME/browser.py" "$chromium" "$@"
}

# spec NAME <<YAML: writes T/NAME.yaml, with a head.
spec() {
	{
		printf 'kblat: 1\nname: %s\n' "$1"
		cat
	} >"$T/$1.yaml"
}

# set_flags "KEY=VALUE"…: sets $sets to the flags for them.
set_flags() {
	local s
	sets=()
	for s in "$@"; do
		sets+=(--set "$s")
	done
}

# run_with SPEC "KEY=VALUE"…: runs T/SPEC.yaml; sets $run_dir to its directory, and $status and $output like `run`.
run_with() {
	local -a sets
	set_flags "${@:2}"
	run "$KBLAT" run "$1.yaml" --out "$T/runs" "${sets[@]}"
	run_dir=$(tail -n 1 <<<"$output")
}

# await_run COMMAND…: waits until it succeeds. Fails after half a minute, or if the run in the background ($pid) has ended, and shows the output of
# that run in T/out and T/err.
await_run() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return
		kill -0 "$pid" || break
		sleep 0.05
	done
	echo "the run does not get on: $(cat "$T/out" "$T/err")"
	return 1
}

# exists PATTERN: is there a file of such a name?
exists() { compgen -G "$1" >/dev/null; }

# endpoints PID: of a run.
endpoints() { pgrep -P "$1" 2>/dev/null; }

# scripted "KEY=VALUE"…: runs over the scripted transport; sets $run_dir, $status and $output.
scripted() {
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, warmup: 100}
	YAML
	run_with scripted "$@"
}

# refuses SPEC <<LINES: for each line, "SETTING=VALUE …|WORDS", a run of SPEC.yaml with these settings is refused with WORDS, before anything is started.
refuses() {
	local settings wanted
	local -a sets
	while IFS='|' read -r settings wanted; do
		# shellcheck disable=SC2086 # several of them
		set_flags $settings
		run "$KBLAT" run "$1.yaml" --out runs "${sets[@]}"
		echo "$settings: $output"
		assert_eq "$status" 2
		assert_contains "$output" "$wanted"
	done
	[ ! -e runs ]
}

# json FILE EXPRESSION: a value of a JSON document `d`, in Python, which starts faster without its environment (-I) and site packages (-S).
json() {
	/usr/bin/python3 -IS -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# read_cells STATEMENTS ARGUMENT…: Python with `d`, the list of what became of each cell of the study that is the first argument.
read_cells() {
	local statements=$1
	shift
	/usr/bin/python3 -IS -c 'import json, sys
last = {}
for line in open(sys.argv[1] + "/cells.jsonl"):
    try:
        cell = json.loads(line)
    except ValueError:
        continue
    last[cell["cell"]] = cell
d = [last[i] for i in sorted(last)]
'"$statements" "$@"
}

# cells STUDY EXPRESSION: a value of `d`.
cells() {
	read_cells 'print(eval(sys.argv[2]))' "$@"
}

# change_cells STUDY STATEMENTS: they change `d`, and it is written back.
change_cells() {
	read_cells 'exec(sys.argv[2])
open(sys.argv[1] + "/cells.jsonl", "w").write("".join(json.dumps(x) + "\n" for x in d))' "$@"
}

# check_counters EXPRESSION WANTED: checks the counters, `source` and `sink`, of every repetition of $run_dir.
check_counters() {
	/usr/bin/python3 -IS - "$1" "$2" "$run_dir"/points/*/rep-*/counters.json <<-'PY'
		import json, sys
		value = eval("lambda source, sink: (" + sys.argv[1] + ")")
		for name in sys.argv[3:]:
		    d = json.load(open(name))
		    got = str(value(d["source"], d["sink"]))
		    assert got == sys.argv[2], f"{name}: {got}"
	PY
}

# is_ours PID: is it a process of this test, which works in its directory?
is_ours() {
	local cwd
	cwd=$(readlink "/proc/$1/cwd" 2>/dev/null) && [[ "$cwd/" == "$T"/* ]]
}

# Prints the endpoints that this test has started.
leftovers() {
	local pid
	for pid in $(pgrep -f "$KBLAT endpoint" || true); do
		! is_ours "$pid" || echo "$pid"
	done
}

# shm_maker FILE: the process that made it, from its name: kblat-UID-PID-RANDOM, or kblat-UID-TOKEN-PID.
shm_maker() {
	local -a part
	IFS=- read -ra part <<<"${1##*/}"
	[ ${#part[2]} -eq 16 ] && echo "${part[3]}" || echo "${part[2]}"
}

# Prints what this test has left in /dev/shm since `touch before-shm`. Files of other runs come and go meanwhile: either their processes work in other
# directories, or, if they were killed, their files are removed by others.
shm_files() {
	local file maker orphan
	for _ in {1..100}; do
		orphan=
		for file in /dev/shm/kblat-*; do
			[ "$file" -nt "$T/before-shm" ] || continue
			maker=$(shm_maker "$file")
			if is_ours "$maker"; then
				echo "$file"
				return
			fi
			[ -d "/proc/$maker" ] || [ ! -e "$file" ] || orphan=$file
		done
		[ -n "$orphan" ] || return 0
		sleep 0.1
	done
	echo "$orphan"
}

# nothing_stays: at most ten seconds after the run has ended, no process of this test is left, and no new file in /dev/shm since `touch before-shm`.
nothing_stays() {
	local i left
	for ((i = 0; i < 100; i++)); do
		left=$(shm_files)$(leftovers)
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "stays: $left"
	return 1
}

# end_namespaces NAME…: removes network namespaces, and ends what runs in them; "" is none.
end_namespaces() {
	local name pid
	for name in "$@"; do
		[ -n "$name" ] || continue
		for pid in $(ip netns pids "$name" 2>/dev/null); do
			kill -KILL "$pid" 2>/dev/null || true
		done
		ip netns del "$name" 2>/dev/null || true
	done
}

# need_adapter: the model of an adapter (tests/model), as $preload; it was built in $build.
need_adapter() {
	build=$(dirname "$KBLAT")
	[ -e "$build/adapter.so" ] || skip "needs $build/adapter.so (make tests)"
	preload=$(preload "$build/adapter.so")
	[[ $preload != *libasan* ]] || skip "the model of an adapter does not work beside the sanitizers' library"
}

# preload LIBRARY: the LD_PRELOAD for it, in which the sanitizers' library, if kblat has one, must be the first one.
preload() {
	ldd "$KBLAT" | awk -v library="$1" '/libasan/ { printf "%s:", $3 } END { print library }'
}

# preloading NAME [VARIABLE=VALUE…] COMMAND…: runs it with NAME.c, which is here.
preloading() {
	[ -e "$1.so" ] || gcc -shared -fPIC -O2 -o "$1.so" "$BATS_TEST_DIRNAME/$1.c" -ldl
	run env LD_PRELOAD="$(preload "$PWD/$1.so")" "${@:2}"
	echo "$output"
	run_dir=${lines[-1]}
}

# assert_measured [REASON…]: what was run has measured; sets $run_dir to its directory. Status 3, not valid, is right only for reasons of a busy machine and
# for these, which the test brings about: tests/cli/measured.py.
assert_measured() {
	local line
	echo "$output"
	run_dir=
	while IFS= read -r line; do
		[ ! -f "$line/run.json" ] && [ ! -f "$line/study.json" ] || run_dir=$line
	done <<<"$output"
	[ -n "$run_dir" ] && { [ "$status" -eq 0 ] || /usr/bin/python3 -IS "${BATS_TEST_DIRNAME%/*}/cli/measured.py" "$status" "$run_dir" "$@"; }
}

# measures COMMAND…: a run in passing, which has measured; prints its output.
measures() {
	local run_dir status=0 output
	output=$("$@") || status=$?
	assert_measured
}

# ends_with STATUS COMMAND…: where the output is redirected; otherwise `run -STATUS` says it.
ends_with() {
	local ended=0
	"${@:2}" || ended=$?
	assert_eq "$ended" "$1"
}

assert_eq() {
	if [ "$1" != "$2" ]; then
		echo "got:  $1"
		echo "want: $2"
		return 1
	fi
}

assert_contains() {
	if [[ $1 != *"$2"* ]]; then
		echo "in:       $1"
		echo "is not:   $2"
		return 1
	fi
}

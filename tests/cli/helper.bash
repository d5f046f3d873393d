# What the tests of the command line have in common. KBLAT is the program under test; every test has
# a directory of its own, $T.

# A folder of one's own: in memory if there is a gigabyte of it, because a run directory has thousands of small files.
scratch() {
	local where=${KBLAT_TEST_MEMORY:-${BATS_TMPDIR:-/tmp}}
	if [ -z "${TMPDIR:-}" ] && [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 1000000 ]; then
		where=/dev/shm
	fi
	mktemp -d "$where/tests-cli.XXXXXX"
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
	cd /
	rm -rf "$T" 2>/dev/null || {
		chmod -R u+rwx "$T"
		rm -rf "$T"
	}
}

# For tests of what is kept of the machine, where tests/run has others take a recorded one.
state_of_this_machine() {
	unset KBLAT_SYSROOT
}

# spec NAME <<YAML: T/NAME.yaml with a head.
spec() {
	{
		printf 'kblat: 1\nname: %s\n' "$1"
		cat
	} >"$T/$1.yaml"
}

# set_flags "KEY=VALUE"…: the flags for them: $sets.
set_flags() {
	local s
	sets=()
	for s in "$@"; do
		sets+=(--set "$s")
	done
}

# run_with SPEC "KEY=VALUE"…: a run of T/SPEC.yaml; $run_dir is its directory, $status and $output as with `run`.
run_with() {
	local -a sets
	set_flags "${@:2}"
	run "$KBLAT" run "$1.yaml" --out "$T/runs" "${sets[@]}"
	run_dir=$(tail -n 1 <<<"$output")
}

# await_run COMMAND…: until it succeeds; fails if it does not in half a minute, or if the run in the background ($pid) has ended, and shows what that
# wrote to T/out and T/err.
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

# A run over the scripted transport: scripted "KEY=VALUE"… ; $run_dir, $status, $output.
scripted() {
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, warmup: 100}
	YAML
	run_with scripted "$@"
}

# refuses SPEC <<LINES: of each line, "SETTING=VALUE …|WORDS", a run of SPEC.yaml with these settings is a mistake, and says WORDS; nothing is begun.
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

# json FILE EXPRESSION: a value of a JSON document `d`, in Python, which without its environment (-I) and others' modules (-S) starts sooner.
json() {
	/usr/bin/python3 -IS -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# check_counters EXPRESSION WANTED: of every repetition of $run_dir, in terms of `source` and `sink`, its counters.
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

# is_ours PID: a process of this test's, which works in its directory.
is_ours() {
	local cwd
	cwd=$(readlink "/proc/$1/cwd" 2>/dev/null) && [[ "$cwd/" == "$T"/* ]]
}

# The endpoints that this test has started.
leftovers() {
	local pid
	for pid in $(pgrep -f "$KBLAT endpoint" || true); do
		! is_ours "$pid" || echo "$pid"
	done
}

# shm_maker FILE: the number of the process that made it: kblat-UID-NUMBER-RANDOM, or kblat-UID-TOKEN-NUMBER.
shm_maker() {
	local -a part
	IFS=- read -ra part <<<"${1##*/}"
	[ ${#part[2]} -eq 16 ] && echo "${part[3]}" || echo "${part[2]}"
}

# What this test has left in /dev/shm since `touch before-shm`. Other runs' files come and go meanwhile: if their makers live, they work elsewhere; if they were
# killed, somebody removes what they left.
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

# nothing_stays: no process of this test's, and nothing of its own in /dev/shm since `touch before-shm`, ten seconds after the run has ended at most.
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

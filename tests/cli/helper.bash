# What the command line's tests share. KBLAT is the program under test; every test has a directory of its own, $T.

setup() {
	T=$(mktemp -d "${BATS_TMPDIR:-/tmp}/kblat-cli.XXXXXX")
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	KBLAT=${KBLAT:-$ROOT/build/kblat}
	cd "$T" || return 1
}

teardown() {
	cd /
	chmod -R u+rwx "$T"
	rm -rf "$T"
}

# spec NAME <<YAML: T/NAME.yaml with a head.
spec() {
	{
		printf 'kblat: 1\nname: %s\n' "$1"
		cat
	} >"$T/$1.yaml"
}

# A run over the scripted transport: scripted "KEY=VALUE"… ; $run_dir is its directory, $status and $output as with `run`.
scripted() {
	local -a sets=()
	local s
	for s in "$@"; do
		sets+=(--set "$s")
	done
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, warmup: 100}
	YAML
	run "$KBLAT" run scripted.yaml --out "$T/runs" "${sets[@]}"
	run_dir=$(tail -n 1 <<<"$output")
}

# json FILE EXPRESSION: a value of a JSON document `d`, in Python.
json() {
	/usr/bin/python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# The endpoints that belong to this test: those that write below $T or that its runs have started.
leftovers() {
	pgrep -f "$KBLAT endpoint" -s "$(ps -o sid= -p $$ | tr -d ' ')" || true
}

shm_files() {
	find /dev/shm -maxdepth 1 -name 'kblat-*' -newer "$T/before-shm" 2>/dev/null
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

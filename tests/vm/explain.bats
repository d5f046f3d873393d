#!/usr/bin/env bats
# Why a message was slow, in the guest: endpoints that are held up on purpose, and what is named. To run it by hand:
#
#   tests/vm/guest --no-rdma -- tests/vm/lean-bats tests/vm/explain.bats
#
# Emulated CPUs of a busy host wait for each other for tens of milliseconds. So endpoints sleep, and are held up for longer than that; and of
# what takes microseconds, what took the time of one CPU is asked for rather than of messages, which need two.

setup_file() {
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	export ROOT KBLAT=${KBLAT:-$ROOT/build/kblat}
	"$ROOT/tests/vm/hold-events"
}

setup() {
	T=$(mktemp -d)
}

teardown() {
	rm -rf "$T"
}

# truth OPTION…: a benchmark that knows the true causes, and fails if too few are named correctly.
truth() {
	"$ROOT/tests/bench/explain-truth" "$KBLAT" --stories 3 "$@"
}

@test "explain: a task, packets and a signal that held an endpoint up are what is named" {
	truth --together --fifo --limit 5000 --least 2 --enough 0.7
}

@test "explain: page faults are what is named" {
	truth --only faults --messages 6000 --least 3 --enough 0.7
}

# times CLASS NAME: how often this took CPU 1.
times() {
	/usr/bin/python3 -IS -c 'import json, sys
causes = json.load(open(sys.argv[1]))["cpus"][0]["causes"]
print(sum(c["times"] for c in causes if c["class"] == sys.argv[2] and sys.argv[3] in c["name"]))' "$T/noise.json" "$1" "$2"
}

@test "explain: interrupts by another CPU, and timers, are what took a CPU's time" {
	"$ROOT/tests/cli/disturb.py" ipis 2 5 5 100000 >"$T/ipis" 3>&- &
	"$ROOT/tests/cli/disturb.py" timers 1 5 5 100000 >"$T/timers" 3>&- &
	for _ in {1..600}; do
		[ ! -s "$T/ipis" ] || [ ! -s "$T/timers" ] || break # both have begun, which takes seconds on a busy machine
		sleep 0.1
	done
	LD_PRELOAD=${REGISTERS:-$ROOT/build/registers.so} "$KBLAT" noise --cpus 1 --seconds 1 --json >"$T/noise.json"
	kill %1 %2
	cat "$T/noise.json"
	wc -l "$T/ipis" "$T/timers"
	[ "$(times ipi "function call")" -ge 20 ]
	[ "$(times interrupt "local timer")" -ge 20 ]
}

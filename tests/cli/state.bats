#!/usr/bin/env bats
# The state of a machine: captured, and compared. Nothing here changes the machine; other machines are recorded ones.

load helper
bats_require_minimum_version 1.5.0

# captured MACHINE: a capture of a recorded or synthetic machine in $T/MACHINE.
captured() {
	"$ROOT/tests/sysroots/machine" unpack "$1" "$T/$1.root"
	"$KBLAT" state capture "$T/$1" --sysroot "$T/$1.root"
}

# edit FILE EXPRESSION: change the keys `k` of a state.json with a Python statement.
edit() {
	/usr/bin/python3 - "$1" "$2" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		k = d["keys"]
		exec(sys.argv[2])
		json.dump(d, open(sys.argv[1], "w"))
	PY
}

@test "diff: a state and itself, status 0; one fatal key changed, status 3, with its meaning" {
	captured small-v2
	run "$KBLAT" state diff small-v2 small-v2/state.json
	[ "$status" -eq 0 ]
	assert_contains "$output" "0 fatal"
	cp -a small-v2 other
	edit other/state.json 'k["scheduling.rt_runtime_us"] = -1; k["irq.4.affinity"] = "1"'
	run "$KBLAT" state diff small-v2 other
	[ "$status" -eq 3 ]
	assert_contains "${lines[0]}" "fatal"
	assert_contains "$output" "scheduling.rt_runtime_us"
	assert_contains "$output" "950000 -> -1"
	assert_contains "$output" "real-time tasks are stopped"
	assert_contains "$output" "1 fatal, 1 may matter"
	run "$KBLAT" state diff small-v2 other --json
	[ "$status" -eq 3 ]
	echo "$output" >d.json
	assert_eq "$(json d.json '[(x["key"], x["group"], x["class"], x["varying"], x["a"], x["b"]) for x in d["differences"]]')" \
		"[('scheduling.rt_runtime_us', 'scheduling', 'fatal', False, 950000, -1), ('irq.4.affinity', 'irq', 'warn', False, '0-3', '1')]"
}

@test "diff --varying: what is under test is told, and forbids nothing" {
	captured small-v2
	cp -a small-v2 other
	edit small-v2/state.json 'k["identity.kernel"] = "6.1.0"'
	edit other/state.json 'k["identity.kernel"] = "6.12.0"'
	run "$KBLAT" state diff small-v2 other
	[ "$status" -eq 3 ]
	run "$KBLAT" state diff small-v2 other --varying kernel
	[ "$status" -eq 0 ]
	assert_contains "$output" "under test"
	assert_contains "$output" "6.1.0 -> 6.12.0"
	edit other/state.json 'k["clock.source"] = "hpet"'
	run "$KBLAT" state diff small-v2 other --varying kernel
	[ "$status" -eq 3 ]
	run "$KBLAT" state diff small-v2 other --varying kernel,clock
	[ "$status" -eq 0 ]
	run "$KBLAT" state diff small-v2 other --varying kernl
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'kernel'"
}

@test "diff of two recorded machines: fatal, and many CPUs in one line" {
	captured t630
	captured smt-laptop
	run "$KBLAT" state diff t630 smt-laptop
	[ "$status" -eq 3 ]
	assert_contains "$output" "0-23 -> 0-7"
	assert_contains "$output" "idle.cpu0-7.state3.latency_us"
	[ "$(grep -c 'state3.latency_us' <<<"$output")" -eq 2 ]
}

@test "diff takes run directories and their hosts" {
	scripted messages=200
	[ "$status" -eq 0 ]
	run "$KBLAT" state diff "$run_dir" "$run_dir/state/$(hostname)/before"
	[ "$status" -eq 0 ]
	run "$KBLAT" state diff "$run_dir" "$run_dir/state/$(hostname)/after" --all
	[ "$status" -eq 0 ]
	assert_contains "$output" "moved by itself"
}

@test "diff refuses what is no state, with one message and status 2" {
	captured small-v2
	mkdir empty
	echo '{"schema": 9, "keys": {}}' >newer.json
	echo '{"schema": 1, "keys": {"a": []}}' >odd.json
	echo 'text' >text.json
	mkfifo fifo
	for bad in empty newer.json odd.json text.json fifo nowhere small-v2.root; do
		run --separate-stderr "$KBLAT" state diff small-v2 "$bad"
		echo "$bad: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		assert_contains "$stderr" "$bad"
	done
	run --separate-stderr "$KBLAT" state diff small-v2 newer.json
	assert_contains "$stderr" "newer kblat"
	run --separate-stderr "$KBLAT" state diff small-v2
	[ "$status" -eq 2 ]
	run --separate-stderr "$KBLAT" state diff small-v2 small-v2 --sysroot /
	[ "$status" -eq 2 ]
}

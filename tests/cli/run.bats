#!/usr/bin/env bats
# A run from the command line to a sealed directory, and errors in the middle of it.

load helper

@test "shared memory: unprivileged, to a sealed directory, and nothing is left behind" {
	state_of_this_machine
	touch before-shm
	run "$KBLAT" run "$ROOT/experiments/quickstart" --quick --only transport=shmem --out "$T/runs"
	assert_measured
	[ -d "$run_dir" ]
	[[ $run_dir == "$T"/runs/quickstart-20*Z-???????? ]]
	assert_eq "$(json "$run_dir/run.json" 'd["status"], d["variant"]')" "('COMPLETED', 'quick')"
	assert_eq "$(json "$run_dir/summary.json" '[p["metrics"]["lat_ns"]["n"] for p in d["points"]]')" "[2000, 2000]"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	(cd "$run_dir" && sha256sum --quiet -c manifest-sha256.txt)
	run /usr/bin/python3 "$ROOT/tests/cli/check_quantiles.py" "$run_dir"
	[ "$status" -eq 0 ]
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
	cmp "$ROOT/experiments/quickstart/spec.yaml" "$run_dir/spec.yaml"
	[ -s "$run_dir/state/$(hostname)/before/state.json" ]
	[ -s "$run_dir/state/$(hostname)/changes.json" ]
}

@test "a recorded machine's state instead of this one's is told in run.json" {
	state_of_this_machine
	"$ROOT/tests/sysroots/machine" unpack two-cpus "$T/recorded"
	spec recorded <<<'settings: {kernel: oneway, transport: scripted, messages: 10, repetitions: 1}'
	KBLAT_SYSROOT=$T/recorded run "$KBLAT" run recorded.yaml --out runs
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/run.json" 'd["sysroot"]')" "$T/recorded"
	[ ! -e "$run_dir/state/$(hostname)/before/proc/sys/kernel/ostype" ]
	run "$KBLAT" run recorded.yaml --out runs
	[ "$(json "${lines[-1]}/run.json" '"sysroot" in d')" = False ]
}

@test "what may not be locked is touched before measuring: no page fault, though nothing was sent before" {
	need_others "$KBLAT"
	chmod 755 "$T"
	mkdir -m 777 free
	spec first <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, warmup: 0}
	YAML
	run "${as_other[@]}" prlimit --memlock=0:0 "$KBLAT" run first.yaml --out "$T/free"
	assert_eq "$status" 0
}

@test "shared memory without privileges" {
	state_of_this_machine
	need_others "$KBLAT"
	chmod 755 "$T"
	mkdir -m 777 free
	touch before-shm
	run "${as_other[@]}" setpriv --no-new-privs \
		"$KBLAT" run "$ROOT/experiments/quickstart" --quick --only transport=shmem --out "$T/free"
	assert_measured
	[ -d "${lines[-1]}" ]
	[ -z "$(shm_files)" ]
}

# bats test_tags=long
@test "payloads over shared memory arrive as they were sent, busy and event, small and large, in order" {
	spec p <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 500, repetitions: 2, warmup: 50, check: yes, depth: 16}
		matrix:
		  - {poll: [busy, event], size: [1, 32, 56, 57, 4096], burst: [1, 100]}
	YAML
	run "$KBLAT" run p.yaml --out runs --json
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 20
	check_counters 'sink["received"], sink["bad_payloads"], sink["reordered"], source["completed"]' "(500, 0, 0, 500)"
}

@test "SIGINT in the middle: INTERRUPTED, sealed, what was measured is kept, nothing is left behind" {
	touch before-shm
	spec long <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 200, burst: 1, pause: 1ms, repetitions: 1000, warmup: 0}
	YAML
	"$KBLAT" run long.yaml --out runs >out 2>err &
	pid=$!
	for _ in $(seq 1200); do
		compgen -G 'runs/*.partial/points/0000/rep-00/counters.json' >/dev/null && break
		sleep 0.05
	done
	kill -INT $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 1 ]
	run_dir=$(tail -n 1 out)
	assert_eq "$(json "$run_dir/run.json" 'd["status"]')" INTERRUPTED
	assert_contains "$(cat err)" "interrupted"
	[ "$(json "$run_dir/summary.json" 'd["points"][0]["metrics"]["lat_ns"]["n"]')" -ge 200 ]
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["metrics"]["lat_ns"]["lost"]')" 0
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
}

@test "after SIGKILL .partial says RUNNING, its columns can be read, and endpoints end and clean up" {
	touch before-shm
	spec long <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 200, burst: 1, pause: 1ms, repetitions: 1000, warmup: 0}
	YAML
	"$KBLAT" run long.yaml --out runs >out 2>err &
	pid=$!
	await_run exists 'runs/*.partial/points/0000/rep-00/counters.json'
	kill -KILL $pid
	wait $pid || true
	nothing_stays
	run_dir=$(echo runs/*.partial)
	assert_eq "$(json "$run_dir/run.json" 'd["status"]')" RUNNING
	assert_eq "$(/usr/bin/python3 -c 'import numpy, sys; print(len(numpy.load(sys.argv[1], mmap_mode="r")))' \
		"$run_dir/points/0000/rep-00/t_recv.npy")" 200
	run "$KBLAT" summary "$run_dir"
	[ "$status" -eq 0 ]
	assert_contains "$output" "not sealed"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 3 ]
}

# bats test_tags=long
@test "an endpoint that dies, exits, hangs or answers what is no message is named with the end of its standard error" {
	touch before-shm
	declare -A expected=([die]="signal 9" [exit]="status 9" [hang]="no progress")
	for fault in "${!expected[@]}"; do
		for side in source sink; do
			scripted fault="$fault" fault_at=500 fault_side="$side" timeout=1s drain=50ms
			echo "$output"
			[ "$status" -eq 1 ]
			assert_contains "$output" "${expected[$fault]}"
			assert_contains "$output" "$side endpoint"
			assert_eq "$(json "$run_dir/run.json" 'd["status"]')" FAILED
			run "$KBLAT" verify "$run_dir"
			[ "$status" -eq 0 ]
		done
	done
	printf '#!/bin/sh\n"$@" | sed -u "4s/^/{] this is no JSON /"\n' >garbling
	chmod +x garbling
	for side in source sink; do
		run "$KBLAT" run scripted.yaml --out runs "--$side" "$PWD/garbling"
		echo "$output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "$side endpoint"
		assert_contains "$output" "not a message"
	done
	scripted fault=die fault_at=500
	assert_contains "$output" "scripted: dying at message 500"
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
}

@test "a point that fails does not end the run, and one that is not possible is no failure" {
	spec some <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, repetitions: 1, warmup: 100}
		matrix:
		  - {fault: [open, none]}
	YAML
	run "$KBLAT" run some.yaml --out runs
	echo "$output"
	[ "$status" -eq 0 ]
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["impossible"], d["points"]["completed"], d["valid"]')" "(1, 1, True)"
	run "$KBLAT" run some.yaml --out runs --only fault=open
	[ "$status" -eq 77 ]
	run "$KBLAT" run some.yaml --out runs --set fault=die
	[ "$status" -eq 1 ]
}

@test "a launcher precedes the endpoint's command, and one that cannot be started is named" {
	cat >launcher <<-'SH'
		#!/bin/sh
		echo "$1 $2" >>launched
		shift 2
		exec "$@"
	SH
	chmod +x launcher
	spec l <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 100, repetitions: 1}
	YAML
	run "$KBLAT" run l.yaml --out runs --source "./launcher 'a b' c" --sink "env"
	assert_measured
	assert_eq "$(cat launched)" "a b c"
	run "$KBLAT" run l.yaml --out runs --source "./no-such-launcher"
	[ "$status" -eq 1 ]
	assert_contains "$output" "no-such-launcher"
	run "$KBLAT" run l.yaml --out runs --source "'open"
	[ "$status" -eq 2 ] || [ "$status" -eq 77 ]
	assert_contains "$output" "not closed"
}

@test "a CPU outside the mask and too little space are said before the run" {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 100, repetitions: 1}
	YAML
	run "$KBLAT" run s.yaml --out runs --set source_cpu=4000
	[ "$status" -eq 77 ]
	assert_contains "$output" "CPU 4000"
	run "$KBLAT" run s.yaml --out runs --set messages=1000000000 --set repetitions=100000
	[ "$status" -eq 77 ]
	assert_contains "$output" "MiB are needed"
	[ -z "$(compgen -G 'runs/*')" ]
	run "$KBLAT" run s.yaml --out /proc/nowhere
	[ "$status" -ne 0 ]
	assert_contains "$output" "/proc"
}

@test "verbs without a device: not possible, with the reason" {
	compgen -G '/sys/class/infiniband/*' >/dev/null && skip "this machine has a device"
	run "$KBLAT" run "$ROOT/experiments/quickstart" --quick --only qp=rc --only poll=busy --out runs
	[ "$status" -eq 77 ]
	assert_contains "$output" "no RDMA device"
	run "$KBLAT" run "$ROOT/experiments/quickstart" --quick --only qp=rc --only poll=busy --out runs --device mlx9_9
	[ "$status" -eq 77 ]
}

@test "the progress line is for terminals only" {
	scripted
	assert_eq "${output//$'\r'/}" "$output"
	run script -qec "$KBLAT run scripted.yaml --out runs" /dev/null
	assert_contains "$output" "repetition 1/"
}

@test "a program that is replaced during a run, as by an upgrade, goes on to the end" {
	mkdir bin
	cp "$KBLAT" bin/kblat
	spec y <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 100, pause: 10ms, burst: 1, repetitions: 1, warmup: 0}
		matrix:
		  - size: [32B, 64B]
	YAML
	bin/kblat run y.yaml --out runs >out 2>err 3>&- &
	pid=$!
	await_run exists 'runs/*.partial/points/0000/rep-00'
	echo "no program any more" >bin/new
	mv bin/new bin/kblat
	status=0
	wait $pid || status=$?
	output=$(cat err out)
	assert_measured
	assert_eq "$(json "$(tail -n 1 out)/summary.json" '[p["metrics"]["lat_ns"]["n"] for p in d["points"]]')" "[100, 100]"
}

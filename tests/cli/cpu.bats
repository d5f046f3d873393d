#!/usr/bin/env bats
# Block `cpu`, what threads used of the processor; block `rate` of round trips.

load helper

@test "a round trip's rate is its bytes by its time, whatever lies between two" {
	spec pp <<-'YAML'
		settings: {kernel: pingpong, transport: scripted, delay: 1us, size: 1000B, messages: 100, repetitions: 2, warmup: 100,
		           pause: 1ms, link_rate: 16000000000}
	YAML
	run "$KBLAT" run pp.yaml --out runs
	[ "$status" -eq 0 ]
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/summary.json" '[round(d["points"][0]["rate"][k], 3) for k in ("messages_per_s", "bytes_per_s", "link_share")]')" \
		"[1000000.0, 1000000000.0, 0.5]"
	# Virtual time has no CPU time.
	assert_eq "$(json "$run_dir/summary.json" '"cpu" in d["points"][0]')" False
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run "$KBLAT" run pp.yaml --out runs --set link_rate=0
	assert_eq "$(json "${lines[-1]}/summary.json" 'd["points"][0]["rate"]["link_share"]')" None
}

@test "others that take a CPU: a warning, and no claim is judged by the point; not in virtual time" {
	local hogs=()
	spec taken <<-'YAML'
		settings: {kernel: oneway, transport: [shmem, scripted], poll: busy, messages: 20, burst: 20, repetitions: 4, warmup: 0}
		claims:
		  - {id: any, claim: "It takes less than a minute", origin: ours, metric: lat_ns.p50, points: {}, value: {max: 60s}}
	YAML
	for _ in $(seq "$(nproc)"); do
		timeout 60 sh -c 'while :; do :; done' 3>&- &
		hogs+=($!)
	done
	run "$KBLAT" run taken.yaml --out runs
	kill "${hogs[@]}"
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/summary.json" '[p["taken"] and p["taken"] > 0.15 for p in d["points"]]')" "[True, None]"
	assert_contains "$output" "of the time of the CPUs that it was measured on"
	assert_eq "$(json "$run_dir/claims.json" '[(c["verdict"], "was disturbed: others took" in c["why"]) for c in d["claims"]]')" "[('not judged', True)]"
}

@test "a sink that works on each message answers that much later" {
	spec serve <<-'YAML'
		settings: {kernel: pingpong, transport: udp, poll: [busy, event], size: 100B, messages: 50, repetitions: 1, warmup: 5, check: yes, serve: [0ns, 300us]}
	YAML
	run "$KBLAT" run serve.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[p["metrics"]["rtt_ns"]["min"] >= 300000 for p in d["points"] if p["params"]["serve_ns"]]')" "[True, True]"
	assert_eq "$(json "$run_dir/summary.json" '[p["metrics"]["rtt_ns"]["min"] < 300000 for p in d["points"] if not p["params"]["serve_ns"]]')" "[True, True]"
	rm -r runs
	refuses serve <<-'LINES'
		serve=2s|serve
		serve=1s lost_after=500ms|serve 1000000000 ns and lost_after 500000000 ns: the message is given up before it is answered
		serve=1us transport=scripted poll=busy|serve and transport scripted: a computation takes real time
	LINES
}

# charge_alike: measures one and five repetitions with ./charged, and compares both accounts.
charge_alike() {
	for reps in 1 5; do
		run "$KBLAT" run u.yaml --out runs --set repetitions=$reps --source "$PWD/charged"
		assert_measured || return 1
		cp "${lines[-1]}/summary.json" "summary-$reps.json"
		mv charge "charge-$reps"
	done
	/usr/bin/python3 - <<-'PY'
		import json
		cpu = {n: json.load(open(f"summary-{n}.json"))["points"][0]["cpu"] for n in (1, 5)}
		charge = {n: float(open(f"charge-{n}").read()) for n in (1, 5)}
		used = (cpu[5]["source_ns"] - cpu[1]["source_ns"]) / 1e9
		ratio = used / (charge[5] - charge[1])
		assert 0.95 < ratio < 1.02, (ratio, cpu, charge)
		# During pauses the source spins, and the sink sleeps.
		assert cpu[5]["sink_share"] < 0.5 * cpu[5]["source_share"] <= 0.5, cpu[5]
		assert cpu[5]["machine_cpus"] >= 0.5 * cpu[5]["source_share"] and cpu[5]["source_cycles"] is None, cpu[5]
		print(ratio, cpu[5])
	PY
}

# The kernel's account of the source's process includes its set-up, so two runs are subtracted.
# bats test_tags=long
@test "processor time of threads is what the kernel charges their process, and sleeping threads use little" {
	cat >charged <<-'SH'
		#!/usr/bin/python3
		import os, sys
		pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
		usage = os.wait4(pid, 0)[2]
		open(os.path.join(os.path.dirname(sys.argv[0]), "charge"), "w").write(str(usage.ru_utime + usage.ru_stime))
	SH
	chmod +x charged
	spec u <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, poll: event, messages: 1000, pause: 1ms, duration: 250ms, warmup: 0}
	YAML
	# On a busy machine the set-up varies, too: one of five attempts must agree.
	for _ in {1..5}; do
		charge_alike && return 0
	done
	return 1
}

# bats test_tags=long
@test "cycles are counted where there is a counter, and null where there is none" {
	spec c <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, messages: 1000, repetitions: 1, cycles: yes}
	YAML
	run "$KBLAT" run c.yaml --out runs
	assert_measured
	cycles=$(json "${lines[-1]}/summary.json" 'd["points"][0]["cpu"]["source_cycles"]')
	if ls /sys/bus/event_source/devices/cpu* >/dev/null 2>&1 && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ]; then
		[ "$cycles" = None ] || [ "$cycles" -gt 1000 ]
	else
		assert_eq "$cycles" None
	fi
}

# move_endpoints RUNS CPU: of the run $pid below RUNS, as the kernel does when a CPU goes offline: all threads go elsewhere. The run is then not valid.
move_endpoints() {
	await_run exists "$1/*.partial/points/0000/rep-00"
	sleep 1
	for endpoint in $(pgrep -P "$pid"); do
		taskset -acp "$2" "$endpoint"
	done
	status=0
	wait "$pid" || status=$?
	cat out err
	[ "$status" -eq 3 ]
}

@test "a computation beside messages is slower than alone, and one that is moved off its CPU makes the point not valid" {
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	spec w <<-'YAML'
		settings: {kernel: pingpong, transport: shmem, work: yes, poll: [busy, event], messages: 500, pause: 1ms, repetitions: 2, warmup: 10,
		           source_cpu: 0, sink_cpu: 1}
	YAML
	run "$KBLAT" run w.yaml --out runs --no-state
	echo "$output"
	run_dir=${lines[-1]}
	# A share that the scheduler gives is not a speed: a polling sink has at least a fifth of its CPU whatever else runs.
	assert_eq "$(json "$run_dir/summary.json" '[(p["outcome"], p["work"]["slowdown"] > 0.2) for p in d["points"]]')" \
		"[('completed', True), ('completed', True)]"
	# With sanitizers, there may be page faults in an interval.
	assert_eq "$(json "$run_dir/summary.json" '[r for p in d["points"] for r in p["reasons"] if "page fault" not in r]')" "[]"
	assert_eq "$(json "$run_dir/points/0001/rep-00/counters.json" 'd["sink"]["cpu_ns"] < d["sink"]["work_ns"] / 2')" True
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	"$KBLAT" run w.yaml --out moved --no-state --set poll=event --set messages=3000 --set repetitions=1 --set warmup=0 >out 2>err 3>&- &
	pid=$!
	move_endpoints moved 0
	assert_contains "$(cat out)" "measuring threads lost their CPU: that went offline, or another program moved them (sink)"
	spec virtual <<-'YAML'
		settings: {kernel: pingpong, transport: scripted, messages: 10}
	YAML
	rm -r runs
	refuses virtual <<-'LINES'
		work=yes|work and transport scripted: a computation takes real time
	LINES
}

@test "a measuring thread that loses its CPU in the middle makes the point not valid" {
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	spec y <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 300, pause: 10ms, burst: 1, repetitions: 1, warmup: 0, source_cpu: 0, sink_cpu: 0}
	YAML
	"$KBLAT" run y.yaml --out runs --no-state >out 2>err 3>&- &
	pid=$!
	move_endpoints runs 1
	assert_contains "$(cat out)" "1 measuring thread lost its CPU"
}

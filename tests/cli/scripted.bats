#!/usr/bin/env bats
# With the scripted transport the truth is known: a run must report it, and raise every flag if it should.

load helper

metric() {
	json "$run_dir/summary.json" "d['points'][0]['metrics']['$1']['$2']"
}

reasons() {
	json "$run_dir/summary.json" "' '.join(d['points'][0]['reasons'])"
}

warnings() {
	json "$run_dir/summary.json" "' '.join(d['points'][0]['warnings'])"
}

@test "a constant latency is reported as what it is, every quantile of it" {
	scripted delay=1234ns comp_delay=777ns messages=20000
	[ "$status" -eq 0 ]
	for q in min p50 p90 p99 p99_9 max; do
		assert_eq "$(metric lat_ns $q)" 1234
		assert_eq "$(metric comp_lat_ns $q)" 777
	done
	assert_eq "$(metric lat_ns n)" 40000
	assert_eq "$(metric lat_ns stdev)" 0.0
	assert_eq "$(metric lat_ns p99_99)" None
	assert_eq "$(json "$run_dir/run.json" 'd["valid"], d["status"]')" "(True, 'COMPLETED')"
}

@test "the maximum is the true maximum, and the standard deviation of 50 ns of jitter is right" {
	scripted delay=1us jitter=50ns delayed=17 delayed_by=1ms limit=10us
	[ "$status" -eq 0 ]
	assert_eq "$(metric lat_ns max)" 1000950
	scripted delay=1us jitter=50ns
	assert_eq "$(json "$run_dir/summary.json" "abs(d['points'][0]['metrics']['lat_ns']['stdev'] - 50) < 0.5")" True
	assert_eq "$(metric lat_ns mean)" 1000.0
	assert_eq "$(metric lat_ns p50)" 950
	assert_eq "$(metric lat_ns p90)" 1050
}

@test "the share over the limit is counted" {
	scripted delay=1us delayed=0-99 delayed_by=20us limit=10us
	assert_eq "$(metric lat_ns over_limit)" 0.1
}

@test "a pause between bursts does not enter a latency" {
	scripted delay=1us burst=10 pause=1s
	[ "$status" -eq 0 ]
	assert_eq "$(metric lat_ns max)" 1000
}

@test "a lost message on a reliable transport invalidates: status 3" {
	scripted lose=5,7
	[ "$status" -eq 3 ]
	assert_eq "$(metric lat_ns lost)" 4
	assert_contains "$(reasons)" "lost"
	assert_eq "$(json "$run_dir/run.json" 'd["valid"]')" False
	assert_contains "$output" "lost"
}

@test "a lost message on an unreliable transport is counted and shown, and does not invalidate" {
	scripted lose=5,7 reliable=no
	[ "$status" -eq 0 ]
	assert_eq "$(metric lat_ns lost)" 4
	assert_contains "$(warnings)" "lost"
	assert_eq "$(json "$run_dir/summary.json" "d['points'][0]['loss']['lost']")" 4
}

@test "a duplicate invalidates, the first arrival is not lost, reordering is counted" {
	scripted duplicate=3 reliable=no
	[ "$status" -eq 3 ]
	assert_contains "$(reasons)" "more than once"
	assert_eq "$(metric lat_ns n)" 2000
	scripted delayed=3 delayed_by=25us interval=10us
	[ "$status" -eq 0 ]
	assert_eq "$(json "$run_dir/summary.json" "d['points'][0]['loss']['reordered']")" 4
}

@test "a page fault inside the measured interval invalidates" {
	scripted fault=page_fault fault_at=500
	[ "$status" -eq 3 ]
	assert_contains "$(reasons)" "page fault"
	assert_contains "$(reasons)" "sink"
	scripted fault=page_fault fault_at=500 fault_side=source
	assert_contains "$(reasons)" "source"
}

@test "a number outside the recorder's range invalidates" {
	scripted fault=overflow fault_at=500 drain=50ms
	[ "$status" -eq 3 ]
	assert_contains "$(reasons)" "recorder"
}

@test "a bad completion fails the point, and what was measured is kept" {
	scripted fault=bad_completion fault_at=500 fault_side=sink drain=50ms
	[ "$status" -eq 1 ]
	assert_contains "$output" "bad completion at message 500"
	assert_eq "$(json "$run_dir/run.json" 'd["status"]')" FAILED
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["outcome"]')" failed
	[ -s "$run_dir/points/0000/rep-00/t_recv.npy" ]
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "payloads are checked where asked for" {
	scripted check=yes
	[ "$status" -eq 0 ]
	scripted check=yes fault=bad_payload fault_at=500
	[ "$status" -eq 3 ]
	assert_contains "$(reasons)" "payload"
}

@test "NumPy reads every column, and its quantiles are those of the summary" {
	scripted delay=3us jitter=700ns delayed=0-150 delayed_by=90us lose=9 reliable=no messages=12000
	[ "$status" -eq 0 ]
	run /usr/bin/python3 "$ROOT/tests/cli/check_quantiles.py" "$run_dir"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a device's own stamps come out on the run's clock, to the nanosecond, across a wrap of its counter" {
	scripted t_hw=yes delay=5us jitter=300ns comp_delay=2us poll_delay=700ns interval=1us lose=9 reliable=no
	[ "$status" -eq 0 ]
	assert_eq "$(metric hw_lat_ns min)" 4000
	assert_eq "$(metric hw_lat_ns max)" 4600
	assert_eq "$(metric hw_lat_ns lost)" 2
	assert_eq "$(metric hw_comp_lat_ns min)" 1300
	assert_eq "$(metric hw_comp_lat_ns max)" 1300
	assert_eq "$(metric lat_ns max)" 5300
	assert_eq "$(/usr/bin/python3 - "$run_dir/points/0000/rep-01" <<-'PY'
		import sys, numpy
		t = {c: numpy.load(f"{sys.argv[1]}/{c}.npy") for c in ("t_recv", "t_hw", "t_comp", "t_hw_comp")}
		never = numpy.iinfo("int64").min
		came = t["t_recv"] != never
		print((t["t_hw"][~came] == never).all(), set((t["t_recv"][came] - t["t_hw"][came]).tolist()), set((t["t_comp"] - t["t_hw_comp"]).tolist()))
	PY
	)" "True {700} {700}"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "t_hw is refused where no device stamps" {
	scripted t_hw=yes transport=shmem
	[ "$status" -eq 2 ]
	assert_contains "$output" "t_hw and transport shmem"
	scripted t_hw=yes transport=verbs op=write
	[ "$status" -eq 2 ]
	assert_contains "$output" "t_hw and op write"
}

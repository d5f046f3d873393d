#!/usr/bin/env bats
# The kernel `wakeup`: what is recorded by each method, what is refused, and an injected delay.

load helper

@test "each method records every wake-up, after it was due, and needs no transport to be named" {
	spec w <<-'YAML'
		settings: {kernel: wakeup, messages: 200, rate: 2kHz, repetitions: 2, warmup: 20}
		matrix:
		  - {method: [nanosleep, timerfd, futex, busy]}
		  - {method: nanosleep, slack: 1us}
	YAML
	run_with w
	echo "$output"
	[ "$status" -eq 0 ]
	/usr/bin/python3 - "$run_dir" <<-'PY'
		import glob, json, numpy, sys
		points = json.load(open(sys.argv[1] + "/summary.json"))["points"]
		assert len(points) == 5
		for p in points:
		    assert p["params"]["transport"] == "none"
		    assert p["loss"] == {"sent": 400, "lost": 0, "duplicates": 0, "reordered": 0}, p
		    for rep in glob.glob(f"{sys.argv[1]}/points/{p['id']:04}/rep-*"):
		        due, woken = (numpy.load(f"{rep}/t_{name}.npy") for name in ("due", "woken"))
		        assert len(due) == 200 and (woken >= due - 100).all()
		        # Timers and the grid are due at the rate, however late the thread was.
		        if p["params"]["method"] != "futex":
		            steps = numpy.diff(due)
		            assert abs(steps - 500000).max() < 20000, steps
	PY
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

# wakes: does a thread of the run wake up again and again? Before it measures, a thread sleeps a few times only.
wakes() {
	local child
	for child in $(endpoints $pid); do
		awk '$1 == "voluntary_ctxt_switches:" && $2 >= 300 {found = 1} END {exit !found}' "/proc/$child/task/"*/status 2>/dev/null && return 0
	done
	return 1
}

# stopped: are all threads of the run?
stopped() {
	local child
	for child in $(endpoints $pid); do
		! grep -h '^State:' "/proc/$child/task/"*/status | grep -qv 'T (stopped)' || return 1
	done
}

now_ms() { awk '{printf "%d", $1 * 1000}' /proc/uptime; }

@test "a thread that is stopped was late by as much with each wake-up that it missed" {
	local since until
	spec w <<-'YAML'
		settings: {kernel: wakeup, messages: 5000, rate: 1kHz, repetitions: 1, warmup: 0}
	YAML
	"$KBLAT" run w.yaml --out runs >out 2>err &
	pid=$!
	# On a busy machine a run takes long to begin, and signals to arrive: what counts is how long the threads did stand still while messages were due.
	await_run wakes
	# shellcheck disable=SC2046 # several processes
	kill -STOP $(endpoints $pid)
	await_run stopped
	since=$(now_ms)
	sleep 0.5
	until=$(now_ms)
	# shellcheck disable=SC2046
	kill -CONT $(endpoints $pid)
	wait $pid
	run_dir=$(tail -n 1 out)
	/usr/bin/python3 - "$run_dir" $((until - since)) <<-'PY'
		import numpy, sys
		due, woken = (numpy.load(f"{sys.argv[1]}/points/0000/rep-00/t_{name}.npy") for name in ("due", "woken"))
		late, still = (woken - due) / 1e6, int(sys.argv[2]) - 20   # /proc/uptime has hundredths
		print("stood still for", still, "ms; late by", late.max(), "ms;", (late > 100).sum(), "by 100 ms and more")
		# At 1 kHz the first was late by as long as it stood still, the last by almost nothing.
		assert still >= 450 and late.max() > still - 2
		assert (late > 100).sum() > (still - 100) * 0.9
	PY
}

@test "several threads wake up at the same time, each on its CPU" {
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	spec w <<-'YAML'
		settings: {kernel: wakeup, messages: 200, repetitions: 1, warmup: 0, flows: a b, a.source_cpu: 0, b.source_cpu: 1}
	YAML
	run_with w
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(json "$run_dir/summary.json" '[(name, m["n"]) for name, m in d["points"][0]["metrics"].items()]')" "[('a.wake_ns', 200), ('b.wake_ns', 200)]"
}

@test "another transport, and a slack or a rate of nothing, are refused" {
	spec w <<-'YAML'
		settings: {kernel: wakeup, messages: 10, repetitions: 1, warmup: 0}
	YAML
	refuses w <<-'LINES'
		slack=0|slack
		slack=50us rate=0|rate
		transport=shmem|the kernel wakeup does not run over the transport shmem
	LINES
}

@test "explain: what delayed a wake-up was on its own CPU" {
	need_feature libtracefs
	[ "$(id -u)" -eq 0 ] || skip "needs root, to trace"
	spec w <<-'YAML'
		settings: {kernel: wakeup, messages: 500, repetitions: 1, warmup: 0, explain: yes, limit: 1ns}
	YAML
	run_with w
	echo "$output"
	[[ $output != *"not possible here"* ]] || skip "there is no tracefs here"
	[ "$status" -eq 0 ]
	run "$KBLAT" explain "$run_dir"
	[[ $output == *"(source)"* ]]
	[[ $output != *"(sink)"* ]]
}

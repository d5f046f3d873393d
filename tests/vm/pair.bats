#!/usr/bin/env bats
# Two hosts: two kernels with a clock each, a link between them, sshd on the second. In the first of two guests:
#
#     tests/vm/pair --env KBLAT=$PWD/build/kblat -- bats tests/vm/pair.bats
#
# Sources and sinks sleep, as two emulated CPUs a guest on a busy machine have no time to spin; comparisons of clocks do spin, for a moment.

load ../cli/helper

other=kblat-guest-2

setup_file() {
	grep -qx kblat-guest /proc/sys/kernel/hostname && ssh "$other" true || {
		echo "this needs two guests: see the head of this file" >&2
		return 1
	}
}

# measure SPEC ARGUMENT…: run with the sink on the other host; a run that is not valid for what an emulated CPU does is all right.
measure() {
	run "$KBLAT" run "$1.yaml" --out "$T/runs" --sink "ssh $other" "${@:2}"
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	run_dir=$(tail -n 1 <<<"$output")
}

# of POINT EXPRESSION: of a point's summary, with `least(metric)` and `mean(metric)` in us, and `error`. A busy machine stops an emulated CPU for
# milliseconds, so nothing is asked of quantiles.
of() {
	/usr/bin/python3 - "$run_dir/points/000$1/summary.json" "$2" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		least = lambda metric: d["metrics"][metric]["min"] / 1e3
		mean = lambda metric: d["metrics"][metric]["mean"] / 1e3
		error = d.get("clock", {}).get("error_ns", 0) / 1e3
		print(eval(sys.argv[2]))
	PY
}

ways='"%s: there %.0f, back %.0f, turn %.1f, round trip %.0f, clock +- %.0f us" % (d["params"]["transport"], *[d["metrics"][m]["p50"] / 1e3 for m in ("lat_ns", "back_lat_ns", "turn_ns", "rtt_ns")], error)'

# No message arrives before it was sent, and all ways sum up.
sums_up() {
	of "$1" "$ways"
	assert_eq "$(of "$1" 'abs(mean("lat_ns") + mean("back_lat_ns") + mean("turn_ns") - mean("rtt_ns")) < 0.01 * mean("rtt_ns")')" True
	assert_eq "$(of "$1" 'least("lat_ns") > -error and least("back_lat_ns") > -error')" True
	assert_eq "$(of "$1" 'd["clock"]["method"], d["clock"]["stepped"]')" "('exchange', False)"
}

@test "both ways sum up to the round trip, over verbs and tcp, and with roles swapped; both hosts are in the run" {
	spec ways <<-'YAML'
		settings: {kernel: exchange, messages: 50, repetitions: 2, warmup: 5, timeout: 60s}
		matrix:
		  - {transport: verbs, ack_timeout: 20}
		  - {transport: tcp, source_address: 192.0.2.1, sink_address: 192.0.2.2}
	YAML
	measure ways
	sums_up 0
	sums_up 1
	assert_eq "$(of 1 'd["clock"]["hosts"]')" "['kblat-guest', '$other']"
	for when in before after; do
		assert_eq "$(json "$run_dir/state/$other/$when/state.json" 'd["keys"]["identity.boot_id"]')" "$(ssh $other cat /proc/sys/kernel/random/boot_id)"
	done
	[ -s "$run_dir/state/$other/changes.json" ]
	"$KBLAT" verify "$run_dir"
	run "$KBLAT" run ways.yaml --out "$T/runs" --source "ssh $other" --only transport=tcp --set source_address=192.0.2.2 --set sink_address=192.0.2.1
	echo "$output"
	run_dir=$(tail -n 1 <<<"$output")
	sums_up 0
	assert_eq "$(of 0 'd["clock"]["hosts"]')" "['$other', 'kblat-guest']"
}

# measure_plain: $plain, $plain_back, $plain_error of a run without a delay.
measure_plain() {
	spec delay <<-'YAML'
		settings: {kernel: exchange, transport: tcp, source_address: 192.0.2.1, sink_address: 192.0.2.2, messages: 60, repetitions: 2, warmup: 5, timeout: 60s}
	YAML
	modprobe sch_netem
	measure delay
	plain=$(of 0 'least("lat_ns")') plain_back=$(of 0 'least("back_lat_ns")') plain_error=$(of 0 error)
}

@test "a delay one way, while messages are measured and not while clocks are compared, is found there; of one that is always there the truth is within the bound" {
	measure_plain
	# Comparisons are of 200 messages, what is measured has 60.
	cat >delaying <<-'PY'
		#!/usr/bin/python3
		"""Delays what leaves eth0 from the order to run 60 messages until they are done."""
		import os, subprocess, sys, threading
		endpoint = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		measured = False
		def tc(*words):
		    subprocess.run(['tc', 'qdisc', *words], check=True)
		def orders():
		    global measured
		    for line in sys.stdin.buffer:
		        if b'"type":"arm"' in line:
		            measured = b'"messages":60,' in line
		        if b'"type":"run"' in line and measured:
		            tc('add', 'dev', 'eth0', 'root', 'netem', 'delay', '20ms')
		        endpoint.stdin.write(line)
		        endpoint.stdin.flush()
		    endpoint.stdin.close()
		threading.Thread(target=orders, daemon=True).start()
		for line in endpoint.stdout:
		    if line.startswith(b'{"type":"done"') and measured:
		        tc('del', 'dev', 'eth0', 'root')
		    os.write(1, line)
	PY
	chmod +x delaying
	measure delay --source "$T/delaying"
	late=$(of 0 'least("lat_ns")') late_back=$(of 0 'least("back_lat_ns")') late_error=$(of 0 error)
	tc qdisc add dev eth0 root netem delay 20ms
	measure delay
	tc qdisc del dev eth0 root
	always=$(of 0 'least("lat_ns")') always_error=$(of 0 error)
	echo "there $plain +- $plain_error us; delayed while measured $late +- $late_error us; always $always +- $always_error us"
	echo "back $plain_back us; delayed while measured $late_back us"
	run /usr/bin/python3 -c "if True:
	may = 2000 + $plain_error + $late_error
	print(abs($late - $plain - 20000) < may, abs($late_back - $plain_back) < may,
	      $always_error >= 10000, abs($always - $plain - 20000) <= $always_error + $plain_error)"
	assert_eq "$output" "True True True True"
}

@test "a wrong host key, a host without kblat, one that does not answer: the point fails with the launcher's words, nothing stays" {
	spec one <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, messages: 20, repetitions: 1, warmup: 0}
	YAML
	ssh-keygen -q -t ed25519 -N '' -f "$T/wrong"
	sed "s/^/$other /" "$T/wrong.pub" >"$T/known"
	while read -r launcher words; do
		run "$KBLAT" run one.yaml --out "$T/runs" --sink "${launcher//,/ }"
		echo "$output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "$words"
	done <<-END
		ssh,-o,ControlPath=none,-o,UserKnownHostsFile=$T/known,$other Host key verification failed
		ssh,$other,/no/such/kblat No such file
		ssh,-o,ControlPath=none,-o,ConnectTimeout=1,-o,HostName=192.0.2.99,$other 192.0.2.99
	END
	[ -z "$(ssh $other pgrep -f "'[k]blat endpoint'")" ]
}

@test "the coordinator is killed: nothing stays, on neither host" {
	spec long <<-'YAML'
		settings: {kernel: oneway, transport: tcp, source_address: 192.0.2.1, sink_address: 192.0.2.2, poll: event, messages: 100000, burst: 1, pause: 10ms, repetitions: 1, warmup: 0}
	YAML
	"$KBLAT" run long.yaml --out "$T/runs" --sink "ssh $other" >/dev/null 2>&1 3>&- &
	pid=$!
	for _ in {1..300}; do
		[ -z "$(compgen -G "$T/runs/*/points/0000/rep-00")" ] || break
		sleep 0.1
	done
	[ "$(ssh $other pgrep -fc "'[k]blat endpoint'")" -ge 1 ]
	kill -KILL $pid
	wait $pid || true
	for _ in {1..100}; do
		if ! pgrep -f '[k]blat endpoint' && [ -z "$(ssh $other pgrep -f "'[k]blat endpoint'")" ]; then
			break
		fi
		sleep 0.2
	done
	[ -z "$(pgrep -f '[k]blat endpoint')" ]
	[ -z "$(ssh $other "pgrep -f '[k]blat endpoint'; ls -A /dev/shm")" ]
}

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

# of POINT EXPRESSION: of a point's summary, with `us(metric)`, a median in us, and `error`.
of() {
	/usr/bin/python3 - "$run_dir/points/000$1/summary.json" "$2" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		us = lambda metric: d["metrics"][metric]["p50"] / 1e3
		error = d.get("clock", {}).get("error_ns", 0) / 1e3
		print(eval(sys.argv[2]))
	PY
}

@test "both ways sum up to the round trip, over verbs and tcp, and with roles swapped; both hosts are in the run" {
	spec ways <<-'YAML'
		settings: {kernel: exchange, messages: 200, repetitions: 2, warmup: 20, timeout: 60s}
		matrix:
		  - {transport: verbs, ack_timeout: 20}
		  - {transport: tcp, source_address: 192.0.2.1, sink_address: 192.0.2.2}
	YAML
	measure ways
	for point in 0 1; do
		of $point '"%s: there %.0f, back %.0f, turn %.1f, round trip %.0f, clock +- %.0f us" % (d["params"]["transport"], us("lat_ns"), us("back_lat_ns"), us("turn_ns"), us("rtt_ns"), error)'
		assert_eq "$(of $point 'abs(us("lat_ns") + us("back_lat_ns") + us("turn_ns") - us("rtt_ns")) < 0.05 * us("rtt_ns")')" True
		assert_eq "$(of $point 'd["clock"]["method"], d["clock"]["hosts"], d["clock"]["stepped"]')" "('exchange', ['kblat-guest', '$other'], False)"
	done
	for when in before after; do
		assert_eq "$(json "$run_dir/state/$other/$when/state.json" 'd["keys"]["identity.boot_id"]')" "$(ssh $other cat /proc/sys/kernel/random/boot_id)"
	done
	[ -s "$run_dir/state/$other/changes.json" ]
	"$KBLAT" verify "$run_dir"
	run "$KBLAT" run ways.yaml --out "$T/runs" --source "ssh $other" --only transport=tcp --set source_address=192.0.2.2 --set sink_address=192.0.2.1
	echo "$output"
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(of 1 'abs(us("lat_ns") + us("back_lat_ns") + us("turn_ns") - us("rtt_ns")) < 0.05 * us("rtt_ns")')" True
	assert_eq "$(of 1 'd["clock"]["hosts"]')" "['$other', 'kblat-guest']"
}

@test "a delay in one direction, while messages are measured and not while clocks are compared, is found there" {
	spec delay <<-'YAML'
		settings: {kernel: exchange, transport: tcp, source_address: 192.0.2.1, sink_address: 192.0.2.2, messages: 100, repetitions: 2, warmup: 10, timeout: 60s}
	YAML
	# Comparisons take their time at 200 messages a repetition, the measurement has 100.
	cat >delaying <<-'PY'
		#!/usr/bin/python3
		"""Delays what leaves eth0 from the order to run 100 messages until they are done."""
		import os, subprocess, sys, threading
		endpoint = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		measured = False
		def tc(*words):
		    subprocess.run(['tc', 'qdisc', *words], check=True)
		def orders():
		    global measured
		    for line in sys.stdin.buffer:
		        if b'"type":"arm"' in line:
		            measured = b'"messages":100,' in line
		        if b'"type":"run"' in line and measured:
		            tc('add', 'dev', 'eth0', 'root', 'netem', 'delay', os.environ['DELAY'])
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
	modprobe sch_netem
	measure delay
	plain=$(of 0 'us("lat_ns")') plain_back=$(of 0 'us("back_lat_ns")') plain_error=$(of 0 error)
	DELAY=20ms measure delay --source "$T/delaying"
	late=$(of 0 'us("lat_ns")') late_back=$(of 0 'us("back_lat_ns")') late_error=$(of 0 error)
	echo "there $plain +- $plain_error, delayed $late +- $late_error; back $plain_back, delayed $late_back us"
	run /usr/bin/python3 -c "print(abs($late - $plain - 20000) < 2000, abs($late_back - $plain_back) < 2000)"
	assert_eq "$output" "True True"
}

@test "a delay that is always there is not told from an offset: the truth is within the bound" {
	spec standing <<-'YAML'
		settings: {kernel: oneway, transport: tcp, source_address: 192.0.2.1, sink_address: 192.0.2.2, poll: event, messages: 100, burst: 1, pause: 1ms, repetitions: 1, warmup: 10, timeout: 60s}
	YAML
	measure standing
	plain=$(of 0 'us("lat_ns")') plain_error=$(of 0 error)
	modprobe sch_netem
	tc qdisc add dev eth0 root netem delay 20ms
	measure standing
	tc qdisc del dev eth0 root
	late=$(of 0 'us("lat_ns")') late_error=$(of 0 error)
	echo "$plain +- $plain_error us, with the delay $late +- $late_error us"
	run /usr/bin/python3 -c "print($late_error >= 10000, abs($late - $plain - 20000) <= $late_error + $plain_error)"
	assert_eq "$output" "True True"
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

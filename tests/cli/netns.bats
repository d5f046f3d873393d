#!/usr/bin/env bats
# Two sides in network namespaces of their own, joined by a link: what goes over it, and that nothing of them stays.

load helper

bats_require_minimum_version 1.5.0

need_namespaces() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to make network namespaces"
	ip netns add "kblat-probe-$$" 2>/dev/null || skip "this machine does not let network namespaces be made"
	ip netns del "kblat-probe-$$"
}

# Namespaces of ours whose maker is gone.
stale() {
	local name
	ip netns list | while read -r name _; do
		[[ $name =~ ^kblat-([0-9]+)-(source|sink)$ ]] && [ ! -d "/proc/${BASH_REMATCH[1]}" ] && echo "$name"
	done || true
}

@test "every transport with addresses runs between two namespaces, and they are gone afterwards" {
	need_namespaces
	spec n <<-'YAML'
		settings: {kernel: pingpong, messages: 100, repetitions: 1, warmup: 10, check: yes, poll: event, size: [100, 60000], lost_after: 10s}
		matrix:
		  - {transport: [tcp, udp]}
		  - {transport: [zeromq, nanomsg], pattern: [pair, pubsub]}
	YAML
	run "$ROOT/experiments/launch/netns" "$KBLAT" run n.yaml --out runs
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 12
	for c in "$run_dir"/points/*/rep-*/counters.json; do
		assert_eq "$(json "$c" 'd["source"]["received"], d["source"]["bad_payloads"], d["sink"]["bad_payloads"]')" "(100, 0, 0)"
	done
	[[ $(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["local"]') == 198.18.213.1:* ]]
	[[ $(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["peer"]') == 198.18.213.2:* ]]
	[ -z "$(stale)" ]
	[ -z "$(leftovers)" ]
}

@test "an interrupt, and a command that fails: the namespaces go" {
	need_namespaces
	run "$ROOT/experiments/launch/netns" false
	[ "$status" -eq 1 ]
	spec n <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, messages: 200, pause: 1ms, repetitions: 10000, warmup: 0}
	YAML
	"$ROOT/experiments/launch/netns" "$KBLAT" run n.yaml --out runs >out 2>err &
	pid=$!
	for _ in $(seq 1200); do
		compgen -G "runs/*.partial/points/0000/rep-00/counters.json" >/dev/null && break
		sleep 0.05
	done
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	cat out err
	[ "$status" -eq 1 ]
	assert_eq "$(json "$(tail -n 1 out)/run.json" 'd["status"]')" INTERRUPTED
	[ -z "$(stale)" ]
	[ -z "$(leftovers)" ]
}

@test "a namespace that does not exist fails its points, with the reason; without root it is said what is needed" {
	command -v ip >/dev/null || skip "needs ip"
	spec n <<-'YAML'
		settings: {kernel: pingpong, transport: [tcp, udp], messages: 100, repetitions: 1}
	YAML
	run "$KBLAT" run n.yaml --out runs --sink "ip netns exec no-such-namespace"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "no-such-namespace"
	assert_contains "$output" "sink endpoint"
	assert_contains "$output" "point 2 of 2: failed"
	run "$ROOT/experiments/launch/netns"
	[ "$status" -eq 2 ]
	if [ "$(id -u)" -eq 0 ]; then
		run setpriv --reuid=65534 --regid=65534 --clear-groups "$ROOT/experiments/launch/netns" true
	else
		run "$ROOT/experiments/launch/netns" true
	fi
	[ "$status" -eq 77 ]
	assert_contains "$output" "needs root"
}

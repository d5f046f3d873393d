#!/usr/bin/env bats
# The transport xdp between two network cards: a veth pair in namespaces that each test makes.

load helper

# More messages than a point of some seconds sends. An emulated CPU sends fewer, and takes long to provide memory for them.
many=${MANY_MESSAGES:-10000000}

setup() {
	kblat_setup
	need_feature libbpf
	[ "$(id -u)" -eq 0 ] || skip "needs root, to make network namespaces and attach programs"
	A=kblat-test-$$-$BATS_TEST_NUMBER-a B=kblat-test-$$-$BATS_TEST_NUMBER-b
	ip netns add "$A" 2>/dev/null && ip netns add "$B" || skip "network namespaces cannot be made on this machine"
	ip -n "$A" link add card type veth peer name card netns "$B" || skip "veth pairs cannot be made on this machine"
	for side in "$A:198.18.213.1" "$B:198.18.213.2"; do
		ip -n "${side%%:*}" address add "${side#*:}/30" dev card
		ip -n "${side%%:*}" link set card up
	done
}

teardown() {
	end_namespaces "${A:-}" "${B:-}" "${M:-}"
	cd /
	rm -rf "$T"
}

# between OPTION…: runs T/x.yaml from A to B.
between() {
	"$KBLAT" run x.yaml --out runs --source "ip netns exec $A" --sink "ip netns exec $B" \
		--set source_address=198.18.213.1 --set sink_address=198.18.213.2 "$@"
}

# await_measured: waits for the run that is process $pid and writes to the files out and err.
await_measured() {
	status=0
	wait "$pid" || status=$?
	output=$(cat out err)
	assert_measured
}

# are_attached: have both cards a program?
are_attached() {
	ip -n "$A" link show card | grep -q xdp && ip -n "$B" link show card | grep -q xdp
}

# is_bare: has neither card a program?
is_bare() {
	! ip -n "$A" link show card | grep -q xdp && ! ip -n "$B" link show card | grep -q xdp
}

small() {
	spec x <<-'YAML'
		settings: {kernel: pingpong, transport: xdp, size: 64, messages: 500, repetitions: 1, warmup: 50}
	YAML
}

# bats test_tags=long
@test "every kernel that sends runs over both modes, busy and asleep, and every message is accounted for" {
	spec x <<-'YAML'
		settings: {transport: xdp, messages: 400, repetitions: 1, warmup: 50}
		matrix:
		  - {kernel: [oneway, pingpong, stream], mode: [native, generic], poll: [busy, event], size: 64}
		  - {kernel: exchange, mode: generic, size: 64}
		  - {kernel: stream, depth: 32, batch: 8, size: [64, 1400]}
		  - {kernel: handoff, ack: [yes, no], hand: direct, size: 64}
		  - {kernel: pingpong, check: yes, size: 1472}
		  - {kernel: pingpong, busy_poll: 20us, size: 64}
		  - {kernel: pingpong, need_wakeup: no, size: 64}
	YAML
	run between
	assert_measured
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import glob, json, sys
		for point in json.load(open(sys.argv[1] + "/summary.json"))["points"]:
		    granted = json.load(open(f"{sys.argv[1]}/points/{point['id']:04}/point.json"))["granted"]
		    for side in "source", "sink":
		        assert granted[side]["driver"] == "veth" and granted[side]["zerocopy"] is False, granted
		        mode = point["params"]["mode"]
		        assert granted[side]["mode"] == mode or mode == "auto", granted
		    if point["params"]["kernel"] == "pingpong":
		        assert point["loss"]["lost"] == 0, point
	PY
	is_bare
}

# bats test_tags=long
@test "through a bridge, with the sink stopped and rings of 64: every frame that was sent was received, or is counted by its reason" {
	run "$ROOT/tests/bench/frames-counted" --build "$(dirname "$KBLAT")" --messages 100000
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(awk -F '\t' '$2 == 100000 && $NF == 0 && $3 < $2' <<<"$output" | grep -c ' of \|stopped')" 4
	assert_eq "$(awk -F '\t' '$1 ~ /netem/ && !($(NF - 1) > 0)' <<<"$output")" ""
}

@test "what the rings cannot hold is lost, and counted by its reason" {
	spec x <<-'YAML'
		settings: {kernel: oneway, transport: xdp, mode: generic, ring: 64, messages: 20000, burst: 20000, repetitions: 1, warmup: 0, poll: event}
	YAML
	run between
	assert_measured
	lost=$(json "$run_dir/summary.json" 'd["points"][0]["loss"]["lost"]')
	[ "$lost" -gt 0 ]
	/usr/bin/python3 -IS - "$run_dir" "$lost" <<-'PY'
		import json, sys
		device = json.load(open(sys.argv[1] + "/points/0000/rep-00/counters.json"))["device"]["sink"]
		dropped = sum(device["after"][k] - device["before"][k] for k in ("rx_dropped", "rx_ring_full"))
		assert dropped == int(sys.argv[2]), (device, sys.argv[2])
	PY
}

# bats test_tags=long
@test "frames of others go on: another program's datagrams, and those with the port but not the token" {
	small
	between --set port=5555 --set messages=$many --set duration=4s >out 2>err &
	pid=$!
	await_run ip netns exec "$B" grep -q ":15B3 " /proc/net/udp
	await_run are_attached
	cat >echo.py <<-'PY'
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("198.18.213.2", 6666))
		print("ready", flush=True)
		for _ in range(50):
		    data, peer = s.recvfrom(100)
		    s.sendto(data, peer)
	PY
	cat >talk.py <<-'PY'
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.settimeout(10)
		for i in range(50):
		    s.sendto(b"%d" % i, ("198.18.213.2", 6666))
		    assert s.recv(100) == b"%d" % i
		    s.sendto(b"A stranger, whose token is wrong" * 2, ("198.18.213.2", 5555))
	PY
	ip netns exec "$B" /usr/bin/python3 -IS echo.py >ready 2>&1 3>&- &
	echo=$!
	await_run grep -q ready ready
	ip netns exec "$A" /usr/bin/python3 -IS talk.py
	wait $echo
	# They wait in the socket that keeps the port, which nobody reads.
	ip netns exec "$B" awk '$2 ~ /:15B3$/ { split($5, queues, ":"); exit queues[2] == "00000000" }' /proc/net/udp
	await_measured
	run_dir=$(tail -n 1 out)
	assert_eq "$(json "$run_dir/summary.json" '[d["points"][0]["loss"][k] for k in ("lost", "duplicates")]')" "[0, 0]"
}

@test "endpoints that are killed leave no program on the cards" {
	small
	for _ in 1 2 3; do
		between --set messages=$many --set duration=60s >out 2>err &
		pid=$!
		await_run are_attached
		mapfile -t endpoints < <(ip netns pids "$A" && ip netns pids "$B")
		kill -KILL "${endpoints[@]}"
		wait $pid || true
		is_bare
	done
}

# bats test_tags=long
@test "what cannot be: no address, one interface, too large, no such queue, a link that is down, no capability" {
	small
	refuses x <<-'LINES'
		size=64|source_address is missing: transport xdp needs the IPv4 address of a network card
		source_address=198.18.213.1 sink_address=198.18.213.1|are the same
		source_address=198.18.213.1 sink_address=::1|sink_address ::1: transport xdp needs the IPv4 address
		source_address=198.18.213.1 sink_address=198.18.213.2 size=3789|a frame holds at most 3788 bytes
		source_address=198.18.213.1 sink_address=198.18.213.2 size=11|12 bytes of a message hold its token and number
		source_address=198.18.213.1 sink_address=198.18.213.2 busy_poll=1500ns|whole microseconds
		source_address=198.18.213.1 sink_address=198.18.213.2 kernel=oneway t_hw=yes|t_hw and transport xdp: no device stamps its completions
	LINES
	impossible() {
		run between "${@:2}"
		echo "$output"
		[ "$status" -eq 77 ]
		assert_contains "$output" "$1"
		is_bare
	}
	impossible "need an MTU of 1528, and that of card is 1500" --set size=1500
	impossible "card has no queue 7; see \`ethtool -l card\`" --set queue=7
	impossible "bind without copying" --set zerocopy=yes
	run "$KBLAT" run x.yaml --out runs --set source_address=127.0.0.1 --set sink_address=127.0.0.2
	[ "$status" -eq 77 ]
	assert_contains "$output" "no network card here has this address"
	run "$KBLAT" run x.yaml --out runs --set source_address=203.0.113.9 --set sink_address=203.0.113.10
	[ "$status" -eq 77 ]
	assert_contains "$output" "no interface here has it; see \`ip address\`"
	ip -n "$B" link set card down
	impossible "is down" --set size=64
	ip -n "$B" link set card up
	no_right() {
		run "$KBLAT" run x.yaml --out runs --source "ip netns exec $A setpriv --inh-caps=-all --bounding-set=-$1" \
			--sink "ip netns exec $B" --set source_address=198.18.213.1 --set sink_address=198.18.213.2
		echo "$output"
		[ "$status" -eq 77 ]
		assert_contains "$output" "$2"
	}
	no_right bpf,-sys_admin "CAP_BPF"
	no_right net_admin,-sys_admin "CAP_NET_ADMIN"
	no_right net_raw "CAP_NET_RAW"
}

@test "no more is needed than three capabilities and memory that may be locked, and no root" {
	small
	local some=+net_raw,+net_admin,+bpf
	need_others "$KBLAT"
	# With the capabilities $1, as nobody.
	as_nobody() {
		local only="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all,$1 --ambient-caps=-all,$1 --bounding-set=-all,$1"
		run "$KBLAT" run x.yaml --out runs --set ring=256 --set depth=64 --set source_address=198.18.213.1 --set sink_address=198.18.213.2 \
			--source "ip netns exec $A prlimit --memlock=$2 $only" --sink "ip netns exec $B prlimit --memlock=$2 $only"
	}
	as_nobody $some 4194304
	assert_measured
	as_nobody $some,+ipc_lock 65536
	assert_measured
	as_nobody $some 65536
	[ "$status" -eq 77 ]
	assert_contains "$output" "cannot be locked; raise the limit (ulimit -l)"
	is_bare
}

@test "busy polling of the card: for as long, and as many frames at a time, as the settings say" {
	command -v strace >/dev/null || skip "strace is not installed"
	small
	run "$KBLAT" run x.yaml --out runs --set source_address=198.18.213.1 --set sink_address=198.18.213.2 --set busy_poll=20us --set budget=16 \
		--source "ip netns exec $A" --sink "ip netns exec $B strace -f -qq -e trace=setsockopt -o $T/calls"
	assert_measured
	for option in 'SO_PREFER_BUSY_POLL, [1]' 'SO_BUSY_POLL, [20]' 'SO_BUSY_POLL_BUDGET, [16]'; do
		grep -qF "$option" calls
	done
}

@test "two hosts: the measured endpoints compare the clocks over their card, also new ones, and latencies one way have a bound" {
	spec x <<-YAML
		settings: {transport: xdp, kernel: oneway, messages: 200, repetitions: 2, warmup: 20, source_cpu: 0, sink_cpu: $(($(nproc) - 1))}
		matrix:
		  - {poll: [busy, event], size: 64}
		  - {poll: busy, size: 1400, depth: 8, fresh: yes}
	YAML
	run "$KBLAT" run x.yaml --out runs --no-state --source "ip netns exec $A" --sink "$BATS_TEST_DIRNAME/far_host beta -- ip netns exec $B" \
		--set source_address=198.18.213.1 --set sink_address=198.18.213.2
	# On two hosts that are one, which may be busy, half a round trip is about as long as a message takes.
	assert_measured "the error of the clock between"
	for point in 0000 0001 0002; do
		assert_eq "$(json "$run_dir/points/$point/point.json" 'd["clock"]["method"], len(d["clock"]["comparisons"]), d["clock"]["stepped"]')" "('exchange', 3, False)"
		assert_eq "$(json "$run_dir/points/$point/summary.json" 'd["metrics"]["lat_ns"]["n"] > 300, d["metrics"]["lat_ns"]["min"] >= -d["clock"]["error_ns"]')" "(True, True)"
		[ ! -e "$run_dir/points/$point/clock" ]
	done
	"$KBLAT" verify "$run_dir"
}

@test "an MTU with which the driver cannot: generic mode, or its name" {
	small
	ip -n "$A" link set card mtu 9000
	ip -n "$B" link set card mtu 9000
	run between
	assert_measured
	assert_eq "$(json "$run_dir/points/0000/point.json" '[d["granted"][side]["mode"] for side in ("source", "sink")]')" "['generic', 'generic']"
	run between --set mode=native
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "the driver veth cannot with an MTU of 9000; set a smaller one, or mode generic"
	is_bare
}

# bats test_tags=long
@test "a card that sends the frames to another queue: the queue, and the command that mends it" {
	small
	M=kblat-test-$$-$BATS_TEST_NUMBER-m
	ip netns add "$M"
	ip -n "$M" link add bridge type bridge
	ip -n "$A" link del card
	ip -n "$A" link add card type veth peer name left netns "$M"
	ip -n "$B" link add card numtxqueues 2 numrxqueues 2 type veth peer name right numtxqueues 2 numrxqueues 2 netns "$M"
	for side in "$A:198.18.213.1" "$B:198.18.213.2"; do
		ip -n "${side%%:*}" address add "${side#*:}/30" dev card
		ip -n "${side%%:*}" link set card up
	done
	for port in left right bridge; do
		[ "$port" = bridge ] || ip -n "$M" link set "$port" master bridge
		ip -n "$M" link set "$port" up
	done
	# What the bridge sends to B goes to its second queue, whichever CPU sends it.
	local cpus mask=
	for ((cpus = $(nproc --all); cpus > 32; cpus -= 32)); do
		mask+=,ffffffff
	done
	printf -v mask '%x%s' $(((1 << cpus) - 1)) "$mask"
	ip netns exec "$M" bash -c "cd /sys/class/net/right/queues && echo 0 >tx-0/xps_cpus && echo $mask >tx-1/xps_cpus"
	run between --set port=4711
	echo "$output"
	[ "$status" -eq 1 ]
	output=$(tr -s ' \n' ' ' <<<"$output")
	assert_contains "$output" "its frames come to queue 1 of card, not to 0; \`ethtool -N card flow-type udp4 dst-port 4711 action 0\` directs them there"
	is_bare
}

# bats test_tags=long
@test "a card that is reset in the middle ends the point, or delays it, and nothing is left" {
	small
	for side in "$A" "$B"; do
		between --set messages=$many --set duration=3s >out 2>err &
		pid=$!
		await_run are_attached
		sleep 1
		ip -n "$side" link set card down
		ip -n "$side" link set card up
		status=0
		wait "$pid" || status=$?
		output=$(cat out err)
		echo "$output"
		if [ "$status" -eq 1 ]; then
			assert_contains "$output" "the interface is down, or was removed"
		else
			assert_measured
		fi
		is_bare
	done
}

# bats test_tags=long
@test "an interface that has another program is left alone" {
	small
	between --set messages=$many --set duration=4s >out 2>err &
	pid=$!
	await_run are_attached
	run between --set messages=10
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "the interface has another program; see \`ip link show card\`"
	await_measured
	is_bare
}

# bats test_tags=long
@test "an interface that is removed in the middle ends the point, and another MTU does not" {
	small
	between --set messages=$many --set duration=2s >out 2>err &
	pid=$!
	await_run are_attached
	ip -n "$B" link set card mtu 1400
	await_measured
	between --set messages=$many --set duration=60s >out 2>err &
	pid=$!
	await_run are_attached
	sleep 1
	ip -n "$A" link del card
	status=0
	wait "$pid" || status=$?
	cat out err
	[ "$status" -eq 1 ]
	assert_contains "$(cat out err)" "the interface is down, or was removed"
}

#!/usr/bin/env bats
# Two sides in network namespaces of their own, connected by a link: what it carries, and that nothing of them is left.

load helper

bats_require_minimum_version 1.5.0

# Also sets `launcher` to the words that start it: they add its process ID to the file makers.
need_namespaces() {
	[ "$(id -u)" -eq 0 ] || skip "needs root to make network namespaces"
	ip netns add "kblat-probe-$$" 2>/dev/null || skip "this machine does not let network namespaces be made"
	ip netns del "kblat-probe-$$"
	launcher=(bash -c 'echo $$ >>makers; exec "$0" "$@"' "$ROOT/experiments/launch/netns")
}

# The namespaces that this test's launchers have made; another test may have left some on purpose.
made() {
	ip netns list | sed -nE "s/^(kblat-[0-9]+-($(paste -sd "|" makers))-[^ ]*).*/\\1/p"
}

# bats test_tags=long
@test "every transport with addresses runs between two namespaces, and they are gone afterwards" {
	need_feature ZeroMQ nanomsg
	need_namespaces
	spec n <<-'YAML'
		settings: {kernel: pingpong, messages: 100, repetitions: 1, warmup: 10, check: yes, poll: event, size: [100, 60000], lost_after: 10s}
		matrix:
		  - {transport: [tcp, udp]}
		  - {transport: [zeromq, nanomsg], pattern: [pair, pubsub]}
	YAML
	run "${launcher[@]}" "$KBLAT" run n.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 12
	for c in "$run_dir"/points/*/rep-*/counters.json; do
		assert_eq "$(json "$c" 'd["source"]["received"], d["source"]["bad_payloads"], d["sink"]["bad_payloads"]')" "(100, 0, 0)"
	done
	[[ $(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["local"]') == 198.18.213.1:* ]]
	[[ $(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["peer"]') == 198.18.213.2:* ]]
	assert_eq "$(made)" ""
	[ -z "$(leftovers)" ]
}

@test "a multicast group gets one datagram where several receivers get one each, over a link between two namespaces" {
	need_namespaces
	spec m <<-'YAML'
		settings: {kernel: pingpong, transport: udp, messages: 200, repetitions: 1, warmup: 10, check: yes, poll: event, size: 1000, lost_after: 10s}
		matrix:
		  - {receivers: 8, group: [none, 239.255.77.1]}
	YAML
	run "$ROOT/experiments/launch/netns" "$KBLAT" run m.yaml --out runs
	assert_measured
	for c in "$run_dir"/points/*/rep-*/counters.json; do
		assert_eq "$(json "$c" 'd["source"]["received"], d["source"]["bad_payloads"], d["sink"]["bad_payloads"]')" "(200, 0, 0)"
	done
	# The bytes that the source has sent for each message: eight datagrams of 1000 bytes and headers, or one.
	assert_eq "$(for p in 0 1; do json "$run_dir/points/000$p/rep-00/counters.json" \
		'(lambda c: (c["after"]["tx_bytes"] - c["before"]["tx_bytes"]) // 200 // 1000)(d["device"]["source"])'; done | tr '\n' ' ')" "8 1 "
}

# Counts the bytes on the source's link while a command runs in the namespaces, like a packet capture: "sent received",
# in the file `wire`.
make_capture() {
	cat >capture.py <<-'PY'
		import select, signal, socket, struct, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
		s.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)  # SO_RCVBUFFORCE
		s.bind(("veth0", 0))
		s.setblocking(False)
		ended, total, buffer = [], [0, 0], bytearray(1)
		signal.signal(signal.SIGTERM, lambda *a: ended.append(1))
		open("ready", "w").close()
		while True:
		    try:
		        n, _, _, address = s.recvmsg_into([buffer], 0, socket.MSG_TRUNC)
		        total[address[2] != 4] += n  # PACKET_OUTGOING
		    except BlockingIOError:
		        if ended:
		            break
		        select.select([s], [], [], 0.02)
		dropped = struct.unpack("II", s.getsockopt(263, 6, 8))[1]  # SOL_PACKET, PACKET_STATISTICS
		with open("wire", "w") as f:
		    print(*(total if not dropped else ("dropped", dropped)), file=f)
	PY
	cat >captured <<-'SH'
		#!/usr/bin/env bash
		rm -f ready wire
		for ((i = 1; i < $#; i++)); do [ "${!i}" = --source ] && in=$((i + 1)); done
		${!in} /usr/bin/python3 capture.py &
		while [ ! -e ready ]; do sleep 0.02; done
		"$@"
		status=$?
		sleep 0.1
		kill $! && wait $!
		exit $status
	SH
	chmod +x captured
}

# bats test_tags=long
@test "the block wire equals a capture of the link to 0.1 %, and is null on loopback, with the reason" {
	need_namespaces
	make_capture
	local -a points=(
		'{transport: tcp, kernel: oneway, messages: 500, size: 20000B, burst: 10}' # in super-packets that an offload splits
		'{transport: udp, kernel: oneway, messages: 4000, size: 1400B, burst: 10, pause: 1ms}'
		'{transport: tcp, kernel: pingpong, messages: 500, size: 20000B}'
	)
	for point in "${points[@]}"; do
		spec w <<-YAML
			settings: {poll: event, repetitions: 1, warmup: 0, depth: 10}
			matrix: [$point]
		YAML
		run "$ROOT/experiments/launch/netns" ./captured "$KBLAT" run w.yaml --out runs
		echo "$point: $output"
		assert_measured
		/usr/bin/python3 - "$run_dir" "$(cat wire)" <<-'PY'
			import json, sys
			sent, received = map(int, sys.argv[2].split())
			point = json.load(open(sys.argv[1] + "/summary.json"))["points"][0]
			wire, p = point["wire"], point["params"]
			both = p["kernel"] == "pingpong"
			counted, payload = sent + received * both, p["messages"] * p["size_bytes"] * (1 + both)
			print(wire, counted, counted / payload)
			assert wire["payload_bytes"] == payload and wire["why"] is None
			assert abs(wire["factor"] / (counted / payload) - 1) < 0.001
			assert wire["raw_bytes"] == round(wire["factor"] * payload) and abs(wire["percent"] / 100 + 1 - wire["factor"]) < 1e-12
		PY
	done
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	grep -q ',raw_bytes,factor,percent' "$run_dir/summary.csv"
	run "$KBLAT" summary "$run_dir"
	assert_contains "$output" "% overhead"
	run "$KBLAT" run w.yaml --out runs
	[[ $output != *"% overhead"* ]]
	assert_eq "$(json "${lines[-1]}/summary.json" 'd["points"][0]["wire"]["factor"], d["points"][0]["wire"]["why"]')" \
		"(None, 'the messages only crossed the loopback interface, which has no wire')"
}

@test "namespaces of a killed process are removed, also if another has its ID, but never those of another PID namespace" {
	need_namespaces
	"${launcher[@]}" bash -c 'echo $$ >child; exec sleep 1000' sleep 3>&- &
	pid=$!
	for _ in $(seq 200); do
		[ ! -s child ] || break
		sleep 0.05
	done
	name=$(made | head -n 1)
	reused=${name%-*-*}-4711-source
	elsewhere=kblat-1-${name#kblat-*-}
	elsewhere=${elsewhere%-*-*}-4711-sink
	ip netns add "$reused"
	ip netns add "$elsewhere"
	"$ROOT/experiments/launch/netns" true
	left=$(made)
	echo "$left"
	ip netns del "$elsewhere"
	kill -KILL "$pid" "$(cat child)"
	wait "$pid" || true
	"$ROOT/experiments/launch/netns" true
	[[ $left == *"$name"* && $left == *"$elsewhere"* && $left != *"$reused"* ]]
	assert_eq "$(made)" ""
}

@test "an interrupt, and a command that fails: the namespaces go" {
	need_namespaces
	run "${launcher[@]}" false
	[ "$status" -eq 1 ]
	spec n <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, messages: 200, pause: 1ms, repetitions: 10000, warmup: 0}
	YAML
	"${launcher[@]}" "$KBLAT" run n.yaml --out runs >out 2>err &
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
	assert_eq "$(made)" ""
	[ -z "$(leftovers)" ]
}

@test "a namespace that does not exist fails its points with the reason, and missing rights are named" {
	command -v ip >/dev/null || skip "needs ip"
	spec n <<-'YAML'
		settings: {kernel: pingpong, transport: [tcp, udp], messages: 100, repetitions: 1}
	YAML
	run "$KBLAT" run n.yaml --out runs --sink "ip netns exec no-such-namespace"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "no-such-namespace"
	assert_contains "$output" "sink endpoint"
	assert_contains "$output" "1 more point: likewise, for a reason given above"
	run "$ROOT/experiments/launch/netns"
	[ "$status" -eq 2 ]
	need_others "$ROOT/experiments/launch/netns"
	run "${as_other[@]}" "$ROOT/experiments/launch/netns" true
	[ "$status" -eq 77 ]
	assert_contains "$output" "need root"
}

# In a network namespace with two interfaces d0 and d1, a cable between them; prints what is there afterwards. `rdma` is ours, as no driver here lets a
# device be moved: it notes what is asked of it.
with_two_cards() {
	mkdir -p bin
	cat >bin/rdma <<-END
		#!/bin/bash
		cd "$T" || exit 1
		case \$* in
		"dev show mlx5_"[01]) ;;
		"link show mlx5_"[01]/1) echo "link \$3 state ACTIVE physical_state LINK_UP netdev d\${3:5:1} " ;;
		"system show netns") echo "netns \$(cat mode) copy-on-fork on" ;;
		"system set netns "*) echo "\$4" >mode ;;
		"dev set mlx5_"[01]" netns kblat-"*) [ ! -e refuse ] && echo "\$*" >>asked ;;
		*) exit 1 ;;
		esac
	END
	chmod +x bin/rdma
	echo shared >mode
	: >asked
	# shellcheck disable=SC2016 # expanded by the shell inside
	PATH=$T/bin:$PATH unshare --net bash -c 'ip link set lo up && ip link add d0 type veth peer name d1 || exit 1
		for i in 0 1; do ip addr add 192.0.2.$((i + 1))/30 dev d$i && ip link set d$i up || exit 1; done
		"$@"
		echo "status $?"
		ip -o addr show scope global | sed -E "s/^[0-9]+: (d[01]) +inet ([^ ]+) .*/\1 \2/" | sort
		ip -o link show up | grep -c " d[01]@"' - "$@"
}
as_they_were=$'d0 192.0.2.1/30\nd1 192.0.2.2/30\n2'

@test "two RDMA devices get a namespace each, what the connection manager sends crosses from one to the other, and all is as it was afterwards" {
	need_namespaces
	need_adapter
	export KBLAT_ADAPTER=$T/adapter
	mkdir "$KBLAT_ADAPTER"
	printf 'device mlx5_0\nnetdev d0\ndevice mlx5_1\nnetdev d1\n' >"$KBLAT_ADAPTER/script"
	spec n <<<'settings: {kernel: pingpong, transport: verbs, connect: rdmacm, messages: 100, repetitions: 1, warmup: 10, check: yes, poll: event}'
	run with_two_cards "$ROOT/experiments/launch/rdma-netns" mlx5_0 mlx5_1 env "LD_PRELOAD=$preload" "$KBLAT" run n.yaml --no-state --out runs
	echo "$output"
	assert_eq "$(tail -n 4 <<<"$output" | tail -n 3)" "$as_they_were"
	run_dir=$(compgen -G "$T/runs/*")
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 1
	assert_eq "$(json "$run_dir/points/0000/point.json" '[d["granted"][s]["device"] for s in ("source", "sink")]')" "['mlx5_0', 'mlx5_1']"
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["granted"]')" 198.18.214.2
	assert_eq "$(cut -d ' ' -f 1-4 asked)" $'dev set mlx5_0 netns\ndev set mlx5_1 netns'
	assert_eq "$(cat mode)" shared
	run cut -d ' ' -f 5 asked
	assert_contains "${lines[0]}" -source
	assert_contains "${lines[1]}" -sink
	for name in "${lines[@]}"; do
		[ ! -e "/run/netns/$name" ] && [ ! -e "/run/${name%-*}.rdma" ]
	done
}

@test "a driver that does not let its device be moved, other namespaces, routes and wrong words: nothing is changed" {
	need_namespaces
	touch refuse
	run with_two_cards "$ROOT/experiments/launch/rdma-netns" mlx5_0 mlx5_1 true
	assert_contains "$output" "the driver of mlx5_0 does not let it be moved into a namespace"
	assert_contains "$output" $'status 77\n'"$as_they_were"
	assert_eq "$(cat mode)" shared
	rm refuse
	# shellcheck disable=SC2016 # expanded by the shell inside
	run with_two_cards bash -c 'ip route add 203.0.113.0/24 dev d1; "$@"' - "$ROOT/experiments/launch/rdma-netns" mlx5_0 mlx5_1 true
	assert_contains "$output" "d1 has routes to other networks, which would be cut off"
	assert_contains "$output" $'status 77\n'"$as_they_were"
	assert_eq "$(cat asked)" ""
	run with_two_cards "$ROOT/experiments/launch/rdma-netns" mlx5_0 mlx5_7 true
	assert_contains "$output" "there is no RDMA device mlx5_7"
	for words in "mlx5_0 mlx5_0 true" "mlx5_0 mlx5_1" "--interfaces ib0 mlx5_0 mlx5_1 true"; do
		# shellcheck disable=SC2086 # several words
		run "$ROOT/experiments/launch/rdma-netns" $words
		[ "$status" -eq 2 ]
	done
}

@test "devices, interfaces and addresses of a killed launcher are put back by the next one" {
	need_namespaces
	cat >begin_and_kill <<-'END'
		"$@" bash -c 'echo $$ >child; exec sleep 1000' &
		pid=$!
		for _ in {1..200}; do
			[ ! -s child ] || break
			sleep 0.05
		done
		kill -KILL $pid "$(cat child)"
		wait $pid
		ip -o link show | grep -c ' d[01]@'
		"$@" true
	END
	run with_two_cards bash "$T/begin_and_kill" "$ROOT/experiments/launch/rdma-netns" mlx5_0 mlx5_1
	echo "$output"
	assert_contains "$output" $'status 0\n'"$as_they_were"
	assert_eq "$(cat mode)" shared
	assert_eq "$(wc -l <asked)" 4
}

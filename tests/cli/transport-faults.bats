#!/usr/bin/env bats
# Errors with each transport that runs anywhere: settings, addresses, peers.

load helper
load transports_helper

@test "sockets: IPv6, buffers and a fixed port, with the sizes that were granted" {
	# Others of these tests run at the same time.
	port=$((20000 + BASHPID % 10000))
	spec s <<-YAML
		settings: {kernel: pingpong, messages: 50, repetitions: 1, warmup: 0, check: yes, sndbuf: 20000B, rcvbuf: 30000B}
		matrix:
		  - {transport: [tcp, udp], source_address: "127.0.0.2", sink_address: "127.0.0.3", sink_port: $port}
		  - {transport: tcp, source_address: "::1", sink_address: "::1", nodelay: no}
	YAML
	[ -e /proc/net/if_inet6 ] || sed -i '/::1/d' s.yaml
	run "$KBLAT" run s.yaml --out runs
	assert_measured
	for point in 0000 0001; do
		assert_eq "$(json "$run_dir/points/$point/point.json" \
			'(lambda g: (g["sink"]["local"], g["source"]["peer"], g["source"]["local"].split(":")[0], g["sink"]["sndbuf_bytes"], g["sink"]["rcvbuf_bytes"]))(d["granted"])')" \
			"('127.0.0.3:$port', '127.0.0.3:$port', '127.0.0.2', 40000, 60000)"
	done
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["nodelay"], d["granted"]["sink"]["nodelay"]')" "(True, True)"
	[ ! -e "$run_dir/points/0002" ] ||
		assert_eq "$(json "$run_dir/points/0002/point.json" 'd["granted"]["source"]["nodelay"], d["granted"]["source"]["peer"][:6]')" "(False, '[::1]:')"
}

@test "settings that can't be are said before anything starts" {
	need_feature ZeroMQ nanomsg UCX libfabric
	spec s <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, messages: 50, repetitions: 1}
	YAML
	refuses s <<-'END'
		transport=udp size=65508|at most 65507 bytes
		transport=udp size=3|4 bytes of a message hold its number
		size=3|4 bytes of a message hold its number
		sink_address=localhost|numeric address
		sink_address=0.0.0.0|sink_address must be one
		source_address=1.2.3|source_address must be one
		source_address=::1|different families
		transport=zeromq sink_address=::1|numeric IPv4 address
		transport=nanomsg source_address=*|numeric IPv4 address
		transport=zeromq pattern=survey|pubsub, pair
		transport=zeromq size=3|4 bytes of a message hold its number
		sink_port=65536|above its maximum
		busy_poll=1500ns|whole microseconds
		wait_limit=1500us|wait_limit 1500000ns is not in whole milliseconds
		transport=udp nodelay=no|nodelay
		transport=udp group=127.0.0.1|group must be none or the IPv4 address of a multicast group, 224.0.0.0 to 239.255.255.255, not '127.0.0.1'
		transport=udp group=all|not 'all'
		transport=udp group=239.1.2.3 source_address=::1 sink_address=::1|the group is of IPv4
		transport=udp receivers=65|above its maximum
		transport=udp receivers=2 kernel=oneway|use kernel pingpong
		group=239.1.2.3|group
	END
}

@test "what this machine does not give is not possible, with the reason" {
	need_feature ZeroMQ nanomsg
	spec s <<-'YAML'
		settings: {kernel: pingpong, messages: 50, repetitions: 1}
		matrix:
		  - {transport: [tcp, udp, zeromq, nanomsg]}
	YAML
	run "$KBLAT" run s.yaml --out runs --set sink_address=192.0.2.1
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "tcp 192.0.2.1:0: cannot use this address: no interface here has it"
	assert_contains "$output" "udp 192.0.2.1:0"
	assert_contains "$output" "zeromq tcp://192.0.2.1:0: cannot listen: no interface here has this address"
	assert_contains "$output" "nanomsg tcp://192.0.2.1:0: cannot listen: no interface"
	run "$KBLAT" run s.yaml --out runs --only transport=tcp --only transport=udp --set rcvbuf=1GiB
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "net.core.rmem_max"
}

@test "a multicast group that cannot be joined is not possible, with the reason, and nothing stays joined" {
	need_namespaces --net
	spec g <<-'YAML'
		settings: {kernel: pingpong, transport: udp, messages: 50, repetitions: 2, receivers: 3, group: 239.255.77.1, check: yes}
	YAML
	run unshare --net sh -c 'ip link set lo up && sysctl -qw net.ipv4.igmp_max_memberships=0 && "$@"' - "$KBLAT" run g.yaml --out runs
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "join group 239.255.77.1: No buffer space available; net.ipv4.igmp_max_memberships is the limit"
	# With the usual limit all of its messages come, each to three receivers, and the group is left.
	run unshare --net sh -c 'ip link set lo up && "$@" && cat /proc/net/igmp' - "$KBLAT" run g.yaml --out runs
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output != *014DFFEF* ]]
	assert_eq "$(json "runs/$(ls -t runs | head -1)/points/0000/rep-01/counters.json" '[d[s]["received"] for s in ("source", "sink")]')" "[50, 50]"
}

@test "a port in use fails its point, with the reason, and the rest goes on" {
	need_feature ZeroMQ nanomsg
	/usr/bin/python3 - 2>&1 <<-'PY' 3>&- >port &
		import signal, socket
		tcp = socket.socket(); tcp.bind(("127.0.0.1", 0)); tcp.listen()
		udp = socket.socket(type=socket.SOCK_DGRAM); udp.bind(tcp.getsockname())
		print(tcp.getsockname()[1], flush=True)
		signal.pause()
	PY
	holder=$!
	for _ in $(seq 600); do
		[ -s port ] && break
		sleep 0.05
	done
	spec s <<-YAML
		settings: {kernel: pingpong, messages: 50, repetitions: 1, warmup: 0}
		matrix:
		  - {transport: [tcp, udp], sink_port: [$(cat port), 0]}
		  - {transport: [zeromq, nanomsg], pattern: pair, sink_port: [$(cat port), 0]}
		  - {transport: [zeromq, nanomsg], pattern: pubsub, source_port: [$(cat port), 0]}
	YAML
	run "$KBLAT" run s.yaml --out runs
	kill $holder
	echo "$output"
	[ "$status" -eq 1 ]
	run_dir=${lines[-1]}
	assert_contains "$output" "tcp 127.0.0.1:$(cat port): cannot use this address: another process has it; choose another \`sink_port\`"
	assert_contains "$output" "udp 127.0.0.1:$(cat port)"
	assert_contains "$output" "zeromq tcp://127.0.0.1:$(cat port): cannot listen: another process has the port; choose another \`sink_port\`"
	assert_contains "$output" "nanomsg tcp://127.0.0.1:$(cat port): cannot listen"
	for library in zeromq nanomsg; do
		assert_contains "$output" "$library tcp://127.0.0.1:$(cat port): cannot listen: another process has the port; choose another \`source_port\`"
	done
	assert_eq "$(json "$run_dir/run.json" 'd["status"], d["points"]["failed"], d["points"]["completed"]')" "('FAILED', 6, 6)"
}

# bats test_tags=long
@test "over every transport, a side that disappears is named, the point fails, and nothing is left behind" {
	touch before-shm
	for transport in $(native_transports); do
		for side in 1 2; do # in the order in which they are started: source, sink
			poll=$([ $side = 1 ] && echo busy || echo event)
			spec s <<-YAML
				settings: {kernel: pingpong, transport: $transport, poll: $poll, messages: 50, pause: 1ms, repetitions: 10000, warmup: 0}
			YAML
			"$KBLAT" run s.yaml --out "runs-$transport-$poll-$side" >out 2>err &
			pid=$!
			for _ in $(seq 1200); do
				compgen -G "runs-$transport-$poll-$side/*.partial/points/0000/rep-00/counters.json" >/dev/null && break
				sleep 0.05
			done
			kill -KILL "$(pgrep -P $pid | sed -n "${side}p")"
			status=0
			wait $pid || status=$?
			echo "$transport $poll $side: $(cat err)"
			[ "$status" -eq 1 ]
			[[ $(cat err) == *"signal 9"* || $(cat err) == *"other side has ended"* ]]
			assert_eq "$(json "$(tail -n 1 out)/run.json" 'd["status"]')" FAILED
			run "$KBLAT" verify "$(tail -n 1 out)"
			[ "$status" -eq 0 ]
		done
	done
	# If it cannot write the settings, or compute the numbers of a repetition, these are missing.
	cd "$(tail -n 1 out)" || return 1
	rm points/0000/rep-00/data.json points/0000/params.json
	sed -i '\|rep-00/data.json$|d; \|0000/params.json$|d' manifest-sha256.txt
	run "$KBLAT" verify .
	echo "$output"
	[ "$status" -eq 0 ]
	cd "$T" || return 1
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
}

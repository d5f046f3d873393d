#!/usr/bin/env bats
# Programs that know nothing of it over the model of an adapter (tests/model/README.md), and kblat beside them: each runs, and finds what the script says.
# Other activity only delays, so what is compared is the best of several rounds, and where a program only has a mean, that it is no less than the script says.

load helper

setup() {
	kblat_setup
	need_adapter
	KBLAT_ADAPTER=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo "$T")")
	export KBLAT_ADAPTER
	other=0
	[ "$(nproc)" -eq 1 ] || other=1
}

eval "plain_$(declare -f teardown)"

teardown() {
	[ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
	[[ "${KBLAT_ADAPTER:-}" != */tmp.* ]] || rm -rf "$KBLAT_ADAPTER"
	plain_teardown
}

need_program() {
	command -v "$1" >/dev/null || skip "needs $1 ($2)"
}

# script <<LINES: of one device.
script() {
	find "$KBLAT_ADAPTER" -mindepth 1 -delete
	{
		echo 'device mlx5_0'
		cat
	} >"$KBLAT_ADAPTER/script"
}

# over_model COMMAND…: with the model.
over_model() {
	LD_PRELOAD=$preload exec timeout 60 taskset -c "$1" "${@:2}"
}

# pair PORT SERVER… -- CLIENT…: the client's output in `output`, when both have ended well. PORT: the one the server listens on; no: wait a little.
pair() {
	local -a at=()
	local port=$1 tries=0
	shift
	while [ "$1" != -- ]; do
		at+=("$1")
		shift
	done
	(over_model "$other" "${at[@]}") >server.log 2>&1 3>&- &
	server=$!
	until [ "$port" != no ] && grep -qi ":$(printf %04X "$port") [0:]* 0A " <(sed 's/^ *[0-9]*: [^:]*//' /proc/net/tcp /proc/net/tcp6); do
		kill -0 "$server" 2>/dev/null || break
		sleep 0.1
		[ "$((tries += 1))" -lt 100 ] || break
		[ "$port" != no ] || [ "$tries" -lt 10 ] || break
	done
	run over_model 0 "${@:2}"
	[ "$status" -eq 0 ] || { cut -c 1-200 <<<"$output" && cut -c 1-200 server.log && false; }
}

# both PROGRAM ARGUMENT…: a program that has the same arguments on both sides, but for the address.
both() {
	local port=$((20000 + RANDOM % 10000))
	pair "$port" "$@" -p "$port" -- "$@" -p "$port" 127.0.0.1
	wait "$server" || { cat server.log && false; }
	server=
}

# assert_time WHAT NS TRUTH: the best of rounds; within 2 % and 5 ns, and what the programs themselves do and other activity adds even then.
own=60
is_time() {
	awk -v is="$1" -v truth="$2" -v own="$own" 'BEGIN { exit !(is >= truth * 0.98 - 5 && is <= truth * 1.02 + 5 + own) }'
}

assert_time() {
	echo "# $1: $2 ns, the script says $3"
	is_time "$2" "$3"
}

# least NUMBER…
least() {
	printf '%s\n' "$@" | sort -g | head -n 1
}

# typical: the median of perftest's table, in ns.
typical() {
	awk '/^ *#bytes/ { getline; printf "%d\n", $5 * 1000 }' <<<"$output"
}

# ours SERIES "SETTINGS" [STATISTIC]: the p50 of kblat or another statistic, in ns.
ours() {
	spec ours <<<"settings: {transport: verbs, device: mlx5_0, repetitions: 1, source_cpu: 0, sink_cpu: $other, $2}"
	run env LD_PRELOAD="$preload" "$KBLAT" run ours.yaml --no-state --out runs
	json "${lines[-1]}/summary.json" "d['points'][0]['metrics']['$1']['${3:-p50}']"
}

# agree PROGRAM SERIES TRUTH "SETTINGS" ARGUMENT…: alternating rounds of both; each finds the truth in one of at most twelve.
agree() {
	local -a theirs=() mine=()
	local -i round
	for ((round = 1; round <= 12; round++)); do
		both "$1" -d mlx5_0 -n 4000 "${@:5}"
		theirs+=("$(typical)")
		mine+=("$(ours "$2" "messages: 5000, $4")")
		! is_time "$(least "${theirs[@]}")" "$3" || ! is_time "$(least "${mine[@]}")" "$3" || break
	done
	assert_time "$1 ${*:5}" "$(least "${theirs[@]}")" "$3"
	assert_time "kblat {$4}" "$(least "${mine[@]}")" "$3"
}

# best WHAT "SETTINGS" TRUTH: the fastest one-way latency that kblat finds. Not the median: on a busy machine messages wait for a sink that does not run.
best() {
	assert_time "$1" "$(ours lat_ns "kernel: oneway, size: 32, burst: 1, $2" min)" "$3"
}

times='effect latency 4000 per_byte 0.5
effect latency 1000 qp ud
effect ack 1500
effect post 200'

@test "ib_send_lat and kblat: half a round trip of rc, ud and of 4 KiB" {
	need_program ib_send_lat perftest
	script <<<"$times"
	agree ib_send_lat half_rtt_ns 4016 'kernel: pingpong, op: send, size: 32' -s 32
	agree ib_send_lat half_rtt_ns 6048 'kernel: pingpong, op: send, size: 4KiB' -s 4096
	agree ib_send_lat half_rtt_ns 5016 'kernel: pingpong, op: send, qp: ud, size: 32' -s 32 -c UD
}

@test "ib_write_lat, ib_read_lat and ib_atomic_lat, and kblat" {
	need_program ib_write_lat perftest
	script <<<"$times"
	own=200 # the other CPU's store is seen when it gets there
	agree ib_write_lat half_rtt_ns 4016 'kernel: pingpong, op: write, size: 32' -s 32
	own=60
	agree ib_read_lat gap_ns 5516 'kernel: stream, depth: 1, op: read, size: 32' -s 32
	agree ib_atomic_lat gap_ns 5504 'kernel: stream, depth: 1, op: fetch_add, size: 8'
}

@test "with events: the wake-up is the script's, while the waiter is awake" {
	need_program ib_send_lat perftest
	script <<-END
		$times
		effect event 3000
		awake_ns 1000000
	END
	own=250 # acknowledges the event, arms the queue and polls once more
	agree ib_send_lat half_rtt_ns 7016 'kernel: pingpong, op: send, size: 32, poll: event' -s 32 -e
}

@test "a one-way latency: what the script says of first messages, inline ones and rare ones" {
	script <<-'END'
		effect latency 4000
		effect latency -500 inline yes
		effect latency 2000 pause 400000
		effect latency 30000 every 10
		effect ack 100
		effect post 200
	END
	best 'not inline' 'inline: off, pause: 50us, messages: 5000' 4000
	best 'inline' 'inline: on, pause: 50us, messages: 5000' 3500
	best 'after a pause' 'inline: on, pause: 1ms, messages: 500' 5500
	# One message in ten takes 30 us longer.
	ours lat_ns 'kernel: oneway, size: 32, burst: 1, pause: 20us, messages: 20000, limit: 30us' over_limit | awk '{ exit !($1 > 0.08) }'
}

@test "the peer's memory is reached before the first message, whichever side is ready first" {
	script <<<'effect latency 4000'
	spec first <<-END
		settings: {transport: verbs, device: mlx5_0, kernel: oneway, warmup: 0, repetitions: 1}
		matrix: [{qp: [rc, ud], messages: [$(seq -s ', ' 300 315)]}]
	END
	run env LD_PRELOAD="$preload" "$KBLAT" run first.yaml --no-state --out runs
	json "${lines[-1]}/summary.json" "[r for p in d['points'] for r in p['reasons'] if 'page fault' in r]" | diff - <(echo '[]')
}

@test "ib_send_bw: all messages, and no faster than the device" {
	need_program ib_send_bw perftest
	script <<-'END'
		effect latency 4000
		effect gap 0 per_byte 4
	END
	both ib_send_bw -d mlx5_0 -n 2000 -s 4096
	# 250 MB/s; MiB
	awk '/^ *#bytes/ { getline; print "# " $0; exit !($4 > 0 && $4 < 240) }' <<<"$output"
}

@test "ib_send_lat over the extended interface, over a connection of the manager, and over a shared receive queue" {
	need_program ib_send_lat perftest
	script <<<"$times"
	both ib_send_lat -d mlx5_0 -n 1000 -R
	[ "$(typical)" -ge 4000 ]
	both ib_send_lat -d mlx5_0 -n 1000 --use-srq
	[ "$(typical)" -ge 4000 ]
	if ib_send_lat --help | grep -q use_old_post_send; then
		both ib_send_lat -d mlx5_0 -n 1000 --use_old_post_send
		[ "$(typical)" -ge 4000 ]
	fi
}

@test "ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong, ibv_srq_pingpong; ibv_devinfo" {
	local kind
	need_program ibv_rc_pingpong ibverbs-utils
	script <<<"$times"
	for kind in rc uc ud; do
		both "ibv_${kind}_pingpong" -g 0 -n 500 -s 64
		assert_contains "$output" '500 iters in'
		awk '/usec.iter/ { exit !($(NF - 1) >= 8) }' <<<"$output"
	done
	both ibv_rc_pingpong -g 0 -n 500 -e
	both ibv_rc_pingpong -g 0 -n 500 -N
	both ibv_srq_pingpong -g 0 -n 500 -q 4
	run over_model 0 ibv_devinfo -v
	assert_contains "$output" 'hca_id:	mlx5_0'
}

@test "qperf: latencies and rates over rc and ud" {
	need_program qperf qperf
	local port=$((20000 + RANDOM % 10000)) test
	script <<<"$times"
	for test in rc_lat ud_lat rc_rdma_write_lat rc_rdma_read_lat rc_bw; do
		pair "$port" qperf -lp "$port" -- qperf 127.0.0.1 -lp "$port" -t 1 -uu -m 32 "$test"
		echo "$output"
		case $test in
		*_lat) awk '/latency/ { exit !($3 >= 4000) }' <<<"$output" ;;
		*) assert_contains "$output" 'bytes/sec' ;;
		esac
		kill "$server"
		wait "$server" || true
		server=
	done
}

@test "rping: reads, writes and sends over a connection of the manager, with every byte checked" {
	need_program rping rdmacm-utils
	script <<<"$times"
	pair no rping -s -C 50 -S 1000 -V -p 7471 -- rping -c -a 127.0.0.1 -C 50 -S 1000 -V -v -p 7471
	[ "$(grep -c 'ping data: rdma-ping-' <<<"$output")" -eq 50 ]
	wait "$server"
	server=
}

@test "a line of the script that means nothing ends the process" {
	local line
	for line in 'effect' 'effect latency' 'effect speed 3' 'effect latency 3 op fly' 'effect latency 3 size' 'effect latency x'; do
		script <<<"$line"
		run over_model 0 "$KBLAT" list devices
		assert_contains "$output" "model of an adapter: its script says '$line"
	done
}

@test "a run over the model says MODEL, on the terminal and on its page, and meets no need of a real adapter but in a rehearsal" {
	script <<-END
		$times
		device mlx5_1
		$times
	END
	spec labelled <<-END
		settings: {transport: verbs, source_device: mlx5_0, sink_device: mlx5_1, kernel: pingpong, messages: 500, repetitions: 3, size: 32}
		matrix: [{op: [send, write]}]
		claims:
		  - id: near
		    claim: "Sends are about as fast as writes"
		    source: ours
		    needs: [hca]
		    metric: half_rtt_ns.p50
		    points: {op: send}
		    against: {op: write}
		    ratio: {max: 1000}
	END
	run env LD_PRELOAD="$preload" "$KBLAT" run labelled.yaml --no-state --out runs
	echo "$output"
	assert_contains "$output" 'MODEL: labelled'
	assert_contains "$output" 'MODEL: the device is a model of an adapter'
	run_dir=${lines[-1]}
	run "$KBLAT" report "$run_dir"
	grep -q 'MODEL is a software device' "$run_dir/derived/report.html"
	run "$KBLAT" claims "$run_dir"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" 'it needs a real RDMA adapter; mlx5_0 is software'
	run env KBLAT_REHEARSAL=yes "$KBLAT" claims --json "$run_dir"
	assert_contains "$output" '"near"'
	[[ $output != *adapter* ]]
}

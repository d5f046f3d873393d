#!/usr/bin/env bats
# Points with several flows: pairs of endpoints that are measured together, each with settings of its own.
#
# Validity is only checked where it is the subject (assert_measured).

load helper

# Round trips over shared memory next to samples over tcp.
two_kinds() {
	spec two <<-'YAML'
		settings:
		  flows: small large
		  repetitions: 2
		  warmup: 50
		  poll: event
		  limit: 1ms
		  small.kernel: pingpong
		  small.transport: shmem
		  small.messages: 2000
		  large.kernel: rate
		  large.transport: tcp
		  large.messages: 500
		  large.rate: 5kHz
		  large.missed_limit: 100%
	YAML
}

# two_scripted "KEY=VALUE"…: two flows over the scripted transport.
two_scripted() {
	spec pair <<-'YAML'
		settings: {flows: small large, kernel: oneway, transport: scripted, messages: 500, burst: 500, repetitions: 2, warmup: 10}
	YAML
	run_with pair "$@"
}

metric() {
	json "$run_dir/summary.json" "d['points'][0]['metrics']['$1']['$2']"
}

@test "two kernels over two transports in one point have their own columns, placements and metrics" {
	two_kinds
	run "$KBLAT" run two.yaml --out runs
	assert_measured
	for rep in 00 01; do
		for file in small/{t_subm.npy,t_back.npy,counters.json,data.json} large/{t_due.npy,t_subm.npy,t_recv.npy,counters.json,data.json}; do
			[ -f "$run_dir/points/0000/rep-$rep/$file" ]
		done
	done
	[ ! -e "$run_dir/points/0000/rep-00/counters.json" ]
	assert_eq "$(json "$run_dir/points/0000/point.json" 'sorted((f, s) for f in d["placement"] for s in d["placement"][f])')" \
		"[('large', 'sink'), ('large', 'source'), ('small', 'sink'), ('small', 'source')]"
	assert_eq "$(metric small.rtt_ns n)" 4000
	assert_eq "$(json "$run_dir/summary.json" 'sorted(d["points"][0]["metrics"])')" \
		"['large.due_lat_ns', 'large.gen_lat_ns', 'large.lat_ns', 'large.pace_ns', 'small.half_rtt_ns', 'small.rtt_ns']"
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["large.pacing"]["steps"]')" 1000
	[ "$(json "$run_dir/summary.json" 'd["points"][0]["start"]["spread_ns"]')" -ge 0 ]
	run "$KBLAT" verify "$run_dir"
	echo "$output"
	[ "$status" -eq 0 ]
	sed -i 's/"p50": /"p50": 1/' "$run_dir/points/0000/rep-01/large/data.json"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 3 ]
	assert_contains "$output" "rep-01/large/data.json"
}

@test "a setting is given to all flows or to one, in any order, as an axis, in --set and in --only" {
	spec sizes <<-'YAML'
		settings: {flows: a b, kernel: oneway, transport: scripted, messages: 10, repetitions: 1, warmup: 0, b.delay: 3us, delay: 2us}
		matrix:
		  - {a.size: [8B, 64B], size: 32B}
	YAML
	run "$KBLAT" run sizes.yaml --dry-run --json
	[ "$status" -eq 0 ]
	echo "$output" >points.json
	assert_eq "$(json points.json '[(p["params"]["a.size_bytes"], p["params"]["b.size_bytes"]) for p in d]')" "[(8, 32), (64, 32)]"
	assert_eq "$(json points.json 'd[0]["params"]["a.delay_ns"], d[0]["params"]["b.delay_ns"]')" "(2000, 3000)"
	run "$KBLAT" run sizes.yaml --dry-run --json --set b.size=16 --only a.size=64
	echo "$output" >points.json
	assert_eq "$(json points.json '[(p["id"], p["params"]["a.size_bytes"], p["params"]["b.size_bytes"]) for p in d]')" "[(0, 64, 16)]"
	run "$KBLAT" run sizes.yaml --dry-run --json --set b.kernel=pingpong
	echo "$output" >points.json
	assert_eq "$(json points.json 'd[0]["params"]["a.kernel"], d[0]["params"]["b.kernel"]')" "('oneway', 'pingpong')"
}

@test "a point without flows has no word of them" {
	spec one <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 10, repetitions: 1, warmup: 0}
	YAML
	run "$KBLAT" run one.yaml --dry-run --json
	echo "$output" >points.json
	assert_eq "$(json points.json '[k for k in d[0]["params"] if "." in k or k in ("flows", "until")]')" "[]"
	run "$KBLAT" run one.yaml --out runs
	assert_measured
	[ -f "$run_dir/points/0000/rep-00/t_recv.npy" ]
	assert_eq "$(json "$run_dir/points/0000/point.json" 'sorted(d["placement"])')" "['sink', 'source']"
	assert_eq "$(json "$run_dir/summary.json" '"start" in d["points"][0]')" False
}

@test "what is wrong with flows is said at its place" {
	local rows=(
		"flows: small large, smal.size: 8B|is for a flow 'smal', which does not exist; did you mean 'small'?"
		"flows: small small|flows names the flow 'small' twice"
		"flows: small size|flows names a flow 'size', which is the name of a setting"
		"flows: a kernel|flows names a flow 'kernel', which is the name of a setting"
		"flows: a B|must be names of up to 31 characters"
		"flows: ''|flows names no flow"
		"b.size: 8B|is for a flow 'b', but the point has no 'flows'"
		"until: first|setting 'until' requires 'flows'"
		"flows: a b, a.repetitions: 3|setting 'repetitions' belongs to the point, not to one of its flows"
		"flows: a b, a.sise: 8B|unknown setting 'sise'; did you mean 'size'?"
		"flows: a b, a.qp: rc|setting 'qp' belongs to the transport verbs; a flow with kernel oneway"
		"flows: a b, b.kernel: onway|unknown kernel 'onway'; did you mean 'oneway'?"
		"flows: a b, b.jitter: 5us|b: jitter is larger than delay"
	)
	local row
	for row in "${rows[@]}"; do
		spec bad <<-YAML
			settings: {kernel: oneway, transport: scripted, messages: 10, repetitions: 1, ${row%%|*}}
		YAML
		run "$KBLAT" run bad.yaml --dry-run
		echo "$output"
		[ "$status" -eq 2 ]
		[[ $output == *bad.yaml:[13]:* ]]
		assert_contains "$output" "${row#*|}"
	done
}

@test "a flow whose endpoint is killed fails the point and is named, and all other flows are ended" {
	touch before-shm
	two_scripted small.transport=shmem small.poll=event large.fault=die large.fault_at=100 large.fault_side=sink
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "large sink endpoint: was killed by signal 9"
	assert_eq "$(json "$run_dir/run.json" 'd["status"]')" FAILED
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
}

# A server's flow and those of its backups.
with_backups() {
	spec writes <<-'YAML'
		settings: {flows: client one two three, client.kernel: pingpong, client.backups: 3, one.kernel: backup, two.kernel: backup,
		  three.kernel: backup, transport: shmem, poll: event, messages: 400, repetitions: 2, warmup: 20}
	YAML
	run_with writes "$@"
}

@test "a server answers when its three backups have confirmed, and not before" {
	local transport
	for transport in shmem tcp; do
		with_backups transport=$transport
		assert_measured
		assert_eq "$(metric client.rtt_ns n) $(metric three.rtt_ns n)" "800 800"
		# In each repetition, each write takes longer than each of its backups did.
		/usr/bin/python3 - "$run_dir/points/0000" <<-'PY'
			import sys, numpy
			for rep in ('00', '01'):
			    def took(flow):
			        back, subm = (numpy.load('%s/rep-%s/%s/%s.npy' % (sys.argv[1], rep, flow, c)) for c in ('t_back', 't_subm'))
			        return subm, back
			    subm, back = took('client')
			    for flow in ('one', 'two', 'three'):
			        asked, stored = took(flow)
			        assert (asked > subm).all() and (stored < back).all(), flow
		PY
		[ -z "$(leftovers)" ]
	done
}

@test "a backup that dies in the middle of a write is named, and nothing of that repetition is counted as written" {
	touch before-shm
	spec writes <<-'YAML'
		settings: {flows: client one two three, client.kernel: pingpong, client.backups: 3, one.kernel: backup, two.kernel: backup,
		  three.kernel: backup, transport: shmem, poll: event, messages: 100, client.pause: 10ms, repetitions: 3, warmup: 0}
	YAML
	"$KBLAT" run writes.yaml --out runs >out 2>err 3>&- &
	pid=$!
	await_run exists "runs/*.partial/points/0000/rep-00/client/counters.json"
	sleep 0.3
	kill -KILL "$(pgrep -P $pid | sed -n 5p)" # of each flow the source, then the sink
	status=0
	wait $pid || status=$?
	cat out err
	[ "$status" -eq 1 ]
	assert_contains "$(<err)" "two source endpoint: was killed by signal 9"
	run_dir=$(tail -n 1 out)
	assert_eq "$(json "$run_dir/run.json" 'd["status"]')" FAILED
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["outcome"], "two source" in d["why"]')" "('failed', True)"
	[ ! -e "$run_dir/points/0000/rep-01" ]
	assert_eq "$(json "$run_dir/summary.json" '[r["metrics"]["client.rtt_ns"]["n"] for r in d["points"][0]["reps"]]')" "[100]"
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
}

@test "backups that do not match their server are said before anything starts" {
	local row
	local rows=(
		"client.backups=2|client: backups 2, but the point has 3 flows with the kernel backup"
		"client.backups=0|three: no flow of the point has \`backups\`"
		"two.messages=300|two: its \`messages\` and \`warmup\` must be those of the flow 'client'"
		"client.duration=1s|client: backups and duration"
		"two.transport=udp|two: the kernel backup needs a reliable transport"
		"two.transport=scripted two.poll=busy|two: the kernel backup waits for another flow in real time"
	)
	for row in "${rows[@]}"; do
		with_backups ${row%%|*}
		echo "$output"
		[ "$status" -eq 2 ]
		assert_contains "$output" "${row#*|}"
	done
}

@test "a flow that makes no progress is named by the timeout" {
	two_scripted small.fault=hang small.fault_side=source timeout=1s drain=50ms
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "small source endpoint: no progress for 1 s"
	[ -z "$(leftovers)" ]
}

@test "a flow with losses on a reliable transport invalidates the point and is named" {
	two_scripted small.lose=5,7 large.delay=4us
	echo "$output"
	[ "$status" -eq 3 ]
	assert_eq "$(metric small.lat_ns lost)" 4
	assert_eq "$(metric large.lat_ns lost)" 0
	assert_eq "$(metric large.lat_ns p50)" 4000
	assert_eq "$(json "$run_dir/summary.json" '[r.split(":")[0] for r in d["points"][0]["reasons"] if "lost" in r]')" "['small']"
}

@test "until: first ends a repetition with its first flow, and keeps what the others have measured" {
	spec first <<-'YAML'
		settings:
		  flows: quick slow
		  until: first
		  kernel: rate
		  transport: tcp
		  poll: event
		  pacer: timerfd
		  rate: 1kHz
		  repetitions: 2
		  warmup: 0
		  missed_limit: 100%
		  quick.messages: 100
		  slow.messages: 60000
	YAML
	run "$KBLAT" run first.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][0]["quick.pacing"]["steps"]')" 200
	steps=$(json "$run_dir/summary.json" 'd["points"][0]["slow.pacing"]["steps"]')
	[ "$steps" -gt 0 ]
	[ "$steps" -lt 60000 ]
	run "$KBLAT" verify "$run_dir"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "interrupted in the middle, every flow's columns are kept, as far as they came" {
	two_kinds
	"$KBLAT" run two.yaml --out runs --set large.messages=100000 --set small.messages=1000 --reps 1 >log 2>&1 &
	pid=$!
	for _ in {1..200}; do
		! compgen -G 'runs/*/points/0000/rep-00/large' >/dev/null || break
		sleep 0.1
	done
	sleep 1
	kill -INT $pid
	status=0
	wait $pid || status=$?
	[ "$status" -eq 1 ]
	run_dir=$(tail -n 1 log)
	cat log
	assert_eq "$(json "$run_dir/run.json" 'd["status"]')" INTERRUPTED
	[ "$(json "$run_dir/summary.json" 'd["points"][0]["large.pacing"]["steps"]')" -lt 100000 ]
	assert_eq "$(metric small.rtt_ns n)" 1000
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "sixteen flows, 32 endpoints: all are measured, each CPU's sharers are told, nothing is left" {
	touch before-shm
	names=$(printf 'f%02d ' {1..16})
	spec many <<-YAML
		settings: {flows: "$names", kernel: oneway, transport: shmem, messages: 200, burst: 1, repetitions: 2, warmup: 10, poll: event}
	YAML
	run "$KBLAT" run many.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[m["n"] for k, m in d["points"][0]["metrics"].items() if k.endswith(".lat_ns")]')" \
		"$(/usr/bin/python3 -c 'print([400] * 16)')"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run "$KBLAT" run many.yaml --out runs --set poll=busy --set messages=2 --set timeout=60s --reps 1
	assert_measured
	assert_contains "$(json "$run_dir/summary.json" 'd["points"][0]["warnings"]')" "f01: the source shares CPU"
	[ -z "$(shm_files)" ]
	[ -z "$(leftovers)" ]
}

@test "limits of the system are looked at before anything starts" {
	names=$(printf 'f%02d ' {1..16})
	spec many <<-YAML
		settings: {flows: "$names", kernel: oneway, transport: scripted, messages: 10, repetitions: 1, warmup: 0}
	YAML
	run bash -c "ulimit -n 64; '$KBLAT' run many.yaml --out runs"
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "16 flows need 160 open files, the limit is 64"
	[ -z "$(ls runs)" ]
	run bash -c "ulimit -Sn 64; '$KBLAT' run many.yaml --out runs"
	assert_measured
}

# boots OUT KEY=VALUE…: makes runs like those of other boots.
boots() {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/boots.py" "$run_dir" "$@"
}

@test "the pages of a run, a comparison and a history have figures of each flow" {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	two_scripted
	run "$KBLAT" report "$run_dir"
	echo "$output"
	[ "$status" -eq 0 ]
	grep -q '<td>small t_lat</td>' "$run_dir/derived/report.html"
	[ -s "$run_dir/derived/figures/point-0000-large-histogram.svg" ]
	boots base
	boots new prefix=b slower=0.05
	run "$KBLAT" compare base --with new --out compared
	echo "$output"
	[ "$status" -eq 3 ]
	[ -s compared/figures/shift-0000-small.svg ]
	[ -s compared/figures/shift-0000-large.svg ]
	run "$KBLAT" history base new --out history
	echo "$output"
	[ "$status" -eq 0 ]
	[ -s history/figures/history-0000-small.svg ]
	[ -s history/figures/history-0000-large.svg ]
}

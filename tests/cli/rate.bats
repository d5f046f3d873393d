#!/usr/bin/env bats
# Samples at a fixed rate: what happens to each step, and what is reported.

load helper
load transports_helper

# rate "KEY=VALUE"…: runs over the scripted transport; sets $run_dir, $status and $output.
rate() {
	spec rate <<-'YAML'
		settings: {kernel: rate, transport: scripted, rate: 100kHz, messages: 1000, repetitions: 2, warmup: 100}
	YAML
	run_with rate "$@"
}

point() {
	json "$run_dir/summary.json" "d['points'][0]$1"
}

column() {
	/usr/bin/python3 -c 'import numpy, sys; d = numpy.load(sys.argv[1]); print(eval(sys.argv[2]))' \
		"$run_dir/points/0000/rep-00/$1.npy" "$2"
}

@test "a step that is overtaken by the next is missed: it keeps its time, is not sent, and is not lost" {
	rate stall=5 stall_by=25us delay=1us
	[ "$status" -eq 0 ]
	assert_eq "$(point "['pacing']['missed']")" 4
	assert_eq "$(point "['pacing']['missed_share']")" 0.002
	assert_eq "$(point "['loss']['sent'], d['points'][0]['loss']['lost']")" "(1996, 0)"
	assert_eq "$(point "['metrics']['lat_ns']['n'], d['points'][0]['metrics']['lat_ns']['lost']")" "(1996, 0)"
	assert_eq "$(column t_due 'd[4:8].tolist()')" "[50000, 60000, 70000, 80000]"
	assert_eq "$(column t_subm '(d[4:9] == numpy.iinfo(d.dtype).min).tolist()')" "[False, True, True, False, False]"
	assert_eq "$(column t_recv 'int(d[7])')" 86000
	assert_eq "$(point "['metrics']['pace_ns']['max']")" 5000
	assert_eq "$(point "['metrics']['due_lat_ns']['max']")" 6000
	assert_eq "$(point "['metrics']['lat_ns']['max']")" 1000
	assert_contains "$output" "% missed"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run /usr/bin/python3 "$ROOT/tests/cli/check_quantiles.py" "$run_dir"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "late: first sends the first of the steps that are due at once, with its time" {
	rate stall=5 stall_by=25us delay=1us late=first
	[ "$status" -eq 0 ]
	assert_eq "$(point "['pacing']['missed']")" 4
	assert_eq "$(column t_subm '(d[4:9] == numpy.iinfo(d.dtype).min).tolist()')" "[False, False, True, True, False]"
	assert_eq "$(column t_due 'd[4:8].tolist()')" "[50000, 60000, 70000, 80000]"
	assert_eq "$(column t_gen 'd[4:6].tolist()')" "[50000, 85000]"
	assert_eq "$(point "['metrics']['pace_ns']['max']")" 25000
	assert_eq "$(point "['metrics']['due_lat_ns']['max']")" 26000
	assert_eq "$(point "['metrics']['gen_lat_ns']['max']")" 1000
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

# The queue holds one sample, so at this rate it is mostly full; nor is any thread as fast.
@test "every pacer sends the first of what is due at once, and t_gen is before the wait for a full queue" {
	spec first <<-'YAML'
		settings: {kernel: rate, transport: shmem, messages: 2000, rate: 200kHz, depth: 1, repetitions: 1, warmup: 0, missed_limit: 100%}
		matrix:
		  - {late: [first, last], pacer: [ticks, timerfd, nanosleep], poll: event}
	YAML
	run "$KBLAT" run first.yaml --out runs
	assert_measured
	run /usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys, numpy
		run = sys.argv[1]
		never = numpy.iinfo("i8").min
		for p in json.load(open(f"{run}/summary.json"))["points"]:
		    what = p["params"]["late"], p["params"]["pacer"]
		    due, gen, subm = (numpy.load(f"{run}/points/{p['id']:04d}/rep-00/t_{t}.npy") for t in ("due", "gen", "subm"))
		    sent, missed = numpy.flatnonzero(subm != never), numpy.flatnonzero(subm == never)
		    assert len(due) == 2000 and (numpy.diff(due) > 0).all() and p["pacing"]["missed"] == len(missed) > 0, what
		    assert ((gen == never) == (subm == never)).all() and (gen[sent] <= subm[sent]).all(), what
		    assert (due[sent] <= gen[sent] + 1000).all(), what
		    # Skipped samples were due before or after the one sent, when the pacer reached that one.
		    if what[0] == "first":
		        assert sent[0] == 0 and (due[missed] <= gen[sent[numpy.searchsorted(sent, missed) - 1]] + 1000).all(), what
		    else:
		        inner = missed[missed < sent[-1]]
		        assert (due[inner] <= gen[sent[numpy.searchsorted(sent, inner)]] + 1000).all(), what
		    assert max(subm[sent] - gen[sent]) > 0, what
		print("so it is")
	PY
	echo "$output"
	[ "$output" = "so it is" ]
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "what is missing and what was not transmitted have the names of VILLASnode's benchmark, too" {
	rate stall=5 stall_by=25us lose=20,21 reliable=no window=1us tick_error=10%
	assert_eq "$(point "['pacing']['missing'] == d['points'][0]['pacing']['missed'] + d['points'][0]['pacing']['unsent'] > 100")" True
	assert_eq "$(point "['pacing']['missing'] + d['points'][0]['loss']['sent']")" 2000
	assert_eq "$(point "['pacing']['not_transmitted']")" 4
	assert_eq "$(point "['pacing']['not_transmitted_share'] * d['points'][0]['loss']['sent']")" 4.0
	assert_contains "$output" "% not transmitted"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "what is lost on the way is lost, beside what was missed" {
	rate stall=5 stall_by=25us lose=20,21 reliable=no
	[ "$status" -eq 0 ]
	assert_eq "$(point "['pacing']['missed']")" 4
	assert_eq "$(point "['loss']['lost']")" 4
	assert_eq "$(point "['metrics']['lat_ns']['lost'], d['points'][0]['metrics']['due_lat_ns']['lost']")" "(4, 4)"
	assert_eq "$(point "['metrics']['pace_ns']['lost']")" 0
}

@test "more missed steps than missed_limit allows invalidate, not one fewer" {
	rate stall=5 stall_by=100us missed_limit=1%
	assert_eq "$(point "['pacing']['missed_share']")" 0.01
	[ "$status" -eq 0 ]
	rate stall=5 stall_by=110us missed_limit=1%
	[ "$status" -eq 3 ]
	assert_contains "$(point "['reasons']")" "the pacer missed 22 of 2000 steps (1.1 %)"
}

@test "a wrong tick frequency makes the rate too low, and the window cuts off what is left" {
	rate messages=2500 rate=100Hz tick_error=88235ppm window=50ms missed_limit=100%
	[ "$status" -eq 0 ]
	# 25.05 s at 100 Hz / 1.088235 are 2301 of 2500 samples.
	assert_eq "$(point "['pacing']['unsent']")" "$((2 * (2500 - 2301)))"
	assert_eq "$(point "['pacing']['missed']")" 0
	assert_eq "$(json "$run_dir/summary.json" "round(d['points'][0]['pacing']['achieved_hz'], 3)")" 91.892
	assert_contains "$(point "['warnings']")" "were not sent (7.96 %)"
}

# bats test_tags=long
@test "samples arrive whole over shared memory, however they are paced and polled" {
	spec whole <<-'YAML'
		settings: {kernel: rate, transport: shmem, messages: 500, repetitions: 1, warmup: 10, check: yes, missed_limit: 100%}
		matrix:
		  - {pacer: [ticks, timerfd, nanosleep], rate: 10kHz, values: [1, 64, 5000]}
		  - {pacer: [ticks, nanosleep], poll: [event, adaptive], rate: 20kHz}
		  - {rate: 1MHz, full: [wait, skip], depth: 2}
	YAML
	run "$KBLAT" run whole.yaml --out runs
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 15
	check_counters 'source["posted"] + source["missed"] + source["unsent"], sink["received"] - source["posted"], sink["bad_payloads"]' "(500, 0, 0)"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	# No sample is sent too early, with any pacer. On a busy machine a point may miss all of its steps.
	assert_eq "$(json "$run_dir/summary.json" 'min(p["metrics"]["pace_ns"]["min"] for p in d["points"] if p["metrics"]["pace_ns"]["n"]) >= -1000')" True
}

# bats test_tags=long
@test "samples arrive whole over every native transport, at the time that they have been given" {
	local native
	native=$(native_transports)
	spec every <<-YAML
		settings: {kernel: rate, rate: 2kHz, messages: 40, repetitions: 2, warmup: 10, check: yes, missed_limit: 100%}
		matrix:
		  - {transport: [${native// /, }], values: [1, 100]}
		  - {transport: [${native// /, }], pacer: timerfd, poll: event}
		  - {transport: [${native// /, }], sink: file, sink_keep: yes, check: no}
	YAML
	run "$KBLAT" run every.yaml --out runs
	assert_measured
	run_dir=$(grep '/every-20' <<<"$output" | tail -n 1)
	[[ $output != *sndbuf* ]] # its default differs between transports, and it was not chosen
	run /usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys, glob, os, numpy
		run = sys.argv[1]
		points = json.load(open(f"{run}/summary.json"))["points"]
		never, arrived = numpy.iinfo("i8").min, {}
		assert json.load(open(f"{run}/run.json"))["points"]["completed"] == len(points) == 4 * len({p["params"]["transport"] for p in points}) > 8
		for p in points:
		    what, base = p["params"]["transport"], f"{run}/points/{p['id']:04d}"
		    for rep in (0, 1):
		        c = json.load(open(f"{base}/rep-{rep:02d}/counters.json"))
		        source, sink = c["source"], c["sink"]
		        due, subm, recv = (numpy.load(f"{base}/rep-{rep:02d}/t_{t}.npy") for t in ("due", "subm", "recv"))
		        sent, came = subm != never, recv != never
		        assert len(due) == 40 and (numpy.diff(due) > 0).all(), what
		        # On a busy machine a repetition may miss all of its steps.
		        assert source["posted"] == sent.sum() and source["posted"] + source["missed"] == 40, (what, source)
		        assert sink["received"] == came.sum() and (sent | ~came).all(), (what, sink)
		        arrived[what] = arrived.get(what, 0) + sink["received"]
		        assert [sink[k] for k in ("bad_payloads", "duplicates", "overflows")] == [0, 0, 0], (what, sink)
		        # Datagrams and published messages may be lost if the sink gets no CPU for a long time.
		        assert what not in ("shmem", "tcp") or sink["received"] == source["posted"], (what, c)
		        assert (recv[came] > subm[came]).all() and (subm[sent] >= due[sent] - 1000).all(), what
		        if p["params"]["sink"] == "file":
		            sample = [("sequence", "<u8"), ("origin", "<i8"), ("count", "<u4"), ("flags", "<u4"), ("value", "<f8", (8,))]
		            stored = numpy.fromfile(f"{base}/samples-{rep:02d}.bin", sample)
		            assert (numpy.sort(stored["sequence"]) == numpy.flatnonzero(came)).all(), what
		            assert sink["stored_bytes"] == stored.nbytes and (stored["count"] == 8).all(), what
		assert all(arrived.values()), arrived
		print("whole")
	PY
	echo "$output"
	[ "$output" = whole ]
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "the summary's table and the CSV say what a pacer missed" {
	rate stall=5 stall_by=25us
	assert_contains "$(head -n 1 "$run_dir/summary.csv")" "achieved_hz,steps,missed,unsent"
	assert_eq "$(/usr/bin/python3 -c 'import csv, sys; print([(r["steps"], r["missed"]) for r in csv.DictReader(open(sys.argv[1]))][0])' "$run_dir/summary.csv")" \
		"('2000', '4')"
}

@test "a claim may be about a pacer" {
	spec c <<-'YAML'
		settings: {kernel: rate, transport: scripted, rate: 100kHz, messages: 1000, repetitions: 1, warmup: 1000, stall: "5", stall_by: 25us}
		claims:
		  - {id: few, claim: few are missed, metric: pacing.missed_share, points: {}, value: {max: 0.5%}}
		  - {id: none, claim: none is missed, metric: pacing.missed_share, points: {}, value: {max: 0%}}
		  - {id: fast, claim: it is as fast as asked, metric: pacing.achieved_hz, points: {}, value: {min: 99000, max: 100000}}
	YAML
	run "$KBLAT" run c.yaml --out runs
	[ "$status" -eq 3 ]
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/claims.json" '[c["verdict"] for c in d["claims"]]')" "['holds', 'fails', 'holds']"
	sed -i 's/missed_share/p50/' c.yaml
	run "$KBLAT" run c.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "'pacing' has no 'p50'"
}

# refused TEXT "KEY=VALUE"…: exit status 2, TEXT in the message, and nothing is made.
refused() {
	local text=$1
	shift
	rate "$@"
	[ "$status" -eq 2 ] || { echo "$* gives $status: $output"; return 1; }
	assert_contains "$output" "$text"
	[ ! -e "$T/runs" ]
}

@test "settings that make no sense are refused before anything starts" {
	refused "rate is 0Hz, below its minimum of 1Hz" rate=0
	refused "rate is -5Hz, below its minimum" rate=-5
	refused "above its maximum of 1000MHz" rate=1001MHz
	refused "must be a rate" rate=fast
	refused "values is 0, below its minimum" values=0
	refused "missed_limit is 101%, above its maximum of 100%" missed_limit=101%
	refused "must be a share" missed_limit=many
	refused "virtual time has no timers" pacer=timerfd
	refused "must be one of ticks, timerfd, nanosleep" pacer=cpufreq
	refused "only the pacer ticks needs to know a frequency" transport=shmem pacer=timerfd tick_error=1%
	refused "it carries no samples" check=yes
	refused "it carries no samples that could be written" sink=file
	refused "must be one of none, file" sink=disk
}

@test "stall without a pacer is refused" {
	scripted stall=5
	[ "$status" -eq 2 ]
	assert_contains "$output" "stall delays a pacer"
}

@test "an interrupted run keeps the steps it came to, and no others" {
	spec long <<-'YAML'
		settings: {kernel: rate, transport: shmem, rate: 1kHz, messages: 1000000, repetitions: 1, warmup: 0, missed_limit: 100%}
	YAML
	"$KBLAT" run long.yaml --out runs >out 2>err &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		[ -n "$(find runs -path '*rep-00*' 2>/dev/null)" ] && break
		sleep 0.1
	done
	sleep 1
	kill -INT "$pid"
	wait "$pid" || true
	run_dir=$(tail -n 1 out)
	n=$(column t_due 'len(d)')
	[ "$n" -gt 0 ]
	[ "$n" -lt 1000000 ]
	assert_eq "$(column t_due 'int((d == numpy.iinfo(d.dtype).min).sum())')" 0
	assert_eq "$(json "$run_dir/points/0000/rep-00/counters.json" 'sum(d["source"][k] for k in ("posted", "missed", "unsent"))')" "$n"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "every sample that arrived is in the file, in order and whole" {
	spec f <<-'YAML'
		settings: {kernel: rate, transport: shmem, rate: 50kHz, messages: 5000, repetitions: 2, warmup: 100, missed_limit: 100%, sink: file, sink_keep: yes, values: [8, 500]}
	YAML
	run "$KBLAT" run f.yaml --out runs
	assert_measured
	run /usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys, numpy
		run = sys.argv[1]
		for point, values in ((0, 8), (1, 500)):
		    for rep in (0, 1):
		        base = f"{run}/points/{point:04d}"
		        sample = [("sequence", "<u8"), ("origin", "<i8"), ("count", "<u4"), ("flags", "<u4"), ("value", "<f8", (values,))]
		        stored = numpy.fromfile(f"{base}/samples-{rep:02d}.bin", sample)
		        subm = numpy.load(f"{base}/rep-{rep:02d}/t_subm.npy")
		        sent = numpy.flatnonzero(subm != numpy.iinfo("i8").min)
		        assert len(stored) == len(sent) and (stored["sequence"] == sent).all()
		        assert (stored["origin"] <= subm[sent]).all() and (stored["count"] == values).all()
		        assert ((stored["value"] >= 1) & (stored["value"] < 2)).all()
		        counters = json.load(open(f"{base}/rep-{rep:02d}/counters.json"))["sink"]
		        assert counters["stored_bytes"] == stored.nbytes and counters["store_write_ns"] > 0
		print("whole")
	PY
	assert_eq "$output" whole
	assert_eq "$(point "['sink']['bytes_per_s'] > 0 and d['points'][0]['sink']['stored_bytes'] > 0")" True
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a file that nobody wants to keep has no name" {
	spec f <<-'YAML'
		settings: {kernel: rate, transport: shmem, rate: 50kHz, messages: 2000, repetitions: 1, warmup: 100, missed_limit: 100%, sink: file, sink_dir: there}
	YAML
	mkdir there
	run "$KBLAT" run f.yaml --out runs
	assert_measured
	assert_eq "$(ls -A there)" ""
	run "$KBLAT" run f.yaml --out runs --set sink_dir=nowhere
	[ "$status" -eq 1 ]
	assert_contains "$output" "nowhere/samples-"
	assert_contains "$output" "no such file or directory"
}

@test "a full disk under the file sink fails its point with the reason, and the other points are measured" {
	need_namespaces -rm
	mkdir full
	spec f <<-YAML
		settings: {kernel: rate, transport: shmem, rate: 50kHz, messages: 5000, repetitions: 1, warmup: 0, missed_limit: 100%, sink_dir: $T/full}
		matrix:
		  - {values: 7900, sink: file, sink_keep: [yes, no]}
		  - {values: 8, sink: [file, none]}
	YAML
	# 17 of the large ones fill the megabyte of space; even a slow machine that misses nearly every step sends that many.
	run unshare -rm bash -c "mount -t tmpfs -o size=1m none full && '$KBLAT' run f.yaml --out runs; status=\$?; ls -A full >left; exit \$status"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_eq "$(cat left)" ""
	run_dir=$(ls -d runs/*)
	assert_eq "$(json "$run_dir/run.json" '(d["status"], d["points"]["failed"], d["points"]["completed"])')" "('FAILED', 2, 2)"
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["why"]')" "No space left on device"
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["why"]')" "$T/full"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "source_file: csv has every posted sample in order, and makes the pacer late by what it takes" {
	spec csv <<-'YAML'
		settings: {kernel: rate, transport: shmem, messages: 500, values: 3, repetitions: 2, warmup: 10, rate: 2kHz, source_file: csv, sink: file, sink_keep: yes}
	YAML
	run "$KBLAT" run csv.yaml --out runs
	assert_measured
	run /usr/bin/python3 - "$run_dir" <<-'PY'
		import json, struct, sys, numpy
		at = sys.argv[1] + "/points/0000"
		for rep in range(2):
		    sent = numpy.flatnonzero(numpy.load(f"{at}/rep-{rep:02d}/t_subm.npy") != numpy.iinfo("i8").min)
		    lines = [line.rstrip("\n").split(",") for line in open(f"{at}/sent-{rep:02d}.csv")]
		    assert [int(l[1]) for l in lines] == sent.tolist(), "numbers"
		    raw = open(f"{at}/samples-{rep:02d}.bin", "rb").read()
		    arrived = {}
		    for i in range(0, len(raw), 48):
		        seq, origin, count, flags, *values = struct.unpack_from("<QqII3d", raw, i)
		        arrived[seq] = [f"{origin // 10**9}.{origin % 10**9:09d}"] + values
		    assert len(arrived) == len(lines), (len(arrived), len(lines))
		    for l in lines:
		        assert [l[0]] + [float(v) for v in l[2:]] == arrived[int(l[1])], l
		    counters = json.load(open(f"{at}/rep-{rep:02d}/counters.json"))
		    size = len(open(f"{at}/sent-{rep:02d}.csv").read())
		    assert counters["source"]["stored_bytes"] == size, (counters["source"]["stored_bytes"], size)
		print("so it is")
	PY
	echo "$output"
	[ "$output" = "so it is" ]
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a file in the sending path holds the source back, and leaves nothing unless it is kept" {
	spec slow <<-'YAML'
		settings: {kernel: rate, transport: shmem, messages: 3000, values: 2000, repetitions: 1, warmup: 0, rate: 20kHz, missed_limit: 100%}
		matrix:
		  - {source_file: [none, csv], poll: event}
	YAML
	run "$KBLAT" run slow.yaml --out runs
	assert_measured
	# Two thousand doubles as text take several periods.
	assert_eq "$(json "$run_dir/summary.json" 'd["points"][1]["pacing"]["missed_share"] > 0.5, d["points"][1]["pacing"]["missed_share"] > d["points"][0]["pacing"]["missed_share"]')" "(True, True)"
	[ -z "$(find "$run_dir" -name 'sent-*')" ]
	run "$KBLAT" run slow.yaml --out runs --set check=yes
	[ "$status" -eq 2 ]
	assert_contains "$output" "check and source_file csv"
	run "$KBLAT" run slow.yaml --out runs --set transport=scripted
	[ "$status" -eq 2 ]
	assert_contains "$output" "source_file csv and transport scripted"
}

@test "a full disk under the source's file fails the point and says so" {
	spec full <<-YAML
		settings: {kernel: rate, transport: shmem, messages: 2000, values: 100, repetitions: 1, warmup: 0, rate: 10kHz, missed_limit: 100%, source_file: csv, sink_dir: $T/none}
	YAML
	run "$KBLAT" run full.yaml --out runs
	[ "$status" -eq 1 ]
	assert_contains "$output" "$T/none/sent-"
}

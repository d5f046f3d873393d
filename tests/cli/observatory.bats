#!/usr/bin/env bats
# Observatory's configurations, unchanged, and its result files (docs/observatory.md).

load helper

# config FILE NAME | config FILE x KEY=VALUE…: T/FILE, as observatory_config.py makes it.
config() {
	local file=$1
	shift
	/usr/bin/python3 "$BATS_TEST_DIRNAME/observatory_config.py" "$@" >"$T/$file"
}

# rows FILE EXPRESSION: a result file as a list of dictionaries `d`, read as its plot script does, in Python.
rows() {
	/usr/bin/python3 -c 'import csv, sys; d = list(csv.DictReader(open(sys.argv[1], newline=""))); print(eval(sys.argv[2]))' "$1" "$2"
}

@test "its example configuration is 210 points, 42 in both directions, each with its count" {
	config config.json config
	run "$KBLAT" run config.json --dry-run --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json 'len(d), sum(p["params"]["messages"] * p["params"]["repetitions"] for p in d)')" \
		"(210, 26880937494)"
	assert_eq "$(json p.json 'sorted(set((p["params"]["kernel"], p["params"]["op"], p["params"]["depth"], p["params"].get("both")) for p in d), key=str)')" \
		"[('pingpong', 'send_imm', 2, None), ('stream', 'read', 1, False), ('stream', 'read', 100, False), ('stream', 'read', 100, True), ('stream', 'send', 1, False), ('stream', 'send', 100, False), ('stream', 'send', 100, True), ('stream', 'write', 1, False), ('stream', 'write', 100, False), ('stream', 'write', 100, True)]"
	run "$KBLAT" run config.json --dry-run --json --quick
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json 'len(d), set((p["params"]["repetitions"], p["params"].get("stamp_every", 1)) for p in d)')" "(210, {(1, 1)})"
	# At most 128 MiB of the largest.
	assert_eq "$(json p.json 'sorted(set((p["params"]["messages"], p["params"]["warmup"], max(p["params"]["size_bytes"], 65536)) for p in d), reverse=True)')" \
		"[(1000, 100, 131072), (1000, 100, 65536), (512, 51, 262144), (256, 25, 524288), (128, 12, 1048576)]"
}

@test "over sockets RDMA operations and too small sizes are left out and named" {
	config config.json config
	"$KBLAT" run config.json --dry-run --json --set transport=tcp >p.json 2>said
	assert_eq "$(json p.json 'len(d), min(p["params"]["size_bytes"] for p in d)')" "(76, 4)"
	assert_eq "$(grep -c 'is left out: the transport tcp has no RDMA operations' said)" 4
	assert_contains "$(cat said)" "this size is left out: a message over tcp has at least 4 bytes"
}

@test "over UCX and libfabric each operation is what the library calls it, and its results are in the same files" {
	need_feature UCX libfabric
	config config.json config
	"$KBLAT" run config.json --dry-run --json --set transport=ucx >p.json 2>said
	assert_eq "$(json p.json 'len(d), sorted(set((p["params"]["kernel"], p["params"]["api"]) for p in d))')" \
		"(202, [('pingpong', 'tag'), ('stream', 'get'), ('stream', 'put'), ('stream', 'tag')])"
	assert_eq "$(json p.json 'min(p["params"]["size_bytes"] for p in d if p["params"]["api"] == "put")')" 1
	assert_eq "$(grep -c 'this size is left out: a message over ucx has at least 4 bytes' said)" 6
	"$KBLAT" run config.json --dry-run --json --set transport=fabric >p.json 2>said
	assert_eq "$(json p.json 'sorted(set(p["params"]["api"] for p in d))')" "['read', 'tagged', 'write']"
	config some.json x name=MessagingThroughput,RdmaWriteThroughput,RdmaReadLatency,MessagingPingPong sizes=64 count=500 warmUp=300 repetitions=1
	run "$KBLAT" run some.json --no-state --set transport=ucx --set tls=posix --out runs
	assert_measured
	run "$KBLAT" export runs/* --observatory results
	[ "$status" -eq 0 ]
	assert_eq "$(ls results)" "Messaging PingPong.csv
Messaging Throughput.csv
RDMA Read Latency.csv
RDMA Write Throughput.csv"
}

@test "the specs in experiments/observatory are what its configurations become, but say what is measured" {
	need_feature UCX
	local spec name transport
	[ "$(ls "$ROOT"/experiments/observatory/*/spec.yaml | wc -l)" -eq 8 ]
	for spec in "$ROOT"/experiments/observatory/*/spec.yaml; do
		name=$(basename "$(dirname "$spec")")
		transport=$(awk '/^settings:/ { print $3 }' "$spec" | tr -d ',}')
		config "$name.json" "$name"
		"$KBLAT" export "$name.json" --spec --transport "$transport" 2>/dev/null | sed 's/ device: [^,}]*,//' >made.yaml
		diff <(grep -vE '^(name|title|source):' "$spec") <(grep -vE '^(name|title|source):' made.yaml)
		grep -qE '^title: "(Verbs|UCX|TCP sockets), with .* parameters: ' "$spec"
		grep -qE "^source: \"Observatory, configuration (verbs|UCX|TCP sockets) \(.*'s parameters\)\"" "$spec"
	done
	# Each has a name of its own.
	assert_eq "$(cat "$ROOT"/experiments/observatory/*/spec.yaml | grep '^name:' | sort -u | wc -l)" 8
}

@test "counters read by mad are not promised: there is a warning, unless the detector is disabled" {
	config mad.json x name=MessagingPingPong sizes=16 count=300 warmUp=10
	for enabled in true false; do
		/usr/bin/python3 - mad.json "$enabled" <<-'END'
			import json, sys
			d = json.load(open(sys.argv[1]))
			d["detector"] = {"enabled": sys.argv[2] == "true", "deviceNumber": 0, "mode": "mad"}
			json.dump(d, open(sys.argv[1], "w"))
		END
		run "$KBLAT" run mad.json --dry-run
		[ "$status" -eq 0 ]
		assert_eq "$(grep -c 'mode mad is not implemented' <<<"$output")" "$([ "$enabled" = true ] && echo 1 || echo 0)"
	done
}

@test "a run keeps the configuration and its spec, and becomes result files with what was measured" {
	config pp.json x name=MessagingPingPong sizes=16,1024 count=300 warmUp=10 resultName='A "b", c'
	run "$KBLAT" run pp.json --set transport=shmem --out runs
	[ "$status" -eq 0 ]
	run_dir=$(tail -n 1 <<<"$output")
	[[ "$(basename "$run_dir")" == a-b-c-* ]]
	cmp pp.json "$run_dir/observatory.json"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	run "$KBLAT" run "$run_dir/spec.yaml" --dry-run --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json '[p["params"] for p in d]')" "$(json "$run_dir/resolved.json" '[p["params"] for p in d["points"]]')"

	run "$KBLAT" export "$run_dir" --observatory results
	[ "$status" -eq 0 ]
	assert_eq "$(ls results)" "Messaging PingPong.csv"
	assert_eq "$(head -n 1 results/*)" \
		"Benchmark,Iteration,Size,50thLatency,95thLatency,9999thLatency,999thLatency,99thLatency,AverageLatency,MaximumLatency,MinimumLatency,OperationThroughput"
	assert_eq "$(rows results/* '[(r["Benchmark"], r["Iteration"], r["Size"]) for r in d]')" \
		"[('A \"b\", c', '0', '16'), ('A \"b\", c', '1', '16'), ('A \"b\", c', '0', '1024'), ('A \"b\", c', '1', '1024')]"
	/usr/bin/python3 - "$run_dir" results/*.csv <<-'PY'
		import csv, json, math, struct, sys
		def column(rep, name):
		    data = open(f"{sys.argv[1]}/points/0000/rep-{rep:02}/{name}.npy", "rb").read()[4096:]
		    return struct.unpack(f"<{len(data) // 8}q", data)
		rows = list(csv.DictReader(open(sys.argv[2], newline="")))
		for rep in (0, 1):
		    begin, end = column(rep, "t_subm"), column(rep, "t_back")
		    rtt = sorted(b - a for a, b in zip(begin, end))
		    want = {"MinimumLatency": rtt[0], "MaximumLatency": rtt[-1], "AverageLatency": sum(rtt) / 300,
		            "50thLatency": rtt[149], "95thLatency": rtt[284], "99thLatency": rtt[296], "999thLatency": rtt[299], "9999thLatency": rtt[299]}
		    for key, value in want.items():
		        assert math.isclose(float(rows[rep][key]), value / 1e9, rel_tol=1e-11), (key, rows[rep][key], value)
		    assert math.isclose(float(rows[rep]["OperationThroughput"]), 300 / ((end[-1] - begin[0]) / 1e9), rel_tol=1e-11)
	PY

	run "$KBLAT" export "$run_dir" --observatory results
	[ "$status" -eq 2 ]
	assert_contains "$output" "the file already exists"
}

@test "a run of a spec made from a configuration keeps its resultName, other runs have their title" {
	config pp.json x name=MessagingPingPong sizes=64 count=100 warmUp=10 repetitions=1 resultName='hadroNIO: 64K'
	"$KBLAT" export pp.json --spec --transport shmem >made.yaml
	sed 's/^title: .*/title: Changed/' made.yaml >changed.yaml
	sed 's/^source: .*/source: mine/' made.yaml >other.yaml
	for spec in changed other; do
		run "$KBLAT" run "$spec.yaml" --out "$spec"
		assert_measured
		"$KBLAT" export "$spec"/* --observatory "results-$spec"
	done
	assert_eq "$(rows results-changed/* 'd[0]["Benchmark"]')" "hadroNIO: 64K"
	assert_eq "$(rows results-other/* 'd[0]["Benchmark"]')" "hadroNIO: 64K: round trips over shmem"
}

@test "rates and latencies of messages become result files, of several runs in the same" {
	config a.json x name=MessagingThroughput,MessagingLatency sizes=64 count=2000 warmUp=10 repetitions=1 resultName=A
	config b.json x name=MessagingThroughput modes=unidirectional,bidirectional sizes=64 count=2000 warmUp=10 resultName=B
	for c in a b; do
		run "$KBLAT" run "$c.json" --set transport=tcp --out runs
		assert_measured
	done
	run "$KBLAT" export runs/a-* runs/b-* --observatory results
	[ "$status" -eq 0 ]
	assert_eq "$(ls results)" "Bidirectional Messaging Throughput.csv
Messaging Latency.csv
Messaging Throughput.csv"
	assert_eq "$(head -n 1 "results/Messaging Throughput.csv")" "Benchmark,Iteration,Size,DataThroughput,OperationThroughput"
	assert_eq "$(rows "results/Messaging Throughput.csv" '[(r["Benchmark"], r["Iteration"]) for r in d]')" "[('A', '0'), ('B', '0'), ('B', '1')]"
	assert_eq "$(rows "results/Messaging Throughput.csv" 'all(abs(float(r["DataThroughput"]) / float(r["OperationThroughput"]) - 64) < 1e-6 for r in d)')" "True"
	assert_eq "$(rows "results/Messaging Latency.csv" 'all(0 < float(r["MinimumLatency"]) <= float(r["50thLatency"]) <= float(r["MaximumLatency"]) for r in d)')" "True"
}

@test "a detector that counts nothing is named, and one that counts has its values in their columns" {
	config d.json x name=MessagingPingPong sizes=64 count=200 warmUp=10 repetitions=1
	sed -i 's/"enabled": false/"enabled": true/' d.json
	run "$KBLAT" run d.json --set transport=tcp --out runs
	assert_measured
	assert_contains "$output" "the detector is enabled, but no bytes on the wire were counted: the messages only crossed the loopback interface"
	run_dir=$(tail -n 1 <<<"$output")
	/usr/bin/python3 - "$run_dir/summary.json" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		d["points"][0]["reps"][0]["wire"].update({"raw_bytes": 2000, "payload_bytes": 1600, "factor": 1.25, "percent": 25.0, "bytes_per_s": 5000.0})
		json.dump(d, open(sys.argv[1], "w"))
	PY
	run "$KBLAT" export "$run_dir" --observatory results
	[ "$status" -eq 0 ]
	assert_contains "$(head -n 1 results/*)" ",AverageLatency,DataOverheadFactor,DataOverheadPercentage,DataOverheadThroughput,MaximumLatency,"
	assert_eq "$(rows results/* '[float(d[0]["DataOverhead" + k]) for k in ("Factor", "Percentage", "Throughput")]')" "[1.25, 25.0, 1000.0]"
}

@test "what is wrong with a configuration is said with its place in the JSON, and nothing is started" {
	config bad.json x name=MessagingLatency modes=bidirectional
	run "$KBLAT" run bad.json --out runs
	[ "$status" -eq 2 ]
	assert_contains "$output" "bad.json:13:9: MessagingLatency cannot be bidirectional"
	assert_contains "$output" '"bidirectional"'
	assert_contains "$output" "^"
	[ ! -e runs ]
	config bad.json x count=0
	sed -i 's/"MessagingThroughput"/"MessagingThruput"/' bad.json
	run "$KBLAT" run bad.json --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'MessagingThroughput'?"
	assert_contains "$output" "'count' must be a whole number"
	config bad.json x name=MessagingPingPong
	sed -i '$d' bad.json
	run "$KBLAT" run bad.json --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "bad.json:"
}

@test "a configuration of 1 MB of parameters is checked in time" {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/observatory_config.py" x | /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
d["parameters"] = [{"key": f"p{i}", "value": "1"} for i in range(34700)]
json.dump(d, sys.stdout, separators=(",", ":"))' >config.json
	[ "$(stat -c %s config.json)" -gt 900000 ]
	ulimit -t 4
	"$KBLAT" run config.json --dry-run >said 2>&1 || { tail -n 3 said; false; }
}

@test "export says what it cannot do" {
	run "$KBLAT" export a --csv --spec
	[ "$status" -eq 2 ]
	assert_contains "$output" "more than one format is given"
	run "$KBLAT" export a
	[ "$status" -eq 2 ]
	assert_contains "$output" "no format is given"
	run "$KBLAT" export a b --csv
	[ "$status" -eq 2 ]
	run "$KBLAT" export a --csv --transport tcp
	[ "$status" -eq 2 ]
	run "$KBLAT" export "$ROOT/experiments/quickstart" --spec
	[ "$status" -eq 2 ]
	assert_contains "$output" "it is already a spec"
	scripted
	run "$KBLAT" export "$run_dir" --observatory results
	[ "$status" -eq 2 ]
	assert_contains "$output" "no point has the kernel stream or pingpong"
	[ ! -e results ]
}

@test "compared with Observatory's own program, if it is installed" {
	config pp.json x name=MessagingPingPong sizes=64 count=200
	OBSERVATORY='' run "$ROOT/experiments/observatory/beside" pp.json
	[ "$status" -eq 77 ]
	assert_contains "$output" "names no program"
	# A stand-in: its server and its client measure nothing, and report that in the same format.
	cat >observatory <<-'SH'
		#!/bin/sh
		while [ $# -gt 0 ]; do
			case $1 in
			--server) server=yes ;;
			--output) out=$2 ;;
			esac
			shift
		done
		[ "$server" ] || exit 0
		mkdir "$out"
		printf 'Benchmark,Iteration,Size,50thLatency,OperationThroughput\nSmall,0,64,1e-3,1000\nSmall,1,64,3e-3,3000\n' >"$out/Messaging PingPong.csv"
	SH
	chmod +x observatory
	KBLAT=$KBLAT OBSERVATORY=$T/observatory run "$ROOT/experiments/observatory/beside" pp.json --set transport=shmem
	[ "$status" -eq 0 ]
	[[ $output =~ Messaging\ PingPong\ +64\ +operations/s\ +2000 ]]
	[[ $output =~ Messaging\ PingPong\ +64\ +median,\ us\ +2000 ]]
	printf '#!/bin/sh\necho no such device; exit 1\n' >observatory
	KBLAT=$KBLAT OBSERVATORY=$T/observatory run "$ROOT/experiments/observatory/beside" pp.json --set transport=shmem
	[ "$status" -eq 1 ]
	assert_contains "$output" "no such device"
}

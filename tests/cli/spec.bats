#!/usr/bin/env bats
# What a spec may contain, and the messages about a wrong one: all errors at once, with their places, and exit status 2.

load helper

@test "a matrix is a cross product of each block, the last axis fastest, and --dry-run shows it" {
	spec m <<-'YAML'
		settings: {kernel: oneway, messages: 10}
		matrix:
		  - {transport: verbs, qp: [rc, ud], poll: [busy, event]}
		  - {transport: shmem}
	YAML
	run "$KBLAT" run m.yaml --dry-run --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json '[(p["id"], p["params"].get("qp"), p["params"]["poll"]) for p in d]')" \
		"[(0, 'rc', 'busy'), (1, 'rc', 'event'), (2, 'ud', 'busy'), (3, 'ud', 'event'), (4, None, 'busy')]"
}

@test "units become base units, and their keys say which" {
	spec u <<-'YAML'
		settings: {kernel: oneway, transport: shmem, size: 64KiB, pause: 1.5us, limit: 1ms, messages: 1e3}
	YAML
	run "$KBLAT" run u.yaml --dry-run --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json '[d[0]["params"][k] for k in ("size_bytes", "pause_ns", "limit_ns", "messages")]')" \
		"[65536, 1500, 1000000, 1000]"
}

@test "everything wrong with a spec is said at once, with line, column and a caret" {
	spec w <<-'YAML'
		settngs: {}
		settings:
		  kernel: onway
		  transport: shmem
		  sise: 32
		matrix:
		  - {transport: tcpp, kernel: oneway}
		  - {kernel: oneway, poll: bussy, messages: 0, pause: 10 parsecs, qp: rc}
	YAML
	run "$KBLAT" run w.yaml
	[ "$status" -eq 2 ]
	assert_contains "$output" "w.yaml:3:1: unknown key 'settngs'; did you mean 'settings'?"
	assert_contains "$output" "unknown transport 'tcpp'"
	assert_contains "$output" "unknown setting 'sise'; did you mean 'size'?"
	assert_contains "$output" "w.yaml:10:28:"
	assert_contains "$output" "did you mean 'busy'?"
	assert_contains "$output" "messages"
	assert_contains "$output" "10 parsecs"
	assert_contains "$output" "'qp' belongs to the transport verbs"
	assert_contains "$output" "^"
}

@test "a duplicate key is refused" {
	spec d <<-'YAML'
		settings: {kernel: oneway, transport: shmem, size: 32, size: 64}
	YAML
	run "$KBLAT" run d.yaml
	[ "$status" -eq 2 ]
	assert_contains "$output" "size"
	assert_contains "$output" "d.yaml:3:"
}

@test "contradictions name both settings" {
	spec c <<-'YAML'
		settings: {kernel: oneway, transport: verbs}
		matrix:
		  - {qp: uc, connect: rdmacm}
		  - {qp: ud, size: 8KiB}
	YAML
	run "$KBLAT" run c.yaml
	[ "$status" -eq 2 ]
	assert_contains "$output" "rdmacm"
	assert_contains "$output" "4096"
}

@test "an empty matrix, a matrix that is no list, and an empty axis are refused" {
	for matrix in '[]' '{}' '5' '[5]' '[{transport: shmem, poll: []}]'; do
		spec e <<-YAML
			settings: {kernel: oneway}
			matrix: $matrix
		YAML
		run "$KBLAT" run e.yaml
		[ "$status" -eq 2 ]
		assert_contains "$output" "e.yaml:4:"
	done
}

@test "too many points are refused before they are made" {
	spec many <<-YAML
		settings: {kernel: oneway, transport: shmem}
		matrix:
		  - {size: [$(seq -s, 1 200)], depth: [$(seq -s, 1 200)], messages: [$(seq -s, 1 200)]}
	YAML
	run timeout 20 "$KBLAT" run many.yaml
	[ "$status" -eq 2 ]
	assert_contains "$output" "more than"
}

@test "too many flows of all points are refused, too" {
	spec many <<-YAML
		settings: {kernel: oneway, transport: scripted, flows: $(seq -f f%g -s' ' 64)}
		matrix:
		  - {size: [$(seq -s, 65 221)]}
	YAML
	run "$KBLAT" run many.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "many.yaml:5:5: makes more than 10000 flows in all points"
	run "$KBLAT" run many.yaml --dry-run --set size=32
	[ "$status" -eq 0 ]
}

@test "binary garbage, a directory, an unreadable file, a FIFO, an empty file and none: status 2 and a message" {
	head -c 4096 /dev/urandom >garbage.yaml
	mkdir dir
	: >empty.yaml
	mkfifo fifo.yaml
	for f in garbage.yaml dir empty.yaml fifo.yaml none.yaml; do
		run timeout 20 "$KBLAT" run "$f"
		[ "$status" -eq 2 ]
		assert_contains "$output" "$f"
	done
	if [ "$(id -u)" -ne 0 ]; then
		touch secret.yaml
		chmod 000 secret.yaml
		run "$KBLAT" run secret.yaml
		[ "$status" -eq 2 ]
	fi
}

@test "100 MB of nested brackets are refused at once, and a smaller nest by its depth" {
	head -c 100000000 /dev/zero | tr '\0' '[' >huge.yaml
	run timeout 20 "$KBLAT" run huge.yaml
	[ "$status" -eq 2 ]
	[ "${#output}" -lt 4000 ]
	head -c 100000 huge.yaml >deep.yaml
	run timeout 20 "$KBLAT" run deep.yaml
	[ "$status" -eq 2 ]
	[ "${#output}" -lt 4000 ]
}

@test "--set changes a setting wherever it is, --only keeps what matches, and both are checked" {
	spec o <<-'YAML'
		settings: {kernel: oneway, messages: 10}
		matrix:
		  - {transport: verbs, qp: [rc, uc, ud]}
		  - {transport: shmem}
	YAML
	run "$KBLAT" run o.yaml --dry-run --json --set qp=ud --set size=1KiB
	echo "$output" >p.json
	assert_eq "$(json p.json '[(p["params"].get("qp"), p["params"]["size_bytes"]) for p in d]')" \
		"[('ud', 1024), (None, 1024)]"
	run "$KBLAT" run o.yaml --dry-run --json --only qp=rc --only qp=uc --only transport=verbs
	echo "$output" >p.json
	assert_eq "$(json p.json '[p["params"]["qp"] for p in d]')" "['rc', 'uc']"
	run "$KBLAT" run o.yaml --dry-run --set sise=3
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'size'?"
	run "$KBLAT" run o.yaml --dry-run --set interval=1us
	[ "$status" -eq 2 ]
	assert_contains "$output" "no point has a setting 'interval'"
	run "$KBLAT" run o.yaml --dry-run --only transport=shmem --only poll=event
	[ "$status" -eq 2 ]
	assert_contains "$output" "--only poll=event: no point has that, but busy"
	run "$KBLAT" run o.yaml --dry-run --only transport=shmem --only qp=rc
	[ "$status" -eq 2 ]
	assert_contains "$output" "none of 4 points matches --only"
	run "$KBLAT" run o.yaml --dry-run --only transport=shm
	[ "$status" -eq 2 ]
	assert_contains "$output" "--only transport=shm: no point has that, but verbs, shmem"
	run "$KBLAT" run o.yaml --dry-run --only messages=5
	assert_contains "$output" "no point has that, but 10"
	run "$KBLAT" run o.yaml --dry-run --only interval=1us
	assert_contains "$output" "no point has such a setting"
	run "$KBLAT" run o.yaml --dry-run --only size=big
	[ "$status" -eq 2 ]
	# A setting of one name may have other values over another transport.
	spec a <<-'YAML'
		settings: {kernel: pingpong, messages: 10}
		matrix:
		  - {transport: ucx, api: [am, tag]}
		  - {transport: fabric, api: [msg, tagged]}
	YAML
	run "$KBLAT" run a.yaml --dry-run --json --only api=tagged --only api=am
	echo "$output" >p.json
	assert_eq "$(json p.json '[(p["params"]["transport"], p["params"]["api"]) for p in d]')" "[('ucx', 'am'), ('fabric', 'tagged')]"
	run "$KBLAT" run a.yaml --dry-run --only api=tagget
	[ "$status" -eq 2 ]
	assert_contains "$output" "--only api=tagget: api must be one of"
}

@test "--only selects before points are checked, and the title says what was selected" {
	spec both <<-'YAML'
		title: Both
		settings: {kernel: oneway, messages: 100, burst: 100, repetitions: 1, pause: 0}
		claims:
		  - {id: fast, claim: It is fast, measured_by_source: "1", metric: lat_ns.p50, points: {transport: scripted}, value: {max: 1ms}}
		  - {id: other, claim: So is the other, measured_by_source: "1", metric: lat_ns.p50, points: {transport: verbs}, value: {max: 1ms}}
		matrix:
		  - {transport: verbs, qp: [rc, ud]}
		  - {transport: scripted}
	YAML
	# 8 KiB is too much for a datagram, and scripted has no queue pair
	run "$KBLAT" run both.yaml --set size=8KiB
	[ "$status" -eq 2 ]
	assert_contains "$output" "a datagram holds one packet"
	run "$KBLAT" run both.yaml --set size=8KiB --only transport=scripted --out runs
	assert_measured
	assert_contains "$output" "both: Both (only transport=scripted)"
	# what was not measured is not told among what was judged
	assert_contains "$output" "about points that were not measured: other"
	[[ $output != *"So is the other"* ]]
	# if nothing is left, what is wrong is said
	run "$KBLAT" run both.yaml --only qp=rc --set qp=rx
	[ "$status" -eq 2 ]
	assert_contains "$output" "qp must be one of rc, uc, ud, not 'rx'"
}

@test "a time without a unit is in nanoseconds, and that is said" {
	spec t <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 100, pause: 0}
	YAML
	run "$KBLAT" run t.yaml --dry-run
	[[ $output != *"without a unit"* ]]
	run "$KBLAT" run t.yaml --dry-run --set pause=50
	[ "$status" -eq 0 ]
	assert_contains "$output" "--set pause: 50 without a unit is 50 ns; write it as 50ns, 50us or 50ms"
	assert_contains "$output" "pause_ns=50"
}

@test "quick settings replace others where they are told to" {
	spec q <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 1000}
		matrix:
		  - {pause: 0, quick: {messages: 5}}
		  - {pause: 1s}
		quick: {pause: 10ms, repetitions: 2}
	YAML
	run "$KBLAT" run q.yaml --dry-run --json --quick
	echo "$output" >p.json
	assert_eq "$(json p.json '[(p["params"]["messages"], p["params"]["pause_ns"], p["params"]["repetitions"]) for p in d]')" \
		"[(5, 10000000, 2), (1000, 10000000, 2)]"
}

# bats test_tags=long
@test "every spec that is shipped is good, also in its quick variant" {
	while read -r s; do
		run "$KBLAT" run "$s" --dry-run
		[ "$status" -eq 0 ]
		run "$KBLAT" run "$s" --dry-run --quick
		[ "$status" -eq 0 ]
	done < <(find "$ROOT/experiments" -name spec.yaml)
}

@test "judge names what decides a comparison, in the resolved spec" {
	printf 'kblat: 1\nname: j\njudge: p50, p99.9\nsettings: {kernel: oneway, transport: scripted, messages: 20}\n' >j.yaml
	run "$KBLAT" run j.yaml --out runs
	assert_eq "$(json "${lines[-1]}/resolved.json" 'd["judge"]')" "['p50', 'p99_9']"
	sed -i 's/^judge.*/judge: [p99, p75]/' j.yaml
	run "$KBLAT" run j.yaml --dry-run
	assert_eq "$status" 2
	assert_contains "$output" "j.yaml:3:14: 'judge': 'p75' is nothing that is compared"
}

@test "what is unknown in every one of many points is not looked up for each of them" {
	local unknown
	unknown=$(printf ', unknown%d: x' {1..60})
	spec many <<-YAML
		settings: {kernel: oneway, transport: shmem, messages: [$(seq -s, 1 100)]$unknown}
	YAML
	run "$KBLAT" run many.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "unknown setting 'unknown50'"
	assert_contains "$output" "and 10 more"
}

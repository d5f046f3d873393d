#!/usr/bin/env bats
# Campaigns: a study's experiments, one after the other, interrupted and resumed.

load helper
bats_require_minimum_version 1.5.0

# experiment NAME <<YAML: study/NAME/spec.yaml
experiment() {
	mkdir -p "study/$1"
	{
		printf 'kblat: 1\nname: %s\n' "$1"
		cat
	} >"study/$1/spec.yaml"
}

study() {
	experiment fast <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, delay: 1us}
		claims:
		  - id: faster
		    claim: "It is twice as fast as the slow one"
		    measured_by_source: "2"
		    metric: lat_ns.p50
		    points: {}
		    against: {experiment: slow}
		    ratio: {max: 0.6}
	YAML
	experiment slow <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 2, delay: 2us}
		quick: {messages: 200}
	YAML
	experiment memory <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 200, burst: 1, pause: 100us, repetitions: 1, poll: event}
	YAML
	mkdir -p study/runs study/notes
}

states() {
	cells "$1" '[(x["name"], x["state"]) for x in d]'
}

@test "a study says first, once, what is impossible here, and what to do; its claims come once, at the end" {
	! grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state || skip "this machine has an RDMA device"
	for name in one two; do
		experiment "$name" <<-'YAML'
			settings: {kernel: oneway, messages: 100, burst: 100, repetitions: 1}
			matrix: [{transport: verbs, qp: [rc, uc, ud]}, {transport: scripted}]
			claims:
			  - {id: fast, claim: It is fast, measured_by_source: "1", metric: lat_ns.p50, points: {qp: rc}, value: {max: 1ms}}
		YAML
	done
	run --separate-stderr "$KBLAT" run study --out runs
	[ "$status" -eq 0 ]
	assert_eq "$(head -n 1 <<<"$stderr")" "kblat: 6 of 8 points, in 2 of 2 experiments, are not possible here: no RDMA device on this machine; \`kblat-guest -- COMMAND\` runs a command in a guest that has a Soft-RoCE device"
	assert_eq "$(grep -c kblat-guest <<<"$stderr$output")" 1
	[[ $stderr != *impossible* ]]
	assert_eq "$(grep -c 'It is fast' <<<"$output")" 2
	# --dry-run says it, too
	run --separate-stderr "$KBLAT" run study --dry-run
	assert_contains "$stderr" "6 of 8 points"
	# the same reason of many points is said once
	spec many <<-'YAML'
		settings: {kernel: oneway, transport: tcp, source_address: 192.0.2.1, messages: 100, burst: 1}
		matrix: [{size: [32B, 64B, 128B, 256B]}]
	YAML
	run --separate-stderr "$KBLAT" run many.yaml --out runs
	[ "$status" -eq 77 ]
	assert_eq "$(grep -c 192.0.2.1 <<<"$stderr")" 1
	assert_contains "$stderr" "3 more points: likewise, for a reason given above"
	# also if points with other reasons lie between them; points are called by the number that pages use
	spec mixed <<-'YAML'
		settings: {kernel: oneway, messages: 100, burst: 1}
		matrix: [{size: [32B, 64B, 128B], transport: [tcp, udp], source_address: 192.0.2.1}]
	YAML
	run --separate-stderr "$KBLAT" run mixed.yaml --out runs
	[ "$status" -eq 77 ]
	assert_contains "$stderr" "kblat: point 0 (1 of 6): impossible: "
	assert_eq "$(grep -c 192.0.2.1 <<<"$stderr")" "$(grep 192.0.2.1 <<<"$stderr" | sed 's/.*impossible: //' | sort -u | wc -l)"
}

@test "all experiments run, their claims are judged together, the last line is the campaign" {
	study
	run --separate-stderr "$KBLAT" run study --out out
	[ "$status" -eq 0 ]
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "[('fast', 'completed'), ('memory', 'completed'), ('slow', 'completed')]"
	assert_eq "$(json "$c/study.json" 'd["status"]')" COMPLETED
	assert_contains "$output" "1 claim: 1 holds, 0 fail, 0 not judged"
	assert_eq "$(wc -l <"$c/claims.tsv")" 2
	assert_eq "$(awk -F'\t' 'NR == 2 {print $1, $2, $9}' "$c/claims.tsv")" "fast faster holds"
	for x in fast memory slow; do
		run "$KBLAT" verify "$c/$(cells "$c" "[x['run'] for x in d if x['name'] == '$x'][0]")"
		[ "$status" -eq 0 ]
	done
}

@test "study.yaml gives title and order, and errors in any file of a study are reported before anything starts" {
	study
	printf 'title: "Fast and slow"\norder: [slow, fast]\n' >study/study.yaml
	run "$KBLAT" run study --dry-run
	[ "$status" -eq 0 ]
	assert_eq "$(awk '{print $1}' <<<"$output" | head -n 3 | paste -sd' ')" "slow fast memory"
	printf 'titel: "x"\norder: [slow, slow, fats]\n' >study/study.yaml
	sed -i 's/delay: 1us/delay: fast/' study/fast/spec.yaml
	run "$KBLAT" run study --out out
	[ "$status" -eq 2 ]
	assert_contains "$output" "study.yaml:1:1: unknown key 'titel'; did you mean 'title'?"
	assert_contains "$output" "study.yaml:2:15: 'order' names an experiment"
	assert_contains "$output" "study.yaml:2:21: 'order' names an experiment"
	assert_contains "$output" "'fast'"
	[ ! -e out ]
}

@test "--set and --only apply to the experiments that have the setting, and are refused if none has it" {
	study
	run "$KBLAT" run study --out out --set delay=3us --quick --no-state
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(cells "$c" '[x.get("set", []) for x in d]')" "[['delay=3us'], [], ['delay=3us']]"
	[ -z "$(find "$c" -name state)" ]
	run "$KBLAT" run study --out out --only transport=shmem
	[ "$status" -eq 0 ]
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "[('fast', 'skipped'), ('memory', 'completed'), ('slow', 'skipped')]"
	rm -r out
	run "$KBLAT" run study --out out --only transport=verbs
	[ "$status" -eq 2 ]
	assert_contains "$output" "o point of any experiment matches --only"
	run "$KBLAT" run study --out out --set qp=rc
	[ "$status" -eq 2 ]
	assert_contains "$output" "--set qp=rc: no point of any experiment"
	run "$KBLAT" run study --out out --set qqp=rc
	[ "$status" -eq 2 ]
	assert_eq "$(grep -c "unknown setting 'qqp'" <<<"$output")" 1 # not for each of the three experiments
	[ ! -e out ]
}

@test "--no-state goes to every experiment, and is kept for those that a resumed campaign runs" {
	study
	run "$KBLAT" run study --out out --no-state --quick
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "[('fast', 'completed'), ('memory', 'completed'), ('slow', 'completed')]"
	[ -z "$(find "$c" -name state)" ]
	sed -i 's/"completed"/"failed"/' "$c/cells.jsonl"
	run "$KBLAT" run --resume "$c" --no-state
	[ "$status" -eq 2 ]
	run "$KBLAT" run --resume "$c"
	assert_eq "$(cells "$c" '[len(x["earlier"]) for x in d]')" "[1, 1, 1]"
	[ -z "$(find "$c" -name state)" ]
}

# bats test_tags=long
@test "an experiment that fails does not end the campaign, and resuming runs it again" {
	study
	sed -i 's/delay: 1us/delay: 1us, fault: die/' study/fast/spec.yaml
	run "$KBLAT" run study --out out
	[ "$status" -eq 1 ]
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "[('fast', 'failed'), ('memory', 'completed'), ('slow', 'completed')]"
	assert_eq "$(json "$c/study.json" 'd["status"]')" FAILED
	before=$(cells "$c" 'd[2]["run"]')
	sed -i 's/, fault: die//' study/fast/spec.yaml
	run "$KBLAT" run --resume "$c"
	[ "$status" -eq 0 ]
	assert_eq "$(tail -n 1 <<<"$output")" "$c"
	assert_eq "$(states "$c")" "[('fast', 'completed'), ('memory', 'completed'), ('slow', 'completed')]"
	assert_eq "$(cells "$c" 'd[2]["run"]')" "$before"
	assert_eq "$(cells "$c" 'len(d[0]["earlier"])')" 1
}

@test "a failed claim is a 3" {
	study
	sed -i 's/max: 0.6/max: 0.4/' study/fast/spec.yaml
	run "$KBLAT" run study --out out
	[ "$status" -eq 3 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "is above 0.4"
}

@test "interrupted: what was measured is kept, and --resume goes on with the rest" {
	study
	sed -i 's/messages: 200,/messages: 200000,/' study/memory/spec.yaml
	"$KBLAT" run study --out out >stdout 2>stderr &
	pid=$!
	for _ in $(seq 100); do
		[ -n "$(compgen -G 'out/*/memory-*/points/0000')" ] && break
		sleep 0.1
	done
	kill -INT $pid || kill -TERM $pid
	sleep 0.3
	kill -0 $pid 2>/dev/null && kill -TERM $pid
	status=0
	wait $pid || status=$?
	cat stderr
	[ "$status" -eq 1 ]
	c=$(tail -n 1 stdout)
	assert_eq "$(states "$c")" "[('fast', 'completed'), ('memory', 'interrupted'), ('slow', 'pending')]"
	assert_eq "$(json "$c/study.json" 'd["status"]')" INTERRUPTED
	[ -z "$(leftovers)" ]
	sed -i 's/messages: 200000,/messages: 200,/' study/memory/spec.yaml
	run "$KBLAT" run study --resume "$c" --quick
	[ "$status" -eq 2 ]
	assert_contains "$output" "uses the study's original options"
	run "$KBLAT" run study/fast --resume "$c"
	[ "$status" -eq 2 ]
	run "$KBLAT" run study --resume "$c"
	[ "$status" -eq 0 ]
	assert_eq "$(states "$c")" "[('fast', 'completed'), ('memory', 'completed'), ('slow', 'completed')]"
}

# bats test_tags=long
@test "killed in the middle: the experiment that was running is run again" {
	study
	run "$KBLAT" run study --out out
	c=$(tail -n 1 <<<"$output")
	sed -i 's/"COMPLETED"/"RUNNING"/' "$c/study.json"
	change_cells "$c" 'd[1]["state"] = "running"; d[2].update(state="pending", run=None)'
	run "$KBLAT" run --resume "$c" --dry-run
	[ "$status" -eq 0 ]
	assert_contains "$output" "pending"
	run "$KBLAT" run --resume "$c"
	[ "$status" -eq 0 ]
	assert_eq "$(states "$c")" "[('fast', 'completed'), ('memory', 'completed'), ('slow', 'completed')]"
	echo '{}' >"$c/study.json"
	run "$KBLAT" run --resume "$c"
	[ "$status" -eq 2 ]
}

@test "two cannot go on with one campaign at a time" {
	study
	run "$KBLAT" run study --out out
	c=$(tail -n 1 <<<"$output")
	run flock "$c" "$KBLAT" run --resume "$c"
	[ "$status" -eq 1 ]
	[[ $output =~ another\ kblat\ \(process\ [0-9]+\)\ is\ running\ this\ study ]]
}

@test "report of a campaign: an index, all claims, and a page for each run" {
	study
	sed -i 's/^name: fast/name: not-the-folder/' study/fast/spec.yaml
	run "$KBLAT" run study --out out
	c=$(tail -n 1 <<<"$output")
	run "$KBLAT" report "$c"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	page=$c/derived/report.html
	grep -q 'It is twice as fast' "$page"
	mapfile -t links < <(grep -o 'href="[^"]*"' "$page" | cut -d'"' -f2)
	[ "${#links[@]}" -eq 3 ]
	for l in "${links[@]}"; do
		[ -s "$c/derived/$l" ]
	done
	grep -q 'class="yes">holds' "$c"/not-the-folder-*/derived/report.html
	# Points, and claims that hold, fail and are not judged.
	grep -q '>fast</a>.*completed.*<td class="n">1</td><td class="n">1</td><td class="n">0</td><td class="n">0</td>' "$page"
	# Who says so is counted apart, above everything else.
	grep -q '<p class="whose">1 claim of the source: 1 holds, 0 fail, 0 not judged.</p>' "$page"
	(! grep -q 'of ours' "$page")
}

@test "nothing possible is a 77" {
	compgen -G '/sys/class/infiniband/*' >/dev/null && skip "this machine has a device"
	experiment verbs <<-'YAML'
		settings: {kernel: oneway, transport: verbs, messages: 100, repetitions: 1}
	YAML
	run "$KBLAT" run study --out out
	[ "$status" -eq 77 ]
	c=$(tail -n 1 <<<"$output")
	assert_eq "$(states "$c")" "[('verbs', 'impossible')]"
}

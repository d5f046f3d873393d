#!/usr/bin/env bats
# Claims: what a spec may say of them, and what becomes of them in a run. The scripted transport's latencies are given.

load helper
bats_require_minimum_version 1.5.0

# claims_spec NAME <<YAML: a spec of four points, delays 1, 2, 4 and 8 us, with these claims.
claims_spec() {
	{
		echo 'settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 3}'
		echo 'matrix:'
		echo '  - {size: [8B, 16B], delay: 1us}'
		echo '  - {size: [8B, 16B], delay: 4us}'
		echo 'claims:'
		cat
	} | spec "$1"
}

# unwrapped TEXT: the text on one line, whatever the width of the table.
unwrapped() {
	tr -s ' \n' ' ' <<<"$1"
}

good() {
	claims_spec good <<-'YAML'
		  - id: quarter
		    claim: "A delay of 1 us makes a quarter of the latency"
		    source: "Section 1"
		    measured_by_source: "about 0.25"
		    metric: lat_ns.p50
		    points: {delay: 1us}
		    against: {delay: 4us}
		    ratio: {min: 20%, max: 0.3}
		  - id: adapter
		    claim: "An adapter does as well"
		    metric: lat_ns.p50
		    points: {}
		    value: {max: 1s}
		    needs: [hca, {cpus: 1}]
		  - id: flat
		    claim: "The size does not matter"
		    metric: lat_ns.p50
		    points: {size: ">=8B <=16B"}
		    order: flat
		    along: size
		    tolerance: 10%
	YAML
}

@test "all errors in claims are reported at once, with line and column" {
	claims_spec wrong <<-'YAML'
		  - id: A claim
		    clam: "B"
		    metric: lat_n.p5
		    points: {dely: 1us}
		    against: {delay: 1 parsec}
		    ratio: {max: many}
		  - id: two
		    claim: ""
		    metric: lat_ns.p50
		    points: {delay: 1us, size: ">eight"}
		    value: {min: 2us, mux: 1us}
		    difference: {max: 3us}
		  - id: two
		    claim: "c"
		    metric: latency
		    points: {kernel: ">oneway", poll: ">busy"}
		    order: risen
		    along: poll
		    tolerance: -1
		    needs: [hcu, cpus, {hca: 1}, {cpus: 0}]
		  - id: three
		    claim: "c"
		    origin: mine
		    metric: lat_ns.p50
		    points: {size: []}
		    by: size
		    value: {max: 1, min: 2us}
		    along: size
		    tolerance: 1
		  - 4
	YAML
	run "$KBLAT" run wrong.yaml
	[ "$status" -eq 2 ]
	local -a said=(
		"wrong.yaml:8:9: 'id' must be" "'claim' of a claim is missing" "unknown key 'clam' of a claim; did you mean 'claim'?"
		"no kernel has a series 'lat_n'; did you mean 'lat_ns'?" "unknown setting 'dely'; did you mean 'delay'?"
		"not '1 parsec'" "a bound must be a number or per cent such as 0.5 or 50%, not 'many'" "'claim' is empty"
		"must have exactly one of ratio" "'eight'" "duplicate 'id': a claim above has it already"
		"'metric' must be SERIES.STATISTIC" "poll: only numbers can be compared with '>'" "did you mean 'rising'?"
		"'along' must be a setting whose values are numbers" "'tolerance' must be a share" "unknown need; did you mean 'hca'?"
		"'cpus' needs a number: {cpus: 4}" "'hca' takes no number" "not an empty list" "'by' must be a list of settings"
		"'min' is above 'max'" "'along' belongs to 'order'" "'tolerance' belongs to 'order'"
		"a claim must be a mapping with 'id'" "'origin' must be source, ours or self-test" "^"
	)
	local s
	for s in "${said[@]}"; do
		assert_contains "$output" "$s"
	done
}

@test "a selection that no point of the spec matches is an error, but not with --set or --quick" {
	claims_spec none <<-'YAML'
		  - id: none
		    claim: "c"
		    metric: lat_ns.p50
		    points: {delay: 3us}
		    value: {max: 1s}
	YAML
	run "$KBLAT" run none.yaml --dry-run
	[ "$status" -eq 2 ]
	assert_contains "$output" "none.yaml:11:13: 'points' selects none of the spec's points"
	run "$KBLAT" run none.yaml --dry-run --set delay=3us
	[ "$status" -eq 0 ]
	run "$KBLAT" run none.yaml --dry-run --quick
	[ "$status" -eq 0 ]
}

@test "a run judges its claims, seals them, and verify judges them again" {
	good
	run "$KBLAT" run good.yaml --out runs
	[ "$status" -eq 0 ]
	assert_contains "$output" "A delay of 1 us makes a quarter"
	assert_contains "$output" "3 claims: 2 hold, 0 fail, 1 not judged"
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/claims.json" '[(c["id"], c["verdict"]) for c in d["claims"]]')" \
		"[('quarter', 'holds'), ('adapter', 'not judged'), ('flat', 'holds')]"
	assert_eq "$(json "$run_dir/resolved.json" 'd["claims"][0]["against"]["points"]')" "{'delay_ns': [4000]}"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]

	chmod -R u+w "$run_dir"
	sed -i 's/"verdict": "not judged"/"verdict": "holds"/' "$run_dir/claims.json"
	(cd "$run_dir" && sha256sum claims.json >new && sed -i "/  claims.json$/s/.*/$(head -c 64 new)  claims.json/" manifest-sha256.txt && rm new)
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 3 ]
	assert_contains "$output" "claims.json: it differs from a new judgement"
}

@test "kblat claims: exit status 0, 2, 3 and 4, and every case in --json" {
	good
	run -0 "$KBLAT" run good.yaml --out runs
	run_dir=$(tail -n 1 <<<"$output")
	run "$KBLAT" claims "$run_dir"
	[ "$status" -eq 0 ]
	assert_contains "$(unwrapped "$output")" "it needs a real RDMA adapter, and no RDMA device was used"
	run --separate-stderr "$KBLAT" claims "$run_dir" --json
	echo "$output" >c.json
	assert_eq "$(json c.json '[c["label"] for c in d["claims"][0]["cases"]]')" "['8B', '16B']"

	run "$KBLAT" run good.yaml --out runs --only delay=4us
	run_dir=$(tail -n 1 <<<"$output")
	run "$KBLAT" claims "$run_dir"
	assert_contains "$(unwrapped "$output")" "about points that were not measured: quarter"

	sed -i 's/max: 0.3/max: 0.22/' good.yaml
	run "$KBLAT" run good.yaml --out runs
	[ "$status" -eq 3 ]
	run_dir=$(tail -n 1 <<<"$output")
	run "$KBLAT" claims "$run_dir"
	[ "$status" -eq 3 ]
	assert_contains "$(unwrapped "$output")" "is above 0.22"

	scripted
	run "$KBLAT" claims "$run_dir"
	[ "$status" -eq 4 ]
	run "$KBLAT" claims .
	[ "$status" -eq 2 ]
}

@test "two runs are judged together" {
	good
	cat >>good.yaml <<-'YAML'
		  - id: across
		    claim: "It takes less than the other"
		    metric: lat_ns.p50
		    points: {delay: 1us}
		    against: {experiment: other, delay: 4us}
		    ratio: {max: 0.3}
	YAML
	sed 's/^name: good/name: other/; /^claims:/,$d' good.yaml >other.yaml
	run "$KBLAT" run good.yaml --out runs
	a=$(tail -n 1 <<<"$output")
	assert_contains "$(unwrapped "$output")" "other, which is not among the runs"
	run "$KBLAT" run other.yaml --out runs
	b=$(tail -n 1 <<<"$output")
	run "$KBLAT" claims "$a" "$b"
	[ "$status" -eq 0 ]
	assert_contains "$output" "4 claims: 3 hold, 0 fail, 1 not judged"
}

@test "the report draws a claim's ratios along the setting that its cases differ in, with their bounds" {
	claims_spec drawn <<-'YAML'
		  - id: quarter
		    claim: "A delay of 1 us makes a quarter of the latency"
		    metric: lat_ns.p50
		    points: {delay: 1us}
		    against: {delay: 4us}
		    by: [size]
		    ratio: {min: 20%, max: 0.3}
		  - id: one-size
		    claim: "A case alone is no line"
		    metric: lat_ns.p50
		    points: {delay: 1us, size: 8B}
		    against: {delay: 4us, size: 8B}
		    ratio: {max: 1}
		  - id: value
		    claim: "Nor is a number that is compared with none"
		    metric: lat_ns.p50
		    points: {}
		    value: {max: 1s}
	YAML
	run "$KBLAT" run drawn.yaml --out runs
	run_dir=${lines[-1]}
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	cd "$run_dir/derived/figures"
	assert_eq "$(echo claim-*.tsv)" "$(echo claim-?.tsv)"
	assert_eq "$(cut -f 1-6 claim-?.tsv | tail -n +2)" "$(printf '1\t%s\t0.25\t0.25\t0.25\t1\n' 1 2)"
	assert_contains "$(grep -A30 'claim-' figures.gp)" "bound_most = real(0.29999"
}

@test "the report shows the claims" {
	good
	run -0 "$KBLAT" run good.yaml --out runs
	run_dir=$(tail -n 1 <<<"$output")
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ]
	grep -q '<h2>Claims</h2>' "$run_dir/derived/report.html"
	grep -q 'A delay of 1 us makes a quarter' "$run_dir/derived/report.html"
	grep -q 'class="yes">holds' "$run_dir/derived/report.html"
}

# flows_spec NAME <<YAML: a spec of two points with two flows, whose delays are 1 and 4 us, with these claims.
flows_spec() {
	{
		echo 'settings: {flows: small large, kernel: oneway, transport: scripted, messages: 500, burst: 500, repetitions: 3,'
		echo '           small.delay: 1us, large.delay: 4us}'
		echo 'matrix:'
		echo '  - small.size: [8B, 16B]'
		echo 'claims:'
		cat
	} | spec "$1"
}

@test "claims compare two flows of a point, select points by a flow's settings, and follow a trend along them" {
	flows_spec flows <<-'YAML'
		  - id: quarter
		    claim: "Small messages take a quarter of the time of large ones"
		    metric: small.lat_ns.p50
		    points: {}
		    against: {metric: large.lat_ns.p50}
		    ratio: {min: 20%, max: 0.3}
		  - id: half
		    claim: "Small messages take half of the time of large ones"
		    metric: small.lat_ns.p50
		    points: {}
		    against: {metric: large.lat_ns.p50}
		    ratio: {min: 50%}
		  - id: one
		    claim: "Messages of 16 B are 3 us faster"
		    metric: small.lat_ns.p50
		    points: {small.size: ">8B"}
		    against: {metric: large.lat_ns.p50}
		    difference: {max: -2.9us}
		  - id: flat
		    claim: "The size of the small messages does not matter"
		    metric: small.lat_ns.p50
		    points: {flows: small large}
		    order: flat
		    along: small.size
		    tolerance: 10%
	YAML
	run "$KBLAT" run flows.yaml --out runs
	[ "$status" -eq 3 ]
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/claims.json" '[(c["id"], c["verdict"], c["measured"]) for c in d["claims"]]')" \
		"[('quarter', 'holds', 'small.size 8B 0.25; small.size 16B 0.25'), ('half', 'fails', 'small.size 8B 0.25; small.size 16B 0.25'), ('one', 'holds', '-3.00 us (-3.00 us to -3.00 us)'), ('flat', 'holds', '1 (1 to 1)')]"
	assert_eq "$(json "$run_dir/claims.json" 'd["claims"][2]["cases"][0]["points"] + d["claims"][2]["cases"][0]["against"]')" "[1, 1]"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a claim compares a flow beside another with the flow alone" {
	spec alone <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 500, burst: 500, repetitions: 3}
		matrix:
		  - {flows: small large, small.delay: 2us, large.delay: 4us, small.size: [8B, 16B]}
		  - {delay: 1us, size: [8B, 16B]}
		claims:
		  - id: twice
		    claim: "Beside large messages, small ones take twice as long"
		    metric: small.lat_ns.p50
		    points: {flows: small large}
		    against: {transport: scripted, metric: lat_ns.p50}
		    by: [size]
		    ratio: {min: 1.9, max: 2.1}
	YAML
	run "$KBLAT" run alone.yaml --out runs
	[ "$status" -eq 0 ]
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/claims.json" '[(c["points"], c["against"], c["measured"]) for c in d["claims"][0]["cases"]]')" \
		"[([0], [2], '2 (2 to 2)'), ([1], [3], '2 (2 to 2)')]"
}

@test "a flow that is misspelt in a claim, or left out, is an error with line and column" {
	flows_spec wrong <<-'YAML'
		  - id: one
		    claim: "c"
		    metric: smal.lat_ns.p50
		    points: {smal.size: 8B, small.siz: 8B, small.repetitions: 3, size: 8B}
		    against: {metric: lat_ns.p50}
		    ratio: {max: 1}
		  - id: two
		    claim: "c"
		    metric: small.lat_ns.p5
		    points: {}
		    order: rising
		    along: size
	YAML
	run "$KBLAT" run wrong.yaml
	[ "$status" -eq 2 ]
	local -a said=(
		"wrong.yaml:10:13: no point has a flow 'smal'; did you mean 'small'?"
		"wrong.yaml:11:14: no point has a flow 'smal'; did you mean 'small'?"
		"wrong.yaml:11:29: unknown setting 'small.siz'; did you mean 'small.size'?"
		"wrong.yaml:11:44: 'repetitions' belongs to the point, not to one of its flows"
		"wrong.yaml:11:66: all points have flows, and each its own 'size'; did you mean 'small.size'?"
		"wrong.yaml:12:23: 'metric' must name the flow, too: all points have flows; did you mean 'small.lat_ns.p50'?"
		"wrong.yaml:16:13: no series has a statistic 'p5'; did you mean 'p50'?"
		"wrong.yaml:19:12: all points have flows, and each its own 'size'; did you mean 'small.size'?"
	)
	local s
	for s in "${said[@]}"; do
		assert_contains "$output" "$s"
	done
}

@test "the example of the documentation, with flows, is judged" {
	{
		echo 'kblat: 1'
		echo 'name: documented'
		sed -n '/^### Flows/,/^## /p' "$BATS_TEST_DIRNAME/../../docs/claims.md" | sed -n '/^```yaml/,/^```/p' | grep -v '^```'
	} >documented.yaml
	run "$KBLAT" run documented.yaml --out runs --set messages=500 --set repetitions=2
	assert_measured 'claim .* fails' # of so few messages
	assert_eq "$(json "$run_dir/claims.json" '[(c["id"], len(c["cases"])) for c in d["claims"]]')" "[('beside', 2), ('alone', 2)]"
	# On a busy machine a point may not be valid; then its case has no value.
	assert_eq "$(json "$run_dir/claims.json" 'sum(x["value"] is None for x in d["claims"][0]["cases"])')" \
		"$(json "$run_dir/summary.json" 'sum(not p["valid"] for p in d["points"][:2])')"
}

@test "a pooled claim is judged by the mean ratio of its cases, whatever a single one says" {
	pooled() {
		claims_spec pooled <<-YAML
			  - id: pooled
			    claim: "8 B are a little faster than 16 B"
			    metric: lat_ns.p50
			    points: {delay: 1us}
			    against: {delay: 4us}
			    by: [size]
			    pool: yes
			    ratio: $1
			  - id: each
			    claim: "At every size"
			    metric: lat_ns.p50
			    points: {delay: 1us}
			    against: {delay: 4us}
			    by: [size]
			    ratio: $1
		YAML
		run "$KBLAT" run pooled.yaml --out runs --only size=8B --only size=16B
		run_dir=${lines[-1]}
	}
	pooled '{min: 0.2, max: 0.3}'
	assert_eq "$(json "$run_dir/claims.json" '[(c["verdict"], len(c["cases"])) for c in d["claims"]]')" "[('holds', 1), ('holds', 2)]"
	assert_eq "$(json "$run_dir/claims.json" '[round(c["value"], 3) for c in d["claims"][0]["cases"]]')" "[0.25]"
	assert_contains "$output" "pooled ratio 0.2 to 0.3"
	pooled '{min: 0.26}'
	assert_eq "$(json "$run_dir/claims.json" '[c["verdict"] for c in d["claims"]]')" "['fails', 'fails']"
	"$KBLAT" verify "$run_dir"
}

@test "one case beyond its bound decides a claim, but not a pooled one" {
	spec mixed <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, burst: 1000, repetitions: 3}
		matrix:
		  - {size: [8B, 16B, 32B], delay: 1us, comp_delay: 2us}
		  - {size: [8B, 16B], delay: 2us, comp_delay: 3us}
		  - {size: 32B, delay: 990ns, comp_delay: 3us}
		claims:
		  - {id: pooled, claim: c, metric: lat_ns.p50, points: {comp_delay: 3us}, against: {comp_delay: 2us}, by: [size], pool: yes, ratio: {min: 1.5, max: 1.6}}
		  - {id: each, claim: c, metric: lat_ns.p50, points: {comp_delay: 3us}, against: {comp_delay: 2us}, by: [size], ratio: {min: 1.5}}
	YAML
	run "$KBLAT" run mixed.yaml --out runs
	echo "$output"
	assert_eq "$(json "${lines[-1]}/claims.json" '[c["verdict"] for c in d["claims"]]')" "['holds', 'fails']"
}

@test "numbers that cannot be pooled are refused" {
	claims_spec nopool <<-'YAML'
		  - {id: a, claim: c, metric: lat_ns.p50, points: {}, value: {max: 1s}, pool: yes}
		  - {id: b, claim: c, metric: lat_ns.n, points: {delay: 1us}, against: {delay: 4us}, ratio: {max: 1}, pool: yes}
		  - {id: c, claim: c, metric: lat_ns.p50, points: {delay: 1us}, against: {delay: 4us}, ratio: {max: 1}, pool: some}
	YAML
	run "$KBLAT" run nopool.yaml
	[ "$status" -eq 2 ]
	assert_contains "$output" "'pool' belongs to 'ratio'"
	assert_contains "$output" "'pool' needs a number that has an interval, not lat_ns.n"
	assert_contains "$output" "'pool' must be yes or no"
}

@test "maxima are pooled where they are those of as many messages, and not where they are not" {
	spec maxima <<-'YAML'
		settings: {kernel: oneway, transport: scripted, repetitions: 4, messages: 1000, burst: 1000, noise: 200ns}
		matrix:
		  - {size: [8B, 16B], delay: [1us, 4us]}
		  - {size: 32B, delay: 1us, messages: 3000, burst: 3000}
		  - {size: 32B, delay: 4us}
		claims:
		  - {id: pooled, claim: c, metric: lat_ns.max, points: {delay: 1us, size: "<32B"}, against: {delay: 4us}, by: [size], pool: yes, ratio: {max: 0.5}}
		  - {id: larger, claim: c, metric: lat_ns.max, points: {delay: 1us, size: "<32B"}, against: {delay: 4us}, by: [size], pool: yes, ratio: {min: 1.01}}
		  - {id: unequal, claim: c, metric: lat_ns.max, points: {delay: 1us}, against: {delay: 4us}, by: [size], pool: yes, ratio: {max: 0.5}}
	YAML
	run "$KBLAT" run maxima.yaml --out runs
	echo "$output"
	assert_eq "$(json "${lines[-1]}/claims.json" '[c["verdict"] for c in d["claims"]]')" "['holds', 'fails', 'not judged']"
	assert_contains "$(json "${lines[-1]}/claims.json" 'd["claims"][2]["cases"][0]["why"]')" \
		"has 3000 messages in a repetition, and point 5 1000: their extremes cannot be pooled"
}

@test "a page shows what fails, then what holds, then what was not judged, collapsed by reason" {
	spec order <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 4, warmup: 10, delay: 1us}
		matrix: [{}]
		claims:
		  - {id: real, claim: "An adapter is fast", metric: lat_ns.p50, points: {}, value: {max: 2us}, needs: [hca]}
		  - {id: holds, claim: "It is fast", metric: lat_ns.p50, points: {}, value: {max: 2us}}
		  - {id: fails, claim: "It is slow", metric: lat_ns.p50, points: {}, value: {min: 2us}}
		  - {id: other, claim: "Others are fast", metric: lat_ns.p50, points: {}, value: {max: 2us}, needs: [{cpus: 4000}]}
	YAML
	run -3 "$KBLAT" run order.yaml --out runs --no-state
	"$KBLAT" report "${lines[-1]}" >page || [ $? -eq 77 ]
	sed '/<h2>Claims/,/<\/section>/!d' "$(tail -n 1 page)" | grep -o 'An adapter is fast\|It is fast\|It is slow\|Others are fast\|<summary>1 not judged: [^<]*' >order
	assert_eq "$(tr '\n' '|' <order)" "It is slow|It is fast|<summary>1 not judged: it needs a real RDMA adapter, and no RDMA device was used|An adapter is fast|<summary>1 not judged: nothing is known about the machine|Others are fast|"
}

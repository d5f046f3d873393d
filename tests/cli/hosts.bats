#!/usr/bin/env bats
# Endpoints on other hosts: what is known about them, and about the clocks. One machine plays both (far_host); tests/vm/pair.bats has two.

load helper

setup() {
	kblat_setup
	FAR="$BATS_TEST_DIRNAME/far_host"
	spec y <<-'YAML'
		settings: {kernel: oneway, transport: tcp, poll: event, messages: 100, burst: 1, pause: 100us, repetitions: 2, warmup: 10}
	YAML
	# Without settings, both sides would choose the same CPU, as if they were on two hosts.
	apart=(--set source_cpu=0 --set "sink_cpu=$(($(nproc) - 1))")
}

# of_point KEY: a value of point.json; of_summary KEY: a value of the point's summary.json.
of_point() { json "$run_dir/points/0000/point.json" "$1"; }
of_summary() { json "$run_dir/points/0000/summary.json" "$1"; }

# two_hosts ARGUMENT…: a run with the sink on the host "beta".
two_hosts() {
	run "$KBLAT" run y.yaml --out runs --sink "$FAR beta --" "${apart[@]}" "$@"
	assert_measured
}

# bats test_tags=long
@test "another host's state, tick counter and stamps, with a bound, are in the run" {
	state_of_this_machine
	two_hosts
	for when in before after; do
		[ -s "$run_dir/state/beta/$when/state.json" ]
		diff <(cd "$run_dir/state/$(hostname)/$when" && find . -path ./proc -prune -o -type f -print | sort) \
			<(cd "$run_dir/state/beta/$when" && find . -path ./proc -prune -o -type f -print | sort)
	done
	assert_eq "$(json "$run_dir/state/beta/changes.json" 'd["environments"]')" "[]"
	assert_eq "$(json "$run_dir/run.json" 'd["hosts"]["beta"]["roles"], d["hosts"]["beta"]["clock"]["hz"] > 1e6, d["clock"]["common"]')" \
		"(['sink'], True, False)"
	assert_eq "$(of_point 'd["clock"]["method"], d["clock"]["hosts"][1], len(d["clock"]["comparisons"]), d["clock"]["stepped"]')" \
		"('exchange', 'beta', 3, False)"
	# On one machine the truth is known: no message arrives before it is sent.
	assert_eq "$(of_summary 'd["metrics"]["lat_ns"]["min"] >= -d["clock"]["error_ns"]')" True
	assert_eq "$(of_summary 'd["metrics"]["lat_ns"]["clock_error_ns"] == d["clock"]["error_ns"], "clock_error_ns" in d["metrics"]["comp_lat_ns"]')" \
		"(True, False)"
	assert_contains "$output" "clock +-"
	head -n 1 "$run_dir/summary.csv" | grep -q clock_error_ns
	"$KBLAT" verify "$run_dir"
	[ ! -e "$run_dir/points/0000/clock" ]
	"$KBLAT" report "$run_dir"
	grep -q "±" "$run_dir/derived/report.html"
}

# bats test_tags=long
@test "round trips and streams need no common clock, and a run on one host mentions none" {
	for kernel in pingpong stream; do
		spec y <<-YAML
			settings: {kernel: $kernel, transport: tcp, poll: event, messages: 100, repetitions: 1, warmup: 10}
		YAML
		two_hosts
		assert_eq "$(of_point 'd["clock"]["method"]')" none
		[[ $output != *"common clock"* ]]
	done
	run "$KBLAT" run y.yaml --out runs
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(of_point '"clock" in d')" False
	assert_eq "$(json "$run_dir/run.json" 'sorted(d["hosts"]), [("clock" in h) for h in d["hosts"].values()]')" "(['$(hostname)'], [False])"
	[ -z "$(grep clock_error "$run_dir/summary.csv")" ]
}

# bats test_tags=long
@test "a clock whose error is larger than what is measured makes one-way latencies not valid" {
	two_hosts --set transport=udp
	cp -r "$run_dir" edited
	/usr/bin/python3 - edited/points/0000/point.json <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		d["clock"].update(error_ns=10**9)
		json.dump(d, open(sys.argv[1], "w"))
	PY
	rm edited/summary.json
	mv edited edited.partial
	run "$KBLAT" summary edited.partial
	echo "$output"
	assert_contains "$output" "is larger than the median of t_lat"
	/usr/bin/python3 - edited.partial/points/0000/point.json <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		d["clock"].update(error_ns=1, stepped=True)
		json.dump(d, open(sys.argv[1], "w"))
	PY
	run "$KBLAT" summary edited.partial
	assert_contains "$output" "moved relative to each other: one of them was set or stopped"
}

@test "claims about one-way latencies over two hosts include the clock's error: inside it nothing is decided" {
	cat >>y.yaml <<-'YAML'
		claims:
		  - {id: wide, claim: so, origin: self-test, metric: lat_ns.p50, points: {}, value: {max: 1s}}
		  - {id: near, claim: so, origin: self-test, metric: lat_ns.p50, points: {}, value: {min: 1ns}}
		  - {id: same, claim: so, origin: self-test, metric: lat_ns.p50, points: {}, against: {metric: lat_ns.p50}, ratio: {min: 0.99, max: 1.01}}
		  - {id: own, claim: so, origin: self-test, metric: comp_lat_ns.p50, points: {}, value: {min: 1ns}}
		  - {id: late, claim: so, origin: self-test, metric: lat_ns.over_limit, points: {}, value: {max: 100%}}
	YAML
	two_hosts
	of() { json "$run_dir/claims.json" '[(c["id"], c["verdict"]) for c in d["claims"]]'; }
	echo "$(of) $(of_summary 'd["clock"]["error_ns"], d["metrics"]["lat_ns"]["p50"]')"
	[[ $(of) == "[('wide', 'holds'), "*"('own', 'holds'), ('late', 'not judged')]" ]]
	[[ $(of) == *"('same', 'not judged')"* ]]
	assert_contains "$(json "$run_dir/claims.json" 'd["claims"][2]["why"]')" "with the clock's error of"
	assert_contains "$(json "$run_dir/claims.json" 'd["claims"][4]["why"]')" "how many messages are over it is not known"
	"$KBLAT" verify "$run_dir"
}

@test "several rounds over two hosts: each compares the clocks, and the bound is that of the worst" {
	two_hosts --set rounds=2 --reps 4
	assert_eq "$(of_point 'd["outcome"], len(d["clock"]["comparisons"])')" "('completed', 6)"
	assert_eq "$(of_point 'd["clock"]["error_ns"] >= max(c["error_ns"] for c in d["clock"]["comparisons"])')" True
	assert_eq "$(of_summary 'd["metrics"]["lat_ns"]["n"], d["metrics"]["lat_ns"]["clock_error_ns"] == d["clock"]["error_ns"]')" "(400, True)"
	assert_eq "$(of_summary 'd["metrics"]["lat_ns"]["min"] >= -d["clock"]["error_ns"]')" True
	"$KBLAT" verify "$run_dir"
}

@test "both sides may be on one other host, but a launcher that leads to another host each time is refused" {
	cat >wandering <<-SH
		#!/bin/bash
		echo >>"$T/launched"
		exec "$FAR" "host-\$(wc -l <"$T/launched")" -- "\$@"
	SH
	chmod +x wandering
	run "$KBLAT" run y.yaml --out runs --sink "$T/wandering"
	echo "$output"
	[ "$status" -eq 3 ]
	assert_contains "$output" "leads to another host each time"
	assert_contains "$output" "source and sink have no common clock"
	run "$KBLAT" run y.yaml --out runs --source "$FAR beta --" --sink "$FAR beta --"
	echo "$output"
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(of_point '"clock" in d')" False
	assert_eq "$(json "$run_dir/run.json" 'd["hosts"]["beta"]["roles"]')" "['source', 'sink']"
	[ -s "$run_dir/state/beta/before/state.json" ]
	[[ $output != *"common clock"* ]]
}

@test "a host whose tick counter cannot be read makes its points fail with the reason" {
	spec y <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, repetitions: 1, warmup: 0}
		matrix: [{messages: [10, 20]}]
	YAML
	run "$KBLAT" run y.yaml --out runs --sink "$FAR beta '\"hz\"' '\"Hz\"' --"
	echo "$output"
	[ "$status" -eq 1 ]
	run_dir=$(tail -n 1 <<<"$output")
	for point in 0000 0001; do
		assert_contains "$(json "$run_dir/points/$point/point.json" 'd["why"]')" "clock report cannot be read"
	done
	[ ! -e "$run_dir/state/beta" ]
}

# bats test_tags=long
@test "what another host sends as its state stays below its folder, and nothing of it in /dev/shm" {
	state_of_this_machine
	touch before-shm
	for change in '"/proc/uptime" "/../../../evil"' '"/proc/uptime" "/etc/../../evil"' '"bytes": "bytes":9999'; do
		read -r before after <<<"$change"
		run timeout 100 "$KBLAT" run y.yaml --out runs --set repetitions=1 --sink "$FAR ../evil '$before' '$after' --"
		echo "$output"
		run_dir=$(tail -n 1 <<<"$output")
		[ -z "$(find . -name 'evil*')" ]
		assert_eq "$(ls -A "$run_dir/state" | wc -l)" 2
	done
	[ -z "$(shm_files)" ]
}

@test "masked: other hosts have numbers, in names and in what they send" {
	state_of_this_machine
	two_hosts --mask
	assert_eq "$(json "$run_dir/run.json" 'sorted(d["hosts"])')" "['host-1', 'host-2']"
	[ -d "$run_dir/state/host-2/after" ]
	[ -z "$(grep -rl beta "$run_dir/points" "$run_dir/resolved.json")" ]
	assert_eq "$(of_point 'd["clock"]["hosts"]')" "['host-1', 'host-2']"
}

@test "a tick counter that cannot be, of another host, is refused" {
	cat >slow <<-SH
		#!/bin/bash
		exec "$FAR" beta '"hz":' '"hz":1e-300,"was":' -- "\$@"
	SH
	chmod +x slow
	run "$KBLAT" run y.yaml --no-state --out runs --sink "$T/slow" "${apart[@]}"
	echo "$output"
	assert_eq "$status" 1
	assert_contains "$output" "clock report cannot be read"
}

# keeps FOLDER PROGRAM <<ANSWER: makes a program in FOLDER that prints the answer.
keeps() {
	mkdir -p "$1"
	cat >"$1/$2.answer"
	printf '#!/bin/sh\ncat "%s"\n' "$T/$1/$2.answer" >"$1/$2"
	chmod +x "$1/$2"
}

# The answer of `chronyc -c -n tracking`: keeps_chrony FOLDER REFERENCE OFFSET_S STATE.
keeps_chrony() {
	keeps "$1" chronyc <<<"$2,9,1795364949.914006254,$3,0.000000100,0.000000200,-1.000,0.001,0.050,0.000002000,0.000001000,1.0,$4"
}

# The answer of pmc: keeps_ptp FOLDER GRANDMASTER OFFSET_NS STATE.
keeps_ptp() {
	printf '\t\t%s\n' "stepsRemoved     1" "offsetFromMaster $3" "meanPathDelay    2754.0" "gmPresent                  true" "gmIdentity                 $2" \
		"portState               $4" "timestamping            SOFTWARE" "interface               v1" | keeps "$1" pmc
}

# disciplined METHOD [REASON…]: a run with the time services of near/ here, and of far/ there.
disciplined() {
	local path=$PATH
	PATH=$T/near:$path run "$KBLAT" run y.yaml --no-state --out runs --set clock="$1" --sink "env 'PATH=$T/far:$path' $FAR beta --" "${apart[@]}"
	assert_measured "${@:2}"
}

@test "clock: system and ptp use the clock of chrony or linuxptp, with the error that it reports" {
	keeps_chrony near 7F7F0101, 0.000000000 Normal
	keeps_chrony far C0000201,192.0.2.1 -0.000003000 Normal
	disciplined system
	assert_eq "$(of_point 'd["clock"]["method"], [d["clock"]["kept"][r]["error_ns"] for r in ("source", "sink")], len(d["clock"]["comparisons"]), d["clock"]["stepped"]')" \
		"('system', [2000, 5000], 3, False)"
	# One machine plays both, so the truth is known: no message arrives before it is sent. On a busy machine reading a clock may take long.
	assert_eq "$(of_summary 'd["metrics"]["lat_ns"]["min"] >= -d["clock"]["error_ns"], d["clock"]["error_ns"] >= 7000')" "(True, True)"
	"$KBLAT" verify "$run_dir"
	for folder in near far; do keeps_ptp $folder 3ad706.fffe.e3deb0 -240.0 SLAVE; done
	disciplined ptp
	assert_eq "$(of_point 'd["clock"]["method"], d["clock"]["kept"]["sink"]["error_ns"], d["clock"]["error_ns"] >= 480')" "('ptp', 240, True)"
}

# bats test_tags=long
@test "clocks that nobody keeps, or that follow two times, are no common clock: it is said why" {
	while read -r method reference_near reference_far state words; do
		keeps_"${method/system/chrony}" near "$reference_near" 0.000001 "${state//_/ }"
		keeps_"${method/system/chrony}" far "$reference_far" 0.000001 "${state//_/ }"
		disciplined "$method" 'source and sink have no common clock: .*'
		[ "$status" -eq 3 ]
		assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "source and sink have no common clock: $words"
	done <<-'END'
		system 7F7F0101, 7F7F0101, Normal chrony follows no source on either host
		system C0000201,a C0000201,a Not_synchronised source: endpoint cannot 'discipline': chrony: the clock is not synchronised
		ptp 3ad706.fffe.e3deb0 3ad707.fffe.e3deb0 SLAVE their clocks follow different grandmasters
		ptp 3ad706.fffe.e3deb0 3ad706.fffe.e3deb0 LISTENING source: endpoint cannot 'discipline': ptp4l: none of its ports
	END
	printf '#!/bin/sh\necho 506 Cannot talk to daemon; exit 1\n' >far/chronyc
	keeps_chrony near C0000201,a 0.000001 Normal
	disciplined system 'source and sink have no common clock: .*'
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "chronyc: 506 Cannot talk to daemon"
}

@test "what a repetition needs on the other host and that has not is said before it begins" {
	run "$KBLAT" run y.yaml --out runs --sink "$FAR beta '\"shm_bytes\":' '\"shm_bytes\":1 ,\"was\":' --" "${apart[@]}"
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "beta: /dev/shm there:"
	assert_contains "$output" "make it larger"
}

@test "an endpoint on another host leaves nothing there if the coordinator is killed" {
	touch before-shm
	longer=(--set messages=100000 --set pause=1ms --set repetitions=1 --set warmup=0)
	"$KBLAT" run y.yaml --out runs --no-state --sink "$FAR beta --" "${apart[@]}" "${longer[@]}" >out 2>err 3>&- &
	pid=$!
	await_run exists 'runs/*.partial/points/0000/rep-00'
	sleep 1
	kill -KILL $pid
	wait $pid || true
	nothing_stays
	exists 'runs/*.partial/points/0000/rep-00'
	! exists 'runs/*.partial/points/0000/rep-00/t_recv.npy'
}

# silent_launcher N: makes a launcher to "beta", ./silent, whose endpoints say nothing any more after the N-th start.
silent_launcher() {
	cat >silent <<-END
		#!/bin/bash
		echo >>starts
		[ "\$(wc -l <starts)" -le $1 ] && exec "$FAR" beta -- "\$@"
		[ $1 -gt 0 ] || "$FAR" beta -- "\$@" | head -n 1
		exec sleep 300
	END
	chmod +x silent
}

# interrupted_after FILES ARGUMENT…: begins a run with the sink on a silent host, interrupts it once FILES are there, and counts the seconds. Without an
# interrupt, it would wait for 60 s and more.
interrupted_after() {
	"$KBLAT" run y.yaml --out runs --sink ./silent "${apart[@]}" "${@:2}" >out 2>err 3>&- &
	local pid=$! began
	await_run exists "$1"
	sleep 1
	began=$SECONDS
	kill -INT $pid
	status=0
	wait $pid || status=$?
	cat out err
	seconds=$((SECONDS - began))
}

# bats test_tags=long
@test "Ctrl-C does not wait for a host that says nothing, when it is met" {
	silent_launcher 0
	interrupted_after starts --no-state
	[ "$seconds" -lt 50 ]
	assert_eq "$(json "$(tail -n 1 out)/run.json" 'd["status"]')" INTERRUPTED
}

# bats test_tags=long
@test "Ctrl-C does not wait for a host that says nothing any more, when its state is taken again" {
	silent_launcher 2 # of the point, and of the comparison of clocks
	interrupted_after 'runs/*.partial/points/0000/rep-00' --set messages=100000 --set pause=1ms --set repetitions=1 --set warmup=0
	[ "$seconds" -lt 50 ]
	assert_eq "$(json "$(tail -n 1 out)/run.json" 'd["status"]')" INTERRUPTED
	assert_contains "$(cat err)" "beta"
}
